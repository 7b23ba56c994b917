/* The file format "remat-graph", versions 1 and 2. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "model/graph.h"

struct source { /* what messages name */
    const char *file;
    struct rp_err *err;
    uint64_t version; /* of the format */
    char place[128];
};

static void set_place(struct source *s, const char *array, uint32_t i, json_t *object) {
    const char *name = json_string_value(json_object_get(object, "name"));
    if (name != NULL)
        snprintf(s->place, sizeof s->place, "%s[%u] \"%.80s\"", array, i, name);
    else
        snprintf(s->place, sizeof s->place, "%s[%u]", array, i);
}

/* The index of `word` in words[0..n-1]; n if it is not there. */
static unsigned word_index(const char *word, const char *const *words, unsigned n) {
    unsigned i = 0;
    while (i < n && (words[i] == NULL || strcmp(word, words[i]) != 0))
        i++;
    return i;
}

/* Reads an array of tensor indices. They must fit; rp_graph_check checks their range. */
static rp_rc read_indices(struct source *s, const char *key, json_t *array, uint32_t **to,
                          uint32_t *n) {
    size_t k;
    json_t *v;
    *n = (uint32_t)json_array_size(array);
    *to = rp_calloc(*n, sizeof **to);
    json_array_foreach(array, k, v) {
        json_int_t x = json_integer_value(v);
        if (!json_is_integer(v) || x < 0 || x >= RP_NONE)
            return rp_fail(s->err, RP_INPUT,
                           "%s: %s: '%s[%zu]' must be the index of a tensor", s->file,
                           s->place, key, k);
        (*to)[k] = (uint32_t)x;
    }
    return RP_OK;
}

static rp_rc read_shape(struct source *s, json_t *array, struct rp_tensor *t) {
    size_t k;
    json_t *v;
    t->n_dims = json_array_size(array);
    t->shape = rp_calloc(t->n_dims, sizeof *t->shape);
    json_array_foreach(array, k, v) {
        if (!json_is_integer(v) || json_integer_value(v) < 0)
            return rp_fail(s->err, RP_INPUT,
                           "%s: %s: 'shape[%zu]' must be an integer from 0 to 2^63-1",
                           s->file, s->place, k);
        t->shape[k] = (uint64_t)json_integer_value(v);
    }
    return RP_OK;
}

/* Cuts a table of fields off before `key`, the first of version 2, if the file has version
 * 1: there these are unknown keys. */
static void cut_fields(const struct source *s, struct rp_json_field *fields,
                       const char *key) {
    while (strcmp(fields->key, key) != 0)
        fields++;
    if (s->version == 1)
        *fields = (struct rp_json_field){0};
}

static rp_rc read_tensor(struct source *s, json_t *object, struct rp_tensor *t) {
    const char *name = NULL, *kind = NULL, *dtype = NULL, *home = "device";
    json_t *shape = NULL, *attrs = NULL;
    struct rp_json_field fields[] = {
        {"name", RP_JSON_STRING, true, &name},
        {"bytes", RP_JSON_NAT, true, &t->bytes},
        {"kind", RP_JSON_STRING, true, &kind},
        {"dtype", RP_JSON_STRING, false, &dtype},
        {"shape", RP_JSON_ARRAY, false, &shape},
        {"attrs", RP_JSON_OBJECT, false, &attrs},
        {"held", RP_JSON_BOOL, false, &t->held},
        {"home", RP_JSON_STRING, false, &home},
        {0},
    };
    cut_fields(s, fields, "held");
    rp_rc rc = rp_json_fields(object, fields, s->file, s->place, s->err);
    if (rc != RP_OK)
        return rc;
    unsigned k = word_index(kind, rp_tensor_kind_word, 5);
    if (k == 5)
        return rp_fail(
            s->err, RP_INPUT,
            "%s: %s: 'kind' must be parameter, state, input, activation or gradient",
            s->file, s->place);
    unsigned h = word_index(home, rp_home_word, 3);
    if (h == 3)
        return rp_fail(s->err, RP_INPUT, "%s: %s: 'home' must be device, host or any",
                       s->file, s->place);
    t->home = (enum rp_home)h;
    t->kind = (enum rp_tensor_kind)k;
    t->name = rp_strdup(name);
    t->dtype = rp_strdup(dtype);
    t->attrs = json_incref(attrs);
    return shape != NULL ? read_shape(s, shape, t) : RP_OK;
}

