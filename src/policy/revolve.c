/* revolve: Griewank and Walther, "Algorithm 799: Revolve: An Implementation of
 * Checkpointing for the Reverse or Adjoint Mode of Computational Differentiation", ACM TOMS
 * 26(1), 2000.
 *
 * l steps of a chain are reversed with c checkpoints. While advancing from a stored state,
 * a checkpoint is placed m steps on, where m minimises the number of forward steps (which
 * is binomial):
 *
 *     F(l, c) = min over m of  m + F(l - m, c - 1) + F(m, c),   F(l, 0) = l (l - 1) / 2
 *
 * The part behind the checkpoint is reversed first. Then the checkpoint is free for the
 * part before it.
 *
 * Interpretation: a step is a segment of the forward phase between two cuts (segments.h),
 * and a state is what crosses the cut. Reversing a step means recomputing the rest of the
 * segment and running the backward ops that need it. All steps count as equally long, as in
 * the paper. The number of checkpoints is the largest whose plan fits the budget.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "base/numbers.h"
#include "policy/phases.h"
#include "policy/policy.h"
#include "policy/segments.h"

enum { MAX_STEPS = 160 }; /* the table takes cubic time; longer chains are coarsened */

struct reversal {
    struct rp_segments segments;
    struct rp_schedule *to;
    uint32_t l;      /* steps */
    uint32_t *stage; /* per step: reversal_stage */
    uint32_t *split; /* split[len * (l + 1) + c]: the best m */
};

/* Computes F and its minimising m for all lengths and numbers of checkpoints. */
static void fill_splits(struct reversal *v) {
    uint32_t w = v->l + 1;
    uint64_t *f = rp_calloc((size_t)w * w, sizeof *f);
    for (uint32_t len = 2; len <= v->l; len++)
        f[len * w] = (uint64_t)len * (len - 1) / 2;
    for (uint32_t c = 1; c <= v->l; c++)
        for (uint32_t len = 2; len <= v->l; len++) {
            uint64_t best = UINT64_MAX;
            for (uint32_t m = 1; m < len; m++) {
                uint64_t steps = m + f[(len - m) * w + c - 1] + f[m * w + c];
                if (steps < best) {
                    best = steps;
                    v->split[len * w + c] = m;
                }
            }
            f[len * w + c] = best;
        }
    free(f);
}

/* The backward stage in which the reversal of step k begins: it recomputes the step, or
 * reads the state before it. n_ops if it does neither. */
static uint32_t reversal_stage(const struct reversal *v, uint32_t k) {
    const struct rp_segments *s = &v->segments;
    const struct rp_instance *p = s->p;
    uint32_t stage = s->backward_stage[k];
    for (uint32_t x = 0; k > 0 && x < p->n_tensors && p->producer[x] < s->n_forward; x++) {
        uint32_t need = rp_backward_need(p, s->n_forward, x);
        if (s->segment_of[p->producer[x]] == k - 1 && need != RP_NONE &&
            rp_forward_last(p, s->n_forward, x) >= s->cuts->end[k - 1])
            stage = rp_min_u32(stage, need);
    }
    return stage;
}

/* Reverses steps lo .. hi-1 with c checkpoints; the state before lo is stored. The sweep
 * that advances over them happens in stage `now` (0: it is the forward phase itself). */
static void reverse(struct reversal *v, uint32_t lo, uint32_t hi, uint32_t c,
                    uint32_t now) {
    const uint32_t n_ops = v->segments.p->n_ops;
    while (hi - lo >= 2 && c > 0) {
        uint32_t mid = lo + v->split[(hi - lo) * (v->l + 1) + c];
        uint32_t k = mid, stage;
        while (k + 1 < v->l && v->stage[k] == n_ops)
            k++;
        stage = v->stage[k];
        if (stage < n_ops && stage > now)
            rp_segments_hold_cut(&v->segments, v->to, mid - 1, now == 0 ? 0 : now + 1,
                                 stage);
        reverse(v, mid, hi, c - 1, now);
        for (k = mid - 1; k > 0 && v->stage[k] == n_ops;)
            k--;
        now = v->stage[k] < n_ops ? v->stage[k] : now;
        hi = mid;
    }
}

static struct rp_cost with_checkpoints(struct reversal *v, uint32_t c) {
    rp_segments_base(&v->segments, v->to);
    reverse(v, 0, v->l, c, 0);
    return rp_schedule_cost_until(v->segments.p, v->to, v->segments.stop);
}

/* Sets v->to to the schedule with the most checkpoints that fits, or with none. */
static void fit_checkpoints(struct reversal *v) {
    uint32_t min = 0, max = v->l; /* `min` checkpoints fit, or min is 0 */
    while (min < max && !rp_stop_after(v->segments.stop, 0)) {
        uint32_t mid = min + (max - min + 1) / 2;
        struct rp_cost c = with_checkpoints(v, mid);
        if (c.sound && c.peak_bytes <= v->segments.p->limit_bytes)
            min = mid;
        else
            max = mid - 1;
    }
    with_checkpoints(v, min);
}

/* Keeps every k-th cut, so that at most MAX_STEPS steps remain. */
static void coarsen(struct rp_cuts *cuts) {
    uint32_t k = (cuts->n + MAX_STEPS - 1) / MAX_STEPS, n = 0;
    for (uint32_t i = 0; i < cuts->n; i++)
        if ((cuts->n - 1 - i) % k == 0)
            cuts->end[n++] = cuts->end[i];
    cuts->n = n;
}

static void record(const struct rp_instance *p, const struct rp_policy_options *o,
                   struct rp_recorder *r) {
    (void)o;
    uint32_t n_forward = rp_forward_ops(p);
    struct rp_cuts steps;
    struct rp_schedule s;
    rp_cuts_init(p, n_forward, &steps);
    coarsen(&steps);
    rp_schedule_keep_all(p, &s);
    if (rp_schedule_cost(p, &s).peak_bytes > p->limit_bytes && steps.n > 0) {
        struct reversal v = {.to = &s, .l = steps.n};
        rp_segments_init(p, n_forward, &steps, r->stop, &v.segments);
        v.split = rp_calloc((size_t)(v.l + 1) * (v.l + 1), sizeof *v.split);
        v.stage = rp_calloc(v.l, sizeof *v.stage);
        for (uint32_t k = 0; k < v.l; k++)
            v.stage[k] = reversal_stage(&v, k);
        fill_splits(&v);
        fit_checkpoints(&v);
        free(v.split);
        free(v.stage);
        rp_segments_fini(&v.segments);
    }
    rp_recorder_schedule(r, &s);
    rp_schedule_fini(&s);
    rp_cuts_fini(&steps);
}

const struct rp_policy rp_policy_revolve = {
    .name = "revolve",
    .summary = "binomial checkpointing (Griewank and Walther 2000)",
    .record = record,
    .fits_budget = true,
    .slow = true,
    .makes_schedule = true,
    .may_recompute = true,
};
