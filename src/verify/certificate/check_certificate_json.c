#include "verify/certificate/check_certificate.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/json.h"
#include "base/mem.h"
#include "verify/certificate/check_cover.h"

struct reader {
    const char *file;
    struct rp_certificate *c;
    struct rp_err *err;
    char place[64]; /* of what is being read, for messages */
};

static rp_rc fail(struct reader *r, const char *rule) {
    return rp_fail(r->err, RP_INPUT, "%s: %s: %s", r->file, r->place, rule);
}

/* An index of an op or tensor, or a stage. */
static rp_rc read_index(struct reader *r, const json_t *v, uint32_t *to) {
    if (!json_is_integer(v) || json_integer_value(v) < 0 ||
        json_integer_value(v) >= (json_int_t)RP_CERTIFICATE_NEXT)
        return fail(r, "indices and stages must be integers from 0 to 2^32-3");
    *to = (uint32_t)json_integer_value(v);
    return RP_OK;
}

static rp_rc read_multiplier(struct reader *r, const json_t *v, uint64_t *to) {
    if (!json_is_integer(v) || json_integer_value(v) < 0)
        return fail(r, "multipliers must be integers from 0 to 2^63-1");
    *to = (uint64_t)json_integer_value(v);
    return RP_OK;
}

static rp_rc read_ids(struct reader *r, json_t *array) {
    size_t k;
    json_t *v;
    uint32_t id = 0;
    json_array_foreach(array, k, v) {
        rp_rc rc = read_index(r, v, &id);
        if (rc != RP_OK)
            return rc;
        rp_push(&r->c->ids, id);
    }
    return RP_OK;
}

/* [op, tensor, first stage, multiplier, ...], the same without the op, or without the
 * tensor too: one row for each multiplier, in consecutive stages. */
static rp_rc read_row_series(struct reader *r, json_t *array,
                             struct rp_certificate_row row) {
    size_t head = row.kind == RP_CERTIFICATE_DEP    ? 3
                  : row.kind == RP_CERTIFICATE_HOLD ? 2
                                                    : 1;
    size_t n = json_array_size(array);
    uint32_t *const to[] = {&row.op, &row.tensor, &row.t};
    rp_rc rc = RP_OK;
    if (!json_is_array(array) || n <= head)
        return fail(r, head == 3   ? "must be [op, tensor, first stage, multiplier, ...]"
                       : head == 2 ? "must be [tensor, first stage, multiplier, ...]"
                                   : "must be [first stage, multiplier, ...]");
    for (size_t k = 0; k < head && rc == RP_OK; k++)
        rc = read_index(r, json_array_get(array, k), to[3 - head + k]);
    for (size_t k = head; k < n && rc == RP_OK; k++, row.t++) {
        if (row.t >= RP_CERTIFICATE_NEXT)
            return fail(r, "indices and stages must be integers from 0 to 2^32-3");
        rc = read_multiplier(r, json_array_get(array, k), &row.multiplier);
        rp_push(&r->c->rows, row);
    }
    return rc;
}

static rp_rc read_terms(struct reader *r, json_t *array, uint32_t term) {
    size_t k;
    json_t *v;
    uint32_t x = 0;
    json_array_foreach(array, k, v) {
        rp_rc rc = read_index(r, v, &x);
        if (rc != RP_OK)
            return rc;
        rp_push(&r->c->ids, x);
        rp_push(&r->c->ids, term);
    }
    return RP_OK;
}

/* Reads an array of tuples of `size` ids. `rule` is the message if it is none. */
static rp_rc read_tuples(struct reader *r, json_t *array, size_t size, const char *rule) {
    size_t k;
    json_t *v;
    json_array_foreach(array, k, v) {
        if (!json_is_array(v) || json_array_size(v) != size)
            return fail(r, rule);
        rp_rc rc = read_ids(r, v);
        if (rc != RP_OK)
            return rc;
    }
    return RP_OK;
}

static rp_rc read_run_terms(struct reader *r, json_t *array) {
    return read_tuples(r, array, 2, "'runs' must hold pairs [tensor, op]");
}

