#include "solve/core/keep_all_schedule.h"

/* Is stage t the last that needs x? */
static bool ends_in(const struct rp_instance *p, uint32_t x, uint32_t t) {
    return rp_instance_last_need(p, x) == t;
}

static void add_run(const struct rp_instance *p, uint32_t t, uint64_t *live,
                    struct rp_cost *c) {
    for (uint32_t x = p->output_start[t]; x < p->output_start[t + 1]; x++)
        *live += p->bytes[x];
    if (*live + p->workspace_bytes[t] > c->peak_bytes) {
        c->peak_bytes = *live + p->workspace_bytes[t];
        c->peak_stage = c->peak_op = t;
    }
    c->sound = rp_add(&c->time_ns, p->time_ns[t]);
}

struct rp_cost rp_keep_all_cost(const struct rp_instance *p) {
    struct rp_cost c = {.sound = true, .peak_op = RP_NONE};
    uint64_t live = 0;
    for (uint32_t t = 0; t < p->n_ops && c.sound; t++) {
        add_run(p, t, &live, &c);
        for (uint32_t k = p->input_start[t]; k < p->input_start[t + 1]; k++)
            live -= ends_in(p, p->inputs[k], t) ? p->bytes[p->inputs[k]] : 0;
        for (uint32_t x = p->output_start[t]; x < p->output_start[t + 1]; x++)
            live -= ends_in(p, x, t) ? p->bytes[x] : 0;
    }
    return c;
}

void rp_keep_all_steps(const struct rp_instance *p, struct rp_plan *plan) {
    for (uint32_t t = 0; t < p->n_ops; t++) {
        rp_append_step(p, plan, RP_RUN, t);
        for (uint32_t k = p->input_start[t]; k < p->input_start[t + 1]; k++)
            if (ends_in(p, p->inputs[k], t))
                rp_append_step(p, plan, RP_FREE, p->inputs[k]);
        for (uint32_t x = p->output_start[t]; x < p->output_start[t + 1]; x++)
            if (ends_in(p, x, t))
                rp_append_step(p, plan, RP_FREE, x);
    }
}
