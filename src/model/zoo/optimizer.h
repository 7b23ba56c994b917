/* optimizer: what becomes of a parameter's gradient: the sum over micro-batches, and the op
 * that updates the parameter and the optimizer's state in place. docs/ops.md has the
 * formulas, which are those of PyTorch, and the sources of the state.
 *
 * Not thread-safe: one builder, one thread.
 */
#ifndef RP_MODEL_ZOO_OPTIMIZER_H
#define RP_MODEL_ZOO_OPTIMIZER_H

#include "model/zoo/builder.h"

/* Appends the op that counts the steps, if the optimizer has one. To be called before the
 * first forward pass. */
void rp_optimizer_begin(struct rp_builder *b);

/* Adds parameter w's gradient to the f32 sum of earlier micro-batches (none in the first),
 * and returns the new sum. An f32 gradient of the first micro-batch is a sum by itself. */
struct rp_val rp_accumulate(struct rp_builder *b, struct rp_val w, struct rp_val g,
                            struct rp_val sum);

/* Appends the op that updates parameter w by its gradient, and makes the sources of its
 * state. */
void rp_update_parameter(struct rp_builder *b, struct rp_val w, struct rp_val g);

#endif
