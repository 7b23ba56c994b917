/* SPDX-License-Identifier: MIT
 *
 * read: graph and plan from JSON, every number checked. Names are borrowed from the parsed
 * files, which live as long as the plan. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "remat/remat_internal.h"

#define QUANTITY_MAX ((uint64_t)INT64_MAX)
#define COUNT_MAX ((size_t)UINT32_MAX - 1)

bool remat_more(void **at, size_t *cap, size_t size) {
    size_t want = *cap > 0 ? 2 * *cap : 64;
    void *to = want > SIZE_MAX / 2 / size ? NULL : realloc(*at, want * size);
    if (to == NULL)
        return false;
    *at = to;
    *cap = want;
    return true;
}

/* Names come from files: nothing in them may move a terminal's cursor. */
bool remat_say(struct remat_error *error, const char *fmt, ...) {
    if (error == NULL || error->text[0] != '\0')
        return false;
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(error->text, sizeof error->text, fmt, ap);
    va_end(ap);
    for (char *c = error->text; *c != '\0'; c++)
        if ((unsigned char)*c < 0x20 || (unsigned char)*c >= 0x7f)
            *c = '?';
    return false;
}

/* Where the reader is: "graph: tensors[3]". */
struct place {
    const char *file, *list;
    size_t index;
    struct remat_error *error;
};

static bool wrong(const struct place *p, const char *key, const char *rule) {
    if (p->list == NULL)
        return remat_say(p->error, "%s: %s: %s", p->file, key, rule);
    return remat_say(p->error, "%s: %s[%zu]: %s: %s", p->file, p->list, p->index, key,
                     rule);
}

/* ---- values ---- */

/* `keys` are all that the object may hold, each between blanks. */
static bool known_keys(const struct place *p, json_t *object, const char *keys) {
    const char *key;
    json_t *value;
    char padded[72];
    if (!json_is_object(object))
        return wrong(p, "value", "is not an object");
    json_object_foreach(object, key, value) {
        snprintf(padded, sizeof padded, " %.64s ", key);
        if (strchr(key, ' ') != NULL || strlen(key) > 64 || strstr(keys, padded) == NULL)
            return wrong(p, key, "is not a key of the format");
    }
    return true;
}

static bool nat(const struct place *p, json_t *object, const char *key, bool required,
                uint64_t *to) {
    const json_t *v = json_object_get(object, key);
    if (v == NULL)
        return required ? wrong(p, key, "is missing") : true;
    if (!json_is_integer(v) || json_integer_value(v) < 0)
        return wrong(p, key, "is not an integer from 0 to 2^63-1");
    *to = (uint64_t)json_integer_value(v);
    return true;
}

static bool string(const struct place *p, json_t *object, const char *key,
                   const char **to) {
    const json_t *v = json_object_get(object, key);
    if (!json_is_string(v))
        return wrong(p, key, v == NULL ? "is missing" : "is not a string");
    *to = json_string_value(v);
    return true;
}

static bool boolean(const struct place *p, json_t *object, const char *key, bool required,
                    bool *to) {
    const json_t *v = json_object_get(object, key);
    if (v == NULL && !required)
        return true;
    if (!json_is_boolean(v))
        return wrong(p, key, v == NULL ? "is missing" : "is not true or false");
    *to = json_boolean_value(v);
    return true;
}

static json_t *array(const struct place *p, json_t *object, const char *key) {
    json_t *v = json_object_get(object, key);
    if (!json_is_array(v))
        wrong(p, key, v == NULL ? "is missing" : "is not an array");
    else if (json_array_size(v) > COUNT_MAX)
        wrong(p, key, "has too many elements");
    else
        return v;
    return NULL;
}

static bool index_below(const struct place *p, const char *key, const json_t *v, size_t n,
                        uint32_t *to) {
    if (!json_is_integer(v) || json_integer_value(v) < 0 ||
        (uint64_t)json_integer_value(v) >= n)
        return wrong(p, key, "is not an index into the graph's array");
    *to = (uint32_t)json_integer_value(v);
    return true;
}

