#include "policy/phases.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/numbers.h"
#include "model/cost.h"

/* How many ops there are up to the one at which memory is fullest, if every tensor is live
 * from its making to its last need. */
static uint32_t ops_to_peak(const struct rp_instance *p) {
    uint64_t live = 0, peak = 0;
    uint64_t *freed = rp_calloc((size_t)p->n_ops + 1, sizeof *freed);
    uint32_t n = 0;
    for (uint32_t x = 0; x < p->n_tensors; x++)
        freed[rp_instance_last_need(p, x)] += p->bytes[x];
    for (uint32_t i = 0; i < p->n_ops; i++) {
        for (uint32_t x = p->output_start[i]; x < p->output_start[i + 1]; x++)
            live += p->bytes[x];
        if (live > peak) {
            peak = live;
            n = i + 1;
        }
        live -= freed[i];
    }
    free(freed);
    return n;
}

uint32_t rp_forward_ops(const struct rp_instance *p) {
    bool has_phases = false;
    uint32_t first_update = RP_NONE;
    for (uint32_t i = 0; i < p->n_ops; i++) {
        enum rp_phase phase = p->graph->ops[p->op_of[i]].phase;
        if (phase == RP_BACKWARD)
            return i;
        if (phase == RP_UPDATE)
            first_update = rp_min_u32(first_update, i);
        has_phases = has_phases || phase == RP_FORWARD;
    }
    if (first_update != RP_NONE)
        return first_update;
    return has_phases ? p->n_ops : ops_to_peak(p);
}

uint32_t rp_backward_need(const struct rp_instance *p, uint32_t n_forward, uint32_t x) {
    for (uint32_t e = p->reader_start[x]; e < p->reader_start[x + 1]; e++)
        if (p->readers[e] >= n_forward)
            return p->readers[e];
    return RP_NONE;
}

uint32_t rp_forward_last(const struct rp_instance *p, uint32_t n_forward, uint32_t x) {
    uint32_t last = p->producer[x];
    for (uint32_t e = p->reader_start[x]; e < p->reader_start[x + 1]; e++)
        if (p->readers[e] < n_forward)
            last = p->readers[e];
    return last;
}

static const char *kind_of(const struct rp_instance *p, uint32_t op) {
    return rp_op_base_kind(&p->graph->ops[p->op_of[op]]);
}

static bool begins(const char *text, const char *prefix) {
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

bool rp_is_captured(const struct rp_graph *g) {
    for (uint32_t i = 0; i < g->n_ops; i++)
        if (begins(g->ops[i].kind, "aten."))
            return true;
    return false;
}

bool rp_is_convolution(const struct rp_instance *p, uint32_t op) {
    const char *kind = kind_of(p, op);
    return begins(kind, "conv") || begins(kind, "depthwise") || begins(kind, "cudnn_conv");
}

bool rp_is_dense(const struct rp_instance *p, uint32_t op) {
    return rp_op_class(&p->graph->ops[p->op_of[op]]) != RP_CLASS_MEMORY;
}

bool rp_is_softmax(const struct rp_instance *p, uint32_t op) {
    const char *kind = kind_of(p, op);
    return begins(kind, "softmax") && strstr(kind, "cross_entropy") == NULL;
}
