/* SPDX-License-Identifier: MIT */
#include "remat/read.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sha256.h"

#define QUANTITY_MAX ((uint64_t)INT64_MAX)
#define COUNT_MAX ((size_t)UINT32_MAX - 1)

/* Where in the files the reader is, for messages: "graph: tensors[3]". */
struct place {
    const char *file, *list;
    size_t index;
    struct remat_error *error;
};

static bool fail(const struct place *p, const char *key, const char *rule) {
    if (p->list == NULL)
        return remat_fail(p->error, "%s: %s: %s", p->file, key, rule);
    return remat_fail(p->error, "%s: %s[%zu]: %s: %s", p->file, p->list, p->index, key,
                      rule);
}

/* ---- values ---- */

static bool is_version_2(const json_t *root) {
    return json_integer_value(json_object_get(root, "version")) == 2;
}

/* `keys` lists the keys that the object may have, each between blanks; `newer` those that
 * it may have too if `root`, the file it stands in, has version 2. */
static bool check_keys(const struct place *p, const json_t *root, json_t *object,
                       const char *keys, const char *newer) {
    const char *key;
    json_t *value;
    char padded[72];
    if (!json_is_object(object))
        return fail(p, "value", "is not an object");
    json_object_foreach(object, key, value) {
        snprintf(padded, sizeof padded, " %.64s ", key);
        bool known = strstr(keys, padded) != NULL ||
                     (is_version_2(root) && strstr(newer, padded) != NULL);
        if (strchr(key, ' ') != NULL || !known)
            return fail(p, key, "is not a key of the format");
    }
    return true;
}

static bool read_nat(const struct place *p, json_t *object, const char *key, bool required,
                     uint64_t *to) {
    const json_t *v = json_object_get(object, key);
    if (v == NULL)
        return required ? fail(p, key, "is missing") : true;
    if (!json_is_integer(v) || json_integer_value(v) < 0)
        return fail(p, key, "is not an integer from 0 to 2^63-1");
    *to = (uint64_t)json_integer_value(v);
    return true;
}

static bool read_string(const struct place *p, json_t *object, const char *key,
                        const char **to) {
    const json_t *v = json_object_get(object, key);
    if (!json_is_string(v))
        return fail(p, key, v == NULL ? "is missing" : "is not a string");
    *to = json_string_value(v);
    return true;
}

static bool read_bool(const struct place *p, json_t *object, const char *key, bool required,
                      bool *to) {
    const json_t *v = json_object_get(object, key);
    if (v == NULL && !required)
        return true;
    if (!json_is_boolean(v))
        return fail(p, key, v == NULL ? "is missing" : "is not true or false");
    *to = json_boolean_value(v);
    return true;
}

static json_t *get_array(const struct place *p, json_t *object, const char *key) {
    json_t *v = json_object_get(object, key);
    if (!json_is_array(v))
        fail(p, key, v == NULL ? "is missing" : "is not an array");
    else if (json_array_size(v) > COUNT_MAX)
        fail(p, key, "has too many elements");
    else
        return v;
    return NULL;
}

static bool read_index(const struct place *p, const char *key, const json_t *v, size_t n,
                       uint32_t *to) {
    if (!json_is_integer(v) || json_integer_value(v) < 0 ||
        (uint64_t)json_integer_value(v) >= n)
        return fail(p, key, "is not an index into the graph's array");
    *to = (uint32_t)json_integer_value(v);
    return true;
}

static json_t *parse_json(const char *text, size_t len, const char *file,
                          const char *format, struct remat_error *error) {
    json_error_t je;
    json_t *root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &je);
    const struct place p = {file, NULL, 0, error};
    if (root == NULL) {
        remat_fail(error, "%s: line %d column %d: %s", file, je.line, je.column, je.text);
        return NULL;
    }
    const char *found = json_string_value(json_object_get(root, "format"));
    char rule[64];
    snprintf(rule, sizeof rule, "is not '%s'", format);
    if (found == NULL || strcmp(found, format) != 0)
        fail(&p, "format", rule);
    else if (json_integer_value(json_object_get(root, "version")) != 1 &&
             !is_version_2(root))
        fail(&p, "version", "is not 1 or 2");
    else
        return root;
    json_decref(root);
    return NULL;
}

