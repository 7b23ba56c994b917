#include "solve/order/run_sequence.h"

#include <stdlib.h>
#include <string.h>

/* ---- lifetimes ---- */

/* The run of x's op that a reader at place q reads from, as an index; q is after one. */
static size_t maker_index(const struct rp_run_sequence *s, uint32_t x, uint32_t q) {
    const struct rp_runs *runs = &s->runs[s->p->producer[x]];
    size_t best = SIZE_MAX;
    uint32_t after = 0;
    for (size_t k = 0; k < runs->n; k++) {
        uint32_t at = s->place[runs->at[k]];
        if (at < q && at >= after) {
            best = k;
            after = at;
        }
    }
    return best;
}

uint32_t rp_run_sequence_maker(const struct rp_run_sequence *s, uint32_t x, uint32_t q) {
    size_t k = maker_index(s, x, q);
    return k == SIZE_MAX ? RP_NONE : s->runs[s->p->producer[x]].at[k];
}

static uint32_t earlier(uint32_t a, uint32_t b) {
    return a < b ? a : b; /* mutation: same */
}

static uint32_t later(uint32_t a, uint32_t b) {
    return a > b ? a : b; /* mutation: same */
}

/* What is on the device behind all places of an edit stays: the latest maker of a tensor is
 * another, but its readers there are the same. So an edit only widens towards the begin. */
static void widen(struct rp_run_sequence *s, uint32_t run) {
    s->first = earlier(s->first, s->place[run]);
}

/* Takes the frees of x out of `drop`, for its op's runs as they were when counted. */
static void discount(struct rp_run_sequence *s, uint32_t x) {
    const struct rp_runs *runs = &s->runs[s->p->producer[x]];
    for (size_t k = 0; k < runs->n; k++) {
        uint32_t run = s->last[x][k];
        if (run == RP_NONE)
            continue;
        s->drop[run] -= (int64_t)s->p->bytes[x];
        widen(s, run);
    }
}

/* Finds anew after which run each value of x is freed, and counts it. */
static void count(struct rp_run_sequence *s, uint32_t x) {
    const struct rp_instance *p = s->p;
    const struct rp_runs *runs = &s->runs[p->producer[x]];
    uint32_t *last = s->last[x];
    for (size_t k = 0; k < runs->n; k++)
        last[k] = runs->at[k];
    for (uint32_t i = p->reader_start[x]; i < p->reader_start[x + 1]; i++) {
        const struct rp_runs *readers = &s->runs[p->readers[i]];
        for (size_t k = 0; k < readers->n; k++) {
            uint32_t r = readers->at[k];
            size_t m = runs->n == 1 ? 0 : maker_index(s, x, s->place[r]);
            last[m] = s->place[r] > s->place[last[m]] ? r : last[m];
        }
        s->work += readers->n * runs->n;
    }
    if (p->kept[x])
        last[maker_index(s, x, s->n)] = RP_NONE;
    for (size_t k = 0; k < runs->n; k++) {
        if (last[k] == RP_NONE)
            continue;
        s->drop[last[k]] += (int64_t)p->bytes[x];
        widen(s, last[k]);
    }
}

typedef void on_tensor(struct rp_run_sequence *s, uint32_t x);

/* For what op j reads and makes. */
static void around(struct rp_run_sequence *s, uint32_t j, on_tensor *f) {
    const struct rp_instance *p = s->p;
    for (uint32_t k = p->input_start[j]; k < p->input_start[j + 1]; k++)
        f(s, p->inputs[k]);
    for (uint32_t x = p->output_start[j]; x < p->output_start[j + 1]; x++)
        f(s, x);
}

static double above(const struct rp_run_sequence *s, uint32_t first, uint32_t last) {
    double sum = 0;
    for (uint32_t q = first; q <= last; q++)
        sum += s->over[q];
    return sum;
}

