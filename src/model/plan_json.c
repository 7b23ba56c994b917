/* The file format "remat-plan": versions 1 and 2 are read, version 2 is written. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/json.h"
#include "base/json_writer.h"
#include "base/mem.h"
#include "model/plan.h"

const char *const rp_proof_word[3] = {"none", "bounded", "optimal"};

static rp_rc step_fail(const char *file, size_t i, struct rp_err *err, const char *rule) {
    return rp_fail(err, RP_INPUT, "%s: steps[%zu]: %s", file, i, rule);
}

static const char *const verb[] = {"run", "free", "swap_out", "swap_in"};

/* Appends the addresses of a run's outputs to p->at. */
static rp_rc read_at(json_t *array, size_t i, const char *file, struct rp_plan *p,
                     struct rp_step *s, struct rp_err *err) {
    size_t k;
    json_t *v;
    if (json_array_size(array) > UINT32_MAX - p->at.n)
        return step_fail(file, i, err, "more than 2^32-1 addresses up to here");
    s->has_at = true;
    s->n_at = (uint32_t)json_array_size(array);
    json_array_foreach(array, k, v) {
        if (!json_is_null(v) && !(json_is_integer(v) && json_integer_value(v) >= 0))
            return rp_fail(err, RP_INPUT,
                           "%s: steps[%zu]: 'at[%zu]' must be an address or null", file, i,
                           k);
        rp_push(&p->at, json_is_null(v) ? RP_NO_ADDRESS : (uint64_t)json_integer_value(v));
    }
    return RP_OK;
}

/* A step has exactly one of the four verbs among its keys; it says what the step does. */
static rp_rc step_kind(const json_t *object, size_t i, const char *file,
                       enum rp_step_kind *kind, struct rp_err *err) {
    int found = 0;
    for (int k = 0; k < 4; k++)
        if (json_object_get(object, verb[k]) != NULL) {
            *kind = (enum rp_step_kind)k;
            found++;
        }
    if (found == 1)
        return RP_OK;
    return step_fail(file, i, err,
                     found ? "more than one of run, free, swap_out, swap_in"
                           : "must have one of run, free, swap_out, swap_in");
}

static rp_rc read_step(json_t *object, size_t i, const char *file, struct rp_plan *p,
                       struct rp_err *err) {
    char place[64];
    uint64_t id = 0;
    json_t *at = NULL;
    struct rp_step s = {.address = RP_NO_ADDRESS, .at = (uint32_t)p->at.n};
    const struct rp_json_field fields[][4] = {
        [RP_RUN] = {{"run", RP_JSON_NAT, true, &id},
                    {"at", RP_JSON_ARRAY, false, &at},
                    {"workspace_at", RP_JSON_NAT, false, &s.address},
                    {0}},
        [RP_FREE] = {{"free", RP_JSON_NAT, true, &id}, {0}},
        [RP_SWAP_OUT] = {{"swap_out", RP_JSON_NAT, true, &id},
                         {"host_at", RP_JSON_NAT, false, &s.address},
                         {0}},
        [RP_SWAP_IN] = {{"swap_in", RP_JSON_NAT, true, &id},
                        {"at", RP_JSON_NAT, false, &s.address},
                        {0}},
    };
    if (!json_is_object(object))
        return step_fail(file, i, err, "must be an object");
    rp_rc rc = step_kind(object, i, file, &s.kind, err);
    if (rc != RP_OK)
        return rc;
    snprintf(place, sizeof place, "steps[%zu] (%s)", i, verb[s.kind]);
    rc = rp_json_fields(object, fields[s.kind], file, place, err);
    if (rc == RP_OK && at != NULL)
        rc = read_at(at, i, file, p, &s, err);
    if (rc != RP_OK)
        return rc;
    if (id >= UINT32_MAX)
        return rp_fail(err, RP_INPUT, "%s: %s: no %s %" PRIu64, file, place,
                       s.kind == RP_RUN ? "op" : "tensor", id);
    s.id = (uint32_t)id;
    rp_push(&p->steps, s);
    return RP_OK;
}

