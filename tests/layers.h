/* layers: a training step of n equal layers whose parameters and optimizer state may live
 * on the host, for tests. */
#ifndef RP_TESTS_LAYERS_H
#define RP_TESTS_LAYERS_H

#include "model/graph.h"

/* Forward, f of layer i reads wi and makes xi. Backward, q reads xi and makes ei, b makes
 * gi of it, u updates wi and mi at once, and c makes di of ei. All tensors have 10 bytes
 * but mi, which have `state`. f, q and c take 10 ns. `n` is at most 32. The caller owns
 * `g`. */
void rp_layers_parse(uint32_t n, uint32_t state, struct rp_graph *g);

#endif
