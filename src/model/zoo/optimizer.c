#include "model/zoo/optimizer.h"

#include <stdlib.h>

#include "base/mem.h"

const char *const rp_optimizer_word[RP_N_OPTIMIZERS] = {"none", "sgd", "momentum", "adam",
                                                        "adamw"};

/* At most two moments and the f32 copy, beside the parameter. */
enum { MAX_UPDATES = 4 };

/* What an optimizer keeps for each parameter, in PyTorch's names, the flops per element of
 * its op, and the default of its weight decay. */
struct rule {
    const char *state[2];
    uint64_t flops;
    double weight_decay;
    bool counts_steps;
};

static const struct rule rules[] = {
    [RP_SGD] = {{NULL, NULL}, 4, 0, false},
    [RP_MOMENTUM] = {{"momentum_buffer", NULL}, 6, 0, false},
    [RP_ADAM] = {{"exp_avg", "exp_avg_sq"}, 14, 0, true},
    [RP_ADAMW] = {{"exp_avg", "exp_avg_sq"}, 13, 0.01, true},
};

/* PyTorch's defaults; its SGD has none for the momentum. */
static json_t *attributes(enum rp_optimizer o) {
    json_t *attrs = json_pack("{s:f}", "lr", 0.001);
    if (o == RP_MOMENTUM)
        json_object_set_new(attrs, "momentum", json_real(0.9));
    if (rules[o].counts_steps) {
        json_object_set_new(attrs, "beta1", json_real(0.9));
        json_object_set_new(attrs, "beta2", json_real(0.999));
        json_object_set_new(attrs, "eps", json_real(1e-8));
    }
    json_object_set_new(attrs, "weight_decay", json_real(rules[o].weight_decay));
    return attrs;
}

void rp_optimizer_begin(struct rp_builder *b) {
    if (b->o.optimizer == RP_NO_OPTIMIZER || !rules[b->o.optimizer].counts_steps)
        return;
    b->phase = RP_UPDATE;
    b->step = rp_source(b, RP_STATE, RP_I32, "step", RP_SHAPE(1));
    struct rp_spec s = {
        .kind = "count_step", .name = "count_step", .updates = &b->step, .n_updates = 1};
    rp_emit(b, s, 0, NULL, 0, NULL);
    b->phase = RP_FORWARD;
}

struct rp_val rp_accumulate(struct rp_builder *b, struct rp_val w, struct rp_val g,
                            struct rp_val sum) {
    if (b->micro == 0 && g.dtype == RP_F32)
        return g;
    char *name = rp_format("%s%s.accumulate", b->prefix, b->g->tensors[w.tensor].name);
    struct rp_spec s = {.kind = "accumulate", .name = name, .flops = rp_count(&g)};
    struct rp_val out = rp_like(g);
    out.dtype = RP_F32;
    out = rp_emit1(b, s, out, b->micro == 0 ? 1 : 2, (const struct rp_val[]){g, sum});
    free(name);
    return out;
}

/* The source "W.name", f32, in W's shape. */
static struct rp_val state_of(struct rp_builder *b, struct rp_val w, const char *name) {
    const char *of = b->g->tensors[w.tensor].name;
    char *full = rp_format("%s.%s", of, name);
    struct rp_val v = rp_source(b, RP_STATE, RP_F32, full, w.n_dims, w.dim);
    free(full);
    if (b->rc == RP_OK) {
        struct rp_tensor *t = &b->g->tensors[v.tensor];
        t->home = b->o.state_home;
        t->attrs = json_pack("{s:s}", "of", b->g->tensors[w.tensor].name);
    }
    return v;
}

/* W, its state, and its f32 copy if it has 16 bits. Returns how many. */
static size_t list_updates(struct rp_builder *b, struct rp_val w, struct rp_val *updates) {
    size_t n = 0;
    updates[n++] = w;
    for (size_t i = 0; i < 2 && rules[b->o.optimizer].state[i] != NULL; i++)
        updates[n++] = state_of(b, w, rules[b->o.optimizer].state[i]);
    if (w.dtype != RP_F32)
        updates[n++] = state_of(b, w, "master");
    return n;
}

/* Of an op that reads g, reads and writes n f32 tensors, and only writes W. */
static uint64_t traffic_with_master(struct rp_builder *b, struct rp_val w, struct rp_val g,
                                    uint64_t n) {
    const uint64_t element =
        rp_dtype_bytes(g.dtype) + rp_dtype_bytes(w.dtype) + n * 2 * rp_dtype_bytes(RP_F32);
    return rp_product(b, RP_SHAPE(rp_count(&w), element));
}

void rp_update_parameter(struct rp_builder *b, struct rp_val w, struct rp_val g) {
    const enum rp_optimizer o = b->o.optimizer;
    struct rp_val updates[MAX_UPDATES];
    if (b->rc != RP_OK)
        return;
    char *name = rp_format("%s.update", b->g->tensors[w.tensor].name);
    const size_t n = list_updates(b, w, updates);
    struct rp_spec s = {.kind = rp_optimizer_word[o],
                        .name = name,
                        .attrs = attributes(o),
                        .flops = rp_product(b, RP_SHAPE(rules[o].flops, rp_count(&w))),
                        .updates = updates,
                        .n_updates = n};
    if (w.dtype != RP_F32)
        json_object_set_new(s.attrs, "traffic_bytes",
                            json_integer((json_int_t)traffic_with_master(b, w, g, n - 1)));
    b->phase = RP_UPDATE;
    rp_emit(b, s, rules[o].counts_steps ? 2 : 1, (const struct rp_val[]){g, b->step}, 0,
            NULL);
    b->phase = RP_BACKWARD;
    free(name);
}