static rp_rc read_bound_for(json_t *object, const char *file, struct rp_bound_scope *b,
                            struct rp_err *err) {
    const char *order = NULL, *programs = NULL;
    json_t *host = NULL;
    const struct rp_json_field fields[] = {
        {"recompute", RP_JSON_BOOL, true, &b->recompute},
        {"swap", RP_JSON_BOOL, true, &b->swap},
        {"host_budget_bytes", RP_JSON_ANY, true, &host},
        {"order", RP_JSON_STRING, true, &order},
        {"programs", RP_JSON_STRING, true, &programs},
        {0},
    };
    rp_rc rc = rp_json_fields(object, fields, file, "claims: bound_for", err);
    if (rc != RP_OK)
        return rc;
    b->any_order = strcmp(order, "any") == 0;
    b->all_programs = strcmp(programs, "all") == 0;
    if (!b->any_order && strcmp(order, "given") != 0)
        return rp_fail(err, RP_INPUT, "%s: claims: bound_for: 'order' must be given or any",
                       file);
    if (!b->all_programs && strcmp(programs, "schedules") != 0)
        return rp_fail(err, RP_INPUT,
                       "%s: claims: bound_for: 'programs' must be all or schedules", file);
    if (!json_is_null(host) && !(json_is_integer(host) && json_integer_value(host) >= 0))
        return rp_fail(err, RP_INPUT,
                       "%s: claims: bound_for: 'host_budget_bytes' must be an integer from "
                       "0 to 2^63-1 or null",
                       file);
    b->host_budget_bytes =
        json_is_null(host) ? RP_NO_LIMIT : (uint64_t)json_integer_value(host);
    return RP_OK;
}

/* Version 1 says what a bound is about in the notes only: the widest that fits them. */
static struct rp_bound_scope bound_for_version_1(const json_t *notes) {
    const char *word = json_string_value(json_object_get(notes, "bound_for"));
    struct rp_bound_scope b = rp_bound_for_all_plans;
    b.any_order = false;
    b.all_programs = word == NULL || strcmp(word, "schedules") != 0;
    return b;
}

static rp_rc read_claims(json_t *object, const char *file, bool version_1,
                         struct rp_claims *c, struct rp_err *err) {
    const char *proof = NULL;
    json_t *bound_for = NULL;
    struct rp_json_field fields[] = {
        {"time_ns", RP_JSON_NAT, true, &c->time_ns},
        {"baseline_time_ns", RP_JSON_NAT, true, &c->baseline_time_ns},
        {"recompute_ns", RP_JSON_NAT, true, &c->recompute_ns},
        {"stall_ns", RP_JSON_NAT, true, &c->stall_ns},
        {"peak_bytes", RP_JSON_NAT, true, &c->peak_bytes},
        {"lower_bound_ns", RP_JSON_NAT, true, &c->lower_bound_ns},
        {"proof", RP_JSON_STRING, true, &proof},
        {version_1 ? NULL : "bound_for", RP_JSON_OBJECT, true, &bound_for},
        {0},
    };
    rp_rc rc = rp_json_fields(object, fields, file, "claims", err);
    if (rc == RP_OK && !version_1)
        rc = read_bound_for(bound_for, file, &c->bound_for, err);
    if (rc != RP_OK)
        return rc;
    for (int k = 0; k < 3; k++)
        if (strcmp(proof, rp_proof_word[k]) == 0) {
            c->proof = (enum rp_proof)k;
            return RP_OK;
        }
    return rp_fail(err, RP_INPUT, "%s: claims: 'proof' must be optimal, bounded or none",
                   file);
}

