/* networks: real networks as graphs of one training step: forward pass, loss, backward pass
 * and, with an optimizer, updates, op by op. registry.h lists the networks; docs/ops.md
 * says what each op computes.
 *
 * All times are 0 and time_source is "none" until a device model or a profile sets them.
 * The same name and options give the same graph, byte for byte.
 *
 * Thread-safe: calls share nothing but constant tables.
 */
#ifndef RP_MODEL_ZOO_NETWORKS_H
#define RP_MODEL_ZOO_NETWORKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "model/graph.h"

#define RP_ZOO_DEFAULT UINT64_MAX /* an option that was not given */

enum rp_dtype { RP_F32, RP_F16, RP_BF16, RP_I32 };
extern const char *const rp_dtype_word[4];

enum rp_optimizer {
    RP_NO_OPTIMIZER,
    RP_SGD,
    RP_MOMENTUM,
    RP_ADAM,
    RP_ADAMW,
    RP_N_OPTIMIZERS
};
extern const char *const rp_optimizer_word[RP_N_OPTIMIZERS]; /* "none", then op kinds */

/* Set all of them to their defaults with rp_zoo_options_init, then change some. */
struct rp_zoo_options {
    uint64_t batch;         /* samples per step, a multiple of micro_batches */
    uint64_t micro_batches; /* their gradients are added up */
    uint64_t image[3]; /* depth, height, width; two-dimensional networks ignore depth */
    uint64_t classes;
    uint64_t layers;     /* how often the block is repeated */
    uint64_t width;      /* features of a token */
    uint64_t steps;      /* time steps that a recurrent network is unrolled over */
    uint64_t seq;        /* tokens in a sequence */
    uint64_t kv_heads;   /* grouped-query attention: heads of keys and values */
    uint64_t loss_parts; /* logits and loss are computed in this many parts */
    uint64_t seed;       /* random seed of dropout */
    enum rp_dtype dtype; /* of activations and weights: any but RP_I32 */
    enum rp_optimizer optimizer;
    enum rp_home param_home,
        state_home; /* of parameters, and of what the optimizer keeps */
    bool tiny;      /* the family's smallest useful shape, for tests */
    bool no_aux;    /* without auxiliary classifiers */
};

void rp_zoo_options_init(struct rp_zoo_options *o);

/* The caller owns `g` on RP_OK; otherwise it is empty. RP_USAGE: the name is unknown, or an
 * option does not apply or is out of range. */
rp_rc rp_zoo_build(const char *name, const struct rp_zoo_options *o, struct rp_graph *g,
                   struct rp_err *err);

/* How many numbers the parameters hold together. */
uint64_t rp_zoo_n_params(const struct rp_graph *g);

/* Multiply-adds of the forward pass: half the flops of its convolutions and matrix
 * products. */
uint64_t rp_zoo_macs(const struct rp_graph *g);

#endif