static json_t *parse(const char *text, size_t len, const char *file, const char *format,
                     struct remat_error *error) {
    json_error_t je;
    json_t *root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &je);
    const struct place p = {file, NULL, 0, error};
    if (root == NULL) {
        remat_say(error, "%s: line %d column %d: %s", file, je.line, je.column, je.text);
        return NULL;
    }
    const char *said = json_string_value(json_object_get(root, "format"));
    if (said == NULL || strcmp(said, format) != 0)
        wrong(&p, "format", "is not what is read here");
    else if (json_integer_value(json_object_get(root, "version")) != 1)
        wrong(&p, "version", "is not 1");
    else
        return root;
    json_decref(root);
    return NULL;
}

/* ---- the graph ---- */

static bool read_tensor(remat *r, const struct place *p, json_t *o) {
    struct remat_tensor *t = &r->tensors[p->index];
    t->source = true;
    t->last = REMAT_NOWHERE;
    return known_keys(p, o, " name bytes kind dtype shape attrs ") &&
           string(p, o, "name", &t->name) && nat(p, o, "bytes", true, &t->bytes);
}

static bool read_ends(remat *r, const struct place *p, json_t *o, const char *key,
                      struct remat_span *span) {
    json_t *list = array(p, o, key), *v;
    size_t k;
    uint32_t x;
    if (list == NULL)
        return false;
    *span = (struct remat_span){r->ends.n, json_array_size(list)};
    json_array_foreach(list, k, v) if (!index_below(p, key, v, r->totals.n_tensors, &x) ||
                                       (!REMAT_PUSH(&r->ends, x) &&
                                        !wrong(p, key, "no memory"))) return false;
    return true;
}

/* One producer a tensor; that what is read was made before shows as the steps are walked.
 */
static bool claim_outputs(remat *r, const struct place *p,
                          const struct remat_span *outputs) {
    for (size_t k = 0; k < outputs->n; k++) {
        struct remat_tensor *t = &r->tensors[r->ends.at[outputs->first + k]];
        if (!t->source)
            return wrong(p, "outputs", "a tensor that another op makes");
        t->source = false;
    }
    return true;
}

static bool read_op(remat *r, const struct place *p, json_t *o) {
    struct remat_op *op = &r->ops[p->index];
    struct remat_op_ends *ends = &r->op_ends[p->index];
    ends->recompute = true;
    return known_keys(p, o,
                      " name kind inputs outputs time_ns workspace_bytes phase recompute "
                      "attrs ") &&
           string(p, o, "name", &op->name) && string(p, o, "kind", &op->kind) &&
           nat(p, o, "time_ns", true, &op->time_ns) &&
           nat(p, o, "workspace_bytes", false, &ends->workspace_bytes) &&
           (ends->workspace_bytes <= QUANTITY_MAX - r->totals.alignment_bytes ||
            wrong(p, "workspace_bytes", "with the alignment passes 2^63-1")) &&
           boolean(p, o, "recompute", false, &ends->recompute) &&
           read_ends(r, p, o, "inputs", &ends->inputs) &&
           read_ends(r, p, o, "outputs", &ends->outputs) &&
           claim_outputs(r, p, &ends->outputs);
}

static bool read_alignment(remat *r, const struct place *p) {
    json_t *device = json_object_get(r->graph, "device");
    r->totals.alignment_bytes = 512;
    if (device == NULL)
        return true;
    if (!json_is_object(device))
        return wrong(p, "device", "is not an object");
    if (!nat(p, device, "alignment_bytes", false, &r->totals.alignment_bytes))
        return false;
    return r->totals.alignment_bytes > 0 ? true : wrong(p, "alignment_bytes", "is 0");
}

