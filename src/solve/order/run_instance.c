#include "solve/order/run_instance.h"

#include "base/mem.h"

static uint64_t bytes_in_use(const struct rp_instance *of, uint32_t j) {
    uint64_t bytes = 0;
    for (uint32_t k = of->input_start[j]; k < of->input_start[j + 1]; k++)
        bytes += rp_is_version(of, of->inputs[k]) ? of->bytes[of->inputs[k]] : 0;
    return bytes;
}

void rp_run_instance_init(struct rp_instance *p, const struct rp_instance *of,
                          bool addressed) {
    uint32_t first = of->n_homes > 0; /* op behind `begin` */
    rp_instance_init(p, of->graph, of->graph->fixed_bytes, addressed, of->op_of + first);
    p->fixed_bytes = of->fixed_bytes;
    p->limit_bytes = of->limit_bytes;
    for (uint32_t j = 0; j < p->n_ops; j++)
        p->workspace_bytes[j] += bytes_in_use(of, j + first);
}