/* Walks the places that the edit changed. */
static void walk(struct rp_run_sequence *s) {
    const struct rp_instance *p = s->p;
    int64_t live = s->live[s->first], limit = (int64_t)p->limit_bytes;
    for (uint32_t q = s->first; q <= s->last_place; q++) {
        uint32_t r = s->at[q];
        int64_t now = live + s->gain[r] + (int64_t)p->workspace_bytes[s->op[r]] - limit;
        s->live[q] = live;
        s->over[q] = now > 0 ? (double)now : 0;
        live += s->gain[r] - s->drop[r];
    }
    s->live[s->last_place + 1] = live;
    s->work += 2 + 3 * (uint64_t)(s->last_place - s->first) / 4;
}

static void begin(struct rp_run_sequence *s, uint32_t first, uint32_t last) {
    s->first = first;
    s->last_place = last;
}

/* The totals after the edit; `over` still has the values from before it. */
static void settle(struct rp_run_sequence *s) {
    s->overflow -= above(s, s->first, s->last_place);
    walk(s);
    s->overflow += above(s, s->first, s->last_place);
}

/* ---- edits ---- */

void rp_run_sequence_move(struct rp_run_sequence *s, uint32_t from, uint32_t to) {
    uint32_t first = from < to ? from : to, last = from < to ? to : from;
    uint32_t r = s->at[from];
    begin(s, first, last);
    around(s, s->op[r], discount);
    if (from < to) /* mutation: same */
        memmove(s->at + from, s->at + from + 1, (to - from) * sizeof *s->at);
    else
        memmove(s->at + to + 1, s->at + to, (from - to) * sizeof *s->at);
    s->at[to] = r;
    for (uint32_t q = first; q <= last; q++)
        s->place[s->at[q]] = q;
    around(s, s->op[r], count);
    settle(s);
}

/* The places from q on move by one, up or down. */
static void shift(struct rp_run_sequence *s, uint32_t q, bool up) {
    size_t n = s->n - q;
    uint32_t to = up ? q + 1 : q, from = up ? q : q + 1;
    n -= !up;
    memmove(s->at + to, s->at + from, n * sizeof *s->at);
    memmove(s->over + to, s->over + from, n * sizeof *s->over);
    memmove(s->live + to, s->live + from, (n + 1) * sizeof *s->live);
    s->n = up ? s->n + 1 : s->n - 1;
    for (uint32_t k = to; k < s->n; k++)
        s->place[s->at[k]] = k;
    s->work += n / 4;
}

bool rp_run_sequence_put(struct rp_run_sequence *s, uint32_t j, uint32_t q) {
    if (s->n == s->most)
        return false;
    uint32_t r = s->unused[s->most - s->n - 1];
    begin(s, q, q);
    around(s, j, discount);
    shift(s, q, true);
    s->over[q] = 0;
    s->at[q] = r;
    s->place[r] = q;
    s->op[r] = j;
    s->drop[r] = s->gain[r] = 0;
    s->extra_at[r] = s->n - 1 - s->p->n_ops;
    s->extra[s->extra_at[r]] = r;
    for (uint32_t x = s->p->output_start[j]; x < s->p->output_start[j + 1]; x++) {
        s->gain[r] += (int64_t)s->p->bytes[x];
        s->last[x] = rp_realloc(s->last[x], s->runs[j].n + 1, sizeof *s->last[x]);
    }
    rp_push(&s->runs[j], r);
    around(s, j, count);
    s->extra_ns += (double)s->p->time_ns[j];
    settle(s);
    return true;
}

/* Takes r out of the lists it is in. */
static void forget(struct rp_run_sequence *s, uint32_t r) {
    struct rp_runs *runs = &s->runs[s->op[r]];
    for (size_t k = 0; k < runs->n; k++)
        if (runs->at[k] == r)
            runs->at[k] = runs->at[runs->n - 1];
    runs->n--;
    uint32_t moved = s->extra[s->n - 1 - s->p->n_ops];
    s->extra[s->extra_at[r]] = moved;
    s->extra_at[moved] = s->extra_at[r];
}

