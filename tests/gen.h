/* gen: random graphs, and plans for them, from a seed. For every test that wants many.
 *
 * The same seed and shape give the same graph on any machine. A test over seeds reads
 *
 *     uint32_t n = 200;
 *     for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++)
 *         if (!one_case(seed)) {
 *             rp_gen_failed(seed);
 *             CU_FAIL("...");
 *         }
 *
 * and RP_SEED=17 in the environment then runs seed 17 alone.
 */
#ifndef RP_TESTS_GEN_H
#define RP_TESTS_GEN_H

#include <stdbool.h>
#include <stdint.h>

#include "model/graph.h"
#include "model/plan.h"

/* Returns the first seed: `first`, or RP_SEED, and then *n becomes 1. */
uint64_t rp_gen_seed(uint64_t first, uint32_t *n);
/* RP_SEED names one seed: then asserts about many seeds together do not apply. */
bool rp_gen_one_seed(void);
void rp_gen_failed(uint64_t seed); /* prints how to reproduce the failure */

struct rp_rng {
    uint64_t state;
};
uint64_t rp_rng_next(struct rp_rng *r);
uint64_t rp_rng_below(struct rp_rng *r, uint64_t n); /* 0 .. n-1; n >= 1 */
bool rp_rng_percent(struct rp_rng *r, uint32_t percent);

/* The shape of a random graph. Every op has 1..max_inputs inputs (fewer if there are not so
 * many tensors) and 1..max_outputs outputs. Sizes and times are drawn from 0..max_bytes and
 * 0..max_time_ns. Most are multiples of a tenth of the largest, so that ties are common. */
struct rp_gen_shape {
    uint32_t n_ops, n_sources;
    uint32_t max_inputs, max_outputs;
    uint32_t reach; /* largest distance in ops from a producer to a reader; 0: no limit */
    uint64_t max_bytes, max_time_ns;
    uint32_t workspace_percent; /* of ops with workspace */
    uint32_t once_percent;      /* of ops with recompute == false; some have no output */
    uint32_t keep_percent;      /* of tensors kept; the last op's outputs always are */
    /* Of ops that update a source, of ops that are ordered, of ops that cannot rewrite
     * their outputs, and of tensors that are held. The rest of the graph is as without. */
    uint32_t rules_percent;
    uint64_t alignment_bytes;
    bool version_2; /* updates, held tensors, homes, ordered ops, ops that cannot rewrite */
    bool bandwidths; /* the device section states them: plans may swap */
    bool training; /* ops of the second half read tensors of the first half in reverse order
                    */
};

/* A shape with some of everything. Graphs of fewer than ten ops suit exhaustive search. */
struct rp_gen_shape rp_gen_small(uint32_t n_ops);

/* `g` is valid and its sha256 is that of rp_graph_dump's bytes. The caller frees it. */
void rp_gen_graph(uint64_t seed, const struct rp_gen_shape *shape, struct rp_graph *g);

/* A small graph with sources that may or must live on the host, some of which are updated,
 * on a device whose link is about as fast as its ops. */
void rp_gen_host_graph(uint64_t seed, uint32_t n_ops, struct rp_graph *g);
/* How many tensors can move: those that ops make, and sources that may live on the host. */
uint32_t rp_gen_movable(const struct rp_graph *g);

/* A plan that runs each op once and frees each tensor after its last use, so no plan
 * without reruns takes less memory. It is valid and its claims are true. With addresses, no
 * address is used twice. */
void rp_gen_keep_all(const struct rp_graph *g, bool addressed, struct rp_plan *p);

/* A plan of random runs, reruns, frees and (with bandwidths) copies. It is valid except for
 * its claims, which are all 0. Budget and sizes are what the steps need. Only tensors that
 * are the single output of their op are swapped, so that no run rewrites a tensor during
 * its swap-in. */
void rp_gen_plan(uint64_t seed, const struct rp_graph *g, bool addressed,
                 struct rp_plan *p);

/* Makes one small change in a plan that has steps: a step is lost, moved or repeated, an
 * address, tensor or size changes. The plan stays well-formed. It is often invalid
 * afterwards, but not always. */
void rp_gen_change(struct rp_rng *r, const struct rp_graph *g, struct rp_plan *p);

#endif
