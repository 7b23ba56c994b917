#include "solve/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* The first temperature, as a share of the mean overflow of an op, and the last one as a
 * share of the first. */
static const double HEAT = 1;
static const double COOLED = 1e-4;

struct ordering {
    const struct rp_problem *p;
    uint32_t n;
    uint32_t *at;                       /* per place: op */
    uint32_t *place;                    /* per op */
    uint32_t *before_once, *after_once; /* per run-once op: the ones next to it; or NONE */
    uint32_t *last_reader;              /* per tensor: op, RP_NONE if kept */
    int64_t *gain, *drop; /* per op: bytes it allocates; bytes freed after it */
    int64_t *live;        /* per place: bytes before the op runs; n: at the end */
    double *over;         /* per place: bytes above the limit, at least 0 */
    double overflow;
    uint64_t random, work;
    double *new_over; /* of the move under way */
};

/* xorshift64*: Vigna, "An experimental exploration of Marsaglia's xorshift generators". */
static inline uint64_t next_random(struct ordering *w) {
    w->random ^= w->random >> 12;
    w->random ^= w->random << 25;
    w->random ^= w->random >> 27;
    return w->random * 2685821657736338717u;
}

static inline uint32_t below(struct ordering *w, uint32_t n) {
    return (uint32_t)((next_random(w) >> 32) * n >> 32);
}

static inline double unit(struct ordering *w) {
    return (double)(next_random(w) >> 11) * 0x1p-53;
}

/* ---- the profile ---- */

/* The op after which x goes: the last reader, or its maker. */
static uint32_t find_last_reader(const struct ordering *w, uint32_t x) {
    const struct rp_problem *p = w->p;
    uint32_t last = p->producer[x];
    for (uint32_t k = p->reader_start[x]; k < p->reader_start[x + 1]; k++)
        if (w->place[p->readers[k]] > w->place[last])
            last = p->readers[k];
    return last;
}

static void set_last_reader(struct ordering *w, uint32_t x) {
    uint32_t last = w->last_reader[x], now;
    if (last == RP_NONE)
        return;
    now = find_last_reader(w, x);
    if (now == last)
        return;
    w->drop[last] -= (int64_t)w->p->bytes[x];
    w->drop[now] += (int64_t)w->p->bytes[x];
    w->last_reader[x] = now;
}

/* Walks places first..last anew; the overflow of these alone, into `over`. */
static double walk(struct ordering *w, uint32_t first, uint32_t last, double *over) {
    const struct rp_problem *p = w->p;
    int64_t live = w->live[first], limit = (int64_t)p->limit_bytes;
    double sum = 0;
    for (uint32_t k = first; k <= last; k++) {
        uint32_t j = w->at[k];
        int64_t now = live + w->gain[j] + (int64_t)p->workspace_bytes[j] - limit;
        w->live[k] = live;
        over[k] = now > 0 ? (double)now : 0;
        sum += over[k];
        live += w->gain[j] - w->drop[j];
    }
    w->live[last + 1] = live;
    w->work += 1 + (last - first) / 4;
    return sum;
}

static void load(struct ordering *w, const uint32_t *order) {
    const struct rp_problem *p = w->p;
    for (uint32_t k = 0; k < w->n; k++) {
        w->at[k] = order[k];
        w->place[order[k]] = k;
    }
    for (uint32_t j = 0; j < w->n; j++)
        w->gain[j] = w->drop[j] = 0;
    for (uint32_t x = 0; x < p->n_tensors; x++) {
        w->gain[p->producer[x]] += (int64_t)p->bytes[x];
        w->last_reader[x] = p->kept[x] ? RP_NONE : find_last_reader(w, x);
        if (!p->kept[x])
            w->drop[w->last_reader[x]] += (int64_t)p->bytes[x];
    }
    w->live[0] = 0;
    w->overflow = walk(w, 0, w->n - 1, w->over);
}

/* ---- moves ---- */

/* The places that op j may be taken to while all others stay in order. */
static void find_range(const struct ordering *w, uint32_t j, uint32_t *low,
                       uint32_t *high) {
    const struct rp_problem *p = w->p;
    uint32_t a = 0, b = w->n;
    for (uint32_t k = p->input_start[j]; k < p->input_start[j + 1]; k++) {
        uint32_t maker = w->place[p->producer[p->inputs[k]]];
        a = maker + 1 > a ? maker + 1 : a;
    }
    for (uint32_t x = p->output_start[j]; x < p->output_start[j + 1]; x++)
        for (uint32_t k = p->reader_start[x]; k < p->reader_start[x + 1]; k++)
            b = w->place[p->readers[k]] < b ? w->place[p->readers[k]] : b;
    if (w->before_once[j] != RP_NONE && w->place[w->before_once[j]] + 1 > a)
        a = w->place[w->before_once[j]] + 1;
    if (w->after_once[j] != RP_NONE && w->place[w->after_once[j]] < b)
        b = w->place[w->after_once[j]];
    *low = a;
    *high = b - 1;
}