/* ---- the graph ---- */

static bool read_home_of(const struct place *p, json_t *o,
                         struct remat_tensor_details *details) {
    const char *home = "device";
    if (json_object_get(o, "home") != NULL && !read_string(p, o, "home", &home))
        return false;
    details->must_be_listed = strcmp(home, "host") == 0;
    details->may_be_listed = details->must_be_listed || strcmp(home, "any") == 0;
    return details->may_be_listed || strcmp(home, "device") == 0 ||
           fail(p, "home", "is not one of device, host, any");
}

static bool read_tensor(remat *r, const struct place *p, json_t *o) {
    struct remat_tensor *t = &r->tensors[p->index];
    t->source = true;
    t->last = t->host_at = REMAT_NOWHERE;
    return check_keys(p, r->graph, o, " name bytes kind dtype shape attrs ",
                      " held home ") &&
           read_string(p, o, "name", &t->name) &&
           read_nat(p, o, "bytes", true, &t->bytes) &&
           read_home_of(p, o, &r->tensor_details[p->index]);
}

static bool read_tensor_list(remat *r, const struct place *p, json_t *o, const char *key,
                             struct remat_span *span) {
    json_t *list = get_array(p, o, key), *v;
    size_t k;
    uint32_t x;
    if (list == NULL)
        return false;
    *span = (struct remat_span){r->ends.n, json_array_size(list)};
    json_array_foreach(list, k, v) {
        if (!read_index(p, key, v, r->totals.n_tensors, &x))
            return false;
        const struct remat_end end = {x, r->tensor_details[x].n_updates};
        if (!REMAT_PUSH(&r->ends, end))
            return fail(p, key, "no memory");
    }
    return true;
}

/* Comes after the inputs of the same op, which find the tensors as they were before. */
static bool read_updates(remat *r, const struct place *p, json_t *o,
                         struct remat_op_details *details) {
    if (json_object_get(o, "updates") == NULL)
        return true;
    if (!read_tensor_list(r, p, o, "updates", &details->updates))
        return false;
    for (size_t k = 0; k < details->updates.n; k++)
        r->tensor_details[r->ends.at[details->updates.first + k].tensor].n_updates++;
    return true;
}

/* Every tensor has at most one producer. remat_order finds out whether it is made before it
 * is read. */
static bool claim_outputs(remat *r, const struct place *p,
                          const struct remat_span *outputs) {
    for (size_t k = 0; k < outputs->n; k++) {
        struct remat_tensor *t = &r->tensors[r->ends.at[outputs->first + k].tensor];
        if (!t->source)
            return fail(p, "outputs", "a tensor that another op makes");
        t->source = false;
    }
    return true;
}

static bool read_op(remat *r, const struct place *p, json_t *o) {
    struct remat_op *op = &r->ops[p->index];
    struct remat_op_details *details = &r->op_details[p->index];
    details->recompute = details->rewrites = true;
    return check_keys(p, r->graph, o,
                      " name kind inputs outputs time_ns workspace_bytes phase recompute "
                      "attrs ",
                      " updates ordered rewrites ") &&
           read_string(p, o, "name", &op->name) && read_string(p, o, "kind", &op->kind) &&
           read_nat(p, o, "time_ns", true, &op->time_ns) &&
           read_nat(p, o, "workspace_bytes", false, &details->workspace_bytes) &&
           (details->workspace_bytes <= QUANTITY_MAX - r->totals.alignment_bytes ||
            fail(p, "workspace_bytes", "with the alignment passes 2^63-1")) &&
           read_bool(p, o, "recompute", false, &details->recompute) &&
           read_bool(p, o, "rewrites", false, &details->rewrites) &&
           read_tensor_list(r, p, o, "inputs", &details->inputs) &&
           read_tensor_list(r, p, o, "outputs", &details->outputs) &&
           read_updates(r, p, o, details) && claim_outputs(r, p, &details->outputs);
}

