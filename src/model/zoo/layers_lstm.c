#include <stdlib.h>

#include "base/mem.h"
#include "model/zoo/layers_seq.h"

/* Makes the next h and c from the gates and c: 12 operations per hidden unit. */
static void cell(struct rp_builder *b, struct rp_val gates, struct rp_val *h,
                 struct rp_val *c) {
    static const char *const out_names[] = {"c"};
    struct rp_val out[2] = {rp_like(*h), rp_like(*c)};
    struct rp_spec s = {.kind = "lstm_cell",
                        .name = "cell",
                        .flops = rp_product(b, RP_SHAPE(3, rp_count(&gates))),
                        .out_names = out_names};
    rp_emit(b, s, RP_IN(gates, *c), 2, out);
    *h = out[0];
    *c = out[1];
}

/* Multiplies the input of all steps at once, then splits the product into steps, each
 * (batch, 4 * hidden). The caller frees the array. */
static struct rp_val *input_gates(struct rp_builder *b, struct rp_val x, uint64_t hidden) {
    struct rp_val w = rp_param(b, "weight_ih", RP_SHAPE(4 * hidden, x.dim[2]));
    struct rp_val bias = rp_param(b, "bias_ih", RP_SHAPE(4 * hidden));
    struct rp_val all = rp_nn_linear_tied(b, "input", x, w, bias);
    struct rp_val *step = rp_calloc(x.dim[0], sizeof *step);
    rp_nn_split(b, "input_steps", all, 0, x.dim[0], step);
    for (size_t t = 0; t < x.dim[0]; t++)
        step[t] = rp_view(b, step[t], RP_SHAPE(x.dim[1], 4 * hidden));
    return step;
}

struct rp_val rp_nn_lstm(struct rp_builder *b, const char *name, struct rp_val x,
                         uint64_t hidden, enum rp_lstm_direction direction,
                         struct rp_lstm_state *last) {
    if (last != NULL)
        *last = (struct rp_lstm_state){RP_NO_VALUE, RP_NO_VALUE};
    if (b->rc != RP_OK)
        return RP_NO_VALUE;
    const size_t steps = x.dim[0];
    const uint64_t batch = x.dim[1];
    rp_scope_begin(b, "%s", name);
    struct rp_val *y = input_gates(b, x, hidden);
    struct rp_val w = rp_param(b, "weight_hh", RP_SHAPE(4 * hidden, hidden));
    struct rp_val bias = rp_param(b, "bias_hh", RP_SHAPE(4 * hidden));
    struct rp_val h = rp_source(b, RP_STATE, x.dtype, "h0", RP_SHAPE(batch, hidden));
    struct rp_val c = rp_source(b, RP_STATE, x.dtype, "c0", RP_SHAPE(batch, hidden));
    for (size_t i = 0; i < steps; i++) {
        size_t t = direction == RP_LSTM_FORWARD ? i : steps - 1 - i;
        rp_scope_begin(b, "t%zu", t);
        struct rp_val recurrent = rp_nn_linear_tied(b, "recurrent", h, w, bias);
        cell(b, rp_nn_add(b, "gates", y[t], recurrent), &h, &c);
        y[t] = rp_view(b, h, RP_SHAPE(1, batch, hidden));
        rp_scope_end(b);
    }
    struct rp_val all = rp_nn_concat(b, "output", 0, steps, y);
    rp_scope_end(b);
    free(y);
    if (last != NULL)
        *last = (struct rp_lstm_state){h, c};
    return all;
}