/* Triples [tensor or op, stage, count]. */
static rp_rc read_counts(struct reader *r, json_t *array, size_t *n) {
    *n = json_array_size(array);
    return read_tuples(r, array, 3,
                       "'held' and 'ran' must hold triples [index, stage, count]");
}

static rp_rc read_cover(struct reader *r, json_t *held, json_t *ran,
                        struct rp_certificate_row *row) {
    row->first_count = r->c->ids.n;
    if (row->max_count > RP_COVER_MAX_COUNT)
        return fail(r, "'at_most' is above 4096");
    rp_rc rc = read_counts(r, held, &row->n_held);
    return rc == RP_OK ? read_counts(r, ran, &row->n_ran) : rc;
}

/* A memory row. A cover is the same with counts. */
static rp_rc read_mem(struct reader *r, json_t *object, struct rp_certificate_row row) {
    json_t *stage = NULL, *op = NULL, *next = NULL, *now = NULL, *runs = NULL;
    json_t *held = NULL, *ran = NULL;
    const struct rp_json_field cover_fields[] = {
        {"stage", RP_JSON_ANY, true, &stage},
        {"op", RP_JSON_ANY, true, &op},
        {"multiplier", RP_JSON_NAT, true, &row.multiplier},
        {"next", RP_JSON_ARRAY, false, &next},
        {"now", RP_JSON_ARRAY, false, &now},
        {"runs", RP_JSON_ARRAY, false, &runs},
        {"at_most", RP_JSON_NAT, true, &row.max_count},
        {"held", RP_JSON_ARRAY, false, &held},
        {"ran", RP_JSON_ARRAY, false, &ran},
        {0},
    };
    const struct rp_json_field fields[] = {
        {"stage", RP_JSON_ANY, true, &stage},
        {"op", RP_JSON_ANY, true, &op},
        {"multiplier", RP_JSON_NAT, true, &row.multiplier},
        {"next", RP_JSON_ARRAY, false, &next},
        {"now", RP_JSON_ARRAY, false, &now},
        {"runs", RP_JSON_ARRAY, false, &runs},
        {0},
    };
    bool cover = row.kind == RP_CERTIFICATE_COVER;
    rp_rc rc =
        rp_json_fields(object, cover ? cover_fields : fields, r->file, r->place, r->err);
    if (rc == RP_OK)
        rc = read_index(r, stage, &row.t);
    if (rc == RP_OK)
        rc = read_index(r, op, &row.op);
    row.first_id = r->c->ids.n;
    if (rc == RP_OK)
        rc = read_terms(r, next, RP_CERTIFICATE_NEXT);
    if (rc == RP_OK)
        rc = read_terms(r, now, RP_CERTIFICATE_NOW);
    if (rc == RP_OK)
        rc = read_run_terms(r, runs);
    row.n_ids = r->c->ids.n - row.first_id;
    if (rc == RP_OK && cover)
        rc = read_cover(r, held, ran, &row);
    rp_push(&r->c->rows, row);
    return rc;
}

static rp_rc read_window(struct reader *r, json_t *object, struct rp_certificate_row row) {
    json_t *first = NULL, *last = NULL, *op = NULL, *path = NULL;
    const struct rp_json_field fields[] = {
        {"first", RP_JSON_ANY, true, &first},
        {"last", RP_JSON_ANY, true, &last},
        {"reader", RP_JSON_ANY, false, &op},
        {"path", RP_JSON_ARRAY, true, &path},
        {"multiplier", RP_JSON_NAT, true, &row.multiplier},
        {0},
    };
    rp_rc rc = rp_json_fields(object, fields, r->file, r->place, r->err);
    if (rc == RP_OK)
        rc = read_index(r, first, &row.from);
    if (rc == RP_OK)
        rc = read_index(r, last, &row.t);
    if (rc == RP_OK && op != NULL)
        rc = read_index(r, op, &row.op);
    row.first_id = r->c->ids.n;
    if (rc == RP_OK)
        rc = read_ids(r, path);
    row.n_ids = r->c->ids.n - row.first_id;
    if (rc == RP_OK && row.n_ids == 0)
        return fail(r, "'path' is empty");
    rp_push(&r->c->rows, row);
    return rc;
}