void rp_run_sequence_cut(struct rp_run_sequence *s, uint32_t r) {
    uint32_t j = s->op[r], q = s->place[r], before = q > 0 ? q - 1 : 0;
    begin(s, before, before);
    around(s, j, discount);
    forget(s, r);
    s->overflow -= s->over[q];
    shift(s, q, false);
    s->unused[s->most - s->n - 1] = r;
    around(s, j, count);
    s->extra_ns -= (double)s->p->time_ns[j];
    settle(s);
}

/* ---- what may be done ---- */

/* The first place of the other runs of r's op. */
static uint32_t first_other(const struct rp_run_sequence *s, uint32_t r) {
    const struct rp_runs *runs = &s->runs[s->op[r]];
    uint32_t first = RP_NONE;
    for (size_t k = 0; k < runs->n; k++)
        if (runs->at[k] != r)
            first = earlier(first, s->place[runs->at[k]]);
    return first;
}

/* The first reader, by place, that no other run of r's op comes before; n if none. */
static uint32_t first_in_need(const struct rp_run_sequence *s, uint32_t r) {
    const struct rp_instance *p = s->p;
    uint32_t j = s->op[r], other = first_other(s, r), first = s->n;
    for (uint32_t x = p->output_start[j]; x < p->output_start[j + 1]; x++)
        for (uint32_t i = p->reader_start[x]; i < p->reader_start[x + 1]; i++) {
            const struct rp_runs *readers = &s->runs[p->readers[i]];
            for (size_t k = 0; k < readers->n; k++) {
                uint32_t q = s->place[readers->at[k]];
                if (q < other) /* mutation: same */
                    first = earlier(first, q);
            }
        }
    return first;
}

bool rp_run_sequence_may_cut(const struct rp_run_sequence *s, uint32_t r) {
    return first_in_need(s, r) == s->n;
}

void rp_run_sequence_range(const struct rp_run_sequence *s, uint32_t r, uint32_t *low,
                           uint32_t *high) {
    const struct rp_instance *p = s->p;
    uint32_t j = s->op[r], a = 0, b = first_in_need(s, r);
    for (uint32_t k = p->input_start[j]; k < p->input_start[j + 1]; k++) {
        const struct rp_runs *makers = &s->runs[p->producer[p->inputs[k]]];
        uint32_t first = RP_NONE;
        for (size_t i = 0; i < makers->n; i++)
            first = earlier(first, s->place[makers->at[i]]);
        a = later(a, first + 1);
    }
    if (s->before_once[j] != RP_NONE)
        a = later(a, s->place[s->before_once[j]] + 1);
    if (s->after_once[j] != RP_NONE)
        b = earlier(b, s->place[s->after_once[j]]);
    *low = a;
    *high = b - 1;
}

/* ---- from and to ---- */

static void link_once(struct rp_run_sequence *s) {
    uint32_t once = RP_NONE;
    for (uint32_t j = 0; j < s->p->n_ops; j++) {
        s->before_once[j] = s->after_once[j] = RP_NONE;
        if (s->p->graph->ops[s->p->op_of[j]].recompute)
            continue;
        s->before_once[j] = once;
        if (once != RP_NONE)
            s->after_once[once] = j;
        once = j;
    }
}

static void allocate(struct rp_run_sequence *s) {
    uint32_t n = s->p->n_ops, most = s->most;
    s->at = rp_calloc(most, sizeof *s->at);
    s->place = rp_calloc(most, sizeof *s->place);
    s->op = rp_calloc(most, sizeof *s->op);
    s->unused = rp_calloc(most - n, sizeof *s->unused);
    s->extra = rp_calloc(most, sizeof *s->extra);
    s->extra_at = rp_calloc(most, sizeof *s->extra_at);
    s->runs = rp_calloc(n, sizeof *s->runs);
    s->last = rp_calloc(s->p->n_tensors, sizeof *s->last);
    s->before_once = rp_calloc(n, sizeof *s->before_once);
    s->after_once = rp_calloc(n, sizeof *s->after_once);
    s->gain = rp_calloc(most, sizeof *s->gain);
    s->drop = rp_calloc(most, sizeof *s->drop);
    s->live = rp_calloc((size_t)most + 1, sizeof *s->live);
    s->over = rp_calloc(most, sizeof *s->over);
}

