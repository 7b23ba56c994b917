#include "gen.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/sha256.h"

/* NULL: none is named. */
static const char *named_seed(void) {
    const char *text = getenv("RP_SEED");
    return text != NULL && text[0] != '\0' ? text : NULL;
}

bool rp_gen_one_seed(void) {
    return named_seed() != NULL;
}

uint64_t rp_gen_seed(uint64_t first, uint32_t *n) {
    const char *text = named_seed();
    if (text == NULL)
        return first;
    *n = 1;
    return strtoull(text, NULL, 10);
}

void rp_gen_failed(uint64_t seed) {
    printf("seen again with RP_SEED=%" PRIu64 "\n", seed);
}

/* splitmix64: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014.
 */
uint64_t rp_rng_next(struct rp_rng *r) {
    uint64_t z = r->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

uint64_t rp_rng_below(struct rp_rng *r, uint64_t n) {
    return rp_rng_next(r) % n;
}

bool rp_rng_percent(struct rp_rng *r, uint32_t percent) {
    return rp_rng_below(r, 100) < percent;
}

static uint64_t draw(struct rp_rng *r, uint64_t max) {
    uint64_t tenth = max / 10;
    if (tenth > 0 && rp_rng_percent(r, 80))
        return tenth * rp_rng_below(r, 11);
    return rp_rng_below(r, max + 1);
}

struct rp_gen_shape rp_gen_small(uint32_t n_ops) {
    return (struct rp_gen_shape){
        .n_ops = n_ops,
        .n_sources = 2,
        .max_inputs = 3,
        .max_outputs = 2,
        .max_bytes = 5000,
        .max_time_ns = 100,
        .workspace_percent = 30,
        .once_percent = 10,
        .keep_percent = 5,
        .alignment_bytes = 512,
        .bandwidths = true,
    };
}

/* ---- graphs ---- */

static uint32_t new_tensor(struct rp_graph *g, struct rp_rng *r, uint64_t max_bytes,
                           enum rp_tensor_kind kind) {
    uint32_t x = g->n_tensors++;
    if ((x & (x - 1)) == 0) /* room for twice as many at 0, 1, 2, 4, .. */
        g->tensors = rp_realloc(g->tensors, x > 0 ? 2 * (size_t)x : 1, sizeof *g->tensors);
    g->tensors[x] = (struct rp_tensor){
        .name = rp_format("t%u", x), .bytes = draw(r, max_bytes), .kind = kind};
    g->tensors[x].producer = RP_NONE;
    return x;
}

static bool reads(const struct rp_op *op, uint32_t x) {
    for (uint32_t k = 0; k < op->n_inputs; k++)
        if (op->inputs[k] == x)
            return true;
    return false;
}

/* Draws an input for op i: a source or an output of one of the last `reach` ops. */
static uint32_t draw_input(const struct rp_graph *g, struct rp_rng *r,
                           const struct rp_gen_shape *s, uint32_t i) {
    if (i == 0 || (s->n_sources > 0 && rp_rng_percent(r, 20)))
        return s->n_sources > 0 ? (uint32_t)rp_rng_below(r, s->n_sources) : RP_NONE;
    uint32_t back = s->reach == 0 || s->reach > i ? i : s->reach;
    /* Half of the inputs come from the last three ops, the others from any op within reach.
     * In a backward half, half of them come from the mirrored op. */
    uint32_t from =
        i - 1 -
        (uint32_t)rp_rng_below(r, rp_rng_percent(r, 50) ? (back < 3 ? back : 3) : back);
    if (s->training && i >= s->n_ops / 2 && rp_rng_percent(r, 50))
        from = s->n_ops - 1 - i;
    const struct rp_op *op = &g->ops[from];
    return op->n_outputs > 0 ? op->outputs[rp_rng_below(r, op->n_outputs)] : RP_NONE;
}

static void add_op(struct rp_graph *g, struct rp_rng *r, const struct rp_gen_shape *s,
                   uint32_t i) {
    struct rp_op *op = &g->ops[i];
    op->name = rp_format("op%u", i);
    op->kind = rp_strdup("any");
    op->time_ns = draw(r, s->max_time_ns);
    op->phase = !s->training ? RP_PHASE_NONE : i < s->n_ops / 2 ? RP_FORWARD : RP_BACKWARD;
    op->recompute = !rp_rng_percent(r, s->once_percent);
    if (rp_rng_percent(r, s->workspace_percent))
        op->workspace_bytes = draw(r, s->max_bytes);
    uint32_t n = 1 + (uint32_t)rp_rng_below(r, s->max_inputs);
    op->inputs = rp_calloc(n, sizeof *op->inputs);
    for (uint32_t k = 0; k < n; k++) {
        uint32_t x = draw_input(g, r, s, i);
        if (x != RP_NONE && !reads(op, x))
            op->inputs[op->n_inputs++] = x;
    }
    n = 1 + (uint32_t)rp_rng_below(r, s->max_outputs);
    if (!op->recompute && rp_rng_percent(r, 30))
        n = 0;
    op->outputs = rp_calloc(n, sizeof *op->outputs);
    for (; op->n_outputs < n; op->n_outputs++)
        op->outputs[op->n_outputs] = new_tensor(g, r, s->max_bytes, RP_ACTIVATION);
}

static void add_updates(struct rp_rng *r, const struct rp_gen_shape *s, struct rp_op *op) {
    op->updates = rp_calloc(s->n_sources, sizeof *op->updates);
    for (uint32_t x = 0; x < s->n_sources; x++)
        if (!reads(op, x) && rp_rng_percent(r, 10))
            op->updates[op->n_updates++] = x;
}

/* What only version 2 can say. */
static void add_version_2(struct rp_graph *g, struct rp_rng *r,
                          const struct rp_gen_shape *s) {
    for (uint32_t i = 0; i < g->n_ops; i++) {
        struct rp_op *op = &g->ops[i];
        op->ordered = rp_rng_percent(r, 20);
        op->cannot_rewrite = rp_rng_percent(r, 40);
        add_updates(r, s, op);
    }
    for (uint32_t x = 0; x < g->n_tensors; x++) {
        struct rp_tensor *t = &g->tensors[x];
        if (x >= s->n_sources)
            t->held = rp_rng_percent(r, 10);
        else if (s->bandwidths)
            t->home = (enum rp_home)rp_rng_below(r, 3);
    }
}

static void choose_keep(struct rp_graph *g, struct rp_rng *r,
                        const struct rp_gen_shape *s) {
    const struct rp_op *last = &g->ops[g->n_ops - 1];
    g->keep = rp_calloc(g->n_tensors, sizeof *g->keep);
    for (uint32_t x = 0; x < g->n_tensors; x++) {
        bool of_last = last->n_outputs > 0 && x >= last->outputs[0];
        if (of_last || rp_rng_percent(r, s->keep_percent))
            g->keep[g->n_keep++] = x;
    }
}

/* Op i updates a source that it does not read. */
static void add_update(struct rp_graph *g, struct rp_rng *r, const struct rp_gen_shape *s,
                       uint32_t i) {
    struct rp_op *op = &g->ops[i];
    uint32_t x = s->n_sources > 0 ? (uint32_t)rp_rng_below(r, s->n_sources) : RP_NONE;
    if (x == RP_NONE || reads(op, x))
        return;
    op->updates = rp_calloc(1, sizeof *op->updates);
    op->updates[op->n_updates++] = x;
}

/* Drawn apart, so that the rest of the graph is the same without. */
static void add_rules(struct rp_graph *g, uint64_t seed, const struct rp_gen_shape *s) {
    struct rp_rng own = {seed}, *r = &own;
    for (uint32_t i = 0; i < g->n_ops; i++) {
        if (rp_rng_percent(r, s->rules_percent))
            add_update(g, r, s, i);
        g->ops[i].ordered = rp_rng_percent(r, s->rules_percent);
        g->ops[i].cannot_rewrite = rp_rng_percent(r, s->rules_percent);
    }
    for (uint32_t x = s->n_sources; x < g->n_tensors; x++)
        g->tensors[x].held = rp_rng_percent(r, s->rules_percent);
}

void rp_gen_graph(uint64_t seed, const struct rp_gen_shape *s, struct rp_graph *g) {
    struct rp_rng r = {seed};
    struct rp_err err = {{0}};
    char *text;
    size_t len;
    assert(s->n_ops >= 1 && s->max_inputs >= 1 && s->max_outputs >= 1);
    *g = (struct rp_graph){.name = rp_format("random-%" PRIu64, seed),
                           .time_source = rp_strdup("imported:random"),
                           .has_device = true,
                           .device.alignment_bytes = s->alignment_bytes};
    if (s->bandwidths) {
        g->device.h2d_bytes_per_s = 1 + draw(&r, 100000000000u);
        g->device.d2h_bytes_per_s = 1 + draw(&r, 100000000000u);
        g->device.copy_latency_ns = draw(&r, s->max_time_ns / 4 + 1);
    }
    for (uint32_t k = 0; k < s->n_sources; k++)
        new_tensor(g, &r, s->max_bytes, RP_PARAMETER);
    g->ops = rp_calloc(s->n_ops, sizeof *g->ops);
    for (; g->n_ops < s->n_ops; g->n_ops++)
        add_op(g, &r, s, g->n_ops);
    add_rules(g, seed + 12345, s);
    choose_keep(g, &r, s);
    if (s->version_2)
        add_version_2(g, &r, s);
    rp_rc rc = rp_graph_check(g, g->name, &err);
    assert(rc == RP_OK);
    (void)rc;
    rp_graph_dump(g, &text, &len);
    rp_sha256_hex(text, len, g->sha256);
    free(text);
}

void rp_gen_host_graph(uint64_t seed, uint32_t n_ops, struct rp_graph *g) {
    struct rp_gen_shape shape = rp_gen_small(n_ops);
    struct rp_err err = {{0}};
    shape.max_outputs = 1;
    shape.training = seed % 3 != 0;
    shape.version_2 = seed % 5 == 0; /* it draws updates and homes of its own */
    shape.rules_percent = shape.version_2 ? 0 : seed % 4 * 20;
    rp_gen_graph(seed, &shape, g);
    g->device.h2d_bytes_per_s = 1000000000u * (1 + seed * 37 % 40);
    g->device.d2h_bytes_per_s = 1000000000u * (1 + seed * 53 % 40);
    for (uint32_t x = 0; x < shape.n_sources && !shape.version_2; x++)
        g->tensors[x].home = x % 2 == 0 ? RP_HOME_HOST : RP_HOME_ANY;
    rp_rc rc = rp_graph_check(g, g->name, &err);
    assert(rc == RP_OK);
    (void)rc;
}

uint32_t rp_gen_movable(const struct rp_graph *g) {
    uint32_t n = 0;
    for (uint32_t x = 0; x < g->n_tensors; x++)
        n += g->tensors[x].producer != RP_NONE || g->tensors[x].home != RP_HOME_DEVICE;
    return n;
}
