/* The network of both programs: LAYERS dense layers, out = tanh(in w), and a squared error.
 * A graph names tensors and ops by their numbers, so both programs count them alike. */
#ifndef NETWORK_H
#define NETWORK_H

enum { LAYERS = 12, BATCH = 256, WIDTH = 32 };
enum { ROWS_BYTES = BATCH * WIDTH * 4, WEIGHTS_BYTES = WIDTH * WIDTH * 4 };

/* Tensors: the input and the target, the weights of each layer, what each layer gives, the
 * loss, the gradients of what each layer reads, and of the last result; those of weights.
 */
enum {
    X,
    TARGET,
    W,
    A = W + LAYERS,
    LOSS = A + LAYERS,
    G,
    DW = G + LAYERS + 1,
    TENSORS = DW + LAYERS
};

/* Ops: the layers forward, the loss, and the layers backward, the last one first. */
enum { LOSS_OP = LAYERS, OPS = 2 * LAYERS + 1 };

static inline int value(int k) { /* what layer k reads, or the last result */
    return k == 0 ? X : A + k - 1;
}

#endif