/* The run at place q is of op j: the op's own run if it is the first. */
static void append(struct rp_run_sequence *s, uint32_t q, uint32_t j) {
    const struct rp_instance *p = s->p;
    bool again = s->runs[j].n > 0;
    uint32_t n_extra = s->n - p->n_ops, r = again ? p->n_ops + n_extra : j;
    if (again) {
        s->extra_at[r] = n_extra;
        s->extra[n_extra] = r;
        s->extra_ns += (double)p->time_ns[j];
        s->n++;
    }
    s->at[q] = r;
    s->place[r] = q;
    s->op[r] = j;
    rp_push(&s->runs[j], r);
    for (uint32_t x = p->output_start[j]; x < p->output_start[j + 1]; x++)
        s->gain[r] += (int64_t)p->bytes[x];
}

void rp_run_sequence_init(struct rp_run_sequence *s, const struct rp_instance *p,
                          const uint32_t *ops, uint32_t n) {
    *s = (struct rp_run_sequence){.p = p, .n = p->n_ops, .most = 3 * p->n_ops + 16};
    allocate(s);
    for (uint32_t r = p->n_ops; r < s->most; r++)
        s->unused[r - p->n_ops] = s->most - 1 - (r - p->n_ops);
    for (uint32_t q = 0; q < n; q++)
        append(s, q, ops != NULL ? ops[q] : q);
    link_once(s);
    if (n == 0)
        return;
    begin(s, 0, n - 1);
    for (uint32_t x = 0; x < p->n_tensors; x++) {
        s->last[x] = rp_calloc(s->runs[p->producer[x]].n, sizeof *s->last[x]);
        count(s, x);
    }
    settle(s);
}

void rp_run_sequence_fini(struct rp_run_sequence *s) {
    for (uint32_t j = 0; s->p != NULL && j < s->p->n_ops; j++)
        free(s->runs[j].at);
    for (uint32_t x = 0; s->p != NULL && x < s->p->n_tensors; x++)
        free(s->last[x]);
    free(s->at);
    free(s->place);
    free(s->op);
    free(s->unused);
    free(s->extra);
    free(s->extra_at);
    free(s->runs);
    free(s->last);
    free(s->before_once);
    free(s->after_once);
    free(s->gain);
    free(s->drop);
    free(s->live);
    free(s->over);
    *s = (struct rp_run_sequence){0};
}

uint32_t rp_run_sequence_ops(const struct rp_run_sequence *s, uint32_t *ops) {
    for (uint32_t q = 0; q < s->n; q++)
        ops[q] = s->op[s->at[q]];
    return s->n;
}

void rp_run_sequence_steps(const struct rp_run_sequence *s, struct rp_plan *plan) {
    const struct rp_instance *p = s->p;
    for (uint32_t q = 0; q < s->n; q++) {
        uint32_t r = s->at[q], j = s->op[r];
        struct rp_step run = {.kind = RP_RUN, .id = p->op_of[j], .address = RP_NO_ADDRESS};
        rp_push(&plan->steps, run);
        for (int makes = 0; makes < 2; makes++) {
            uint32_t k = makes ? p->output_start[j] : p->input_start[j];
            uint32_t end = makes ? p->output_start[j + 1] : p->input_start[j + 1];
            for (; k < end; k++) {
                uint32_t x = makes ? k : p->inputs[k];
                size_t m = makes ? maker_index(s, x, q + 1) : maker_index(s, x, q);
                if (s->last[x][m] != r)
                    continue;
                struct rp_step release = {
                    .kind = RP_FREE, .id = p->tensor_of[x], .address = RP_NO_ADDRESS};
                rp_push(&plan->steps, release);
            }
        }
    }
}
