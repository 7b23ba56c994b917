/* capuchin: Peng et al., "Capuchin: Tensor-based GPU Memory Management for Deep Learning",
 * ASPLOS 2020.
 *
 * One measured step gives the accesses of each tensor. The free time FT of two consecutive
 * accesses across the peak is the time between them minus the copies out and in. Tensors
 * with FT >= 0 are swapped, the largest FT first, since that costs nothing. Then, one at a
 * time, tensors are swapped (which costs -FT) or recomputed (which costs the closure's
 * time), whichever is cheaper, by memory saved per second, MSPS (section 4.4, algorithms 1
 * and 2), until the required memory is saved. A swap-in is triggered ahead of the access by
 * the time it takes; feedback moves the trigger (section 4.5).
 *
 * Interpretation: a copy out must be done when the peak comes, and a copy in cannot begin
 * before the peak is over. Copies that were decided on earlier are ahead in the queues.
 * What does not fit beside them is exposed. Instead of feedback from running, triggers are
 * computed (rp_interval_actions_schedule_swap_ins). Costs are on the clock of first runs.
 */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "policy/interval_steps.h"
#include "policy/intervals.h"
#include "policy/policy.h"

enum { NS_PER_SWAP = 50 }; /* about, of one estimate of free time */

struct capuchin {
    const struct rp_instance *p;
    struct rp_recorder *r;
    struct rp_interval_actions a;
    double *start;             /* per stage, and the end; ns */
    struct rp_intervals swaps; /* decided on so far */
    uint64_t *peak;            /* per stage, bytes */
    uint32_t *first_need;      /* per interval: rp_interval_steps_first_needs */
};

static int by_begin(const void *a, const void *b) {
    const struct rp_interval *g = a, *h = b;
    return (g->begin > h->begin) - (g->begin < h->begin);
}

static int by_use_backwards(const void *a, const void *b) {
    const struct rp_interval *g = a, *h = b;
    return (g->use < h->use) - (g->use > h->use);
}

/* The time left between stage t and the copies of all swaps over it, with `interval`.
 * Copies out must end before the stage, and copies in must begin after it. Negative: by how
 * much they fail to. */
static double slack_at(const struct capuchin *w, const struct rp_interval *interval,
                       uint32_t t) {
    struct rp_intervals all = {0};
    double out = 0, in = w->start[w->p->n_ops];
    for (size_t k = 0; k < w->swaps.n; k++)
        if (w->swaps.at[k].begin < t && t < w->swaps.at[k].use)
            rp_push(&all, w->swaps.at[k]);
    rp_push(&all, *interval);
    qsort(all.at, all.n, sizeof *all.at, by_begin);
    for (size_t k = 0; k < all.n; k++)
        out = fmax(out, w->start[all.at[k].begin + 1]) +
              (double)rp_swap_out_ns(w->p, all.at[k].x);
    qsort(all.at, all.n, sizeof *all.at, by_use_backwards);
    for (size_t k = 0; k < all.n; k++)
        in = fmin(in, w->start[all.at[k].use]) - (double)rp_swap_in_ns(w->p, all.at[k].x);
    free(all.at);
    return fmin(w->start[t] - out, in - w->start[t + 1]);
}

/* The paper's FT in ns: the time between the two uses minus the copies, or less if the link
 * has other work around stage t. Negative: that much is exposed. */
static double free_time(const struct capuchin *w, const struct rp_interval *interval,
                        uint32_t t) {
    double from = w->start[interval->begin + 1], until = w->start[interval->use];
    double copies = (double)rp_swap_out_ns(w->p, interval->x) +
                    (double)rp_swap_in_ns(w->p, interval->x);
    double own = until - from - copies, slack = slack_at(w, interval, t);
    return slack < 0 ? fmin(own, slack) : own;
}

/* Lists the kept intervals over stage t, the cheapest first, and the best action for each.
 * The key is ns per byte or, where swapping is free, minus the free time. */
