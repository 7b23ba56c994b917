/* superneurons: Wang et al., "SuperNeurons: Dynamic GPU Memory Management for Training Deep
 * Neural Networks", PPoPP 2018, arXiv 1801.04380.
 *
 * Outputs of the expensive layers are offloaded as they are made and prefetched when the
 * backward phase is at the convolution before (section 3.3.1, "Unified Tensor Pool"). A
 * tensor cache keeps on the device what fits there, so only the least recently used tensors
 * are offloaded after all (section 3.3.2). The cheap layers (activation, normalization,
 * pooling, dropout) are recomputed: all of a segment at once if it takes no more memory
 * than the largest layer, else anew for each use (section 3.4, "Cost-Aware Recomputation").
 *
 * Interpretation: convolutions and matrix products are expensive. A cheap tensor may depend
 * on one that is gone by then, such as a ReLU right after a convolution. It then counts as
 * a checkpoint itself. If keep-all fits the budget, nothing is done.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "policy/interval_steps.h"
#include "policy/intervals.h"
#include "policy/phases.h"
#include "policy/policy.h"

struct superneurons {
    const struct rp_instance *p;
    struct rp_recorder *r;
    uint32_t n_forward;
    struct rp_interval_actions a;
    struct rp_intervals checkpoints; /* in the order in which they are made */
    uint32_t *first_need;            /* per interval: rp_interval_steps_first_needs */
};

/* Lists the checkpoints. The other forward tensors are recomputed. */
static void choose_checkpoints(struct superneurons *w,
                               const struct rp_intervals *intervals) {
    const struct rp_instance *p = w->p;
    /* Per tensor: it is kept, swapped, or cheap to recompute. */
    bool *available = rp_calloc(p->n_tensors, sizeof *available);
    /* Per tensor: 1 + the index of its interval; 0 if it has none. */
    uint32_t *interval_of = rp_calloc(p->n_tensors, sizeof *interval_of);
    for (size_t k = 0; k < intervals->n; k++)
        interval_of[intervals->at[k].x] = (uint32_t)k + 1;
    for (uint32_t x = 0; x < p->n_tensors && p->producer[x] < w->n_forward; x++) {
        uint32_t i = p->producer[x];
        bool cheap = !rp_is_dense(p, i) && !p->irreplaceable[x];
        for (uint32_t k = p->input_start[i]; k < p->input_start[i + 1]; k++)
            cheap = cheap && available[p->inputs[k]];
        available[x] = cheap || interval_of[x] > 0 || p->kept[x];
        if (interval_of[x] == 0)
            continue;
        if (cheap)
            w->a.action[intervals->at[interval_of[x] - 1].e] = RP_INTERVAL_RECOMPUTE;
        else
            rp_push(&w->checkpoints, intervals->at[interval_of[x] - 1]);
    }
    free(available);
    free(interval_of);
}

/* What is recomputed stays if its segment, that is all between two expensive ops, takes no
 * more than the largest layer. */
static void choose_kept_segments(struct superneurons *w) {
    const struct rp_instance *p = w->p;
    uint32_t op, first = 0;
    uint64_t layer = rp_instance_floor(p, &op), sum = 0;
    for (uint32_t i = 0; i <= w->n_forward; i++) {
        bool border = i == w->n_forward || rp_is_dense(p, i);
        if (border) {
            for (uint32_t j = first; j < i; j++)
                for (uint32_t x = p->output_start[j]; x < p->output_start[j + 1]; x++)
                    w->a.keep_restored[x] = sum <= layer;
            first = i;
            sum = 0;
        }
        for (uint32_t x = p->output_start[i]; !border && x < p->output_start[i + 1]; x++)
            sum += p->bytes[x];
    }
}

/* Offloads the first k checkpoints. Each is prefetched where the backward phase needs the
 * next later one. */
static void record_offloads(void *arg, uint32_t k) {
    struct superneurons *w = arg;
    const struct rp_intervals *c = &w->checkpoints;
    for (size_t i = 0; i < c->n; i++)
        w->a.action[c->at[i].e] = i < k ? RP_INTERVAL_SWAP : RP_INTERVAL_KEEP;
    rp_interval_steps_first_needs(&w->a, w->r, w->first_need);
    for (size_t i = 0; i < k && !rp_stop_after(w->r->stop, c->n); i++) {
        uint32_t before = w->n_forward, e = c->at[i].e;
        for (size_t j = i + 1; j < c->n && before <= w->n_forward; j++)
            if (w->first_need[c->at[j].e] < w->first_need[e])
                before = w->first_need[c->at[j].e];
        w->a.trigger[e] = before > c->at[i].begin + 1 ? before : w->first_need[e];
    }
    rp_interval_steps_record_delayed(&w->a, w->r, NULL);
}

static void record(const struct rp_instance *p, const struct rp_policy_options *o,
                   struct rp_recorder *r) {
    struct superneurons w = {.p = p, .r = r, .n_forward = rp_forward_ops(p)};
    struct rp_intervals intervals = {0};
    (void)o;
    rp_interval_actions_init(p, &w.a);
    rp_interval_steps_record(&w.a, r, NULL);
    if (r->peak_bytes > p->limit_bytes) {
        w.first_need = rp_calloc(rp_n_intervals(p), sizeof *w.first_need);
        rp_intervals_across_phases(p, w.n_forward, &intervals);
        choose_checkpoints(&w, &intervals);
        choose_kept_segments(&w);
        rp_min_that_fits((uint32_t)w.checkpoints.n, record_offloads, &w, r);
        free(intervals.at);
        free(w.checkpoints.at);
        free(w.first_need);
    }
    rp_interval_actions_fini(&w.a);
}

const struct rp_policy rp_policy_superneurons = {
    .name = "superneurons",
    .summary = "swap convolutions, recompute cheap layers (Wang et al. 2018)",
    .record = record,
    .fits_budget = true,
    .may_recompute = true,
    .may_swap = true,
    .needs_swap = true,
};
