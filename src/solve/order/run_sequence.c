#include "solve/order/run_sequence.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/numbers.h"
#include "solve/core/schedule.h"

/* ---- lifetimes ---- */

/* The index, among the runs of the op that makes x, of the run that a reader at place q
 * reads from. SIZE_MAX if none comes before q. */
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

/* The edit changes what is on the device from `run` on. Behind the last place of an edit
 * nothing changes: the latest maker of a tensor may be another run, but its readers there
 * are the same. So an edit only widens towards the beginning. */
static void widen_edit(struct rp_run_sequence *s, uint32_t run) {
    s->edit_first = rp_min_u32(s->edit_first, s->place[run]);
}

/* Adds what run k of the op that makes x, a pinned tensor, allocates and frees, or, if
 * `sign` is -1, removes it: the first run makes x, the others may shadow it. */
static void add_pinned(struct rp_run_sequence *s, uint32_t x, size_t k, int64_t sign) {
    uint32_t run = s->runs[s->p->producer[x]].at[k];
    bool first = s->freed_after[x][k] == RP_NONE;
    int64_t shadow = (int64_t)s->p->shadow_bytes[x];
    s->alloc_bytes[run] += sign * (first ? (int64_t)s->p->bytes[x] : shadow);
    s->free_bytes[run] += sign * (first ? 0 : shadow);
}

/* The first run of the op that makes x is where x stays from. Only if that run has become
 * another one, later than the edit, does anything change behind the edit. */
static void pin(struct rp_run_sequence *s, uint32_t x) {
    const struct rp_runs *runs = &s->runs[s->p->producer[x]];
    size_t first = 0;
    for (size_t k = 0; k < runs->n; k++) {
        s->freed_after[x][k] = runs->at[k];
        first = s->place[runs->at[k]] < s->place[runs->at[first]] ? k : first;
    }
    s->freed_after[x][first] = RP_NONE;
    s->edit_last = rp_max_u32(s->edit_last, s->place[runs->at[first]]);
    for (size_t k = 0; k < runs->n; k++)
        add_pinned(s, x, k, 1);
}

/* Removes the frees of x from `free_bytes`. Call it before the runs of its op change. */
static void remove_lifetimes(struct rp_run_sequence *s, uint32_t x) {
    const struct rp_runs *runs = &s->runs[s->p->producer[x]];
    for (size_t k = 0; k < runs->n && s->p->pinned[x]; k++)
        add_pinned(s, x, k, -1);
    for (size_t k = 0; k < runs->n && !s->p->pinned[x]; k++) {
        uint32_t run = s->freed_after[x][k];
        if (run == RP_NONE)
            continue;
        s->free_bytes[run] -= (int64_t)s->p->bytes[x];
        widen_edit(s, run);
    }
}

/* Finds after which run each value of x is freed, and adds the frees to `free_bytes`. */
static void add_lifetimes(struct rp_run_sequence *s, uint32_t x) {
    const struct rp_instance *p = s->p;
    const struct rp_runs *runs = &s->runs[p->producer[x]];
    uint32_t *freed_after = s->freed_after[x];
    if (p->pinned[x]) {
        pin(s, x);
        return;
    }
    for (size_t k = 0; k < runs->n; k++)
        freed_after[k] = runs->at[k];
    for (uint32_t i = p->reader_start[x]; i < p->reader_start[x + 1]; i++) {
        const struct rp_runs *readers = &s->runs[p->readers[i]];
        for (size_t k = 0; k < readers->n; k++) {
            uint32_t r = readers->at[k];
            size_t m = runs->n == 1 ? 0 : maker_index(s, x, s->place[r]);
            freed_after[m] = s->place[r] > s->place[freed_after[m]] ? r : freed_after[m];
        }
        s->work += readers->n * runs->n;
    }
    if (p->kept[x])
        freed_after[maker_index(s, x, s->n)] = RP_NONE;
    for (size_t k = 0; k < runs->n; k++) {
        if (freed_after[k] == RP_NONE)
            continue;
        s->free_bytes[freed_after[k]] += (int64_t)p->bytes[x];
        widen_edit(s, freed_after[k]);
    }
}

typedef void tensor_function(struct rp_run_sequence *s, uint32_t x);

/* Calls f for every tensor that op j reads or makes. */
static void for_each_tensor(struct rp_run_sequence *s, uint32_t j, tensor_function *f) {
    const struct rp_instance *p = s->p;
    for (uint32_t k = p->input_start[j]; k < p->input_start[j + 1]; k++)
        f(s, p->inputs[k]);
    for (uint32_t x = p->output_start[j]; x < p->output_start[j + 1]; x++)
        f(s, x);
}

static double sum_over(const struct rp_run_sequence *s, uint32_t first, uint32_t last) {
    double sum = 0;
    for (uint32_t q = first; q <= last; q++)
        sum += s->over_bytes[q];
    return sum;
}

