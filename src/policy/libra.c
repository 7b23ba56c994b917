/* libra: the hybrid of recomputation and swapping of that name, after a short description
 * of it. It profiles the peak and estimates, for each tensor alive there, how much memory
 * it gives back. It recomputes first. Where recomputing a tensor makes a new peak itself,
 * the tensor is swapped instead. Greedy refinement follows until the budget holds.
 *
 * Interpretation: candidates are taken by recomputation time per byte, the smallest first.
 * If tensors are recomputed in the fullest stage, they made a new peak, and the largest of
 * them is swapped. Refinement goes over what was given up, the most expensive first, and
 * keeps again what the budget has room for after all. `no-refinement` leaves that out.
 */
#include <stddef.h>
#include <stdlib.h>

#include "base/mem.h"
#include "policy/interval_steps.h"
#include "policy/intervals.h"
#include "policy/policy.h"

static const struct rp_policy_option option_table[] = {
    {"no-refinement", RP_POLICY_FLAG, NULL, "keep nothing again that was given up",
     offsetof(struct rp_policy_options, libra_no_refinement), false},
    {0},
};

enum {
    MAX_STAGES = 2000000, /* recorded in all, by each of the two loops */
    NS_PER_CLOSURE = 2000 /* about, of rp_recompute_ns */
};

struct libra {
    const struct rp_instance *p;
    struct rp_recorder *r;
    struct rp_interval_actions a;
    uint64_t *peak;       /* per stage, bytes */
    uint32_t *first_need; /* per interval: rp_interval_steps_first_needs */
};

static void record_steps(struct libra *w) {
    rp_interval_steps_record_scheduled(&w->a, w->r, w->first_need, w->peak);
}

/* Swaps the largest tensor that is recomputed in stage t. False if there is none. */
static bool swap_recomputed(struct libra *w, uint32_t t) {
    const struct rp_instance *p = w->p;
    uint32_t best = RP_NONE;
    uint64_t max_bytes = 0;
    for (uint32_t x = 0; x < p->n_tensors && rp_may_swap(p); x++) {
        uint32_t e = rp_interval_ending_from(p, x, t);
        if (e == p->reader_start[x + 1] || w->a.action[e] != RP_INTERVAL_RECOMPUTE ||
            w->first_need[e] != t || p->bytes[x] <= max_bytes)
            continue;
        best = e;
        max_bytes = p->bytes[x];
    }
    if (best != RP_NONE)
        w->a.action[best] = RP_INTERVAL_SWAP;
    return best != RP_NONE;
}

/* Lists the kept intervals over stage t by recomputation time per byte, the smallest first.
 */
static void list_kept(const struct libra *w, uint32_t t, struct rp_intervals *intervals) {
    const struct rp_instance *p = w->p;
    intervals->n = 0;
    for (uint32_t x = 0; x < p->n_tensors && p->producer[x] < t; x++) {
        if (rp_stop_after(w->r->stop, NS_PER_CLOSURE))
            break;
        uint32_t e = rp_interval_ending_from(p, x, t + 1);
        if (e == p->reader_start[x + 1] || p->bytes[x] == 0 || p->pinned[x] ||
            w->a.action[e] != RP_INTERVAL_KEEP || !rp_interval_covers(p, x, e, t))
            continue;
        uint64_t ns = rp_recompute_ns(p, &w->a, x, e);
        if (ns == UINT64_MAX && !rp_may_swap(p))
            continue;
        struct rp_interval interval = {
            .x = x, .e = e, .key = (double)ns / (double)p->bytes[x]};
        rp_push(intervals, interval);
    }
    rp_intervals_sort(intervals);
}

/* Recomputes or swaps enough to bring the fullest stage to the limit, by estimate. What it
 * gives up goes into `given`. False: there is nothing left to give up. */
static bool give_up(struct libra *w, struct rp_intervals *intervals,
                    struct rp_intervals *given) {
    uint32_t t = rp_fullest_stage(w->p, w->peak);
    uint64_t excess = w->peak[t] - w->p->limit_bytes, saved = 0;
    if (swap_recomputed(w, t))
        return true;
    list_kept(w, t, intervals);
    for (size_t k = 0;
         k < intervals->n && saved < excess && !rp_stop_after(w->r->stop, NS_PER_CLOSURE);
         k++) {
        struct rp_interval interval = intervals->at[k];
        bool possible = rp_recompute_ns(w->p, &w->a, interval.x, interval.e) != UINT64_MAX;
        /* What was given up just now can have made its closure too long. */
        if (!possible && !rp_may_swap(w->p))
            continue;
        w->a.action[interval.e] = possible ? RP_INTERVAL_RECOMPUTE : RP_INTERVAL_SWAP;
        interval.key = -interval.key * (double)w->p->bytes[interval.x];
        rp_push(given, interval);
        saved += w->p->bytes[interval.x];
    }
    return saved > 0;
}

/* Keeps again, one by one, what fits after all and does not cost time. */
static void refine(struct libra *w, struct rp_intervals *given) {
    uint64_t time = rp_recorder_end_ns(w->r);
    size_t max_tries = MAX_STAGES / (w->p->n_ops + 1) + 1;
    bool changed = false;
    rp_intervals_sort(given);
    for (size_t k = 0; k < given->n && k < max_tries && !rp_stop_after(w->r->stop, 0);
         k++) {
        uint8_t was = w->a.action[given->at[k].e];
        w->a.action[given->at[k].e] = RP_INTERVAL_KEEP;
        record_steps(w);
        changed = w->r->peak_bytes > w->p->limit_bytes || rp_recorder_end_ns(w->r) > time;
        if (changed)
            w->a.action[given->at[k].e] = was;
        else
            time = rp_recorder_end_ns(w->r);
    }
    if (changed)
        record_steps(w);
}

static void record(const struct rp_instance *p, const struct rp_policy_options *o,
                   struct rp_recorder *r) {
    struct libra w = {.p = p, .r = r};
    struct rp_intervals intervals = {0}, given = {0};
    rp_interval_actions_init(p, &w.a);
    w.peak = rp_calloc((size_t)p->n_ops + 1, sizeof *w.peak);
    w.first_need = rp_calloc(rp_n_intervals(p), sizeof *w.first_need);
    rp_interval_steps_record(&w.a, r, w.peak);
    bool too_large = r->peak_bytes > p->limit_bytes;
    for (size_t k = 0; r->peak_bytes > p->limit_bytes; k++) {
        if (rp_stop_after(r->stop, 0) || k > MAX_STAGES / (p->n_ops + 1) ||
            !give_up(&w, &intervals, &given))
            break;
        record_steps(&w);
    }
    if (too_large && !o->libra_no_refinement && r->peak_bytes <= p->limit_bytes)
        refine(&w, &given);
    free(intervals.at);
    free(given.at);
    free(w.peak);
    free(w.first_need);
    rp_interval_actions_fini(&w.a);
}

const struct rp_policy rp_policy_libra = {
    .name = "libra",
    .summary = "recompute first, swap where that makes a peak",
    .record = record,
    .fits_budget = true,
    .may_recompute = true,
    .may_swap = true,
    .options = option_table,
};
