#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json_fields.h"

static const char *const plan_keys[] = {
    "format",     "version", "graph",  "budget_bytes", "addressed", "arena_bytes",
    "host_bytes", "steps",   "claims", "notes",        "homes",     NULL};
static const char *const plan_keys_1[] = {
    "format",     "version", "graph",  "budget_bytes", "addressed", "arena_bytes",
    "host_bytes", "steps",   "claims", "notes",        NULL};
static const char *const graph_keys[] = {"name", "sha256", NULL};
static const char *const claim_keys[] = {"time_ns",  "baseline_time_ns", "recompute_ns",
                                         "stall_ns", "peak_bytes",       "lower_bound_ns",
                                         "proof",    "bound_for",        NULL};
static const char *const claim_keys_1[] = {
    "time_ns",    "baseline_time_ns", "recompute_ns", "stall_ns",
    "peak_bytes", "lower_bound_ns",   "proof",        NULL};
static const char *const bound_keys[] = {"recompute", "swap",     "host_budget_bytes",
                                         "order",     "programs", NULL};
static const char *const home_keys[] = {"tensor", "host_at", NULL};
static const char *const run_keys[] = {"run", "at", "workspace_at", NULL};
static const char *const free_keys[] = {"free", NULL};
static const char *const out_keys[] = {"swap_out", "host_at", NULL};
static const char *const in_keys[] = {"swap_in", "at", NULL};

static const char *const proofs[] = {"optimal", "bounded", "none", NULL};
static const char *const orders[] = {"given", "any", NULL};
static const char *const programs[] = {"all", "schedules", NULL};

static bool read_bound_for(struct ck_reader *r, const json_t *claims,
                           struct ck_bound_for *b) {
    json_t *o;
    int order = 0, set = 0;
    int64_t host = CK_MAX;
    if (!ck_object(r, claims, "bound_for", true, &o) || !ck_keys(r, o, bound_keys) ||
        !ck_bool(r, o, "recompute", true, &b->recompute) ||
        !ck_bool(r, o, "swap", true, &b->swap) ||
        !ck_word(r, o, "order", true, orders, &order) ||
        !ck_word(r, o, "programs", true, programs, &set))
        return false;
    bool null = json_is_null(json_object_get(o, "host_budget_bytes"));
    if (!null && !ck_number(r, o, "host_budget_bytes", true, &host))
        return false;
    b->known = true;
    b->any_order = order == 1;
    b->schedules = set == 1;
    b->host_budget_bytes = null ? UINT64_MAX : (uint64_t)host;
    return true;
}

static bool read_claims(struct ck_reader *r, const json_t *root, struct ck_plan *p) {
    json_t *o;
    int proof = 0;
    if (!ck_object(r, root, "claims", true, &o))
        return false;
    snprintf(r->place, sizeof r->place, "claims");
    if (!ck_keys(r, o, p->version == 2 ? claim_keys : claim_keys_1) ||
        !ck_number(r, o, "time_ns", true, &p->time_ns) ||
        !ck_number(r, o, "baseline_time_ns", true, &p->baseline_ns) ||
        !ck_number(r, o, "recompute_ns", true, &p->recompute_ns) ||
        !ck_number(r, o, "stall_ns", true, &p->stall_ns) ||
        !ck_number(r, o, "peak_bytes", true, &p->peak) ||
        !ck_number(r, o, "lower_bound_ns", true, &p->bound_ns) ||
        !ck_word(r, o, "proof", true, proofs, &proof))
        return false;
    p->proof = strdup(proofs[proof]);
    return p->version == 1 || read_bound_for(r, o, &p->bound_for);
}

/* One address, or null where that is allowed. */
static bool read_address(struct ck_reader *r, const json_t *v, bool null,
                         int64_t *address) {
    *address = CK_NO_ADDRESS;
    if (json_is_null(v) && null)
        return true;
    if (!json_is_integer(v) || json_integer_value(v) < 0)
        return ck_fault(r, "not an address");
    *address = json_integer_value(v);
    return true;
}

static bool read_run(struct ck_reader *r, const json_t *o, struct ck_step *s) {
    json_t *at;
    if (!ck_keys(r, o, run_keys) || !ck_array(r, o, "at", false, &at) ||
        !ck_number(r, o, "workspace_at", false, &s->address))
        return false;
    s->has_at = at != NULL;
    s->at.n = (int)json_array_size(at);
    s->at.at = calloc((size_t)s->at.n + 1, sizeof *s->at.at);
    for (int k = 0; k < s->at.n; k++)
        if (!read_address(r, json_array_get(at, (size_t)k), true, &s->at.at[k]))
            return false;
    return true;
}