/* Finds the memory of the places that the edit changed. */
static void update_places(struct rp_run_sequence *s) {
    const struct rp_instance *p = s->p;
    int64_t live = s->live_bytes[s->edit_first], limit = (int64_t)p->limit_bytes;
    for (uint32_t q = s->edit_first; q <= s->edit_last; q++) {
        uint32_t r = s->at[q];
        int64_t now =
            live + s->alloc_bytes[r] + (int64_t)p->workspace_bytes[s->op[r]] - limit;
        s->live_bytes[q] = live;
        s->over_bytes[q] = now > 0 ? (double)now : 0;
        live += s->alloc_bytes[r] - s->free_bytes[r];
    }
    s->live_bytes[s->edit_last + 1] = live;
    s->work += 2 + 3 * (uint64_t)(s->edit_last - s->edit_first) / 4;
}

static void begin_edit(struct rp_run_sequence *s, uint32_t first, uint32_t last) {
    s->edit_first = first;
    s->edit_last = last;
}

/* Updates the totals; over_bytes still has the values from before the edit. */
static void end_edit(struct rp_run_sequence *s) {
    s->overflow_bytes -= sum_over(s, s->edit_first, s->edit_last);
    update_places(s);
    s->overflow_bytes += sum_over(s, s->edit_first, s->edit_last);
}

/* ---- edits ---- */

void rp_run_sequence_move(struct rp_run_sequence *s, uint32_t from, uint32_t to) {
    uint32_t first = rp_min_u32(from, to), last = rp_max_u32(from, to);
    uint32_t r = s->at[from];
    begin_edit(s, first, last);
    for_each_tensor(s, s->op[r], remove_lifetimes);
    if (from < to)
        memmove(s->at + from, s->at + from + 1, (to - from) * sizeof *s->at);
    else
        memmove(s->at + to + 1, s->at + to, (from - to) * sizeof *s->at);
    s->at[to] = r;
    for (uint32_t q = first; q <= last; q++)
        s->place[s->at[q]] = q;
    for_each_tensor(s, s->op[r], add_lifetimes);
    end_edit(s);
}

/* Moves the places from q on by one, up or down. */
static void shift_places(struct rp_run_sequence *s, uint32_t q, bool up) {
    size_t n = s->n - q;
    uint32_t to = up ? q + 1 : q, from = up ? q : q + 1;
    n -= !up;
    memmove(s->at + to, s->at + from, n * sizeof *s->at);
    memmove(s->over_bytes + to, s->over_bytes + from, n * sizeof *s->over_bytes);
    memmove(s->live_bytes + to, s->live_bytes + from, (n + 1) * sizeof *s->live_bytes);
    s->n = up ? s->n + 1 : s->n - 1;
    for (uint32_t k = to; k < s->n; k++)
        s->place[s->at[k]] = k;
    s->work += n / 4;
}

bool rp_run_sequence_insert(struct rp_run_sequence *s, uint32_t j, uint32_t q) {
    if (s->n == s->capacity)
        return false;
    uint32_t r = s->unused[s->capacity - s->n - 1];
    begin_edit(s, q, q);
    for_each_tensor(s, j, remove_lifetimes);
    shift_places(s, q, true);
    s->over_bytes[q] = 0;
    s->at[q] = r;
    s->place[r] = q;
    s->op[r] = j;
    s->free_bytes[r] = s->alloc_bytes[r] = 0;
    s->repeat_index[r] = s->n - 1 - s->p->n_ops;
    s->repeats[s->repeat_index[r]] = r;
    for (uint32_t x = s->p->output_start[j]; x < s->p->output_start[j + 1]; x++) {
        s->alloc_bytes[r] += s->p->pinned[x] ? 0 : (int64_t)s->p->bytes[x];
        s->freed_after[x] =
            rp_realloc(s->freed_after[x], s->runs[j].n + 1, sizeof *s->freed_after[x]);
    }
    rp_push(&s->runs[j], r);
    for_each_tensor(s, j, add_lifetimes);
    s->recompute_ns += (double)s->p->time_ns[j];
    end_edit(s);
    return true;
}

/* Takes r out of the lists of runs. */
static void remove_from_lists(struct rp_run_sequence *s, uint32_t r) {
    struct rp_runs *runs = &s->runs[s->op[r]];
    size_t k = 0;
    while (runs->at[k] != r)
        k++;
    runs->at[k] = runs->at[--runs->n];
    uint32_t moved = s->repeats[s->n - 1 - s->p->n_ops];
    s->repeats[s->repeat_index[r]] = moved;
    s->repeat_index[moved] = s->repeat_index[r];
}

