#include "policy/network_layers.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/numbers.h"
#include "policy/phases.h"
#include "policy/segments.h"

/* Per forward op: its layer. The caller frees it. */
static uint32_t *forward_layers(const struct rp_instance *p, uint32_t n_forward) {
    uint32_t *crossing = rp_count_crossing(p, n_forward), fewest = RP_NONE;
    uint32_t *layer = rp_calloc((size_t)n_forward + 1, sizeof *layer);
    for (uint32_t i = 1; i < n_forward; i++)
        if (crossing[i] > 0)
            fewest = rp_min_u32(fewest, crossing[i]);
    for (uint32_t i = 1; i < n_forward; i++)
        layer[i] = layer[i - 1] + (crossing[i] == fewest);
    free(crossing);
    return layer;
}

static uint32_t touched(const struct rp_op *op, uint32_t k) {
    return k < op->n_inputs ? op->inputs[k] : op->updates[k - op->n_inputs];
}

uint32_t *rp_layers_of_runs(const struct rp_instance *p, const uint32_t *op, uint32_t n) {
    const struct rp_graph *g = p->graph;
    uint32_t n_forward = rp_forward_ops(p), present = 0;
    uint32_t *forward = forward_layers(p, n_forward);
    uint32_t *layer = rp_calloc(n, sizeof *layer);
    uint32_t *of_source = rp_calloc(g->n_tensors, sizeof *of_source); /* 1 + its layer */
    for (uint32_t i = 0; i < n_forward; i++)
        for (uint32_t k = 0; k < g->ops[i].n_inputs; k++)
            if (of_source[g->ops[i].inputs[k]] == 0)
                of_source[g->ops[i].inputs[k]] = 1 + forward[i];
    for (uint32_t i = 0; i < n; i++) {
        const struct rp_op *o = &g->ops[op[i]];
        for (uint32_t k = 0; k < o->n_inputs + o->n_updates && op[i] >= n_forward; k++) {
            uint32_t x = touched(o, k);
            if (g->tensors[x].producer == RP_NONE && of_source[x] > 0)
                present = of_source[x] - 1;
        }
        if (op[i] < n_forward)
            present = forward[op[i]];
        layer[i] = present;
    }
    free(forward);
    free(of_source);
    return layer;
}