static rp_rc read_homes(json_t *array, const char *file, struct rp_plan *p,
                        struct rp_err *err) {
    size_t i;
    json_t *v;
    json_array_foreach(array, i, v) {
        char place[32];
        uint64_t tensor = 0;
        struct rp_plan_home h = {.host_at = RP_NO_ADDRESS};
        const struct rp_json_field fields[] = {
            {"tensor", RP_JSON_NAT, true, &tensor},
            {"host_at", RP_JSON_NAT, false, &h.host_at},
            {0},
        };
        snprintf(place, sizeof place, "homes[%zu]", i);
        rp_rc rc = rp_json_fields(v, fields, file, place, err);
        if (rc != RP_OK)
            return rc;
        if (tensor >= UINT32_MAX)
            return rp_fail(err, RP_INPUT, "%s: %s: no tensor %" PRIu64, file, place,
                           tensor);
        h.tensor = (uint32_t)tensor;
        rp_push(&p->homes, h);
    }
    return RP_OK;
}

static bool is_sha256(const char *hex) {
    return strlen(hex) == 64 && strspn(hex, "0123456789abcdef") == 64;
}

static rp_rc read_plan(json_t *root, const char *file, struct rp_plan *p,
                       struct rp_err *err) {
    const char *format = NULL, *name = NULL, *sha256 = NULL;
    uint64_t version = 0;
    json_t *graph = NULL, *steps = NULL, *claims = NULL, *notes = NULL, *homes = NULL;
    bool version_1 = json_integer_value(json_object_get(root, "version")) != 2;
    const struct rp_json_field fields[] = {
        {"format", RP_JSON_STRING, true, &format},
        {"version", RP_JSON_NAT, true, &version},
        {"graph", RP_JSON_OBJECT, true, &graph},
        {"budget_bytes", RP_JSON_NAT, true, &p->budget_bytes},
        {"addressed", RP_JSON_BOOL, true, &p->addressed},
        {"arena_bytes", RP_JSON_NAT, true, &p->arena_bytes},
        {"host_bytes", RP_JSON_NAT, true, &p->host_bytes},
        {"steps", RP_JSON_ARRAY, true, &steps},
        {"claims", RP_JSON_OBJECT, true, &claims},
        {"notes", RP_JSON_OBJECT, false, &notes},
        {version_1 ? NULL : "homes", RP_JSON_ARRAY, false, &homes},
        {0},
    };
    const struct rp_json_field graph_fields[] = {
        {"name", RP_JSON_STRING, true, &name},
        {"sha256", RP_JSON_STRING, true, &sha256},
        {0},
    };
    rp_rc rc = rp_json_format(root, "remat-plan", 2, file, err);
    if (rc == RP_OK)
        rc = rp_json_fields(root, fields, file, "plan", err);
    if (rc == RP_OK)
        rc = rp_json_fields(graph, graph_fields, file, "graph", err);
    if (rc == RP_OK && !is_sha256(sha256))
        rc = rp_fail(err, RP_INPUT,
                     "%s: graph: 'sha256' must be 64 lower-case hexadecimal digits", file);
    if (rc == RP_OK)
        rc = read_claims(claims, file, version_1, &p->claims, err);
    if (rc == RP_OK)
        rc = read_homes(homes, file, p, err);
    if (rc != RP_OK)
        return rc;
    p->version_1 = version_1;
    if (version_1)
        p->claims.bound_for = bound_for_version_1(notes);
    p->graph_name = rp_strdup(name);
    p->graph_sha256 = rp_strdup(sha256);
    p->notes = json_incref(notes);
    size_t i;
    json_t *v;
    json_array_foreach(steps, i, v) {
        if ((rc = read_step(v, i, file, p, err)) != RP_OK)
            return rc;
    }
    return RP_OK;
}

rp_rc rp_plan_parse(const char *text, size_t len, const char *file, struct rp_plan *p,
                    struct rp_err *err) {
    json_t *root = NULL;
    *p = (struct rp_plan){0};
    rp_rc rc = rp_json_parse(text, len, file, &root, err);
    if (rc == RP_OK)
        rc = read_plan(root, file, p, err);
    json_decref(root);
    if (rc != RP_OK)
        rp_plan_fini(p);
    return rc;
}

