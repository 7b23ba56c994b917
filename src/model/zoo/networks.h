/* zoo: real networks as graphs of one training step: forward, loss, backward, op by op.
 *
 * Times are 0 and time_source is "none" until a device model or a profile fills them in.
 * The same name and options give the same graph. What each op kind computes: docs/ops.md.
 */
#ifndef RP_MODEL_ZOO_NETWORKS_H
#define RP_MODEL_ZOO_NETWORKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "model/graph.h"

#define RP_ZOO_DEFAULT UINT64_MAX /* an option that was not given */

enum rp_dtype { RP_F32, RP_F16, RP_I32 };
extern const char *const rp_dtype_word[3];

/* Set all to their defaults with rp_zoo_options_init, then change some. */
struct rp_zoo_options {
    uint64_t batch;
    uint64_t image[3]; /* depth, height, width; two-dimensional networks ignore depth */
    uint64_t classes;
    uint64_t layers;     /* of the repeated block */
    uint64_t steps;      /* a recurrent network is unrolled over so many */
    uint64_t seq;        /* tokens in a sequence */
    uint64_t kv_heads;   /* grouped-query attention: heads of keys and values */
    uint64_t loss_parts; /* logits and loss in so many parts of the sequence */
    uint64_t seed;       /* of dropout */
    enum rp_dtype dtype; /* of activations and weights: RP_F32 or RP_F16 */
    bool tiny;           /* the family's smallest useful shape */
    bool no_aux;         /* without auxiliary classifiers */
};

/* Which options a network takes, besides batch, dtype, tiny and seed. */
enum {
    RP_TAKES_IMAGE = 1,
    RP_TAKES_CLASSES = 2,
    RP_TAKES_LAYERS = 4,
    RP_TAKES_STEPS = 8,
    RP_TAKES_SEQ = 16,
    RP_TAKES_KV_HEADS = 32,
    RP_TAKES_NO_AUX = 64,
    RP_TAKES_LOSS_PARTS = 128
};

struct rp_builder;

/* A row of the table of networks. Zero means "does not apply" or "not published". */
struct rp_zoo_entry {
    const char *name;
    void (*build)(struct rp_builder *b); /* the forward pass, up to the loss */
    int variant;                         /* for the family: depth, size */
    unsigned takes;                      /* RP_TAKES_... */
    struct rp_zoo_options usual;         /* defaults; 0 where the option does not apply */
    struct rp_zoo_options tiny;          /* defaults with `tiny` */
    uint64_t min_image, image_multiple;
    bool volume;               /* images have a depth */
    uint64_t params;           /* published count of trained parameters, default options */
    const char *params_source; /* NULL: none published exactly */
    double macs;               /* published multiply-adds of the forward pass, batch 1 */
    const char *macs_source;   /* without auxiliary classifiers; NULL: none */
};

extern const struct rp_zoo_entry rp_zoo_registry[]; /* rows.c */
extern const size_t rp_zoo_n_entries;
const struct rp_zoo_entry *rp_zoo_find(const char *name); /* NULL if there is none */

void rp_zoo_options_init(struct rp_zoo_options *o);

/* The caller owns `g` on RP_OK; otherwise it is empty. RP_USAGE: an unknown name, an option
 * that does not apply or is out of range. */
rp_rc rp_zoo_build(const char *name, const struct rp_zoo_options *o, struct rp_graph *g,
                   struct rp_err *err);

/* Elements of all parameters, and multiply-adds: half the flops of the forward ops
 * that are convolutions or matrix products. */
uint64_t rp_zoo_n_params(const struct rp_graph *g);
uint64_t rp_zoo_macs(const struct rp_graph *g);

#endif
