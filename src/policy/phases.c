#include "policy/phases.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/cost.h"

/* Every tensor live from its making to its last need: the op at which they are most. */
static uint32_t fullest(const struct rp_instance *p) {
    uint64_t live = 0, most = 0, *gone = rp_calloc((size_t)p->n_ops + 1, sizeof *gone);
    uint32_t at = 0;
    for (uint32_t x = 0; x < p->n_tensors; x++)
        gone[rp_instance_last_need(p, x)] += p->bytes[x];
    for (uint32_t i = 0; i < p->n_ops; i++) {
        for (uint32_t x = p->output_start[i]; x < p->output_start[i + 1]; x++)
            live += p->bytes[x];
        if (live > most) {
            most = live;
            at = i + 1;
        }
        live -= gone[i];
    }
    free(gone);
    return at;
}

uint32_t rp_forward_ops(const struct rp_instance *p) {
    bool phases = false;
    for (uint32_t i = 0; i < p->n_ops; i++) {
        enum rp_phase phase = p->graph->ops[p->op_of[i]].phase;
        if (phase == RP_BACKWARD || phase == RP_UPDATE)
            return i;
        phases = phases || phase == RP_FORWARD;
    }
    return phases ? p->n_ops : fullest(p);
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

bool rp_is_convolution(const struct rp_instance *p, uint32_t op) {
    const char *kind = p->graph->ops[p->op_of[op]].kind;
    if (strncmp(kind, "aten.", 5) == 0)
        kind += 5;
    kind += strspn(kind, "_");
    return strncmp(kind, "conv", 4) == 0 || strncmp(kind, "depthwise", 9) == 0 ||
           strncmp(kind, "cudnn_conv", 10) == 0;
}

bool rp_is_dense(const struct rp_instance *p, uint32_t op) {
    return rp_op_class(&p->graph->ops[p->op_of[op]]) != RP_CLASS_MEMORY;
}

/* crossing[i]: how many tensors cross the cut before op i. */
static uint32_t *count_crossing(const struct rp_instance *p, uint32_t n_forward) {
    uint32_t *crossing = rp_calloc((size_t)n_forward + 2, sizeof *crossing);
    for (uint32_t x = 0; x < p->n_tensors && p->producer[x] < n_forward; x++) {
        uint32_t last = rp_forward_last(p, n_forward, x);
        crossing[p->producer[x] + 1]++;
        crossing[last + 1]--;
    }
    for (uint32_t i = 1; i <= n_forward; i++)
        crossing[i] += crossing[i - 1];
    return crossing;
}

void rp_segments_init(const struct rp_instance *p, uint32_t n_forward,
                      struct rp_segments *s) {
    uint32_t *crossing = count_crossing(p, n_forward);
    bool content = false; /* an op of the segment makes something larger than 0 bytes */
    *s = (struct rp_segments){0};
    s->end = rp_calloc((size_t)n_forward + 1, sizeof *s->end);
    for (uint32_t i = 1; i < n_forward; i++) {
        for (uint32_t x = p->output_start[i - 1]; x < p->output_start[i]; x++)
            content = content || p->bytes[x] > 0;
        if (content && crossing[i] > 0 && crossing[i] <= crossing[i - 1] + (i == 1) &&
            crossing[i] <= crossing[i + 1] + (i + 1 == n_forward)) {
            s->end[s->n++] = i;
            content = false;
        }
    }
    if (n_forward > 0)
        s->end[s->n++] = n_forward;
    free(crossing);
}

void rp_segments_fini(struct rp_segments *s) {
    free(s->end);
    *s = (struct rp_segments){0};
}

uint32_t rp_crossing(const struct rp_instance *p, uint32_t n_forward, uint32_t end,
                     uint32_t *out) {
    uint32_t n = 0;
    for (uint32_t x = 0; x < p->n_tensors && p->producer[x] < end; x++)
        if (rp_forward_last(p, n_forward, x) >= end)
            out[n++] = x;
    return n;
}
