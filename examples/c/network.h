/* The network of both programs: LAYERS dense layers, out = tanh(in w), and a squared error.
 * Its weights are trained by gradient descent with momentum. A graph names tensors and ops
 * by their numbers, so both programs count them alike. */
#ifndef NETWORK_H
#define NETWORK_H

enum { LAYERS = 12, BATCH = 256, WIDTH = 32 };
enum { ROWS_BYTES = BATCH * WIDTH * 4, WEIGHTS_BYTES = WIDTH * WIDTH * 4 };

/* Tensors: the input and the target, the weights of each layer and their momentum, what
 * each layer gives, the loss, the gradients of what each layer reads, and of the last
 * result; those of weights. The ones before A are there before a training step. */
enum {
    X,
    TARGET,
    W,
    V = W + LAYERS,
    A = V + LAYERS,
    LOSS = A + LAYERS,
    G,
    DW = G + LAYERS + 1,
    TENSORS = DW + LAYERS
};

/* Ops: the layers forward, the loss, and the layers backward, the last one first. After
 * each layer its weights are updated. */
enum { LOSS_OP = LAYERS, OPS = 3 * LAYERS + 1 };

static inline int backward_op(int k) {
    return LOSS_OP + 1 + 2 * (LAYERS - 1 - k);
}

static inline int value(int k) { /* what layer k reads, or the last result */
    return k == 0 ? X : A + k - 1;
}

#endif
