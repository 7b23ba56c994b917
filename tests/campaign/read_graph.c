#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json_fields.h"

static const char *const phases[] = {"forward", "backward", "update", NULL};
static const char *const tensor_kinds[] = {"parameter",  "state",    "input",
                                           "activation", "gradient", NULL};
static const char *const homes[] = {"device", "host", "any", NULL};
static const char *const orders[] = {"given", "free", NULL};

static const char *const graph_keys[] = {"format", "version", "name",  "time_source",
                                         "device", "tensors", "ops",   "keep",
                                         "attrs",  "notes",   "order", NULL};
static const char *const graph_keys_1[] = {"format", "version", "name", "time_source",
                                           "device", "tensors", "ops",  "keep",
                                           "attrs",  "notes",   NULL};
static const char *const device_keys[] = {"name",
                                          "memory_bytes",
                                          "h2d_bytes_per_s",
                                          "d2h_bytes_per_s",
                                          "copy_latency_ns",
                                          "alignment_bytes",
                                          NULL};
static const char *const tensor_keys[] = {"name",  "bytes", "kind", "dtype", "shape",
                                          "attrs", "held",  "home", NULL};
static const char *const tensor_keys_1[] = {"name",  "bytes", "kind", "dtype",
                                            "shape", "attrs", NULL};
static const char *const op_keys[] = {
    "name",  "kind",      "inputs",  "outputs", "time_ns", "workspace_bytes",
    "phase", "recompute", "updates", "ordered", "attrs",   "rewrites",
    NULL};
static const char *const op_keys_1[] = {
    "name",  "kind",      "inputs", "outputs", "time_ns", "workspace_bytes",
    "phase", "recompute", "attrs",  NULL};

/* Digests by coreutils, so that not even these are computed by our own code. */
static bool digest_file(const char *path, char sha256[65]) {
    char command[1024];
    snprintf(command, sizeof command, "sha256sum <'%s'", path);
    FILE *f = popen(command, "r");
    bool good = f != NULL && fscanf(f, "%64[0-9a-f]", sha256) == 1;
    return f != NULL && pclose(f) == 0 && good;
}

static bool read_device(struct ck_reader *r, const json_t *root, struct ck_graph *g) {
    json_t *o;
    const char *name;
    int64_t memory;
    g->alignment = 512;
    snprintf(r->place, sizeof r->place, "device");
    if (!ck_object(r, root, "device", false, &o) || o == NULL)
        return r->why[0] == 0;
    return ck_keys(r, o, device_keys) && ck_string(r, o, "name", false, &name) &&
           ck_number(r, o, "memory_bytes", false, &memory) &&
           ck_number(r, o, "h2d_bytes_per_s", false, &g->h2d) &&
           ck_number(r, o, "d2h_bytes_per_s", false, &g->d2h) &&
           ck_number(r, o, "copy_latency_ns", false, &g->latency_ns) &&
           ck_number(r, o, "alignment_bytes", false, &g->alignment) &&
           (g->alignment > 0 || ck_fault(r, "alignment_bytes is 0"));
}

static bool read_tensor(struct ck_reader *r, const json_t *o, bool v2,
                        struct ck_tensor *t) {
    const char *text;
    json_t *attrs, *shape;
    int kind, home = CK_DEVICE;
    *t = (struct ck_tensor){.producer = CK_NONE};
    if (!ck_keys(r, o, v2 ? tensor_keys : tensor_keys_1) ||
        !ck_string(r, o, "name", true, &text) ||
        !ck_number(r, o, "bytes", true, &t->bytes) ||
        !ck_word(r, o, "kind", true, tensor_kinds, &kind) ||
        !ck_string(r, o, "dtype", false, &text) ||
        !ck_array(r, o, "shape", false, &shape) ||
        !ck_object(r, o, "attrs", false, &attrs) ||
        !ck_bool(r, o, "held", false, &t->held) ||
        !ck_word(r, o, "home", false, homes, &home))
        return false;
    t->home = (enum ck_home)home;
    for (size_t k = 0; k < json_array_size(shape); k++)
        if (!json_is_integer(json_array_get(shape, k)) ||
            json_integer_value(json_array_get(shape, k)) < 0)
            return ck_fault(r, "shape");
    return true;
}

