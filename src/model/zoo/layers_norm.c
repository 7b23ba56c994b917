#include "model/zoo/layers.h"

/* Updates the running statistics from those of the batch: in place in a step that updates
 * the parameters too, otherwise they are new tensors. The op runs once a step, whatever is
 * recomputed. */
static void update_stats(struct rp_builder *b, const char *name, struct rp_val mean,
                         struct rp_val invstd, uint64_t count, double eps,
                         double momentum) {
    static const char *const out_names[] = {"running_var"};
    const uint64_t channels = mean.dim[0];
    rp_scope_begin(b, "%s", name);
    const size_t m = rp_shared(b, RP_STATE, RP_F32, "running_mean", RP_SHAPE(channels));
    const size_t v = rp_shared(b, RP_STATE, RP_F32, "running_var", RP_SHAPE(channels));
    const struct rp_val running[2] = {b->shared.at[m], b->shared.at[v]};
    struct rp_spec s = {.kind = "bn_update_stats",
                        .name = "update_stats",
                        .attrs = json_pack("{s:f,s:f,s:I}", "eps", eps, "momentum",
                                           momentum, "count", (json_int_t)count),
                        .flops = rp_product(b, RP_SHAPE(10, channels)),
                        .once = true,
                        .out_kind = RP_STATE,
                        .out_names = out_names};
    if (b->o.optimizer != RP_NO_OPTIMIZER) {
        s.updates = running;
        s.n_updates = 2;
        rp_emit(b, s, RP_IN(mean, invstd), 0, NULL);
    } else {
        struct rp_val out[2] = {rp_like(mean), rp_like(mean)};
        rp_emit(b, s, RP_IN(mean, invstd, running[0], running[1]), 2, out);
        b->shared.at[m] = out[0];
        b->shared.at[v] = out[1];
    }
    rp_scope_end(b);
    for (size_t i = 0; i < 2 && s.n_updates == 0 && rp_is_last_micro_batch(b); i++)
        rp_keep(b, b->shared.at[m + i]);
}

struct rp_val rp_nn_batch_norm(struct rp_builder *b, const char *name, struct rp_val x,
                               double eps, double momentum, enum rp_bn affine) {
    static const char *const out_names[] = {"mean", "invstd"};
    if (b->rc != RP_OK)
        return RP_NO_VALUE;
    uint64_t channels = x.dim[1], count = rp_count(&x);
    rp_scope_begin(b, "%s", name);
    struct rp_val in[3] = {x};
    if (affine == RP_BN_AFFINE) {
        in[1] = rp_source(b, RP_PARAMETER, RP_F32, "weight", RP_SHAPE(channels));
        in[2] = rp_source(b, RP_PARAMETER, RP_F32, "bias", RP_SHAPE(channels));
    }
    rp_scope_end(b);
    /* x is read twice: for the statistics and to be normalized. */
    uint64_t element = rp_dtype_bytes(x.dtype);
    json_t *attrs =
        json_pack("{s:f,s:b,s:I}", "eps", eps, "affine", affine == RP_BN_AFFINE,
                  "traffic_bytes", (json_int_t)rp_product(b, RP_SHAPE(3, element, count)));
    struct rp_spec s = {.kind = "batch_norm",
                        .name = name,
                        .attrs = attrs,
                        .flops = rp_product(b, RP_SHAPE(8, count)),
                        .out_names = out_names};
    struct rp_val stat = rp_shaped(RP_F32, RP_SHAPE(channels));
    struct rp_val out[3] = {rp_like(x), stat, stat};
    rp_emit(b, s, affine == RP_BN_AFFINE ? 3 : 1, in, 3, out);
    if (b->rc == RP_OK)
        update_stats(b, name, out[1], out[2], count / channels, eps, momentum);
    return out[0];
}

struct rp_val rp_nn_conv_bn_relu(struct rp_builder *b, const char *name, struct rp_val x,
                                 uint64_t out_channels, struct rp_window w, int bias,
                                 double eps) {
    rp_scope_begin(b, "%s", name);
    x = rp_nn_conv(b, "conv", x, out_channels, w, bias);
    x = rp_nn_batch_norm(b, "bn", x, eps, 0.1, RP_BN_AFFINE);
    x = rp_nn_relu(b, "relu", x);
    rp_scope_end(b);
    return x;
}