static void list_candidates(const struct capuchin *w, uint32_t t,
                            struct rp_intervals *intervals, uint8_t *best) {
    const struct rp_instance *p = w->p;
    intervals->n = 0;
    for (uint32_t x = 0; x < p->n_tensors && p->producer[x] < t; x++) {
        if (rp_stop_after(w->r->stop, NS_PER_SWAP * w->swaps.n))
            break;
        uint32_t e = rp_interval_ending_from(p, x, t + 1);
        if (e == p->reader_start[x + 1] || p->bytes[x] == 0 || p->pinned[x] ||
            w->a.action[e] != RP_INTERVAL_KEEP || !rp_interval_covers(p, x, e, t))
            continue;
        struct rp_interval interval = rp_interval_of(p, x, e);
        uint64_t ns = rp_recompute_ns(p, &w->a, x, e);
        double recompute = ns == UINT64_MAX ? INFINITY : (double)ns;
        double ft = rp_may_swap(p) ? free_time(w, &interval, t) : -INFINITY;
        best[e] = ft >= 0 || -ft < recompute ? RP_INTERVAL_SWAP : RP_INTERVAL_RECOMPUTE;
        if (isinf(ft) && isinf(recompute))
            continue;
        interval.key = ft >= 0 ? -ft : fmin(-ft, recompute) / (double)p->bytes[x];
        rp_push(intervals, interval);
    }
    rp_intervals_sort(intervals);
}

/* Swaps or recomputes as many bytes as stage t is over the limit. False if there is no
 * candidate left. */
static bool save(struct capuchin *w, uint32_t t, struct rp_intervals *intervals,
                 uint8_t *best) {
    uint64_t excess = w->peak[t] - w->p->limit_bytes, saved = 0;
    list_candidates(w, t, intervals, best);
    for (size_t k = 0; k < intervals->n && saved < excess &&
                       !rp_stop_after(w->r->stop, NS_PER_SWAP * w->swaps.n);
         k++) {
        const struct rp_interval *interval = &intervals->at[k];
        /* The swaps just chosen have used up this one's free time; it gets a new estimate
         * in the next turn. */
        if (best[interval->e] == RP_INTERVAL_SWAP && interval->key <= 0 && saved > 0 &&
            free_time(w, interval, t) < 0)
            continue;
        w->a.action[interval->e] = best[interval->e];
        if (best[interval->e] == RP_INTERVAL_SWAP)
            rp_push(&w->swaps, *interval);
        saved += w->p->bytes[interval->x];
    }
    return saved > 0;
}

static void record(const struct rp_instance *p, const struct rp_policy_options *o,
                   struct rp_recorder *r) {
    enum { MAX_TURNS = 400 };
    struct capuchin w = {.p = p, .r = r};
    struct rp_intervals intervals = {0};
    uint8_t *best = rp_calloc(rp_n_intervals(p), sizeof *best);
    (void)o;
    rp_interval_actions_init(p, &w.a);
    w.start = rp_calloc((size_t)p->n_ops + 1, sizeof *w.start);
    w.peak = rp_calloc((size_t)p->n_ops + 1, sizeof *w.peak);
    w.first_need = rp_calloc(rp_n_intervals(p), sizeof *w.first_need);
    for (uint32_t i = 0; i < p->n_ops; i++)
        w.start[i + 1] = w.start[i] + (double)p->time_ns[i];
    rp_interval_steps_record(&w.a, r, w.peak);
    for (int k = 0; k < MAX_TURNS && r->peak_bytes > p->limit_bytes; k++) {
        if (rp_stop_after(r->stop, 0) ||
            !save(&w, rp_fullest_stage(p, w.peak), &intervals, best))
            break;
        rp_interval_steps_record_scheduled(&w.a, r, w.first_need, w.peak);
    }
    free(intervals.at);
    free(best);
    free(w.start);
    free(w.swaps.at);
    free(w.peak);
    free(w.first_need);
    rp_interval_actions_fini(&w.a);
}

const struct rp_policy rp_policy_capuchin = {
    .name = "capuchin",
    .summary = "swap if it hides, else recompute by MSPS (Peng et al. 2020)",
    .record = record,
    .fits_budget = true,
    .may_recompute = true,
    .may_swap = true,
};
