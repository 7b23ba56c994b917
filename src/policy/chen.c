/* chen-sqrt and chen-greedy: Chen, Xu, Zhang and Guestrin, "Training Deep Nets with
 * Sublinear Memory Cost", arXiv 1604.06174 (2016).
 *
 * The forward phase is divided into segments. Only what crosses their borders is kept. When
 * the backward phase comes to a segment, the rest of it is recomputed, all at once (section
 * 3), and held until it has been used.
 *
 * chen-sqrt: sqrt(n) segments of the n candidates for a border (section 4.1; "the memory
 * cost is O(sqrt(n))").
 * chen-greedy: algorithm 3. Sizes are added up along the network. The first candidate at
 * which the sum has passed b ends a segment. The paper searches b around sqrt(x y). Here b
 * runs over a grid, and the fastest plan that fits the budget is taken.
 *
 * Interpretation: the paper's networks are chains (or "the user gives C", the candidates).
 * Here the candidates are the cuts of segments.h, and everything that crosses one is kept.
 */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "policy/chen.h"
#include "policy/phases.h"
#include "policy/policy.h"
#include "policy/segments.h"

/* Keeps what crosses a cut from its making until the segment after the cut is recomputed.
 */
static void hold_borders(const struct rp_segments *s, struct rp_schedule *to) {
    for (uint32_t k = 0; k + 1 < s->cuts->n; k++) {
        uint32_t stage = s->backward_stage[k + 1];
        if (stage < s->p->n_ops)
            rp_segments_hold_cut(s, to, k, 0, stage);
    }
}

/* The paper's mirror keeps borders to their own last need as well. */
static void hold_to_last_need(const struct rp_segments *s, struct rp_schedule *to) {
    const struct rp_instance *p = s->p;
    for (uint32_t x = 0; x < p->n_tensors && p->producer[x] < s->n_forward &&
                         !rp_stop_after(s->stop, p->n_ops);
         x++) {
        uint32_t k = s->segment_of[p->producer[x]];
        if (rp_forward_last(p, s->n_forward, x) >= s->cuts->end[k])
            rp_schedule_set(to, x, p->producer[x] + 1, rp_instance_last_need(p, x), true);
    }
}

static void build(const struct rp_instance *p, uint32_t n_forward,
                  const struct rp_cuts *cuts, struct rp_stop *stop,
                  struct rp_schedule *to) {
    struct rp_segments s;
    rp_segments_init(p, n_forward, cuts, stop, &s);
    rp_segments_base(&s, to);
    hold_borders(&s, to);
    hold_to_last_need(&s, to);
    rp_segments_fini(&s);
}

/* Takes, of all candidates, those nearest to the ends of n equal shares; n is at most their
 * number. */
static void pick_evenly(const struct rp_cuts *all, uint32_t n, struct rp_cuts *cuts) {
    cuts->n = 0;
    for (uint32_t k = 1; k <= n; k++)
        cuts->end[cuts->n++] = all->end[(uint64_t)all->n * k / n - 1];
}

/* Algorithm 3 with parameter b. */
static void pick_by_size(const struct rp_instance *p, const struct rp_cuts *all, uint64_t b,
                         struct rp_cuts *cuts) {
    uint64_t sum = 0;
    cuts->n = 0;
    for (uint32_t k = 0, i = 0; k < all->n; k++) {
        for (; i < all->end[k]; i++)
            for (uint32_t x = p->output_start[i]; x < p->output_start[i + 1]; x++)
                sum += p->bytes[x];
        if (sum > b || k + 1 == all->n) {
            cuts->end[cuts->n++] = all->end[k];
            sum = 0;
        }
    }
}

void rp_chen_sqrt_schedule(const struct rp_instance *p, struct rp_stop *stop,
                           struct rp_schedule *s) {
    uint32_t n_forward = rp_forward_ops(p);
    struct rp_cuts all, cuts;
    rp_cuts_init(p, n_forward, &all);
    rp_cuts_init(p, n_forward, &cuts);
    pick_evenly(&all, (uint32_t)lround(sqrt(all.n)), &cuts);
    build(p, n_forward, &cuts, stop, s);
    rp_cuts_fini(&cuts);
    rp_cuts_fini(&all);
}

static void record_sqrt(const struct rp_instance *p, const struct rp_policy_options *o,
                        struct rp_recorder *r) {
    (void)o;
    struct rp_schedule s;
    rp_schedule_empty(p, &s);
    rp_chen_sqrt_schedule(p, r->stop, &s);
    rp_recorder_schedule(r, &s);
    rp_schedule_fini(&s);
}

/* What fits is better than what does not. Then time decides, or the peak if neither fits.
 */
static bool is_better(const struct rp_instance *p, const struct rp_cost *a,
                      const struct rp_cost *b) {
    if (!a->sound)
        return false;
    bool a_fits = a->peak_bytes <= p->limit_bytes, b_fits = b->peak_bytes <= p->limit_bytes;
    if (a_fits != b_fits)
        return a_fits;
    return a_fits ? a->time_ns < b->time_ns : a->peak_bytes < b->peak_bytes;
}

/* Time and peak are not monotone in b. So b runs over a grid, each value an eighth above
 * the one before, and the best schedule is taken. Keep-all counts as well. */
static void record_greedy(const struct rp_instance *p, const struct rp_policy_options *o,
                          struct rp_recorder *r) {
    (void)o;
    uint32_t n_forward = rp_forward_ops(p);
    struct rp_cuts all, cuts;
    struct rp_schedule s, best;
    uint64_t sum = 0;
    rp_cuts_init(p, n_forward, &all);
    rp_cuts_init(p, n_forward, &cuts);
    rp_schedule_empty(p, &s);
    rp_schedule_keep_all(p, &best);
    for (uint32_t x = 0; x < p->n_tensors; x++)
        sum += p->producer[x] < n_forward ? p->bytes[x] : 0;
    struct rp_cost best_cost = rp_schedule_cost(p, &best);
    for (double b = (double)sum / 4096; b < (double)sum && !rp_stop_after(r->stop, 0);
         b *= 1.125) {
        pick_by_size(p, &all, (uint64_t)b, &cuts);
        build(p, n_forward, &cuts, r->stop, &s);
        struct rp_cost cost = rp_schedule_cost_until(p, &s, r->stop);
        if (is_better(p, &cost, &best_cost)) {
            best_cost = cost;
            rp_schedule_copy(&best, &s);
        }
    }
    rp_recorder_schedule(r, &best);
    rp_schedule_fini(&s);
    rp_schedule_fini(&best);
    rp_cuts_fini(&cuts);
    rp_cuts_fini(&all);
}

const struct rp_policy rp_policy_chen_sqrt = {
    .name = "chen-sqrt",
    .summary = "sqrt(n) segments recomputed (Chen et al. 2016)",
    .record = record_sqrt,
    .makes_schedule = true,
    .may_recompute = true,
};

const struct rp_policy rp_policy_chen_greedy = {
    .name = "chen-greedy",
    .summary = "segments of about equal size recomputed, to fit (Chen et al. 2016)",
    .record = record_greedy,
    .fits_budget = true,
    .slow = true,
    .makes_schedule = true,
    .may_recompute = true,
};