static bool read_alignment(remat *r, const struct place *p) {
    json_t *device = json_object_get(r->graph, "device");
    r->totals.alignment_bytes = 512;
    if (device == NULL)
        return true;
    if (!json_is_object(device))
        return fail(p, "device", "is not an object");
    if (!read_nat(p, device, "alignment_bytes", false, &r->totals.alignment_bytes))
        return false;
    return r->totals.alignment_bytes > 0 ? true : fail(p, "alignment_bytes", "is 0");
}

static bool read_keep(remat *r, const struct place *p) {
    json_t *list = get_array(p, r->graph, "keep"), *v;
    size_t k;
    if (list == NULL)
        return false;
    r->totals.n_keep = (uint32_t)json_array_size(list);
    r->keep = calloc(r->totals.n_keep + 1, sizeof *r->keep);
    if (r->keep == NULL)
        return fail(p, "keep", "no memory");
    json_array_foreach(list, k, v) {
        if (!read_index(p, "keep", v, r->totals.n_tensors, &r->keep[k]))
            return false;
        r->tensors[r->keep[k]].kept = true;
    }
    return true;
}

/* The sum of all sizes, each rounded up, must stay below 2^63. Then later sums need no
 * check. */
static bool check_sizes(remat *r, const struct place *p) {
    uint64_t sum = 0, slack = r->totals.alignment_bytes;
    for (uint32_t x = 0; x < r->totals.n_tensors; x++) {
        if (slack > QUANTITY_MAX - r->tensors[x].bytes ||
            sum > QUANTITY_MAX - r->tensors[x].bytes - slack)
            return fail(p, "tensors", "their bytes pass 2^63-1");
        sum += r->tensors[x].bytes + slack;
        if (r->tensors[x].source)
            r->totals.fixed_bytes += r->tensors[x].bytes;
    }
    return true;
}

/* Only sources can be updated or live on the host. */
static bool check_sources(remat *r, struct remat_error *error) {
    for (uint32_t x = 0; x < r->totals.n_tensors; x++) {
        const struct place p = {"graph", "tensors", x, error};
        if (!r->tensors[x].source && r->tensor_details[x].n_updates > 0)
            return fail(&p, "updates", "an op updates it, but another makes it");
        if (!r->tensors[x].source && r->tensor_details[x].may_be_listed)
            return fail(&p, "home", "an op makes it, so it has no home");
    }
    return true;
}

static bool read_all(remat *r, const char *file, const char *list_name, json_t *list,
                     bool (*read)(remat *, const struct place *, json_t *),
                     struct remat_error *error) {
    for (size_t k = 0; k < json_array_size(list); k++) {
        const struct place p = {file, list_name, k, error};
        if (!read(r, &p, json_array_get(list, k)))
            return false;
    }
    return true;
}

