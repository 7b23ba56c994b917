#include "kernels/op_table.h"

#include <string.h>

#include "kernels/bind.h"
#include "kernels/ref.h"

#define GX (RP_OUT + 0)

const struct rp_op_kind rp_op_kinds[] = {
    {"conv2d", "conv", "rr|r", "r", rp_bind_conv, 0, GX, 1},
    {"conv3d", "conv", "rr|r", "r", rp_bind_conv, 0, GX, 1},
    {"conv2d_grad_input", "conv_grad_input", "rr", "r", rp_bind_conv, GX, 0, 1},
    {"conv3d_grad_input", "conv_grad_input", "rr", "r", rp_bind_conv, GX, 0, 1},
    {"conv2d_grad_weight", "conv_grad_weight", "rr", "r", rp_bind_conv, 1, 0, GX},
    {"conv3d_grad_weight", "conv_grad_weight", "rr", "r", rp_bind_conv, 1, 0, GX},
    /* x and y of the window change places in a transposed convolution. */
    {"conv_transpose2d", "conv_transpose", "rr|r", "r", rp_bind_conv, GX, 0, 1},
    {"conv_transpose3d", "conv_transpose", "rr|r", "r", rp_bind_conv, GX, 0, 1},
    {"conv_transpose2d_grad_input", "conv_transpose_grad_input", "rr", "r", rp_bind_conv, 0,
     GX, 1},
    {"conv_transpose3d_grad_input", "conv_transpose_grad_input", "rr", "r", rp_bind_conv, 0,
     GX, 1},
    {"conv_transpose2d_grad_weight", "conv_transpose_grad_weight", "rr", "r", rp_bind_conv,
     0, 1, GX},
    {"conv_transpose3d_grad_weight", "conv_transpose_grad_weight", "rr", "r", rp_bind_conv,
     0, 1, GX},

    {"max_pool2d", "max_pool", "r", "r", rp_bind_pool, 0, GX, 0},
    {"max_pool3d", "max_pool", "r", "r", rp_bind_pool, 0, GX, 0},
    {"max_pool2d_grad", "max_pool_grad", "rrr", "r", rp_bind_pool, GX, 0, 0},
    {"max_pool3d_grad", "max_pool_grad", "rrr", "r", rp_bind_pool, GX, 0, 0},
    {"max_pool2d_index", "max_pool_index", "r", "ri", rp_bind_pool_index, 0, GX, 0},
    {"max_unpool2d", "max_unpool", "ri", "r", rp_bind_unpool, GX, 0, 0},
    {"max_unpool2d_grad", "max_unpool_grad", "ri", "r", rp_bind_unpool, 0, GX, 0},
    {"avg_pool2d", "avg_pool", "r", "r", rp_bind_avg_pool, 0, GX, 0},
    {"avg_pool2d_grad", "avg_pool_grad", "r", "r", rp_bind_avg_pool, GX, 0, 0},
    {"adaptive_avg_pool2d", "adaptive_avg_pool", "r", "r", rp_bind_adaptive, 0, GX, 0},
    {"adaptive_avg_pool2d_grad", "adaptive_avg_pool_grad", "r", "r", rp_bind_adaptive, GX,
     0, 0},

#define PLAIN(kind, in, out, bind)                                                         \
    { kind, kind, in, out, bind, 0, 0, 0 }
    PLAIN("scale", "r", "r", rp_bind_scale),
    PLAIN("dropout", "r", "r", rp_bind_dropout),
    PLAIN("add_broadcast", "rr", "r", rp_bind_broadcast),
    PLAIN("mul_broadcast", "rr", "r", rp_bind_broadcast),
    PLAIN("bias_grad", "r", "r", rp_bind_bias_grad),
    PLAIN("matmul", "rr|r", "r", rp_bind_matmul),
    PLAIN("bmm", "rr", "r", rp_bind_bmm),
    PLAIN("concat", "r*", "r", rp_bind_concat),
    PLAIN("split", "r", "r*", rp_bind_split),
    PLAIN("repeat", "r", "r", rp_bind_repeat),
    PLAIN("transpose", "r", "r", rp_bind_transpose),
    PLAIN("softmax", "r", "r", rp_bind_softmax),
    PLAIN("softmax_grad", "rr", "r", rp_bind_softmax),
    PLAIN("softmax_cross_entropy", "ri", "ss", rp_bind_loss),
    PLAIN("softmax_cross_entropy_grad", "ris", "r", rp_bind_loss),
    PLAIN("rotary", "r", "r", rp_bind_rotary),
    PLAIN("lstm_cell", "rr", "rr", rp_bind_lstm),
    PLAIN("lstm_cell_grad", "rrr*", "r|r", rp_bind_lstm),
    PLAIN("batch_norm", "r|ss", "rss", rp_bind_batch_norm),
    PLAIN("batch_norm_grad", "rrss|s", "r|ss", rp_bind_batch_norm_grad),
    PLAIN("bn_update_stats", "ssss", "ss", rp_bind_update_stats),
    PLAIN("layer_norm", "rss", "rss", rp_bind_row_norm),
    PLAIN("layer_norm_grad", "rrsss", "rss", rp_bind_row_norm),
    PLAIN("rms_norm", "rs", "rs", rp_bind_row_norm),
    PLAIN("rms_norm_grad", "rrss", "rs", rp_bind_row_norm),
    PLAIN("weight_norm", "rr", "r", rp_bind_weight_norm),
    PLAIN("weight_norm_grad", "rrr", "rr", rp_bind_weight_norm),
    PLAIN("sgd", "gr|s", "r|s", rp_bind_sgd),
    PLAIN("momentum", "grs|s", "rs|s", rp_bind_momentum),
    PLAIN("adam", "girss|s", "rss|s", rp_bind_adam),
    PLAIN("adamw", "girss|s", "rss|s", rp_bind_adam),
    PLAIN("count_step", "i", "i", rp_bind_count_step),
    PLAIN("accumulate", "g|s", "s", rp_bind_accumulate),
#undef PLAIN

    /* x is the operand with all rows, y the one with some of them. */
    {"slice", "slice", "r", "r", rp_bind_slice, 0, GX, 0},
    {"slice_grad", "slice_grad", "r", "r", rp_bind_slice, GX, 0, 0},
    {"gather", "gather", "ri", "r", rp_bind_gather, 0, GX, 0},
    {"gather_grad", "gather_grad", "ri", "r", rp_bind_gather, GX, 0, 0},

#define UNARY(kind, result) {#kind, #kind, "r", "r", rp_bind_elements, 0, 0, 0},
#define BINARY(kind, result) {#kind, #kind, "rr", "r", rp_bind_elements, 0, 0, 0},
    RP_REF_ELEMENTWISE(UNARY, BINARY, BINARY)
#undef UNARY
#undef BINARY
};

const size_t rp_n_op_kinds = sizeof rp_op_kinds / sizeof rp_op_kinds[0];

const struct rp_op_kind *rp_op_kind_find(const char *kind) {
    for (size_t i = 0; i < rp_n_op_kinds; i++)
        if (strcmp(rp_op_kinds[i].kind, kind) == 0)
            return &rp_op_kinds[i];
    return NULL;
}
