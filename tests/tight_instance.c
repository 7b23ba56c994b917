#include "tight_instance.h"

#include "brute.h"
#include "gen.h"

void rp_tight_instance(uint64_t seed, struct rp_graph *g, struct rp_instance *p) {
    struct rp_rng r = {seed * 77};
    struct rp_gen_shape shape = rp_gen_small(4 + (uint32_t)rp_rng_below(&r, 4));
    shape.training = rp_rng_percent(&r, 50);
    shape.once_percent = rp_rng_percent(&r, 30) ? 15 : 0;
    shape.rules_percent = seed % 2 * 20;
    shape.max_outputs = 1;
    rp_gen_graph(seed, &shape, g);
    rp_instance_init(p, g, g->fixed_bytes, false, NULL);
    p->limit_bytes = rp_brute_floor(g) + rp_rng_below(&r, 3000);
}