static bool read_keep(remat *r, const struct place *p) {
    json_t *list = array(p, r->graph, "keep"), *v;
    size_t k;
    if (list == NULL)
        return false;
    r->totals.n_keep = (uint32_t)json_array_size(list);
    r->keep = calloc(r->totals.n_keep + 1, sizeof *r->keep);
    if (r->keep == NULL)
        return wrong(p, "keep", "no memory");
    json_array_foreach(list, k, v) {
        if (!index_below(p, "keep", v, r->totals.n_tensors, &r->keep[k]))
            return false;
        r->tensors[r->keep[k]].kept = true;
    }
    return true;
}

/* Every sum of sizes rounded up stays below 2^63, so later ones need no check. */
static bool sum_up(remat *r, const struct place *p) {
    uint64_t sum = 0, slack = r->totals.alignment_bytes;
    for (uint32_t x = 0; x < r->totals.n_tensors; x++) {
        if (slack > QUANTITY_MAX - r->tensors[x].bytes ||
            sum > QUANTITY_MAX - r->tensors[x].bytes - slack)
            return wrong(p, "tensors", "their bytes pass 2^63-1");
        sum += r->tensors[x].bytes + slack;
        if (r->tensors[x].source)
            r->totals.fixed_bytes += r->tensors[x].bytes;
    }
    return true;
}

static bool each(remat *r, const char *file, const char *list_name, json_t *list,
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
    json_t *tensors = array(&p, r->graph, "tensors"), *ops = array(&p, r->graph, "ops");
    if (tensors == NULL || ops == NULL ||
        !known_keys(&p, r->graph,
                    " format version name time_source device tensors ops keep attrs "
                    "notes ") ||
        !string(&p, r->graph, "name", &r->totals.graph_name) || !read_alignment(r, &p))
        return false;
    r->totals.n_tensors = (uint32_t)json_array_size(tensors);
    r->totals.n_ops = (uint32_t)json_array_size(ops);
    r->tensors = calloc(r->totals.n_tensors + 1, sizeof *r->tensors);
    r->ops = calloc(r->totals.n_ops + 1, sizeof *r->ops);
    r->op_ends = calloc(r->totals.n_ops + 1, sizeof *r->op_ends);
    if (r->tensors == NULL || r->ops == NULL || r->op_ends == NULL)
        return remat_say(error, "graph: no memory");
    return each(r, "graph", "tensors", tensors, read_tensor, error) &&
           each(r, "graph", "ops", ops, read_op, error) && read_keep(r, &p) &&
           sum_up(r, &p);
}

/* ---- the plan ---- */

/* One of the four: the key says which. */
static bool what_is(const struct place *p, json_t *o, enum remat_what *what) {
    static const char *const key[] = {"run", "free", "swap_out", "swap_in"};
    int n = 0;
    for (int k = 0; k < 4; k++)
        if (json_object_get(o, key[k]) != NULL) {
            *what = (enum remat_what)k;
            n++;
        }
    return n == 1 ? true : wrong(p, "step", "is not one of run, free, swap_out, swap_in");
}

static bool read_given(remat *r, const struct place *p, json_t *o) {
    json_t *list = json_object_get(o, "at"), *v;
    size_t k;
    r->step_given[p->index] = (struct remat_span){r->given.n, json_array_size(list)};
    if (list != NULL && !json_is_array(list))
        return wrong(p, "at", "is not an array");
    json_array_foreach(list, k, v) {
        const uint64_t at =
            json_is_integer(v) ? (uint64_t)json_integer_value(v) : REMAT_NOWHERE;
        if (!json_is_null(v) && (!json_is_integer(v) || json_integer_value(v) < 0))
            return wrong(p, "at", "holds what is no address and not null");
        if (!REMAT_PUSH(&r->given, at))
            return wrong(p, "at", "no memory");
    }
    return true;
}