static rp_rc read_copy(struct reader *r, json_t *object, struct rp_certificate_row row) {
    json_t *stage = NULL, *until = NULL, *since = NULL, *turned = NULL;
    const struct rp_json_field fields[] = {
        {"stage", RP_JSON_ANY, true, &stage},
        {"until", RP_JSON_ANY, false, &until},
        {"since", RP_JSON_ANY, false, &since},
        {"multiplier", RP_JSON_NAT, true, &row.multiplier},
        {"length", RP_JSON_NAT, false, &row.length_ns},
        {"turned", RP_JSON_ARRAY, false, &turned},
        {0},
    };
    rp_rc rc = rp_json_fields(object, fields, r->file, r->place, r->err);
    if (rc == RP_OK && (until == NULL) == (since == NULL))
        return fail(r, "must have either 'until' or 'since'");
    row.in = until != NULL;
    if (rc == RP_OK)
        rc = read_index(r, stage, &row.t);
    if (rc == RP_OK)
        rc = read_index(r, row.in ? until : since, &row.op);
    if (rc == RP_OK && row.length_ns > UINT64_C(1) << 62)
        return fail(r, "'length' is above 2^62");
    if (rc == RP_OK && row.length_ns == 0 && turned != NULL)
        return fail(r, "'turned' needs a 'length'");
    row.first_id = r->c->ids.n;
    if (rc == RP_OK)
        rc = read_ids(r, turned);
    row.n_ids = r->c->ids.n - row.first_id;
    rp_push(&r->c->rows, row);
    return rc;
}

/* The rows of one kind. `array` is NULL where the file has none. */
static rp_rc read_rows(struct reader *r, const char *key, enum rp_certificate_row_kind kind,
                       json_t *array) {
    size_t i;
    json_t *v;
    json_array_foreach(array, i, v) {
        struct rp_certificate_row row = {
            .kind = kind, .item = (uint32_t)i, .op = RP_NONE, .tensor = RP_NONE};
        snprintf(r->place, sizeof r->place, "%s[%zu]", key, i);
        rp_rc rc = kind == RP_CERTIFICATE_MEM || kind == RP_CERTIFICATE_COVER
                       ? read_mem(r, v, row)
                   : kind == RP_CERTIFICATE_WINDOW ? read_window(r, v, row)
                   : kind == RP_CERTIFICATE_COPY   ? read_copy(r, v, row)
                                                   : read_row_series(r, v, row);
        if (rc != RP_OK)
            return rc;
    }
    return RP_OK;
}

static rp_rc read_order(struct reader *r, json_t *array) {
    size_t k;
    json_t *v;
    uint32_t op = 0;
    r->c->has_order = array != NULL;
    snprintf(r->place, sizeof r->place, "order");
    json_array_foreach(array, k, v) {
        rp_rc rc = read_index(r, v, &op);
        if (rc != RP_OK)
            return rc;
        rp_push(&r->c->order, op);
    }
    return RP_OK;
}

static rp_rc read_stages(struct reader *r, json_t *array) {
    size_t k;
    json_t *v;
    uint32_t place = 0;
    snprintf(r->place, sizeof r->place, "stages");
    if (array != NULL && json_array_size(array) == 0)
        return fail(r, "empty");
    json_array_foreach(array, k, v) {
        rp_rc rc = read_index(r, v, &place);
        if (rc != RP_OK)
            return rc;
        rp_push(&r->c->stages, place);
    }
    return RP_OK;
}

static rp_rc read_swaps(struct reader *r, json_t *object) {
    struct rp_certificate *c = r->c;
    const struct rp_json_field fields[] = {
        {"most_ns", RP_JSON_NAT, true, &c->swap_max_ns},
        {"host_budget_bytes", RP_JSON_NAT, false, &c->host_budget_bytes},
        {0},
    };
    c->swaps = object != NULL;
    c->host_budget_bytes = RP_MAX_QUANTITY; /* no limit */
    return c->swaps ? rp_json_fields(object, fields, r->file, "swaps", r->err) : RP_OK;
}