static bool read_graph(remat *r, struct remat_error *error) {
    const struct place p = {"graph", NULL, 0, error};
    json_t *tensors = get_array(&p, r->graph, "tensors");
    json_t *ops = get_array(&p, r->graph, "ops");
    if (tensors == NULL || ops == NULL ||
        !check_keys(&p, r->graph, r->graph,
                    " format version name time_source device tensors ops keep attrs "
                    "notes ",
                    " order ") ||
        !read_string(&p, r->graph, "name", &r->totals.graph_name) || !read_alignment(r, &p))
        return false;
    r->totals.n_tensors = (uint32_t)json_array_size(tensors);
    r->totals.n_ops = (uint32_t)json_array_size(ops);
    r->tensors = calloc(r->totals.n_tensors + 1, sizeof *r->tensors);
    r->ops = calloc(r->totals.n_ops + 1, sizeof *r->ops);
    r->op_details = calloc(r->totals.n_ops + 1, sizeof *r->op_details);
    r->tensor_details = calloc(r->totals.n_tensors + 1, sizeof *r->tensor_details);
    if (r->tensors == NULL || r->ops == NULL || r->op_details == NULL ||
        r->tensor_details == NULL)
        return remat_fail(error, "graph: no memory");
    return read_all(r, "graph", "tensors", tensors, read_tensor, error) &&
           read_all(r, "graph", "ops", ops, read_op, error) && read_keep(r, &p) &&
           check_sizes(r, &p) && check_sources(r, error);
}

/* ---- the plan ---- */

/* Exactly one of four keys says what the step does. */
static bool read_what(const struct place *p, json_t *o, enum remat_what *what) {
    static const char *const key[] = {"run", "free", "swap_out", "swap_in"};
    int n = 0;
    for (int k = 0; k < 4; k++)
        if (json_object_get(o, key[k]) != NULL) {
            *what = (enum remat_what)k;
            n++;
        }
    return n == 1 ? true : fail(p, "step", "is not one of run, free, swap_out, swap_in");
}

static bool read_addresses(remat *r, const struct place *p, json_t *o) {
    json_t *list = json_object_get(o, "at"), *v;
    size_t k;
    r->step_addresses[p->index] =
        (struct remat_span){r->addresses.n, json_array_size(list)};
    if (list != NULL && !json_is_array(list))
        return fail(p, "at", "is not an array");
    json_array_foreach(list, k, v) {
        const uint64_t at =
            json_is_integer(v) ? (uint64_t)json_integer_value(v) : REMAT_NOWHERE;
        if (!json_is_null(v) && (!json_is_integer(v) || json_integer_value(v) < 0))
            return fail(p, "at", "holds what is no address and not null");
        if (!REMAT_PUSH(&r->addresses, at))
            return fail(p, "at", "no memory");
    }
    return true;
}

static bool read_step(remat *r, const struct place *p, json_t *o) {
    static const struct {
        const char *key, *keys;
        enum remat_queue queue;
    } step_kinds[] = {{"run", " run at workspace_at ", REMAT_COMPUTE},
                      {"free", " free ", REMAT_COMPUTE},
                      {"swap_out", " swap_out host_at ", REMAT_D2H},
                      {"swap_in", " swap_in at ", REMAT_H2D}};
    struct remat_step *s = &r->steps[p->index];
    *s = (struct remat_step){.number = p->index,
                             .workspace_at = REMAT_NOWHERE,
                             .at = REMAT_NOWHERE,
                             .host_at = REMAT_NOWHERE};
    if (!read_what(p, o, &s->what) ||
        !check_keys(p, r->plan, o, step_kinds[s->what].keys, "") ||
        !read_index(p, step_kinds[s->what].key, json_object_get(o, step_kinds[s->what].key),
                    s->what == REMAT_RUN ? r->totals.n_ops : r->totals.n_tensors, &s->id))
        return false;
    s->queue = step_kinds[s->what].queue;
    s->name = s->what == REMAT_RUN ? r->ops[s->id].name : r->tensors[s->id].name;
    if (s->what == REMAT_RUN)
        return read_addresses(r, p, o) &&
               read_nat(p, o, "workspace_at", false, &s->workspace_at);
    s->bytes = r->tensors[s->id].bytes;
    return read_nat(p, o, "at", false, &s->at) &&
           read_nat(p, o, "host_at", false, &s->host_at);
}

