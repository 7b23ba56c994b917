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

/* The first seed: `first`, or that of RP_SEED; then *n becomes 1. */
uint64_t rp_gen_seed(uint64_t first, uint32_t *n);
void rp_gen_failed(uint64_t seed); /* says on stdout how to see it again */

struct rp_rng {
    uint64_t state;
};
uint64_t rp_rng_next(struct rp_rng *r);
uint64_t rp_rng_below(struct rp_rng *r, uint64_t n); /* 0 .. n-1; n >= 1 */
bool rp_rng_percent(struct rp_rng *r, uint32_t percent);

/* What a graph may look like. Every op has 1..max_inputs inputs (fewer where there are not
 * that many tensors) and 1..max_outputs outputs; sizes and times are drawn from
 * 0..max_bytes and 0..max_time_ns, mostly multiples of a tenth of the largest, so that
 * ties are common. */
struct rp_gen_shape {
    uint32_t n_ops, n_sources;
    uint32_t max_inputs, max_outputs;
    uint32_t reach; /* most ops between a tensor's producer and a reader; 0: no limit */
    uint64_t max_bytes, max_time_ns;
    uint32_t workspace_percent; /* of ops with workspace */
    uint32_t once_percent;      /* of ops with recompute == false; some have no output */
    uint32_t keep_percent;      /* of tensors kept; the last op's outputs always are */
    uint64_t alignment_bytes;
    bool bandwidths; /* the device section states them: plans may swap */
    bool training;   /* ops of the second half read what the first half made, backwards */
};

/* A shape that has a little of everything; n_ops below ten suit exhaustive search. */
struct rp_gen_shape rp_gen_small(uint32_t n_ops);

/* `g` is valid, its sha256 is that of rp_graph_dump's bytes, and the caller's to empty. */
void rp_gen_graph(uint64_t seed, const struct rp_gen_shape *shape, struct rp_graph *g);

/* Each op once, each tensor freed right after its last use: the least memory of a plan
 * that computes nothing twice. Valid, with true claims. Addresses, if wanted, never repeat.
 */
void rp_gen_keep_all(const struct rp_graph *g, bool addressed, struct rp_plan *p);

/* Runs, recomputation, frees and (with bandwidths) copies at random. Valid but for the
 * claims, which are all 0; budget and sizes are what the steps need. Only tensors that are
 * their op's one output are swapped, so that no run rewrites what is just arriving. */
void rp_gen_plan(uint64_t seed, const struct rp_graph *g, bool addressed,
                 struct rp_plan *p);

/* One small change anywhere in a plan that has steps: a step lost, moved or done twice,
 * another address or tensor, less room. Often fatal, sometimes harmless, always
 * well-formed.
 */
void rp_gen_change(struct rp_rng *r, const struct rp_graph *g, struct rp_plan *p);

#endif
