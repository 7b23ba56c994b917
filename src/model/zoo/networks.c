#include "model/zoo/networks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/cost.h"
#include "model/zoo/backward.h"
#include "model/zoo/optimizer.h"
#include "model/zoo/registry.h"

void rp_zoo_options_init(struct rp_zoo_options *o) {
    const uint64_t unset = RP_ZOO_DEFAULT;
    *o = (struct rp_zoo_options){.batch = unset,
                                 .image = {unset, unset, unset},
                                 .classes = unset,
                                 .layers = unset,
                                 .width = unset,
                                 .micro_batches = 1,
                                 .steps = unset,
                                 .seq = unset,
                                 .kv_heads = unset,
                                 .loss_parts = unset,
                                 .seed = 1,
                                 .dtype = RP_F32};
}

/* A numeric option, its defaults and its maximum. Names are those of the command line. */
struct number {
    const char *name;
    unsigned takes; /* 0: every network does */
    uint64_t *value;
    uint64_t usual, tiny;
    uint64_t max; /* 0: RP_MAX_QUANTITY */
};

/* Each layer, step and micro-batch makes tens of ops, so more than this is a mistake. */
enum {
    MAX_LAYERS = 1000,
    MAX_STEPS = 10000,
    MAX_MICRO_BATCHES = 1000,
    MAX_WIDTH = 1 << 20
};

static void resolve(struct rp_builder *b, const struct number *n) {
    bool given = *n->value != RP_ZOO_DEFAULT;
    uint64_t max = n->max != 0 ? n->max : RP_MAX_QUANTITY;
    if (n->takes != 0 && (b->entry->takes & n->takes) == 0) {
        if (given)
            rp_builder_fail(b, RP_USAGE, "--%s does not apply", n->name);
        *n->value = 0;
        return;
    }
    if (!given)
        *n->value = b->o.tiny && n->tiny != 0 ? n->tiny : n->usual;
    if (*n->value == 0)
        rp_builder_fail(b, RP_USAGE, "--%s 0: must be at least 1", n->name);
    else if (*n->value > max)
        rp_builder_fail(b, RP_USAGE, "--%s %" PRIu64 " is too large (at most %" PRIu64 ")",
                        n->name, *n->value, max);
}

static void check_image(struct rp_builder *b) {
    const struct rp_zoo_entry *entry = b->entry;
    if ((entry->takes & RP_TAKES_IMAGE) == 0)
        return;
    for (int i = entry->volume ? 0 : 1; i < 3 && b->rc == RP_OK; i++) {
        uint64_t size = b->o.image[i];
        if (size < entry->min_image)
            rp_builder_fail(b, RP_USAGE,
                            "--image %" PRIu64 " is too small (at least %" PRIu64 ")", size,
                            entry->min_image);
        else if (entry->image_multiple > 1 && size % entry->image_multiple != 0)
            rp_builder_fail(b, RP_USAGE,
                            "--image %" PRIu64 " is not a multiple of %" PRIu64, size,
                            entry->image_multiple);
    }
}

static void check_width(struct rp_builder *b) {
    const uint64_t head = rp_width(b, b->entry->head_width);
    if ((b->entry->takes & RP_TAKES_WIDTH) != 0 && b->rc == RP_OK && b->o.width % head != 0)
        rp_builder_fail(b, RP_USAGE,
                        "--width %" PRIu64 " is not a multiple of %" PRIu64
                        ", the width of a head",
                        b->o.width, head);
}

/* From here on o.batch is that of a micro-batch. */
static void divide_batch(struct rp_builder *b) {
    struct rp_zoo_options *o = &b->o;
    if (b->rc == RP_OK && o->batch % o->micro_batches != 0)
        rp_builder_fail(b, RP_USAGE,
                        "--batch %" PRIu64 " is not a multiple of %" PRIu64
                        " micro-batches",
                        o->batch, o->micro_batches);
    if (b->rc == RP_OK)
        o->batch /= o->micro_batches;
}

static uint64_t total_batch(const struct rp_builder *b) {
    return b->o.batch * b->o.micro_batches;
}

/* Groups of heads keep their size when the width is another. */
static uint64_t usual_kv_heads(const struct rp_builder *b) {
    const uint64_t usual = b->o.tiny ? b->entry->tiny.kv_heads : b->entry->usual.kv_heads;
    if (usual == 0 || b->o.width == RP_ZOO_DEFAULT)
        return usual;
    const uint64_t n = b->o.width / (rp_width(b, b->entry->usual.width) / usual);
    return n > 0 ? n : 1;
}

static void resolve_options(struct rp_builder *b) {
    const struct rp_zoo_options *u = &b->entry->usual, *t = &b->entry->tiny;
    struct rp_zoo_options *o = &b->o;
    const uint64_t width = rp_width(b, u->width), kv_heads = usual_kv_heads(b);
    const struct number numbers[] = {
        {"batch", 0, &o->batch, u->batch, t->batch, 0},
        {"micro-batches", 0, &o->micro_batches, 1, 1, MAX_MICRO_BATCHES},
        {"image", RP_TAKES_IMAGE, &o->image[0], u->image[0], t->image[0], 0},
        {"image", RP_TAKES_IMAGE, &o->image[1], u->image[1], t->image[1], 0},
        {"image", RP_TAKES_IMAGE, &o->image[2], u->image[2], t->image[2], 0},
        {"classes", RP_TAKES_CLASSES, &o->classes, u->classes, t->classes, 0},
        {"layers", RP_TAKES_LAYERS, &o->layers, u->layers, t->layers, MAX_LAYERS},
        {"steps", RP_TAKES_STEPS, &o->steps, u->steps, t->steps, MAX_STEPS},
        {"seq", RP_TAKES_SEQ, &o->seq, u->seq, t->seq, 0},
        {"width", RP_TAKES_WIDTH, &o->width, width, width, MAX_WIDTH},
        {"kv-heads", RP_TAKES_KV_HEADS, &o->kv_heads, kv_heads, kv_heads, 0},
        {"loss-parts", RP_TAKES_LOSS_PARTS, &o->loss_parts, 1, 1, 0},
    };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        resolve(b, &numbers[i]);
    if (o->no_aux && (b->entry->takes & RP_TAKES_NO_AUX) == 0)
        rp_builder_fail(b, RP_USAGE, "--no-aux does not apply");
    if (o->seed > RP_MAX_QUANTITY)
        rp_builder_fail(b, RP_USAGE, "--seed: too large");
    if (o->dtype == RP_I32)
        rp_builder_fail(b, RP_USAGE, "--dtype must be f32, f16 or bf16");
    check_image(b);
    check_width(b);
    divide_batch(b);
}