static rp_rc read_op(struct source *s, json_t *object, struct rp_op *op) {
    const char *name = NULL, *kind = NULL, *phase = NULL;
    json_t *inputs = NULL, *outputs = NULL, *attrs = NULL, *updates = NULL;
    bool rewrites = true;
    op->recompute = true;
    struct rp_json_field fields[] = {
        {"name", RP_JSON_STRING, true, &name},
        {"kind", RP_JSON_STRING, true, &kind},
        {"inputs", RP_JSON_ARRAY, true, &inputs},
        {"outputs", RP_JSON_ARRAY, true, &outputs},
        {"time_ns", RP_JSON_NAT, true, &op->time_ns},
        {"workspace_bytes", RP_JSON_NAT, false, &op->workspace_bytes},
        {"phase", RP_JSON_STRING, false, &phase},
        {"recompute", RP_JSON_BOOL, false, &op->recompute},
        {"attrs", RP_JSON_OBJECT, false, &attrs},
        {"updates", RP_JSON_ARRAY, false, &updates},
        {"ordered", RP_JSON_BOOL, false, &op->ordered},
        {"rewrites", RP_JSON_BOOL, false, &rewrites},
        {0},
    };
    cut_fields(s, fields, "updates");
    rp_rc rc = rp_json_fields(object, fields, s->file, s->place, s->err);
    if (rc != RP_OK)
        return rc;
    unsigned k = phase == NULL ? RP_PHASE_NONE : word_index(phase, rp_phase_word, 4);
    if (k == 4)
        return rp_fail(s->err, RP_INPUT,
                       "%s: %s: 'phase' must be forward, backward or update", s->file,
                       s->place);
    op->phase = (enum rp_phase)k;
    op->name = rp_strdup(name);
    op->kind = rp_strdup(kind);
    op->attrs = json_incref(attrs);
    op->cannot_rewrite = !rewrites;
    rc = read_indices(s, "inputs", inputs, &op->inputs, &op->n_inputs);
    if (rc == RP_OK)
        rc = read_indices(s, "outputs", outputs, &op->outputs, &op->n_outputs);
    if (rc == RP_OK && updates != NULL)
        rc = read_indices(s, "updates", updates, &op->updates, &op->n_updates);
    return rc;
}

static rp_rc read_device(struct source *s, json_t *object, struct rp_graph *g) {
    const char *name = NULL;
    struct rp_device *d = &g->device;
    const struct rp_json_field fields[] = {
        {"name", RP_JSON_STRING, false, &name},
        {"memory_bytes", RP_JSON_NAT, false, &d->memory_bytes},
        {"h2d_bytes_per_s", RP_JSON_NAT, false, &d->h2d_bytes_per_s},
        {"d2h_bytes_per_s", RP_JSON_NAT, false, &d->d2h_bytes_per_s},
        {"copy_latency_ns", RP_JSON_NAT, false, &d->copy_latency_ns},
        {"alignment_bytes", RP_JSON_NAT, false, &d->alignment_bytes},
        {0},
    };
    rp_rc rc = rp_json_fields(object, fields, s->file, "device", s->err);
    if (rc != RP_OK)
        return rc;
    g->has_device = true;
    d->name = rp_strdup(name);
    return RP_OK;
}

static rp_rc read_arrays(struct source *s, json_t *tensors, json_t *ops,
                         struct rp_graph *g) {
    size_t i;
    json_t *v;
    rp_rc rc = RP_OK;
    if (json_array_size(tensors) >= RP_NONE / 2 || json_array_size(ops) >= RP_NONE / 2)
        return rp_fail(s->err, RP_INPUT, "%s: more than 2^31 tensors or ops", s->file);
    g->tensors = rp_calloc(json_array_size(tensors), sizeof *g->tensors);
    g->ops = rp_calloc(json_array_size(ops), sizeof *g->ops);
    json_array_foreach(tensors, i, v) {
        g->n_tensors = (uint32_t)i + 1;
        set_place(s, "tensors", (uint32_t)i, v);
        if ((rc = read_tensor(s, v, &g->tensors[i])) != RP_OK)
            return rc;
    }
    json_array_foreach(ops, i, v) {
        g->n_ops = (uint32_t)i + 1;
        set_place(s, "ops", (uint32_t)i, v);
        if ((rc = read_op(s, v, &g->ops[i])) != RP_OK)
            return rc;
    }
    return rc;
}

