#include "model/zoo/backward_rule.h"

#include <stdlib.h>

#include "base/mem.h"

bool rp_wants_grad(const struct rp_builder *b, const struct rp_val *v) {
    return b->wants_grad[v->tensor];
}

struct rp_spec rp_grad_spec(const struct rp_builder *b, const struct rp_node *n,
                            const char *kind, char *name, uint64_t flops) {
    json_t *attrs = json_copy(b->g->ops[n->op].attrs);
    json_object_del(attrs, "traffic_bytes");
    return (struct rp_spec){.kind = kind, .name = name, .attrs = attrs, .flops = flops};
}

struct rp_val rp_grad_op(struct rp_builder *b, const struct rp_node *n, const char *suffix,
                         const char *kind, uint64_t flops, struct rp_val like, size_t n_in,
                         const struct rp_val *in) {
    char *name = rp_format("%s.%s", b->g->ops[n->op].name, suffix);
    struct rp_val out =
        rp_emit1(b, rp_grad_spec(b, n, kind, name, flops), rp_like(like), n_in, in);
    free(name);
    return out;
}

const char *rp_kind_of(const struct rp_builder *b, const struct rp_node *n) {
    return b->g->ops[n->op].kind;
}

struct rp_val rp_grad_bias(struct rp_builder *b, const struct rp_node *n, struct rp_val gy,
                           size_t axis, struct rp_val bias) {
    char *name = rp_format("%s.grad_bias", b->g->ops[n->op].name);
    struct rp_spec s = {.kind = "bias_grad",
                        .name = name,
                        .attrs = json_pack("{s:I}", "axis", (json_int_t)axis),
                        .flops = rp_count(&gy)};
    struct rp_val out = rp_emit1(b, s, rp_like(bias), RP_IN(gy));
    free(name);
    return out;
}