static bool read_op(struct ck_reader *r, const json_t *o, bool v2, const struct ck_graph *g,
                    struct ck_op *op) {
    const char *text;
    json_t *attrs;
    int phase;
    bool recompute = true;
    *op = (struct ck_op){.rewrites = true};
    if (!ck_keys(r, o, v2 ? op_keys : op_keys_1) || !ck_string(r, o, "name", true, &text) ||
        !ck_string(r, o, "kind", true, &text) ||
        !ck_ids(r, o, "inputs", true, g->n_tensors, &op->inputs) ||
        !ck_ids(r, o, "outputs", true, g->n_tensors, &op->outputs) ||
        !ck_ids(r, o, "updates", false, g->n_tensors, &op->updates) ||
        !ck_number(r, o, "time_ns", true, &op->time_ns) ||
        !ck_number(r, o, "workspace_bytes", false, &op->workspace_bytes) ||
        !ck_word(r, o, "phase", false, phases, &phase) ||
        !ck_bool(r, o, "recompute", false, &recompute) ||
        !ck_bool(r, o, "ordered", false, &op->ordered) ||
        !ck_bool(r, o, "rewrites", false, &op->rewrites) ||
        !ck_object(r, o, "attrs", false, &attrs))
        return false;
    op->once = !recompute || op->updates.n > 0;
    return op->outputs.n > 0 || op->once || ck_fault(r, "there are no outputs");
}

static bool contains(const struct ck_list *list, int64_t x) {
    for (int k = 0; k < list->n; k++)
        if (list->at[k] == x)
            return true;
    return false;
}

/* Producers, and that inputs are sources or outputs of earlier ops. */
static bool connect_op(struct ck_reader *r, struct ck_graph *g, int i) {
    const struct ck_op *op = &g->ops[i];
    for (int k = 0; k < op->outputs.n; k++) {
        struct ck_tensor *t = &g->tensors[op->outputs.at[k]];
        if (t->producer != CK_NONE)
            return ck_fault(r, "tensor %d has two producers", (int)op->outputs.at[k]);
        if (contains(&op->inputs, op->outputs.at[k]) ||
            contains(&op->updates, op->outputs.at[k]))
            return ck_fault(r, "a tensor is read and made");
        t->producer = i;
    }
    for (int k = 0; k < op->updates.n; k++)
        if (contains(&op->inputs, op->updates.at[k]))
            return ck_fault(r, "a tensor is read and updated");
    return true;
}

static bool check_order(struct ck_reader *r, const struct ck_graph *g, int i) {
    const struct ck_op *op = &g->ops[i];
    for (int k = 0; k < op->inputs.n; k++)
        if (g->tensors[op->inputs.at[k]].producer >= i)
            return ck_fault(r, "an input is made later");
    for (int k = 0; k < op->updates.n; k++)
        if (g->tensors[op->updates.at[k]].producer != CK_NONE)
            return ck_fault(r, "an updated tensor is no source");
    return true;
}

static bool check_tensor(struct ck_reader *r, const struct ck_tensor *t) {
    if (t->held && t->producer == CK_NONE)
        return ck_fault(r, "a source is held");
    if (t->home != CK_DEVICE && t->producer != CK_NONE)
        return ck_fault(r, "no source, but with a home");
    return true;
}

static bool read_tensors(struct ck_reader *r, const json_t *a, bool v2,
                         struct ck_graph *g) {
    g->tensors = calloc(json_array_size(a) + 1, sizeof *g->tensors);
    for (; g->n_tensors < (int)json_array_size(a); g->n_tensors++) {
        snprintf(r->place, sizeof r->place, "tensors[%d]", g->n_tensors);
        if (!read_tensor(r, json_array_get(a, (size_t)g->n_tensors), v2,
                         &g->tensors[g->n_tensors]))
            return false;
    }
    return true;
}

