/* Binders of the kinds that update parameters (ref_optimizers.h). */
#include <string.h>

#include "kernels/bind.h"

static bool is_f32(const struct rp_binding *b, int slot) {
    return strcmp(b->g->tensors[b->op->inputs[slot]].dtype, "f32") == 0;
}

/* W is input `weight`; from there on the op replaces all it reads, and `n_kept` of these
 * are what the optimizer keeps. A 16-bit W needs its f32 copy, and an f32 one has none. */
static void bind_weight(struct rp_binding *b, int weight, int n_kept) {
    struct rp_kargs *a = &b->k->args;
    const int n_replaced = (int)b->op->n_outputs;
    if ((int)b->op->n_inputs != weight + n_replaced)
        rp_bind_fail(b, "it does not replace all tensors of the parameter");
    for (int k = 0; k < n_replaced && b->rc == RP_OK; k++) {
        rp_bind_same(b, weight + k, 0);
        rp_bind_same(b, RP_OUT + k, 0);
    }
    a->count = b->in[0].count;
    a->wide_grad = is_f32(b, 0);
    a->master = n_replaced == 2 + n_kept;
    if (a->master == is_f32(b, weight))
        rp_bind_fail(b, a->master ? "an f32 parameter has a second f32 copy"
                                  : "a 16-bit parameter has no f32 copy, its master");
    a->lr = rp_bind_real(b, "lr");
    a->weight_decay = rp_bind_real(b, "weight_decay");
}

void rp_bind_sgd(struct rp_binding *b) {
    bind_weight(b, 1, 0);
}

void rp_bind_momentum(struct rp_binding *b) {
    bind_weight(b, 1, 1);
    b->k->args.momentum = rp_bind_real(b, "momentum");
}

static double decay_rate(struct rp_binding *b, const char *key) {
    const double beta = rp_bind_real(b, key);
    if (!(beta >= 0 && beta < 1))
        rp_bind_fail(b, "attribute \"%s\" is not in [0, 1)", key);
    return beta;
}

void rp_bind_adam(struct rp_binding *b) {
    bind_weight(b, 2, 2);
    rp_bind_count(b, 1, 1);
    b->k->args.beta1 = decay_rate(b, "beta1");
    b->k->args.beta2 = decay_rate(b, "beta2");
    b->k->args.eps = rp_bind_real(b, "eps");
}

void rp_bind_count_step(struct rp_binding *b) {
    rp_bind_count(b, 0, 1);
    rp_bind_count(b, RP_OUT, 1);
}

void rp_bind_accumulate(struct rp_binding *b) {
    rp_bind_elements(b);
    b->k->args.wide_grad = is_f32(b, 0);
}
