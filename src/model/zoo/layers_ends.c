#include "base/mem.h"
#include "model/zoo/layers.h"

struct rp_val rp_nn_labels(struct rp_builder *b, const char *name, struct rp_val logits,
                           size_t axis) {
    if (b->rc != RP_OK)
        return RP_NO_VALUE;
    size_t n_dims = logits.n_dims - 1;
    for (size_t i = axis; i < n_dims; i++)
        logits.dim[i] = logits.dim[i + 1];
    return rp_source(b, RP_INPUT_TENSOR, RP_I32, name, n_dims, logits.dim);
}

void rp_nn_cross_entropy(struct rp_builder *b, const char *name, struct rp_val logits,
                         struct rp_val labels, size_t axis, double weight) {
    static const char *const out_names[] = {"logsumexp"};
    struct rp_val out[2] = {rp_shaped(RP_F32, 0, NULL), rp_like(labels)};
    out[1].dtype = RP_F32;
    struct rp_spec s = {.kind = "softmax_cross_entropy",
                        .name = name,
                        .attrs = json_pack("{s:I,s:f}", "axis", (json_int_t)axis, "weight",
                                           weight / (double)b->o.micro_batches),
                        .flops = rp_product(b, RP_SHAPE(4, rp_count(&logits))),
                        .out_names = out_names};
    rp_emit(b, s, RP_IN(logits, labels), 2, out);
    if (b->rc == RP_OK)
        rp_push(&b->losses, out[0]);
}

void rp_nn_classify(struct rp_builder *b, struct rp_val logits) {
    rp_nn_cross_entropy(b, "loss", logits, rp_nn_labels(b, "labels", logits, 1), 1, 1.0);
}

struct rp_val rp_nn_image(struct rp_builder *b, uint64_t channels) {
    const uint64_t *size = b->o.image;
    return rp_source(b, RP_INPUT_TENSOR, b->o.dtype, "image",
                     RP_SHAPE(b->o.batch, channels, size[1], size[2]));
}

struct rp_val rp_nn_volume(struct rp_builder *b, uint64_t channels) {
    const uint64_t *size = b->o.image;
    return rp_source(b, RP_INPUT_TENSOR, b->o.dtype, "image",
                     RP_SHAPE(b->o.batch, channels, size[0], size[1], size[2]));
}
