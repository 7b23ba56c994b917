/* backward: what the files of reverse-mode rules share. A rule is a row of a table; each
 * op kind has one, in backward.c or, for sequence models, in backward_seq.c.
 */
#ifndef RP_MODEL_ZOO_BACKWARD_H
#define RP_MODEL_ZOO_BACKWARD_H

#include "model/zoo/builder.h"

/* Gets the gradients of a node's outputs (RP_NO_VALUE where the loss does not depend on
 * one; at least one is there) and fills in those of its inputs (RP_NO_VALUE on entry), for
 * inputs that want one; others are ignored. */
typedef void rp_rule_fn(struct rp_builder *b, const struct rp_node *n,
                        const struct rp_val *gy, struct rp_val *gx);

struct rp_rule {
    const char *kind;
    rp_rule_fn *apply;
    bool is_loss; /* applied without a gradient of its output */
};

extern const struct rp_rule rp_rules_seq[]; /* backward_seq.c; ends with kind NULL */

bool rp_wants(const struct rp_builder *b, const struct rp_val *v);
const char *rp_kind_of(const struct rp_builder *b, const struct rp_node *n);

/* A spec with the forward op's attributes; `name` is the caller's to free. */
struct rp_spec rp_grad_spec(const struct rp_builder *b, const struct rp_node *n,
                            const char *kind, char *name, uint64_t flops);

/* One op with one output shaped like `like`; its name is the node's and `suffix`. */
struct rp_val rp_grad_op(struct rp_builder *b, const struct rp_node *n, const char *suffix,
                         const char *kind, uint64_t flops, struct rp_val like, size_t n_in,
                         const struct rp_val *in);

/* The sum of gy over all dimensions but `axis`. */
struct rp_val rp_grad_bias(struct rp_builder *b, const struct rp_node *n, struct rp_val gy,
                           size_t axis, struct rp_val bias);

#endif
