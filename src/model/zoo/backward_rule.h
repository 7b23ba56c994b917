/* backward_rule: one reverse-mode rule per op kind, and the helpers that rules are written
 * with.
 *
 * A rule is a row of a table, in backward_basic.c or, for sequence models, in
 * backward_seq.c. The tables are declared in backward.h.
 *
 * Not thread-safe: one builder, one thread.
 */
#ifndef RP_MODEL_ZOO_BACKWARD_RULE_H
#define RP_MODEL_ZOO_BACKWARD_RULE_H

#include "model/zoo/builder.h"

/* `gy` holds the gradients of the node's outputs. It has RP_NO_VALUE where the loss does
 * not depend on an output; at least one gradient is there. The rule sets in `gx` the
 * gradients of the inputs that want one (rp_wants_grad). `gx` is RP_NO_VALUE on entry, and
 * what the rule sets for other inputs is ignored. */
typedef void rp_rule_fn(struct rp_builder *b, const struct rp_node *n,
                        const struct rp_val *gy, struct rp_val *gx);

struct rp_rule {
    const char *kind;
    rp_rule_fn *apply;
    bool is_loss; /* applied without a gradient of its output */
};

/* Is a gradient of this value wanted? True of parameters and of all that is made of them.
 */
bool rp_wants_grad(const struct rp_builder *b, const struct rp_val *v);
const char *rp_kind_of(const struct rp_builder *b, const struct rp_node *n);

/* A spec with the forward op's attributes. The caller frees `name` after the op is emitted.
 */
struct rp_spec rp_grad_spec(const struct rp_builder *b, const struct rp_node *n,
                            const char *kind, char *name, uint64_t flops);

/* Emits one op with one output shaped like `like`, named "NODE.suffix". */
struct rp_val rp_grad_op(struct rp_builder *b, const struct rp_node *n, const char *suffix,
                         const char *kind, uint64_t flops, struct rp_val like, size_t n_in,
                         const struct rp_val *in);

/* Emits the sum of gy over all dimensions but `axis`. */
struct rp_val rp_grad_bias(struct rp_builder *b, const struct rp_node *n, struct rp_val gy,
                           size_t axis, struct rp_val bias);

#endif
