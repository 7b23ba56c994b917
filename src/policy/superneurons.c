/* superneurons: Wang et al., "SuperNeurons: Dynamic GPU Memory Management for Training Deep
 * Neural Networks", PPoPP 2018, arXiv 1801.04380.
 *
 * Outputs of the expensive layers are offloaded as they are made and prefetched when the
 * backward phase is at the convolution before (section 3.3.1, "Unified Tensor Pool"); a
 * tensor cache keeps on the device what fits there, so that of all offloads only those of
 * the least recently used tensors remain (section 3.3.2). The cheap layers (activation,
 * normalization, pooling, dropout) are recomputed: all of a segment once, if that takes no
 * more than the largest layer does, else for each use anew (section 3.4, "Cost-Aware
 * Recomputation").
 *
 * Interpretation: expensive are convolutions and products of matrices. A cheap tensor whose
 * op reads what is gone by then, such as a ReLU after a convolution without a normalization
 * between them, counts as a checkpoint in its place. A budget that keep-all fits is left
 * alone.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "policy/gap_actions.h"
#include "policy/phases.h"
#include "policy/policy.h"

struct superneurons {
    const struct rp_instance *p;
    struct rp_recorder *t;
    uint32_t n_forward;
    struct rp_gap_actions f;
    struct rp_gaps checkpoints; /* in the order in which they are made */
    uint32_t *need;             /* per gap */
};

/* Decides what is a checkpoint; the other forward tensors are remade. */
static void choose(struct superneurons *w, const struct rp_gaps *gaps) {
    const struct rp_instance *p = w->p;
    bool *there = rp_calloc(p->n_tensors, sizeof *there); /* or cheaply made again */
    uint32_t *gap_of = rp_calloc(p->n_tensors, sizeof *gap_of);
    for (size_t k = 0; k < gaps->n; k++)
        gap_of[gaps->at[k].x] = (uint32_t)k + 1;
    for (uint32_t x = 0; x < p->n_tensors && p->producer[x] < w->n_forward; x++) {
        uint32_t i = p->producer[x];
        bool cheap = !rp_is_dense(p, i) && p->recompute[i];
        for (uint32_t k = p->input_start[i]; k < p->input_start[i + 1]; k++)
            cheap = cheap && there[p->inputs[k]];
        there[x] = cheap || gap_of[x] > 0 || p->kept[x];
        if (gap_of[x] == 0)
            continue;
        if (cheap)
            w->f.fate[gaps->at[gap_of[x] - 1].e] = RP_REMAKE;
        else
            rp_push(&w->checkpoints, gaps->at[gap_of[x] - 1]);
    }
    free(there);
    free(gap_of);
}

/* A segment is what lies between two expensive ops. */
static void choose_stays(struct superneurons *w) {
    const struct rp_instance *p = w->p;
    uint32_t op, first = 0;
    uint64_t layer = rp_instance_floor(p, &op), sum = 0;
    for (uint32_t i = 0; i <= w->n_forward; i++) {
        bool border = i == w->n_forward || rp_is_dense(p, i);
        if (border) {
            for (uint32_t j = first; j < i; j++)
                for (uint32_t x = p->output_start[j]; x < p->output_start[j + 1]; x++)
                    w->f.stays[x] = sum <= layer;
            first = i;
            sum = 0;
        }
        for (uint32_t x = p->output_start[i]; !border && x < p->output_start[i + 1]; x++)
            sum += p->bytes[x];
    }
}

/* The first k checkpoints leave the device. */
static void emit(void *arg, uint32_t k) {
    struct superneurons *w = arg;
    const struct rp_gaps *c = &w->checkpoints;
    for (size_t i = 0; i < c->n; i++)
        w->f.fate[c->at[i].e] = i < k ? RP_SWAP : RP_KEEP;
    rp_gap_actions_needs(&w->f, w->t, w->need);
    for (size_t i = 0; i < k; i++) {
        uint32_t before = w->n_forward, e = c->at[i].e;
        for (size_t j = i + 1; j < c->n && before <= w->n_forward; j++)
            if (w->need[c->at[j].e] < w->need[e])
                before = w->need[c->at[j].e];
        w->f.trigger[e] = before > c->at[i].begin + 1 ? before : w->need[e];
    }
    rp_gap_actions_emit_patient(&w->f, w->t, NULL);
}

void rp_record_superneurons(const struct rp_instance *p, const struct rp_policy_options *o,
                            struct rp_recorder *t) {
    struct superneurons w = {.p = p, .t = t, .n_forward = rp_forward_ops(p)};
    struct rp_gaps gaps = {0};
    (void)o;
    rp_gap_actions_init(p, &w.f);
    rp_gap_actions_emit(&w.f, t, NULL);
    if (t->peak_bytes > p->limit_bytes) {
        w.need = rp_calloc(p->reader_start[p->n_tensors], sizeof *w.need);
        rp_gaps_across(p, w.n_forward, &gaps);
        choose(&w, &gaps);
        choose_stays(&w);
        rp_min_that_fits((uint32_t)w.checkpoints.n, emit, &w, t);
        free(gaps.at);
        free(w.checkpoints.at);
        free(w.need);
    }
    rp_gap_actions_fini(&w.f);
}