void rp_run_sequence_remove(struct rp_run_sequence *s, uint32_t r) {
    uint32_t j = s->op[r], q = s->place[r], before = q > 0 ? q - 1 : 0;
    begin_edit(s, before, before);
    for_each_tensor(s, j, remove_lifetimes);
    remove_from_lists(s, r);
    s->overflow_bytes -= s->over_bytes[q];
    shift_places(s, q, false);
    s->unused[s->capacity - s->n - 1] = r;
    for_each_tensor(s, j, add_lifetimes);
    s->recompute_ns -= (double)s->p->time_ns[j];
    end_edit(s);
}

/* ---- what may be done ---- */

/* The first place of the other runs of r's op; RP_NONE if there are none. */
static uint32_t first_other_place(const struct rp_run_sequence *s, uint32_t r) {
    const struct rp_runs *runs = &s->runs[s->op[r]];
    uint32_t first = RP_NONE;
    for (size_t k = 0; k < runs->n; k++)
        if (runs->at[k] != r)
            first = rp_min_u32(first, s->place[runs->at[k]]);
    return first;
}

/* The first place that depends on r: its reader has no other, earlier run of r's op to read
 * from. n if there is none. */
static uint32_t first_dependent(const struct rp_run_sequence *s, uint32_t r) {
    const struct rp_instance *p = s->p;
    uint32_t j = s->op[r], other = first_other_place(s, r), first = s->n;
    for (uint32_t x = p->output_start[j]; x < p->output_start[j + 1]; x++)
        for (uint32_t i = p->reader_start[x]; i < p->reader_start[x + 1]; i++) {
            const struct rp_runs *readers = &s->runs[p->readers[i]];
            for (size_t k = 0; k < readers->n; k++) {
                uint32_t q = s->place[readers->at[k]];
                if (q < other)
                    first = rp_min_u32(first, q);
            }
        }
    return first;
}

static uint32_t first_place(const struct rp_run_sequence *s, uint32_t j) {
    uint32_t first = RP_NONE;
    for (size_t k = 0; k < s->runs[j].n; k++)
        first = rp_min_u32(first, s->place[s->runs[j].at[k]]);
    return first;
}

/* The first place of the op whose first run must come after that of r's op. n if there is
 * none, or if another run than r comes before it. */
static uint32_t first_ordered_after(const struct rp_run_sequence *s, uint32_t r) {
    uint32_t next = s->ordered_after[s->op[r]];
    uint32_t first = next != RP_NONE ? first_place(s, next) : s->n;
    return first_other_place(s, r) < first ? s->n : first;
}

bool rp_run_sequence_may_remove(const struct rp_run_sequence *s, uint32_t r) {
    return first_dependent(s, r) == s->n && first_ordered_after(s, r) == s->n;
}

/* The place after the last run that must come before op j because of an update. */
static uint32_t after_updates(const struct rp_run_sequence *s, uint32_t j) {
    const struct rp_update_order *u = &s->p->updates;
    uint32_t after = 0;
    for (uint32_t i = u->before_start[j]; i < u->before_start[j + 1]; i++) {
        const struct rp_runs *runs = &s->runs[u->before[i]];
        for (size_t k = 0; k < runs->n; k++)
            after = rp_max_u32(after, s->place[runs->at[k]] + 1);
    }
    return after;
}

uint32_t rp_run_sequence_last_place(const struct rp_run_sequence *s, uint32_t j) {
    const struct rp_update_order *u = &s->p->updates;
    uint32_t last = s->n;
    for (uint32_t i = u->after_start[j]; i < u->after_start[j + 1]; i++)
        last = rp_min_u32(last, first_place(s, u->after[i]));
    return last;
}

void rp_run_sequence_range(const struct rp_run_sequence *s, uint32_t r, uint32_t *low,
                           uint32_t *high) {
    const struct rp_instance *p = s->p;
    uint32_t j = s->op[r], a = 0, b = first_dependent(s, r);
    for (uint32_t k = p->input_start[j]; k < p->input_start[j + 1]; k++) {
        const struct rp_runs *makers = &s->runs[p->producer[p->inputs[k]]];
        uint32_t first = RP_NONE;
        for (size_t i = 0; i < makers->n; i++)
            first = rp_min_u32(first, s->place[makers->at[i]]);
        a = rp_max_u32(a, first + 1);
    }
    if (s->ordered_before[j] != RP_NONE)
        a = rp_max_u32(a, first_place(s, s->ordered_before[j]) + 1);
    b = rp_min_u32(b, first_ordered_after(s, r));
    *low = rp_max_u32(a, after_updates(s, j));
    *high = rp_min_u32(b, rp_run_sequence_last_place(s, j)) - 1;
}

/* ---- to and from lists of ops ---- */