rp_rc rp_plan_load(const char *path, struct rp_plan *p, struct rp_err *err) {
    char *text = NULL;
    size_t len = 0;
    *p = (struct rp_plan){0};
    rp_rc rc = rp_read_file(path, &text, &len, err);
    if (rc == RP_OK)
        rc = rp_plan_parse(text, len, rp_path_name(path), p, err);
    free(text);
    return rc;
}

/* ---- writing: one step per line ---- */

static void put_address(FILE *f, const char *key, uint64_t address) {
    if (address != RP_NO_ADDRESS)
        fprintf(f, ",\"%s\":%" PRIu64, key, address);
}

static void put_step(FILE *f, const struct rp_plan *p, const struct rp_step *s) {
    static const char *const address_key[] = {"workspace_at", NULL, "host_at", "at"};
    fprintf(f, "{\"%s\":%" PRIu32, verb[s->kind], s->id);
    if (s->has_at) {
        fputs(",\"at\":[", f);
        for (uint32_t k = 0; k < s->n_at; k++) {
            uint64_t a = p->at.at[s->at + k];
            fputs(k ? "," : "", f);
            if (a == RP_NO_ADDRESS)
                fputs("null", f);
            else
                fprintf(f, "%" PRIu64, a);
        }
        fputc(']', f);
    }
    if (address_key[s->kind] != NULL)
        put_address(f, address_key[s->kind], s->address);
    fputc('}', f);
}

static void put_homes(FILE *f, const struct rp_plan *p) {
    for (size_t i = 0; i < p->homes.n; i++) {
        fprintf(f, "%s{\"tensor\":%" PRIu32, i ? "," : ",\n\"homes\":[",
                p->homes.at[i].tensor);
        put_address(f, "host_at", p->homes.at[i].host_at);
        fputc('}', f);
    }
    if (p->homes.n > 0)
        fputc(']', f);
}

void rp_plan_dump(const struct rp_plan *p, char **text, size_t *len) {
    const struct rp_claims *c = &p->claims;
    FILE *f = rp_text_open(text, len);
    struct rp_json_writer bound_for = rp_json_writer_on(f);
    fputs("{\"format\":\"remat-plan\",\"version\":2,\n\"graph\":{\"name\":", f);
    rp_json_put_string(f, p->graph_name);
    fputs(",\"sha256\":", f);
    rp_json_put_string(f, p->graph_sha256);
    fprintf(f,
            "},\n\"budget_bytes\":%" PRIu64 ",\"addressed\":%s,\"arena_bytes\":%" PRIu64
            ",\"host_bytes\":%" PRIu64 ",\n\"claims\":{\"time_ns\":%" PRIu64
            ",\"baseline_time_ns\":%" PRIu64 ",\"recompute_ns\":%" PRIu64
            ",\"stall_ns\":%" PRIu64 ",\"peak_bytes\":%" PRIu64
            ",\"lower_bound_ns\":%" PRIu64 ",\"proof\":\"%s\"",
            p->budget_bytes, p->addressed ? "true" : "false", p->arena_bytes, p->host_bytes,
            c->time_ns, c->baseline_time_ns, c->recompute_ns, c->stall_ns, c->peak_bytes,
            c->lower_bound_ns, rp_proof_word[c->proof]);
    fputs(",\n\"bound_for\":", f);
    rp_bound_scope_json(&c->bound_for, NULL, &bound_for);
    fputc('}', f);
    put_homes(f, p);
    if (p->notes != NULL) {
        fputs(",\n\"notes\":", f);
        rp_json_put(f, p->notes);
    }
    fputs(",\n\"steps\":[", f);
    for (size_t i = 0; i < p->steps.n; i++) {
        fputs(i ? ",\n" : "\n", f);
        put_step(f, p, &p->steps.at[i]);
    }
    fputs("]}\n", f);
    rp_text_close(f);
}

rp_rc rp_plan_save(const struct rp_plan *p, const char *path, struct rp_err *err) {
    char *text;
    size_t len;
    rp_plan_dump(p, &text, &len);
    rp_rc rc = rp_write_file(path, text, len, err);
    free(text);
    return rc;
}