static rp_rc read_graph(struct reader *r, json_t *object) {
    const char *name = NULL, *sha256 = NULL;
    const struct rp_json_field fields[] = {
        {"name", RP_JSON_STRING, true, &name},
        {"sha256", RP_JSON_STRING, true, &sha256},
        {0},
    };
    rp_rc rc = rp_json_fields(object, fields, r->file, "graph", r->err);
    r->c->graph_name = rp_strdup(name);
    r->c->graph_sha256 = rp_strdup(sha256);
    return rc;
}

static rp_rc read_certificate(struct reader *r, json_t *root) {
    const char *format;
    uint64_t version;
    json_t *graph = NULL, *order = NULL, *stages = NULL, *swaps = NULL, *rows[7] = {NULL};
    static const char *const keys[] = {"dep",   "hold",  "mem", "window",
                                       "cover", "extra", "copy"};
    struct rp_certificate *c = r->c;
    const struct rp_json_field fields[] = {
        {"format", RP_JSON_STRING, true, &format},
        {"version", RP_JSON_NAT, true, &version},
        {"graph", RP_JSON_OBJECT, true, &graph},
        {"budget_bytes", RP_JSON_NAT, true, &c->budget_bytes},
        {"addressed", RP_JSON_BOOL, true, &c->addressed},
        {"scale_log2", RP_JSON_NAT, true, &c->scale_log2},
        {"lower_bound_ns", RP_JSON_NAT, true, &c->lower_bound_ns},
        {"swaps", RP_JSON_OBJECT, false, &swaps},
        {"order", RP_JSON_ARRAY, false, &order},
        {"stages", RP_JSON_ARRAY, false, &stages},
        {keys[0], RP_JSON_ARRAY, true, &rows[0]},
        {keys[1], RP_JSON_ARRAY, true, &rows[1]},
        {keys[2], RP_JSON_ARRAY, true, &rows[2]},
        {keys[3], RP_JSON_ARRAY, false, &rows[3]},
        {keys[4], RP_JSON_ARRAY, false, &rows[4]},
        {keys[5], RP_JSON_ARRAY, false, &rows[5]},
        {keys[6], RP_JSON_ARRAY, false, &rows[6]},
        {0},
    };
    rp_rc rc = rp_json_format(root, "remat-certificate", 1, r->file, r->err);
    if (rc == RP_OK)
        rc = rp_json_fields(root, fields, r->file, "certificate", r->err);
    if (rc == RP_OK && c->scale_log2 > 62)
        rc = rp_fail(r->err, RP_INPUT, "%s: scale_log2: %" PRIu64 " is above 62", r->file,
                     c->scale_log2);
    if (rc == RP_OK)
        rc = read_graph(r, graph);
    if (rc == RP_OK)
        rc = read_swaps(r, swaps);
    if (rc == RP_OK)
        rc = read_order(r, order);
    if (rc == RP_OK)
        rc = read_stages(r, stages);
    for (int k = 0; k < 7 && rc == RP_OK; k++)
        rc = read_rows(r, keys[k], (enum rp_certificate_row_kind)k, rows[k]);
    return rc;
}

rp_rc rp_certificate_parse(const char *text, size_t len, const char *file,
                           struct rp_certificate *c, struct rp_err *err) {
    struct reader r = {.file = file, .c = c, .err = err};
    json_t *root;
    *c = (struct rp_certificate){0};
    rp_rc rc = rp_json_parse(text, len, file, &root, err);
    if (rc == RP_OK)
        rc = read_certificate(&r, root);
    json_decref(root);
    if (rc != RP_OK)
        rp_certificate_fini(c);
    return rc;
}

rp_rc rp_certificate_load(const char *path, struct rp_certificate *c, struct rp_err *err) {
    char *text;
    size_t len;
    *c = (struct rp_certificate){0};
    rp_rc rc = rp_read_file(path, &text, &len, err);
    if (rc != RP_OK)
        return rc;
    rc = rp_certificate_parse(text, len, rp_path_name(path), c, err);
    free(text);
    return rc;
}

void rp_certificate_fini(struct rp_certificate *c) {
    free(c->graph_name);
    free(c->graph_sha256);
    free(c->order.at);
    free(c->stages.at);
    free(c->ids.at);
    free(c->rows.at);
    *c = (struct rp_certificate){0};
}