static void link_ordered(struct rp_run_sequence *s) {
    uint32_t last = RP_NONE;
    for (uint32_t j = 0; j < s->p->n_ops; j++) {
        const struct rp_op *op = &s->p->graph->ops[s->p->op_of[j]];
        s->ordered_before[j] = s->ordered_after[j] = RP_NONE;
        if (op->recompute && !op->ordered)
            continue;
        s->ordered_before[j] = last;
        if (last != RP_NONE)
            s->ordered_after[last] = j;
        last = j;
    }
}

static void allocate(struct rp_run_sequence *s) {
    uint32_t n = s->p->n_ops, capacity = s->capacity;
    s->at = rp_calloc(capacity, sizeof *s->at);
    s->place = rp_calloc(capacity, sizeof *s->place);
    s->op = rp_calloc(capacity, sizeof *s->op);
    s->unused = rp_calloc(capacity - n, sizeof *s->unused);
    s->repeats = rp_calloc(capacity, sizeof *s->repeats);
    s->repeat_index = rp_calloc(capacity, sizeof *s->repeat_index);
    s->runs = rp_calloc(n, sizeof *s->runs);
    s->freed_after = rp_calloc(s->p->n_tensors, sizeof *s->freed_after);
    s->ordered_before = rp_calloc(n, sizeof *s->ordered_before);
    s->ordered_after = rp_calloc(n, sizeof *s->ordered_after);
    s->alloc_bytes = rp_calloc(capacity, sizeof *s->alloc_bytes);
    s->free_bytes = rp_calloc(capacity, sizeof *s->free_bytes);
    s->live_bytes = rp_calloc((size_t)capacity + 1, sizeof *s->live_bytes);
    s->over_bytes = rp_calloc(capacity, sizeof *s->over_bytes);
}

/* Puts a run of op j at place q: run j if it is the op's first. */
static void append(struct rp_run_sequence *s, uint32_t q, uint32_t j) {
    const struct rp_instance *p = s->p;
    bool repeat = s->runs[j].n > 0;
    uint32_t n_repeats = s->n - p->n_ops, r = repeat ? p->n_ops + n_repeats : j;
    if (repeat) {
        s->repeat_index[r] = n_repeats;
        s->repeats[n_repeats] = r;
        s->recompute_ns += (double)p->time_ns[j];
        s->n++;
    }
    s->at[q] = r;
    s->place[r] = q;
    s->op[r] = j;
    rp_push(&s->runs[j], r);
    for (uint32_t x = p->output_start[j]; x < p->output_start[j + 1]; x++)
        s->alloc_bytes[r] += p->pinned[x] ? 0 : (int64_t)p->bytes[x];
}

uint32_t rp_run_sequence_capacity(const struct rp_instance *p) {
    return 3 * p->n_ops + 16;
}

void rp_run_sequence_init(struct rp_run_sequence *s, const struct rp_instance *p,
                          const uint32_t *ops, uint32_t n) {
    *s = (struct rp_run_sequence){
        .p = p, .n = p->n_ops, .capacity = rp_run_sequence_capacity(p)};
    allocate(s);
    for (uint32_t r = p->n_ops; r < s->capacity; r++)
        s->unused[r - p->n_ops] = s->capacity - 1 - (r - p->n_ops);
    for (uint32_t q = 0; q < n; q++)
        append(s, q, ops != NULL ? ops[q] : q);
    link_ordered(s);
    if (n == 0)
        return;
    begin_edit(s, 0, n - 1);
    for (uint32_t x = 0; x < p->n_tensors; x++) {
        s->freed_after[x] = rp_calloc(s->runs[p->producer[x]].n, sizeof *s->freed_after[x]);
        add_lifetimes(s, x);
    }
    end_edit(s);
}

void rp_run_sequence_fini(struct rp_run_sequence *s) {
    for (uint32_t j = 0; s->p != NULL && j < s->p->n_ops; j++)
        free(s->runs[j].at);
    for (uint32_t x = 0; s->p != NULL && x < s->p->n_tensors; x++)
        free(s->freed_after[x]);
    free(s->at);
    free(s->place);
    free(s->op);
    free(s->unused);
    free(s->repeats);
    free(s->repeat_index);
    free(s->runs);
    free(s->freed_after);
    free(s->ordered_before);
    free(s->ordered_after);
    free(s->alloc_bytes);
    free(s->free_bytes);
    free(s->live_bytes);
    free(s->over_bytes);
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
        rp_append_step(p, plan, RP_RUN, j);
        for (int makes = 0; makes < 2; makes++) {
            uint32_t k = makes ? p->output_start[j] : p->input_start[j];
            uint32_t end = makes ? p->output_start[j + 1] : p->input_start[j + 1];
            for (; k < end; k++) {
                uint32_t x = makes ? k : p->inputs[k];
                size_t m = makes ? maker_index(s, x, q + 1) : maker_index(s, x, q);
                if (s->freed_after[x][m] == r && !p->pinned[x])
                    rp_append_step(p, plan, RP_FREE, x);
            }
        }
    }
}