/* All storage and workspace at once, rounded up, must not overflow. */
static bool add_bytes(struct ck_reader *r, const struct ck_graph *g, int64_t bytes,
                      int64_t *sum) {
    int64_t over = bytes % g->alignment;
    return ck_add(r, sum, bytes, "bytes") &&
           ck_add(r, sum, over ? g->alignment - over : 0, "bytes");
}

static bool read_ops(struct ck_reader *r, const json_t *a, bool v2, struct ck_graph *g) {
    int64_t time = 0, bytes = 0;
    g->ops = calloc(json_array_size(a) + 1, sizeof *g->ops);
    while (g->n_ops < (int)json_array_size(a)) {
        struct ck_op *op = &g->ops[g->n_ops];
        snprintf(r->place, sizeof r->place, "ops[%d]", g->n_ops);
        if (!read_op(r, json_array_get(a, (size_t)g->n_ops++), v2, g, op) ||
            !connect_op(r, g, g->n_ops - 1) || !ck_add(r, &time, op->time_ns, "time_ns") ||
            !add_bytes(r, g, op->workspace_bytes, &bytes))
            return false;
    }
    for (int i = 0; i < g->n_ops; i++) {
        snprintf(r->place, sizeof r->place, "ops[%d]", i);
        if (!check_order(r, g, i))
            return false;
    }
    for (int x = 0; x < g->n_tensors; x++) {
        snprintf(r->place, sizeof r->place, "tensors[%d]", x);
        if (!check_tensor(r, &g->tensors[x]) ||
            !add_bytes(r, g, g->tensors[x].bytes, &bytes))
            return false;
    }
    return true;
}

static bool read_keep(struct ck_reader *r, const json_t *root, struct ck_graph *g) {
    json_t *keep;
    r->place[0] = 0;
    if (!ck_array(r, root, "keep", true, &keep))
        return false;
    for (size_t k = 0; k < json_array_size(keep); k++) {
        json_t *v = json_array_get(keep, k);
        if (!json_is_integer(v) || json_integer_value(v) < 0 ||
            json_integer_value(v) >= g->n_tensors)
            return ck_fault(r, "keep[%zu] is no tensor", k);
        g->tensors[json_integer_value(v)].kept = true;
    }
    return true;
}

static bool read_root(struct ck_reader *r, const json_t *root, struct ck_graph *g) {
    const char *format = "", *name, *source;
    json_t *tensors, *ops, *free_form;
    int64_t version = 0;
    int order;
    if (!json_is_object(root))
        return ck_fault(r, "no object");
    if (!ck_string(r, root, "format", true, &format) ||
        !ck_number(r, root, "version", true, &version))
        return false;
    if (strcmp(format, "remat-graph") != 0 || version < 1 || version > 2)
        return ck_fault(r, "not a graph");
    bool v2 = version == 2;
    if (!ck_keys(r, root, v2 ? graph_keys : graph_keys_1) ||
        !ck_string(r, root, "name", true, &name) ||
        !ck_string(r, root, "time_source", true, &source) ||
        !ck_word(r, root, "order", false, orders, &order) ||
        !ck_object(r, root, "attrs", false, &free_form) ||
        !ck_object(r, root, "notes", false, &free_form) ||
        !ck_array(r, root, "tensors", true, &tensors) ||
        !ck_array(r, root, "ops", true, &ops))
        return false;
    g->name = strdup(name);
    return read_device(r, root, g) && read_tensors(r, tensors, v2, g) &&
           read_ops(r, ops, v2, g) && read_keep(r, root, g);
}

bool ck_read_graph(const char *path, struct ck_graph *g, char why[256]) {
    struct ck_reader r = {.why = why};
    why[0] = 0;
    *g = (struct ck_graph){0};
    json_t *root = ck_load(&r, path);
    bool good = root != NULL && read_root(&r, root, g);
    json_decref(root);
    r.place[0] = 0;
    return good && (digest_file(path, g->sha256) || ck_fault(&r, "no digest"));
}

void ck_free_graph(struct ck_graph *g) {
    for (int i = 0; i < g->n_ops; i++) {
        free(g->ops[i].inputs.at);
        free(g->ops[i].outputs.at);
        free(g->ops[i].updates.at);
    }
    free(g->ops);
    free(g->tensors);
    free(g->name);
}
