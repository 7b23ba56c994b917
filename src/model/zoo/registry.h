/* registry: the list of networks, each with its defaults and published figures, in the
 * order in which `zoo` prints them.
 *
 * A network's entry stands at the end of the file of its family, below the function that
 * builds it. registry.c lists the entries. Tests compare graphs with the published figures.
 *
 * Constant data: any thread may read it.
 */
#ifndef RP_MODEL_ZOO_REGISTRY_H
#define RP_MODEL_ZOO_REGISTRY_H

#include "model/zoo/networks.h"

struct rp_builder;

/* Which options a network takes, besides those that every network does: batch, dtype, tiny,
 * seed, and what is about updates and homes. */
enum {
    RP_TAKES_IMAGE = 1,
    RP_TAKES_CLASSES = 2,
    RP_TAKES_LAYERS = 4,
    RP_TAKES_STEPS = 8,
    RP_TAKES_SEQ = 16,
    RP_TAKES_KV_HEADS = 32,
    RP_TAKES_NO_AUX = 64,
    RP_TAKES_LOSS_PARTS = 128,
    RP_TAKES_WIDTH = 256
};

/* Zero means "does not apply" or "not published". */
struct rp_zoo_entry {
    const char *name;
    void (*build)(struct rp_builder *b); /* emits the forward pass, up to the loss */
    int variant;                         /* which member of the family, for `build` */
    unsigned takes;                      /* RP_TAKES_..., or-ed */
    struct rp_zoo_options usual;         /* defaults; 0 where the option does not apply */
    struct rp_zoo_options tiny;          /* defaults with `tiny` */
    uint64_t min_image, image_multiple;  /* bounds on each side of --image */
    uint64_t head_width;                 /* --width is a multiple of that of a head */
    bool volume;                         /* images have a depth */
    uint64_t params;           /* published count of trained parameters, default options */
    const char *params_source; /* NULL: none was published exactly */
    double macs;               /* published multiply-adds of the forward pass, batch 1, */
    const char *macs_source;   /* without auxiliary classifiers; NULL: none */
};

extern const struct rp_zoo_entry *const rp_zoo_registry[];
extern const size_t rp_zoo_n_entries;
const struct rp_zoo_entry *rp_zoo_find(const char *name); /* NULL: there is no such one */

/* ---- for writing entries ---- */

#define RP_NET_SQUARE(size)                                                                \
    { size, size, size }

/* Of a classifier of square images. */
#define RP_NET_IMAGES(n, size, n_classes, tiny_size)                                       \
    .takes = RP_TAKES_IMAGE | RP_TAKES_CLASSES,                                            \
    .usual = {.batch = (n), .image = RP_NET_SQUARE(size), .classes = (n_classes)},         \
    .tiny = {.batch = 2, .image = RP_NET_SQUARE(tiny_size), .classes = 4},                 \
    .min_image = (tiny_size)

/* Both figures come from one source. */
#define RP_NET_PUBLISHED(n_params, multiply_adds, source)                                  \
    .params = (n_params), .params_source = (source), .macs = (multiply_adds),              \
    .macs_source = (source)

#define RP_NET_TORCHVISION                                                                 \
    "torchvision 0.15 model pages, num_params and GFLOPS (multiply-adds)"

/* Its "FLOPs/2" counts batch norm and ReLU too. */
#define RP_NET_IMGCLSMOB "osmr/imgclsmob, tables of models, Params and FLOPs/2"

#endif
