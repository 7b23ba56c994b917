/* chen-sqrt and chen-greedy: Chen, Xu, Zhang and Guestrin, "Training Deep Nets with
 * Sublinear Memory Cost", arXiv 1604.06174 (2016).
 *
 * The forward phase is divided into segments. Only what crosses their borders is kept;
 * when the backward phase comes to a segment, the rest of it is made again, all at once
 * (section 3), and held until it has been used.
 *
 * chen-sqrt: sqrt(n) segments of the n candidates for a border (section 4.1; "the memory
 * cost is O(sqrt(n))").
 * chen-greedy: algorithm 3. Sizes are added up along the network, and the first candidate
 * at which the sum has passed b ends a segment. The paper searches b around sqrt(x y);
 * here b runs over a grid and the fastest plan that fits the budget is taken.
 *
 * Interpretation: the paper's networks are chains (or "the user gives C", the candidates).
 * For branches a candidate is any position where not more tensors cross than at its
 * neighbours (phases.h), and all that crosses is kept.
 */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "policy/policy.h"
#include "policy/segments.h"

/* Keeps what crosses each cut from its making to where the segment after it is made again.
 */
static void hold_borders(const struct rp_segmented *s, struct rp_schedule *to) {
    for (uint32_t k = 0; k + 1 < s->cuts->n; k++) {
        uint32_t turn = s->turn[k + 1];
        if (turn < s->p->n_ops)
            rp_segmented_hold(s, to, k, 0, turn);
    }
}

/* Kept borders are what the paper's mirror keeps: to their own last need as well. */
static void hold_to_last_need(const struct rp_segmented *s, struct rp_schedule *to) {
    const struct rp_instance *p = s->p;
    for (uint32_t x = 0; x < p->n_tensors && p->producer[x] < s->n_forward; x++) {
        uint32_t k = s->segment_of[p->producer[x]];
        if (k + 1 < s->cuts->n && rp_forward_last(p, s->n_forward, x) >= s->cuts->end[k])
            rp_schedule_set(to, x, p->producer[x] + 1, rp_instance_last_need(p, x), true);
    }
}

static void build(const struct rp_instance *p, uint32_t n_forward,
                  const struct rp_segments *cuts, struct rp_schedule *to) {
    struct rp_segmented s;
    rp_segmented_init(p, n_forward, cuts, &s);
    rp_segmented_base(&s, to);
    hold_borders(&s, to);
    hold_to_last_need(&s, to);
    rp_segmented_fini(&s);
}

/* Of the candidates `all`, the ones nearest to the ends of n equal shares. */
static void pick_evenly(const struct rp_segments *all, uint32_t n,
                        struct rp_segments *cuts) {
    cuts->n = 0;
    for (uint32_t k = 1; k <= n; k++) {
        uint32_t i = (uint32_t)((uint64_t)all->n * k / n);
        if (i > 0 && (cuts->n == 0 || all->end[i - 1] > cuts->end[cuts->n - 1]))
            cuts->end[cuts->n++] = all->end[i - 1];
    }
}

/* Algorithm 3 with parameter b. */
static void pick_by_size(const struct rp_instance *p, const struct rp_segments *all,
                         uint64_t b, struct rp_segments *cuts) {
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

void rp_record_chen_sqrt(const struct rp_instance *p, const struct rp_policy_options *o,
                         struct rp_recorder *t) {
    (void)o;
    uint32_t n_forward = rp_forward_ops(p);
    struct rp_segments all, cuts;
    struct rp_schedule s;
    rp_segments_init(p, n_forward, &all);
    rp_segments_init(p, n_forward, &cuts);
    rp_schedule_empty(p, &s);
    pick_evenly(&all, (uint32_t)lround(sqrt(all.n)), &cuts);
    build(p, n_forward, &cuts, &s);
    rp_recorder_schedule(t, &s);
    rp_schedule_fini(&s);
    rp_segments_fini(&cuts);
    rp_segments_fini(&all);
}

/* Time and peak are no monotone functions of b, so b runs over a grid, each an eighth more
 * than the one before, and the fastest schedule that fits is taken; the smallest if none
 * does. A plan without any recomputation counts as well. */
void rp_record_chen_greedy(const struct rp_instance *p, const struct rp_policy_options *o,
                           struct rp_recorder *t) {
    (void)o;
    uint32_t n_forward = rp_forward_ops(p);
    struct rp_segments all, cuts;
    struct rp_schedule s, best;
    uint64_t sum = 0;
    rp_segments_init(p, n_forward, &all);
    rp_segments_init(p, n_forward, &cuts);
    rp_schedule_empty(p, &s);
    rp_schedule_keep_all(p, &best);
    for (uint32_t x = 0; x < p->n_tensors; x++)
        sum += p->producer[x] < n_forward ? p->bytes[x] : 0;
    struct rp_cost least = rp_schedule_cost(p, &best);
    for (double b = (double)sum / 4096; b < (double)sum; b *= 1.125) {
        pick_by_size(p, &all, (uint64_t)b, &cuts);
        build(p, n_forward, &cuts, &s);
        struct rp_cost c = rp_schedule_cost(p, &s);
        bool fits = c.peak_bytes <= p->limit_bytes,
             fitted = least.peak_bytes <= p->limit_bytes;
        if (fits != fitted ? fits
            : fits         ? c.time_ns < least.time_ns
                           : c.peak_bytes < least.peak_bytes) {
            least = c;
            rp_schedule_copy(&best, &s);
        }
    }
    rp_recorder_schedule(t, &best);
    rp_schedule_fini(&s);
    rp_schedule_fini(&best);
    rp_segments_fini(&cuts);
    rp_segments_fini(&all);
}