static void note_word(json_t *used, const char *key, const char *word) {
    json_object_set_new(used, key, json_string(word));
}

/* What the graph was built with, with the defaults filled in. Some options are noted only
 * where they change the graph. */
static json_t *options_used(const struct rp_builder *b) {
    const struct rp_zoo_options *o = &b->o;
    const bool usual_width = o->width == rp_width(b, b->entry->usual.width);
    const struct {
        const char *name;
        uint64_t value;
    } numbers[] = {{"batch", total_batch(b)},
                   {"micro_batches", o->micro_batches > 1 ? o->micro_batches : 0},
                   {"classes", o->classes},
                   {"layers", o->layers},
                   {"width", usual_width ? 0 : o->width},
                   {"seq", o->seq},
                   {"steps", o->steps},
                   {"kv_heads", o->kv_heads},
                   {"loss_parts", o->loss_parts > 1 ? o->loss_parts : 0}};
    json_t *used = json_object();
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (numbers[i].value != 0)
            json_object_set_new(used, numbers[i].name,
                                json_integer((json_int_t)numbers[i].value));
    if (o->image[1] != 0)
        json_object_set_new(used, "image",
                            b->entry->volume ? rp_numbers(3, o->image)
                                             : rp_numbers(2, o->image + 1));
    if (b->entry->takes & RP_TAKES_NO_AUX)
        json_object_set_new(used, "aux", json_boolean(!o->no_aux));
    note_word(used, "dtype", rp_dtype_word[o->dtype]);
    if (o->optimizer != RP_NO_OPTIMIZER)
        note_word(used, "optimizer", rp_optimizer_word[o->optimizer]);
    if (o->param_home != RP_HOME_DEVICE)
        note_word(used, "param_home", rp_home_word[o->param_home]);
    if (o->state_home != RP_HOME_DEVICE && o->optimizer != RP_NO_OPTIMIZER)
        note_word(used, "state_home", rp_home_word[o->state_home]);
    json_object_set_new(used, "seed", json_integer((json_int_t)o->seed));
    json_object_set_new(used, "tiny", json_boolean(o->tiny));
    return used;
}

static void describe(struct rp_builder *b) {
    struct rp_graph *g = b->g;
    g->name = rp_format("%s%s-b%" PRIu64, b->entry->name, b->o.tiny ? "-tiny" : "",
                        total_batch(b));
    g->time_source = rp_strdup("none");
    g->device.alignment_bytes = 512;
    g->attrs = json_pack("{s:s,s:o,s:I,s:I}", "network", b->entry->name, "options",
                         options_used(b), "parameters", (json_int_t)rp_zoo_n_params(g),
                         "loss", (json_int_t)b->loss.tensor);
}

static void build_step(struct rp_builder *b) {
    rp_optimizer_begin(b);
    do {
        b->entry->build(b);
        rp_differentiate(b);
    } while (rp_next_micro_batch(b));
}

rp_rc rp_zoo_build(const char *name, const struct rp_zoo_options *o, struct rp_graph *g,
                   struct rp_err *err) {
    const struct rp_zoo_entry *entry = rp_zoo_find(name);
    struct rp_builder b;
    *g = (struct rp_graph){0};
    if (entry == NULL)
        return rp_fail(err, RP_USAGE, "there is no network '%s'", name);
    rp_builder_init(&b, g, entry, o, err);
    resolve_options(&b);
    if (b.rc == RP_OK)
        build_step(&b);
    if (b.rc == RP_OK)
        describe(&b);
    if (b.rc == RP_OK && rp_graph_check(g, name, err) != RP_OK)
        b.rc = RP_USAGE; /* the graph is well-formed: a sum passed 63 bits */
    rp_rc rc = b.rc;
    rp_builder_fini(&b);
    if (rc != RP_OK)
        rp_graph_fini(g);
    return rc;
}

uint64_t rp_zoo_n_params(const struct rp_graph *g) {
    uint64_t n = 0;
    for (uint32_t x = 0; x < g->n_tensors; x++) {
        const struct rp_tensor *t = &g->tensors[x];
        uint64_t count = 1;
        for (size_t k = 0; k < t->n_dims; k++)
            count *= t->shape[k];
        if (t->kind == RP_PARAMETER)
            n += count;
    }
    return n;
}

uint64_t rp_zoo_macs(const struct rp_graph *g) {
    uint64_t flops = 0;
    for (uint32_t i = 0; i < g->n_ops; i++) {
        const struct rp_op *op = &g->ops[i];
        if (op->phase == RP_FORWARD && rp_op_class(op) != RP_CLASS_MEMORY)
            flops += (uint64_t)json_integer_value(json_object_get(op->attrs, "flops"));
    }
    return flops / 2;
}