/* Takes the op at place `from` to place `to`. Its own inverse with the places exchanged. */
static void take(struct ordering *w, uint32_t from, uint32_t to) {
    uint32_t first = from < to ? from : to, last = from < to ? to : from;
    uint32_t j = w->at[from];
    if (from < to)
        memmove(w->at + from, w->at + from + 1, (to - from) * sizeof *w->at);
    else
        memmove(w->at + to + 1, w->at + to, (from - to) * sizeof *w->at);
    w->at[to] = j;
    for (uint32_t k = first; k <= last; k++)
        w->place[w->at[k]] = k;
    for (uint32_t k = w->p->input_start[j]; k < w->p->input_start[j + 1]; k++)
        set_last_reader(w, w->p->inputs[k]);
    w->work += 1 + (last - first) / 4;
}

/* One move: a random op to a random place it may have, more often a near one. */
static void step(struct ordering *w, double temperature) {
    uint32_t j = below(w, w->n), from = w->place[j], low, high, to;
    w->work += 4;
    find_range(w, j, &low, &high);
    if (below(w, 2)) {
        uint32_t reach = 1 + below(w, 16);
        low = low + reach < from ? from - reach : low;
        high = from + reach < high ? from + reach : high;
    }
    if (low >= high)
        return;
    to = low + below(w, high - low);
    to += to >= from;
    uint32_t first = from < to ? from : to, last = from < to ? to : from;
    double before = 0, after;
    for (uint32_t k = first; k <= last; k++)
        before += w->over[k];
    take(w, from, to);
    after = walk(w, first, last, w->new_over);
    if (after - before <= -temperature * log(1 - unit(w))) {
        memcpy(w->over + first, w->new_over + first, (last - first + 1) * sizeof *w->over);
        w->overflow += after - before;
    } else {
        take(w, to, from);
        walk(w, first, last, w->new_over);
    }
}

static void begin(struct ordering *w, const struct rp_problem *p, uint64_t seed) {
    uint32_t n = p->n_ops, once = RP_NONE;
    *w = (struct ordering){.p = p, .n = n};
    w->random = seed * 0x9e3779b97f4a7c15u + 0x1234567;
    w->at = rp_calloc(n, sizeof *w->at);
    w->place = rp_calloc(n, sizeof *w->place);
    w->before_once = rp_calloc(n, sizeof *w->before_once);
    w->after_once = rp_calloc(n, sizeof *w->after_once);
    w->last_reader = rp_calloc(p->n_tensors, sizeof *w->last_reader);
    w->gain = rp_calloc(n, sizeof *w->gain);
    w->drop = rp_calloc(n, sizeof *w->drop);
    w->live = rp_calloc((size_t)n + 1, sizeof *w->live);
    w->over = rp_calloc(n, sizeof *w->over);
    w->new_over = rp_calloc(n, sizeof *w->new_over);
    for (uint32_t j = 0; j < n; j++) {
        w->before_once[j] = w->after_once[j] = RP_NONE;
        if (p->graph->ops[p->op_of[j]].recompute)
            continue;
        w->before_once[j] = once;
        if (once != RP_NONE)
            w->after_once[once] = j;
        once = j;
    }
}

static void finish(struct ordering *w) {
    free(w->at);
    free(w->place);
    free(w->before_once);
    free(w->after_once);
    free(w->last_reader);
    free(w->gain);
    free(w->drop);
    free(w->live);
    free(w->over);
    free(w->new_over);
}

bool rp_order_search(const struct rp_problem *p, const struct rp_order_options *o,
                     uint32_t *order) {
    struct ordering w;
    for (uint32_t i = 0; i < p->n_ops; i++)
        order[i] = i;
    if (p->n_ops < 2)
        return false;
    begin(&w, p, o->seed);
    load(&w, order);
    double given = w.overflow, best = given, hot = HEAT * given / w.n, temperature = hot;
    for (uint64_t moves = 0; w.work < o->work && best > 0; moves++) {
        if (moves % 256 == 0)
            temperature = hot * pow(COOLED, (double)w.work / (double)o->work);
        if (moves % 4096 == 0 && o->stop(o->stop_arg))
            break;
        step(&w, temperature);
        /* Small gains are taken over at the end, when it is cold. */
        if (w.overflow < best * 0.999) {
            best = w.overflow;
            memcpy(order, w.at, w.n * sizeof *order);
        }
    }
    if (w.overflow < best) {
        best = w.overflow;
        memcpy(order, w.at, w.n * sizeof *order);
    }
    finish(&w);
    return best < given;
}
