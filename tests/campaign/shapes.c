#include "draft.h"

/* Adds an output of op `from` to the inputs of op i, unless there is none or no room. */
static void read_op(struct cam_draft *d, int i, int from) {
    struct cam_op *op = &d->ops[i];
    if (from < 0 || from >= i || d->ops[from].n_out == 0 || op->n_in == CAM_MAX_INPUTS)
        return;
    int x = d->ops[from].out[rp_rng_below(d->r, (uint64_t)d->ops[from].n_out)];
    for (int k = 0; k < op->n_in; k++)
        if (op->in[k] == x)
            return;
    op->in[op->n_in++] = x;
}

static int any_before(struct cam_draft *d, int i) {
    return i == 0 ? CAM_NONE : (int)rp_rng_below(d->r, (uint64_t)i);
}

static void chain(struct cam_draft *d, int i) {
    read_op(d, i, i - 1);
}

/* Layers of equal width; an op reads up to three of the layer before. */
static void layers(struct cam_draft *d, int i) {
    int width = 2 + d->n_ops / 8 % 30, first = i / width * width - width;
    for (int k = 0; k < 3 && first >= 0; k++)
        read_op(d, i, first + (int)rp_rng_below(d->r, (uint64_t)width));
}

/* The first half are leaves; every other op joins two. */
static void tree(struct cam_draft *d, int i) {
    int leaves = (d->n_ops + 1) / 2;
    if (i >= leaves) {
        read_op(d, i, 2 * (i - leaves));
        read_op(d, i, 2 * (i - leaves) + 1);
    }
}

static void dense(struct cam_draft *d, int i) {
    read_op(d, i, i - 1);
    for (int k = 0; k < 8; k++)
        read_op(d, i, any_before(d, i));
}

static void skips(struct cam_draft *d, int i) {
    read_op(d, i, i - 1);
    if (rp_rng_percent(d->r, 15))
        read_op(d, i, any_before(d, i));
}

/* A backward op reads the gradient, and what its forward op read or made. */
static void training(struct cam_draft *d, int i) {
    int mirrored = d->n_ops - 1 - i;
    read_op(d, i, i - 1);
    if (mirrored >= i)
        return;
    if (rp_rng_percent(d->r, 80))
        read_op(d, i, mirrored);
    if (rp_rng_percent(d->r, 60))
        read_op(d, i, mirrored - 1);
}

/* Everything reads what the first op made. */
static void broadcast(struct cam_draft *d, int i) {
    read_op(d, i, i - 1);
    read_op(d, i, 0);
}

static void scattered(struct cam_draft *d, int i) {
    int n = (int)rp_rng_below(d->r, 4);
    for (int k = 0; k < n; k++)
        read_op(d, i, any_before(d, i));
}

/* Nothing reads anything, apart from sources. */
static void islands(struct cam_draft *d, int i) {
    (void)d, (void)i;
}

/* U-shaped: op i of the second half reads what op n-1-i made, and its neighbour. */
static void nested(struct cam_draft *d, int i) {
    read_op(d, i, i - 1);
    read_op(d, i, d->n_ops - 1 - i);
}

static const struct shape {
    const char *name;
    void (*connect)(struct cam_draft *d, int i);
    uint32_t share;
} shapes[] = {
    {"chain", chain, 10},        {"layers", layers, 12},      {"tree", tree, 8},
    {"dense", dense, 12},        {"skips", skips, 14},        {"training", training, 20},
    {"broadcast", broadcast, 8}, {"scattered", scattered, 8}, {"islands", islands, 3},
    {"nested", nested, 5},
};

const char *cam_draw_shape(struct cam_draft *d, int *shape) {
    uint32_t ticket = (uint32_t)rp_rng_below(d->r, 100);
    for (*shape = 0; ticket >= shapes[*shape].share; ++*shape)
        ticket -= shapes[*shape].share;
    return shapes[*shape].name;
}

void cam_connect(struct cam_draft *d, int shape, int i) {
    shapes[shape].connect(d, i);
}

void cam_read_many(struct cam_draft *d, int i) {
    int n = (int)cam_between(d->r, 5, CAM_MAX_INPUTS);
    for (int k = 0; k < n; k++)
        read_op(d, i, rp_rng_percent(d->r, 60) ? i - 1 - k / 8 : any_before(d, i));
}