static bool read_step(struct ck_reader *r, const json_t *o, struct ck_step *s) {
    static const char *const names[] = {"run", "free", "swap_out", "swap_in"};
    int64_t id = -1;
    *s = (struct ck_step){.address = CK_ABSENT};
    for (int k = 0; k < 4 && id < 0; k++) {
        if (!ck_number(r, o, names[k], false, &id))
            return false;
        s->kind = (enum ck_kind)k;
    }
    if (id < 0 || id > INT32_MAX)
        return ck_fault(r, "not a step");
    s->id = (int)id;
    switch (s->kind) {
    case CK_RUN:
        return read_run(r, o, s);
    case CK_FREE:
        return ck_keys(r, o, free_keys);
    case CK_SWAP_OUT:
        return ck_keys(r, o, out_keys) && ck_number(r, o, "host_at", false, &s->address);
    default:
        return ck_keys(r, o, in_keys) && ck_number(r, o, "at", false, &s->address);
    }
}

static bool read_homes(struct ck_reader *r, const json_t *root, struct ck_plan *p) {
    json_t *a;
    if (!ck_array(r, root, "homes", false, &a))
        return false;
    p->homes = calloc(json_array_size(a) + 1, sizeof *p->homes);
    for (; p->n_homes < (int)json_array_size(a); p->n_homes++) {
        const json_t *o = json_array_get(a, (size_t)p->n_homes);
        int64_t x = 0;
        p->homes[p->n_homes].host_at = CK_ABSENT;
        snprintf(r->place, sizeof r->place, "homes[%d]", p->n_homes);
        if (!ck_keys(r, o, home_keys) || !ck_number(r, o, "tensor", true, &x) ||
            !ck_number(r, o, "host_at", false, &p->homes[p->n_homes].host_at))
            return false;
        if (x > INT32_MAX)
            return ck_fault(r, "no such tensor");
        p->homes[p->n_homes].tensor = (int)x;
    }
    return true;
}

static bool read_steps(struct ck_reader *r, const json_t *a, struct ck_plan *p) {
    p->steps = calloc(json_array_size(a) + 1, sizeof *p->steps);
    while (p->n_steps < (int)json_array_size(a)) {
        struct ck_step *s = &p->steps[p->n_steps];
        snprintf(r->place, sizeof r->place, "steps[%d]", p->n_steps);
        if (!read_step(r, json_array_get(a, (size_t)p->n_steps++), s))
            return false;
    }
    r->place[0] = 0;
    return true;
}

static bool read_root(struct ck_reader *r, const json_t *root, struct ck_plan *p) {
    const char *format = "", *name = "", *sha256 = "";
    json_t *graph, *steps, *notes;
    int64_t version = 0;
    if (!json_is_object(root))
        return ck_fault(r, "no object");
    if (!ck_string(r, root, "format", true, &format) ||
        !ck_number(r, root, "version", true, &version))
        return false;
    if (strcmp(format, "remat-plan") != 0 || version < 1 || version > 2)
        return ck_fault(r, "not a plan");
    p->version = (int)version;
    if (!ck_keys(r, root, version == 2 ? plan_keys : plan_keys_1) ||
        !ck_object(r, root, "graph", true, &graph) || !ck_keys(r, graph, graph_keys) ||
        !ck_string(r, graph, "name", true, &name) ||
        !ck_string(r, graph, "sha256", true, &sha256) ||
        !ck_number(r, root, "budget_bytes", true, &p->budget) ||
        !ck_bool(r, root, "addressed", true, &p->addressed) ||
        !ck_number(r, root, "arena_bytes", true, &p->arena) ||
        !ck_number(r, root, "host_bytes", true, &p->host) ||
        !ck_object(r, root, "notes", false, &notes) ||
        !ck_array(r, root, "steps", true, &steps))
        return false;
    p->graph_name = strdup(name);
    p->sha256 = strdup(sha256);
    return read_steps(r, steps, p) && read_homes(r, root, p) && read_claims(r, root, p);
}

bool ck_read_plan(const char *path, struct ck_plan *p, char why[256]) {
    struct ck_reader r = {.why = why};
    why[0] = 0;
    *p = (struct ck_plan){0};
    json_t *root = ck_load(&r, path);
    bool good = root != NULL && read_root(&r, root, p);
    json_decref(root);
    return good;
}

void ck_free_plan(struct ck_plan *p) {
    for (int k = 0; k < p->n_steps; k++)
        free(p->steps[k].at.at);
    free(p->steps);
    free(p->homes);
    free(p->graph_name);
    free(p->sha256);
    free(p->proof);
}