static bool read_step(remat *r, const struct place *p, json_t *o) {
    static const struct {
        const char *key, *keys;
        enum remat_queue queue;
    } form[] = {{"run", " run at workspace_at ", REMAT_COMPUTE},
                {"free", " free ", REMAT_COMPUTE},
                {"swap_out", " swap_out host_at ", REMAT_D2H},
                {"swap_in", " swap_in at ", REMAT_H2D}};
    struct remat_step *s = &r->steps[p->index];
    *s = (struct remat_step){.number = p->index,
                             .workspace_at = REMAT_NOWHERE,
                             .at = REMAT_NOWHERE,
                             .host_at = REMAT_NOWHERE};
    if (!what_is(p, o, &s->what) || !known_keys(p, o, form[s->what].keys) ||
        !index_below(p, form[s->what].key, json_object_get(o, form[s->what].key),
                     s->what == REMAT_RUN ? r->totals.n_ops : r->totals.n_tensors, &s->id))
        return false;
    s->queue = form[s->what].queue;
    s->name = s->what == REMAT_RUN ? r->ops[s->id].name : r->tensors[s->id].name;
    if (s->what == REMAT_RUN)
        return read_given(r, p, o) && nat(p, o, "workspace_at", false, &s->workspace_at);
    s->bytes = r->tensors[s->id].bytes;
    return nat(p, o, "at", false, &s->at) && nat(p, o, "host_at", false, &s->host_at);
}

static bool read_header(remat *r, const char *graph, size_t graph_len,
                        struct remat_error *error) {
    const struct place p = {"plan", NULL, 0, error};
    json_t *of = json_object_get(r->plan, "graph");
    json_t *claims = json_object_get(r->plan, "claims");
    const char *name = "", *digest = "";
    char hex[65];
    if (!known_keys(&p, r->plan,
                    " format version graph budget_bytes addressed arena_bytes host_bytes "
                    "steps claims notes ") ||
        !string(&p, of, "name", &name) || !string(&p, of, "sha256", &digest) ||
        !boolean(&p, r->plan, "addressed", true, &r->totals.addressed) ||
        !nat(&p, r->plan, "budget_bytes", true, &r->totals.budget_bytes) ||
        !nat(&p, r->plan, "arena_bytes", true, &r->totals.arena_bytes) ||
        !nat(&p, r->plan, "host_bytes", true, &r->totals.host_bytes) ||
        !nat(&p, claims, "time_ns", true, &r->totals.time_ns))
        return false;
    remat_sha256(graph, graph_len, hex);
    if (strcmp(hex, digest) != 0 || strcmp(name, r->totals.graph_name) != 0)
        return wrong(&p, "graph", "the plan is for another graph");
    return true;
}

static bool read_plan(remat *r, const char *graph, size_t graph_len,
                      struct remat_error *error) {
    const struct place p = {"plan", NULL, 0, error};
    json_t *steps = array(&p, r->plan, "steps");
    if (steps == NULL || !read_header(r, graph, graph_len, error))
        return false;
    const size_t n = r->totals.n_steps = json_array_size(steps);
    r->steps = calloc(n + 1, sizeof *r->steps);
    r->step_given = calloc(n + 1, sizeof *r->step_given);
    r->step_operands = calloc(n + 1, sizeof *r->step_operands);
    r->step_waits = calloc(n + 1, sizeof *r->step_waits);
    if (r->steps == NULL || r->step_given == NULL || r->step_operands == NULL ||
        r->step_waits == NULL)
        return remat_say(error, "plan: no memory");
    return each(r, "plan", "steps", steps, read_step, error);
}

bool remat_read(remat *r, const char *graph, size_t graph_len, const char *plan,
                size_t plan_len, struct remat_error *error) {
    r->graph = parse(graph, graph_len, "graph", "remat-graph", error);
    if (r->graph == NULL || !read_graph(r, error))
        return false;
    r->plan = parse(plan, plan_len, "plan", "remat-plan", error);
    return r->plan != NULL && read_plan(r, graph, graph_len, error);
}
