/* alibaba: Meng, Sun, Yang, Qiu and Gu, "Training Deeper Models by GPU Memory Optimization
 * on TensorFlow", ML Systems Workshop at NIPS 2017.
 *
 * Feature maps that the backward phase refers to are swapped out once the references of the
 * forward phase are done (the reference count says so). They are swapped in just ahead of
 * their first backward use, by a control edge from an op that runs shortly before it. Those
 * whose two uses are farthest apart go first. In sequence-to-sequence models the
 * attention's scores, and what they are made of, are not stored but recomputed in the
 * backward phase ("memory-efficient attention").
 *
 * Interpretation: distance is the number of ops between the two uses. As many feature maps
 * are swapped as the budget needs. The trigger is the last op that leaves enough time for
 * the copy and for those that follow it on the link. Attention is recognised by its shape:
 * a softmax in the forward phase, up to three ops before it that have one forward reader
 * and read no parameters, and an op that reads it and is not a matrix product.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "base/numbers.h"
#include "policy/interval_steps.h"
#include "policy/intervals.h"
#include "policy/phases.h"
#include "policy/policy.h"

struct alibaba {
    const struct rp_instance *p;
    struct rp_recorder *r;
    uint32_t n_forward;
    struct rp_interval_actions a;
    struct rp_intervals intervals; /* that may be swapped, farthest apart first */
    uint32_t *first_need;          /* per interval: rp_interval_steps_first_needs */
};

static bool reads_parameter(const struct rp_instance *p, uint32_t op) {
    const struct rp_op *o = &p->graph->ops[p->op_of[op]];
    for (uint32_t k = 0; k < o->n_inputs; k++)
        if (p->graph->tensors[o->inputs[k]].kind == RP_PARAMETER)
            return true;
    return false;
}

/* x, which a forward op reads, is read by no other forward op. */
static bool has_one_forward_reader(const struct rp_instance *p, uint32_t n_forward,
                                   uint32_t x) {
    uint32_t second = p->reader_start[x] + 1;
    return second == p->reader_start[x + 1] || p->readers[second] >= n_forward;
}

/* Marks what op i reads, and what that is made of, up to `depth` ops back. */
static void mark_before(const struct alibaba *w, uint32_t i, int depth, bool *attention) {
    const struct rp_instance *p = w->p;
    for (uint32_t k = p->input_start[i]; k < p->input_start[i + 1] && depth > 0; k++) {
        uint32_t x = p->inputs[k], j = p->producer[x];
        if (!has_one_forward_reader(p, w->n_forward, x) || reads_parameter(p, j) ||
            p->output_start[j + 1] - p->output_start[j] > 1)
            continue;
        attention[x] = true;
        mark_before(w, j, depth - 1, attention);
    }
}

static void mark_attention(const struct alibaba *w, bool *attention) {
    const struct rp_instance *p = w->p;
    for (uint32_t i = 0; i < w->n_forward; i++) {
        if (!rp_is_softmax(p, i))
            continue;
        mark_before(w, i, 3, attention);
        for (uint32_t x = p->output_start[i]; x < p->output_start[i + 1]; x++) {
            attention[x] = true;
            uint32_t e = p->reader_start[x];
            if (e == p->reader_start[x + 1] || p->readers[e] >= w->n_forward ||
                rp_is_dense(p, p->readers[e]))
                continue;
            for (uint32_t y = p->output_start[p->readers[e]];
                 y < p->output_start[p->readers[e] + 1]; y++)
                attention[y] = true;
        }
    }
}

/* Holds what attention is recomputed from; that is small. */
static void hold_inputs(struct alibaba *w, const bool *attention) {
    const struct rp_instance *p = w->p;
    /* Per tensor: the last stage in which it, or what attention makes of it, is recomputed.
     */
    uint32_t *use = rp_calloc(p->n_tensors, sizeof *use);
    for (uint32_t x = p->n_tensors; x-- > 0;) {
        uint32_t need = rp_backward_need(p, w->n_forward, x), i = p->producer[x];
        if (!attention[x])
            continue;
        use[x] = need != RP_NONE ? rp_max_u32(need, use[x]) : use[x];
        for (uint32_t k = p->input_start[i]; k < p->input_start[i + 1]; k++) {
            uint32_t y = p->inputs[k];
            use[y] = rp_max_u32(use[x], use[y]);
            if (!attention[y])
                w->a.hold_until[y] = use[y];
        }
    }
    free(use);
}

/* Swaps the k intervals whose ends are farthest apart. */
static void record_swaps(void *arg, uint32_t k) {
    struct alibaba *w = arg;
    for (size_t i = 0; i < w->intervals.n; i++)
        w->a.action[w->intervals.at[i].e] = i < k ? RP_INTERVAL_SWAP : RP_INTERVAL_KEEP;
    rp_interval_steps_record_scheduled(&w->a, w->r, w->first_need, NULL);
}

static void fit(struct alibaba *w) {
    const struct rp_instance *p = w->p;
    struct rp_intervals all = {0};
    bool *attention = rp_calloc(p->n_tensors, sizeof *attention);
    mark_attention(w, attention);
    hold_inputs(w, attention);
    rp_intervals_across_phases(p, w->n_forward, &all);
    for (size_t i = 0; i < all.n; i++) {
        struct rp_interval interval = all.at[i];
        w->a.action[interval.e] =
            attention[interval.x] ? RP_INTERVAL_RECOMPUTE : RP_INTERVAL_KEEP;
        interval.key = -(double)(interval.use - interval.begin);
        w->a.swap_out_stage[interval.x] = interval.begin + 1;
        if (!attention[interval.x])
            rp_push(&w->intervals, interval);
    }
    rp_intervals_sort(&w->intervals);
    rp_min_that_fits((uint32_t)w->intervals.n, record_swaps, w, w->r);
    free(all.at);
    free(attention);
}

static void record(const struct rp_instance *p, const struct rp_policy_options *o,
                   struct rp_recorder *r) {
    struct alibaba w = {.p = p, .r = r, .n_forward = rp_forward_ops(p)};
    (void)o;
    rp_interval_actions_init(p, &w.a);
    rp_interval_steps_record(&w.a, r, NULL);
    if (r->peak_bytes > p->limit_bytes) {
        w.first_need = rp_calloc(rp_n_intervals(p), sizeof *w.first_need);
        fit(&w);
        free(w.intervals.at);
        free(w.first_need);
    }
    rp_interval_actions_fini(&w.a);
}

const struct rp_policy rp_policy_alibaba = {
    .name = "alibaba",
    .summary = "swap distant uses, recompute attention (Meng et al. 2017)",
    .record = record,
    .fits_budget = true,
    .may_recompute = true,
    .may_swap = true,
    .needs_swap = true,
};