static rp_rc read_graph(struct source *s, json_t *root, struct rp_graph *g) {
    const char *format = NULL, *name = NULL, *time_source = NULL, *order = "given";
    json_t *device = NULL, *tensors = NULL, *ops = NULL, *keep = NULL, *attrs = NULL,
           *notes = NULL;
    struct rp_json_field fields[] = {
        {"format", RP_JSON_STRING, true, &format},
        {"version", RP_JSON_NAT, true, &s->version},
        {"name", RP_JSON_STRING, true, &name},
        {"time_source", RP_JSON_STRING, true, &time_source},
        {"device", RP_JSON_OBJECT, false, &device},
        {"tensors", RP_JSON_ARRAY, true, &tensors},
        {"ops", RP_JSON_ARRAY, true, &ops},
        {"keep", RP_JSON_ARRAY, true, &keep},
        {"attrs", RP_JSON_OBJECT, false, &attrs},
        {"notes", RP_JSON_OBJECT, false, &notes},
        {"order", RP_JSON_STRING, false, &order},
        {0},
    };
    rp_rc rc = rp_json_format(root, "remat-graph", 2, s->file, s->err);
    s->version = json_integer_value(json_object_get(root, "version")) == 2 ? 2 : 1;
    cut_fields(s, fields, "order");
    if (rc == RP_OK)
        rc = rp_json_fields(root, fields, s->file, "graph", s->err);
    if (rc != RP_OK)
        return rc;
    g->free_order = strcmp(order, "free") == 0;
    if (!g->free_order && strcmp(order, "given") != 0)
        return rp_fail(s->err, RP_INPUT, "%s: graph: 'order' must be given or free",
                       s->file);
    g->name = rp_strdup(name);
    g->time_source = rp_strdup(time_source);
    g->attrs = json_incref(attrs);
    g->notes = json_incref(notes);
    g->device.alignment_bytes = 512;
    if (device != NULL && (rc = read_device(s, device, g)) != RP_OK)
        return rc;
    if ((rc = read_arrays(s, tensors, ops, g)) != RP_OK)
        return rc;
    snprintf(s->place, sizeof s->place, "graph");
    return read_indices(s, "keep", keep, &g->keep, &g->n_keep);
}

rp_rc rp_graph_parse(const char *text, size_t len, const char *file, struct rp_graph *g,
                     struct rp_err *err) {
    struct source s = {.file = file, .err = err};
    json_t *root = NULL;
    *g = (struct rp_graph){0};
    rp_rc rc = rp_json_parse(text, len, file, &root, err);
    if (rc == RP_OK)
        rc = read_graph(&s, root, g);
    json_decref(root);
    if (rc == RP_OK)
        rc = rp_graph_check(g, file, err);
    if (rc == RP_OK)
        rp_sha256_hex(text, len, g->sha256);
    else
        rp_graph_fini(g);
    return rc;
}

rp_rc rp_graph_load(const char *path, struct rp_graph *g, struct rp_err *err) {
    char *text = NULL;
    size_t len = 0;
    *g = (struct rp_graph){0};
    rp_rc rc = rp_read_file(path, &text, &len, err);
    if (rc == RP_OK)
        rc = rp_graph_parse(text, len, rp_path_name(path), g, err);
    free(text);
    return rc;
}

/* ---- writing: one tensor or op per line, so that files diff well ---- */

static void put_indices(FILE *f, const char *key, const uint32_t *at, uint32_t n) {
    fprintf(f, "\"%s\":[", key);
    for (uint32_t k = 0; k < n; k++)
        fprintf(f, "%s%" PRIu32, k ? "," : "", at[k]);
    fputc(']', f);
}

static void put_text(FILE *f, const char *before, const char *text) {
    if (text != NULL) {
        fputs(before, f);
        rp_json_put_string(f, text);
    }
}

static void put_object(FILE *f, const char *before, const json_t *object) {
    if (object != NULL) {
        fputs(before, f);
        rp_json_put(f, object);
    }
}

static void put_nat(FILE *f, const char *before, uint64_t value, uint64_t unless) {
    if (value != unless)
        fprintf(f, "%s%" PRIu64, before, value);
}

static void put_device(FILE *f, const struct rp_device *d) {
    fprintf(f, ",\n\"device\":{\"alignment_bytes\":%" PRIu64, d->alignment_bytes);
    put_text(f, ",\"name\":", d->name);
    put_nat(f, ",\"memory_bytes\":", d->memory_bytes, 0);
    put_nat(f, ",\"h2d_bytes_per_s\":", d->h2d_bytes_per_s, 0);
    put_nat(f, ",\"d2h_bytes_per_s\":", d->d2h_bytes_per_s, 0);
    put_nat(f, ",\"copy_latency_ns\":", d->copy_latency_ns, 0);
    fputc('}', f);
}

