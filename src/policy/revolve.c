/* revolve: Griewank and Walther, "Algorithm 799: Revolve: An Implementation of
 * Checkpointing for the Reverse or Adjoint Mode of Computational Differentiation", ACM TOMS
 * 26(1), 2000.
 *
 * l steps of a chain are to be reversed with c checkpoints. Advancing from a stored state,
 * a checkpoint is placed m steps on, where m is such that the forward steps
 *
 *     F(l, c) = min over m of  m + F(l - m, c - 1) + F(m, c),   F(l, 0) = l (l - 1) / 2
 *
 * are least (their number is binomial); the part behind it is reversed first, then the
 * checkpoint is free for the part before it.
 *
 * Interpretation: a step is a segment of the forward phase between two cuts (phases.h), a
 * state is what crosses the cut, and reversing a step is making the rest of the segment
 * again and going through the backward ops that need it. All steps count as equally long,
 * as in the paper. The number of checkpoints is the largest whose plan fits the budget.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "policy/policy.h"
#include "policy/segments.h"

enum { MAX_STEPS = 160 }; /* the table is cubic in time; longer chains are coarsened */

struct reversing {
    struct rp_segmented seg;
    struct rp_schedule *to;
    uint32_t l;      /* steps */
    uint32_t *split; /* split[len * (l + 1) + c]: m */
};

/* F and its minimizing m for all lengths and numbers of checkpoints. */
static void fill_splits(struct reversing *r) {
    uint32_t w = r->l + 1;
    uint64_t *f = rp_calloc((size_t)w * w, sizeof *f);
    for (uint32_t len = 2; len <= r->l; len++)
        f[len * w] = (uint64_t)len * (len - 1) / 2;
    for (uint32_t c = 1; c <= r->l; c++)
        for (uint32_t len = 2; len <= r->l; len++) {
            uint64_t best = UINT64_MAX;
            for (uint32_t m = 1; m < len; m++) {
                uint64_t steps = m + f[(len - m) * w + c - 1] + f[m * w + c];
                if (steps < best) {
                    best = steps;
                    r->split[len * w + c] = m;
                }
            }
            f[len * w + c] = best;
        }
    free(f);
}

/* Steps lo .. hi-1, the state before lo being there. The sweep that advances over them
 * happens in stage `now` (0: the first runs). */
static void reverse(struct reversing *r, uint32_t lo, uint32_t hi, uint32_t c,
                    uint32_t now) {
    while (hi - lo >= 2 && c > 0) {
        uint32_t mid = lo + r->split[(hi - lo) * (r->l + 1) + c];
        uint32_t turn = r->seg.turn[mid];
        if (turn < r->seg.p->n_ops && turn > now)
            rp_segmented_hold(&r->seg, r->to, mid - 1, now == 0 ? 0 : now + 1, turn);
        reverse(r, mid, hi, c - 1, now);
        now = r->seg.turn[mid - 1] < r->seg.p->n_ops ? r->seg.turn[mid - 1] : now;
        hi = mid;
    }
}

static struct rp_cost with_checkpoints(struct reversing *r, uint32_t c) {
    rp_segmented_base(&r->seg, r->to);
    reverse(r, 0, r->l, c, 0);
    return rp_schedule_cost(r->seg.p, r->to);
}

/* Leaves every k-th cut, so that at most MAX_STEPS steps remain. */
static void coarsen(struct rp_segments *s) {
    uint32_t k = (s->n + MAX_STEPS - 1) / MAX_STEPS, n = 0;
    for (uint32_t i = 0; i < s->n; i++)
        if ((s->n - 1 - i) % (k > 0 ? k : 1) == 0)
            s->end[n++] = s->end[i];
    s->n = n;
}

void rp_record_revolve(const struct rp_instance *p, const struct rp_policy_options *o,
                       struct rp_recorder *t) {
    (void)o;
    uint32_t n_forward = rp_forward_ops(p), least = 0, most;
    struct rp_segments steps;
    struct rp_schedule s;
    struct reversing r = {.to = &s};
    rp_segments_init(p, n_forward, &steps);
    coarsen(&steps);
    rp_schedule_keep_all(p, &s);
    struct rp_cost all = rp_schedule_cost(p, &s);
    if (all.peak_bytes > p->limit_bytes && steps.n > 0) {
        rp_segmented_init(p, n_forward, &steps, &r.seg);
        r.l = most = steps.n;
        r.split = rp_calloc((size_t)(r.l + 1) * (r.l + 1), sizeof *r.split);
        fill_splits(&r);
        while (least < most) { /* the plan with `least` checkpoints fits, or least is 0 */
            uint32_t mid = least + (most - least + 1) / 2;
            if (with_checkpoints(&r, mid).peak_bytes <= p->limit_bytes)
                least = mid;
            else
                most = mid - 1;
        }
        with_checkpoints(&r, least);
        free(r.split);
        rp_segmented_fini(&r.seg);
    }
    rp_recorder_schedule(t, &s);
    rp_schedule_fini(&s);
    rp_segments_fini(&steps);
}
