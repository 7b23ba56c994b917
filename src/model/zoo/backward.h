/* backward: appends the backward pass to a forward pass by reverse-mode differentiation.
 *
 * Nodes are visited from last to first. The rule of a node's op kind (backward_rule.h)
 * turns the gradients of its outputs into those of its inputs. Where several ops read a
 * tensor, their gradients are added as they arrive, that is in reverse order of the
 * readers, as an eager automatic differentiation does.
 *
 * Not thread-safe: one builder, one thread. Different builders may be used by different
 * threads.
 */
#ifndef RP_MODEL_ZOO_BACKWARD_H
#define RP_MODEL_ZOO_BACKWARD_H

#include "model/zoo/backward_rule.h"

/* Adds up the losses, then appends the reverse pass of everything that leads from a
 * parameter to a loss. A parameter's gradient is added to those of earlier micro-batches as
 * soon as it is complete; after the last micro-batch it updates the parameter
 * (optimizer.h), or without an optimizer goes into the graph's `keep`, as the loss does.
 * b->rc becomes RP_BUG if an op kind has no rule or a parameter gets no gradient. */
void rp_differentiate(struct rp_builder *b);

/* The rules, of the kinds in layers.h and in layers_seq.h. Each table ends with kind NULL.
 */
extern const struct rp_rule rp_rules_basic[], rp_rules_seq[];

#endif
