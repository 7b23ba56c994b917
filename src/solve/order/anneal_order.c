#include "solve/order/anneal_order.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "solve/order/run_sequence.h"

/* The price starts where all overflow together costs this share of the step, */
static const double FIRST_PRICE = 0.1;
/* and over the whole run can rise or fall by e to this power. */
static const double PRICE_RATE = 18;
/* The first temperature as a share of the mean op time, the last as one of the first. */
static const double HOT = 10, WARM = 1;
static const double COOLED = 1e-3;

/* Work of a short run, per op, and the share that short runs have of all work. */
static const double SHORT_RUN = 2e4;
static const double SHORT_SHARE = 0.25;

enum { MAX_EDITS = 8 }; /* of one move */

struct edit { /* and what undoes it */
    enum { MOVED, PUT, CUT } kind;
    uint32_t a, b; /* MOVED: from, to; PUT: run; CUT: op, place */
};

struct ordering {
    struct rp_run_sequence s;
    const struct rp_instance *p;
    struct edit edits[MAX_EDITS];
    uint32_t n_edits;
    uint64_t random;
    double price, temperature;
    uint32_t *best; /* ops of the best sequence */
    uint32_t n_best;
    double best_over, best_ns;
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

/* ---- moves ---- */

static void note(struct ordering *w, struct edit e) {
    w->edits[w->n_edits++] = e;
}

/* A random run to a random place it may have, more often a near one. */
static void shift(struct ordering *w) {
    uint32_t from = below(w, w->s.n), low, high, to;
    rp_run_sequence_range(&w->s, w->s.at[from], &low, &high);
    if (below(w, 2)) {
        uint32_t reach = 1 + below(w, 16);
        low = low + reach < from ? from - reach : low;
        high = from + reach < high ? from + reach : high;
    }
    if (low >= high)
        return;
    to = low + below(w, high - low);
    to += to >= from;
    rp_run_sequence_move(&w->s, from, to);
    note(w, (struct edit){MOVED, from, to});
}

/* Runs again, just before or some way before place q, the op that makes x, and by chance
 * what makes its inputs. */
static void remake(struct ordering *w, uint32_t x, uint32_t q, int depth) {
    const struct rp_instance *p = w->p;
    uint32_t j = p->producer[x], maker = rp_run_sequence_maker(&w->s, x, q);
    if (!p->recompute[j] || maker == RP_NONE || w->n_edits == MAX_EDITS)
        return;
    uint32_t after = w->s.place[maker];
    if (q - after < 2)
        return;
    if (below(w, 2) == 0)
        q = after + 2 + below(w, q - after - 1);
    if (!rp_run_sequence_put(&w->s, j, q))
        return;
    uint32_t r = w->s.at[q];
    note(w, (struct edit){PUT, r, 0});
    for (uint32_t k = p->input_start[j]; k < p->input_start[j + 1] && depth > 0; k++)
        if (below(w, 2))
            remake(w, p->inputs[k], w->s.place[r], depth - 1);
}

/* Runs again what a random run reads. */
static void put(struct ordering *w) {
    const struct rp_instance *p = w->p;
    uint32_t q = below(w, w->s.n), j = w->s.op[w->s.at[q]];
    uint32_t n = p->input_start[j + 1] - p->input_start[j];
    if (n > 0)
        remake(w, p->inputs[p->input_start[j] + below(w, n)], q, (int)below(w, 4));
}

/* Leaves out a repeated run. */
static void cut(struct ordering *w) {
    uint32_t n = w->s.n - w->p->n_ops;
    if (n == 0)
        return;
    uint32_t r = w->s.extra[below(w, n)];
    if (!rp_run_sequence_may_cut(&w->s, r))
        return;
    note(w, (struct edit){CUT, w->s.op[r], w->s.place[r]});
    rp_run_sequence_cut(&w->s, r);
}

static void undo(struct ordering *w) {
    while (w->n_edits > 0) {
        const struct edit *e = &w->edits[--w->n_edits];
        if (e->kind == MOVED)
            rp_run_sequence_move(&w->s, e->b, e->a);
        else if (e->kind == PUT)
            rp_run_sequence_cut(&w->s, e->a);
        else
            rp_run_sequence_put(&w->s, e->a, e->b);
    }
}

static void propose(struct ordering *w, bool again) {
    uint32_t die = again ? below(w, 8) : 0;
    w->n_edits = 0;
    w->s.work += 4;
    if (die < 4)
        shift(w);
    else if (die < 6)
        put(w);
    else
        cut(w);
    if (die == 7 && below(w, 2))
        put(w); /* one for another */
}

/* ---- annealing ---- */

static void store_best(struct ordering *w) {
    w->best_over = w->s.overflow;
    w->best_ns = w->s.extra_ns;
    w->n_best = rp_run_sequence_ops(&w->s, w->best);
}

static bool is_best(const struct ordering *w) {
    if (w->s.overflow != w->best_over)
        return w->s.overflow < w->best_over; /* mutation: same */
    return w->s.extra_ns < w->best_ns;
}

static bool is_perfect(const struct ordering *w) {
    return w->best_over <= 0 && w->best_ns <= 0;
}

static void step(struct ordering *w, bool again) {
    double over = w->s.overflow, ns = w->s.extra_ns;
    propose(w, again);
    if (w->n_edits == 0)
        return;
    double change = w->s.extra_ns - ns + w->price * (w->s.overflow - over);
    if (change > -w->temperature * log(1 - unit(w))) /* mutation: same */
        undo(w);
    else if (is_best(w))
        store_best(w);
}

/* The price follows the overflow: up while there is some, down while there is none. */
static void cool(struct ordering *w, double hot, double progress, double before) {
    double rise = PRICE_RATE * (progress - before);
    w->temperature = hot * pow(COOLED, progress);
    w->price *= exp(w->s.overflow > 0 ? rise : -rise);
}

/* One run of the search, until `work` has been done. */
static void anneal(struct ordering *w, const struct rp_anneal_order_options *o, double work,
                   double heat) {
    double mean = (double)w->p->graph->total_time_ns / w->p->n_ops, hot = heat * mean;
    double progress = 0, begun = (double)w->s.work;
    w->price = FIRST_PRICE * mean * w->p->n_ops / (w->s.overflow + 1);
    for (uint64_t moves = 0; progress < 1 && !is_perfect(w); moves++) {
        if (moves % 64 == 0) {
            double now = ((double)w->s.work - begun) / work;
            cool(w, hot, now, progress);
            progress = now;
        }
        if (moves % 4096 == 0 && o->stop(o->stop_arg))
            break;
        step(w, o->again);
    }
}

/* Runs from the problem's order: many short ones, one in two hotter, for a quarter of the
 * work, since most graphs of some hundred ops are done with one of these; then a long one,
 * which larger graphs need. */
static void anneal_again(struct ordering *w, const struct rp_anneal_order_options *o) {
    double all = (double)o->work, run = SHORT_RUN * w->p->n_ops;
    uint64_t n = (uint64_t)(SHORT_SHARE * all / run);
    for (uint64_t k = 0; k <= n && !is_perfect(w) && !o->stop(o->stop_arg); k++) {
        rp_run_sequence_fini(&w->s);
        rp_run_sequence_init(&w->s, w->p, NULL, w->p->n_ops);
        w->random = (o->seed + 16 * k) * 0x9e3779b97f4a7c15u + 0x1234567;
        anneal(w, o, k < n ? run : all - (double)n * run, k < n && k % 2 == 0 ? HOT : WARM);
    }
}

bool rp_anneal_order(const struct rp_instance *p, const struct rp_anneal_order_options *o,
                     struct rp_plan *plan) {
    struct ordering w = {.p = p};
    if (p->n_ops < 2)
        return false;
    rp_run_sequence_init(&w.s, p, NULL, p->n_ops);
    w.best = rp_calloc(w.s.most, sizeof *w.best);
    store_best(&w);
    double over = w.best_over;
    anneal_again(&w, o);
    bool better = w.best_over < over;
    rp_run_sequence_fini(&w.s);
    if (better) {
        rp_run_sequence_init(&w.s, p, w.best, w.n_best);
        rp_run_sequence_steps(&w.s, plan);
        rp_run_sequence_fini(&w.s);
    }
    free(w.best);
    return better;
}