static void put_tensor(FILE *f, const struct rp_tensor *t) {
    put_text(f, "{\"name\":", t->name);
    fprintf(f, ",\"bytes\":%" PRIu64 ",\"kind\":\"%s\"", t->bytes,
            rp_tensor_kind_word[t->kind]);
    if (t->held)
        fputs(",\"held\":true", f);
    if (t->home != RP_HOME_DEVICE)
        fprintf(f, ",\"home\":\"%s\"", rp_home_word[t->home]);
    put_text(f, ",\"dtype\":", t->dtype);
    for (size_t k = 0; k < t->n_dims; k++)
        fprintf(f, "%s%" PRIu64, k ? "," : ",\"shape\":[", t->shape[k]);
    if (t->shape != NULL)
        fputs(t->n_dims ? "]" : ",\"shape\":[]", f);
    put_object(f, ",\"attrs\":", t->attrs);
    fputc('}', f);
}

static void put_op(FILE *f, const struct rp_op *op) {
    put_text(f, "{\"name\":", op->name);
    put_text(f, ",\"kind\":", op->kind);
    fputc(',', f);
    put_indices(f, "inputs", op->inputs, op->n_inputs);
    fputc(',', f);
    put_indices(f, "outputs", op->outputs, op->n_outputs);
    if (op->n_updates > 0) {
        fputc(',', f);
        put_indices(f, "updates", op->updates, op->n_updates);
    }
    fprintf(f, ",\"time_ns\":%" PRIu64, op->time_ns);
    put_nat(f, ",\"workspace_bytes\":", op->workspace_bytes, 0);
    put_text(f, ",\"phase\":", rp_phase_word[op->phase]);
    if (!op->recompute)
        fputs(",\"recompute\":false", f);
    if (op->ordered)
        fputs(",\"ordered\":true", f);
    if (op->cannot_rewrite)
        fputs(",\"rewrites\":false", f);
    put_object(f, ",\"attrs\":", op->attrs);
    fputc('}', f);
}

/* Does the graph use anything that version 1 cannot say? */
static bool needs_version_2(const struct rp_graph *g) {
    bool needs = g->free_order;
    for (uint32_t x = 0; x < g->n_tensors && !needs; x++)
        needs = g->tensors[x].held || g->tensors[x].home != RP_HOME_DEVICE;
    for (uint32_t i = 0; i < g->n_ops && !needs; i++)
        needs = g->ops[i].n_updates > 0 || g->ops[i].ordered || g->ops[i].cannot_rewrite;
    return needs;
}

void rp_graph_dump(const struct rp_graph *g, char **text, size_t *len) {
    FILE *f = rp_text_open(text, len);
    fprintf(f, "{\"format\":\"remat-graph\",\"version\":%d", needs_version_2(g) ? 2 : 1);
    put_text(f, ",\n\"name\":", g->name);
    put_text(f, ",\n\"time_source\":", g->time_source);
    if (g->free_order)
        fputs(",\n\"order\":\"free\"", f);
    if (g->has_device)
        put_device(f, &g->device);
    put_object(f, ",\n\"attrs\":", g->attrs);
    put_object(f, ",\n\"notes\":", g->notes);
    fputs(",\n\"tensors\":[", f);
    for (uint32_t x = 0; x < g->n_tensors; x++) {
        fputs(x ? ",\n" : "\n", f);
        put_tensor(f, &g->tensors[x]);
    }
    fputs("],\n\"ops\":[", f);
    for (uint32_t i = 0; i < g->n_ops; i++) {
        fputs(i ? ",\n" : "\n", f);
        put_op(f, &g->ops[i]);
    }
    fputs("],\n", f);
    put_indices(f, "keep", g->keep, g->n_keep);
    fputs("}\n", f);
    rp_text_close(f);
}

rp_rc rp_graph_save(struct rp_graph *g, const char *path, struct rp_err *err) {
    char *text;
    size_t len;
    rp_graph_dump(g, &text, &len);
    rp_rc rc = rp_write_file(path, text, len, err);
    if (rc == RP_OK)
        rp_sha256_hex(text, len, g->sha256);
    free(text);
    return rc;
}