/* A source that lives on the host. It takes no fixed bytes. */
static bool read_home(remat *r, const struct place *p, json_t *o) {
    uint32_t x;
    if (!check_keys(p, r->plan, o, " tensor host_at ", "") ||
        !read_index(p, "tensor", json_object_get(o, "tensor"), r->totals.n_tensors, &x))
        return false;
    if (!r->tensor_details[x].may_be_listed)
        return fail(p, "tensor", "is not a source whose home may be the host");
    if (r->tensors[x].on_host)
        return fail(p, "tensor", "stands there twice");
    r->tensors[x].on_host = true;
    r->totals.fixed_bytes -= r->tensors[x].bytes;
    return read_nat(p, o, "host_at", false, &r->tensors[x].host_at);
}

static bool read_homes(remat *r, const struct place *p) {
    json_t *homes = json_object_get(r->plan, "homes");
    if (homes != NULL && get_array(p, r->plan, "homes") == NULL)
        return false;
    if (!read_all(r, "plan", "homes", homes, read_home, p->error))
        return false;
    for (uint32_t x = 0; x < r->totals.n_tensors; x++)
        if (r->tensor_details[x].must_be_listed && !r->tensors[x].on_host)
            return remat_fail(p->error,
                              "plan: homes: tensor %" PRIu32
                              " \"%.80s\" has its home on the host, but is not listed",
                              x, r->tensors[x].name);
    return true;
}

static bool read_header(remat *r, const char *graph, size_t graph_len,
                        struct remat_error *error) {
    const struct place p = {"plan", NULL, 0, error};
    json_t *of = json_object_get(r->plan, "graph");
    json_t *claims = json_object_get(r->plan, "claims");
    const char *name = "", *digest = "";
    char hex[65];
    if (!check_keys(&p, r->plan, r->plan,
                    " format version graph budget_bytes addressed arena_bytes host_bytes "
                    "steps claims notes ",
                    " homes ") ||
        !read_string(&p, of, "name", &name) || !read_string(&p, of, "sha256", &digest) ||
        !read_bool(&p, r->plan, "addressed", true, &r->totals.addressed) ||
        !read_nat(&p, r->plan, "budget_bytes", true, &r->totals.budget_bytes) ||
        !read_nat(&p, r->plan, "arena_bytes", true, &r->totals.arena_bytes) ||
        !read_nat(&p, r->plan, "host_bytes", true, &r->totals.host_bytes) ||
        !read_nat(&p, claims, "time_ns", true, &r->totals.time_ns))
        return false;
    rp_sha256_hex(graph, graph_len, hex);
    if (strcmp(hex, digest) != 0 || strcmp(name, r->totals.graph_name) != 0)
        return fail(&p, "graph", "the plan is for another graph");
    return read_homes(r, &p);
}

static bool read_plan(remat *r, const char *graph, size_t graph_len,
                      struct remat_error *error) {
    const struct place p = {"plan", NULL, 0, error};
    json_t *steps = get_array(&p, r->plan, "steps");
    if (steps == NULL || !read_header(r, graph, graph_len, error))
        return false;
    const size_t n = r->totals.n_steps = json_array_size(steps);
    r->steps = calloc(n + 1, sizeof *r->steps);
    r->step_addresses = calloc(n + 1, sizeof *r->step_addresses);
    r->step_operands = calloc(n + 1, sizeof *r->step_operands);
    r->step_waits = calloc(n + 1, sizeof *r->step_waits);
    if (r->steps == NULL || r->step_addresses == NULL || r->step_operands == NULL ||
        r->step_waits == NULL)
        return remat_fail(error, "plan: no memory");
    return read_all(r, "plan", "steps", steps, read_step, error);
}

bool remat_read(remat *r, const char *graph, size_t graph_len, const char *plan,
                size_t plan_len, struct remat_error *error) {
    r->graph = parse_json(graph, graph_len, "graph", "remat-graph", error);
    if (r->graph == NULL || !read_graph(r, error))
        return false;
    r->plan = parse_json(plan, plan_len, "plan", "remat-plan", error);
    return r->plan != NULL && read_plan(r, graph, graph_len, error);
}
