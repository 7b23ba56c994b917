#include "tiny_task.h"

#include "gen.h"

void rp_tiny_task_init(struct rp_tiny_task *t, uint64_t seed, bool swap) {
    struct rp_gen_shape shape = rp_gen_small(4 + (uint32_t)(seed % 3));
    uint32_t op;
    shape.max_outputs = 1 + (uint32_t)(seed / 7 % 2);
    shape.training = seed % 3 != 0;
    shape.once_percent = seed % 5 == 0 ? 20 : 0;
    shape.rules_percent = seed % 2 ? 15 : 0;
    shape.n_sources = seed % 3;
    rp_gen_graph(seed, &shape, &t->g);
    t->g.device.h2d_bytes_per_s = 1000000000u * (1 + seed * 37 % 200);
    t->g.device.d2h_bytes_per_s = 1000000000u * (1 + seed * 53 % 200);
    rp_instance_init(&t->p, &t->g, t->g.fixed_bytes, false, NULL);
    if (swap)
        rp_instance_allow_swap(&t->p, seed % 6 == 0 ? 1500 : RP_MAX_QUANTITY);
    t->p.limit_bytes = rp_instance_floor(&t->p, &op) + seed % 4 * 500;
    t->o = (struct rp_brute_copies){.limit_bytes = t->p.limit_bytes,
                                    .host_limit_bytes = t->p.host_limit_bytes,
                                    .recompute = seed % 11 != 0,
                                    .swap = swap,
                                    .max_states = 100000};
    if (!t->o.recompute)
        rp_instance_run_once(&t->p);
}

void rp_tiny_task_fini(struct rp_tiny_task *t) {
    rp_instance_fini(&t->p);
    rp_graph_fini(&t->g);
}
