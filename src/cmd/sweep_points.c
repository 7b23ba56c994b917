#include "cmd/sweep_points.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/json.h"
#include "base/log.h"
#include "base/numbers.h"
#include "cmd/sweep_budgets.h"
#include "verify/verifier.h"

static const char *const state_word[] = {[RP_NONE_FOUND] = "none found",
                                         [RP_PROVED_NONE] = "proved none",
                                         [RP_PLANNED] = "planned"};

char *rp_point_plan_name(const struct rp_sweep_graph *a, uint64_t budget_bytes) {
    return rp_format("%s/%" PRIu64 ".plan.json", a->name, budget_bytes);
}

char *rp_point_plan_path(const struct rp_sweep_graph *a, uint64_t budget_bytes) {
    return rp_format("%s/%" PRIu64 ".plan.json", a->dir, budget_bytes);
}

static char *record_path(const struct rp_sweep_graph *a, uint64_t budget_bytes) {
    return rp_format("%s/%" PRIu64 ".point.json", a->dir, budget_bytes);
}

/* ---- records ---- */

rp_rc rp_point_save(const struct rp_sweep *s, const struct rp_sweep_graph *a,
                    const struct rp_point *p, struct rp_err *err) {
    char *text, *path = record_path(a, p->budget_bytes);
    size_t len;
    FILE *f = rp_text_open(&text, &len);
    struct rp_json_writer w = rp_json_writer_on(f);
    rp_json_object(&w, NULL);
    rp_json_string(&w, "graph_sha256", a->g.sha256);
    rp_json_string(&w, "options", s->settings);
    rp_json_uint(&w, "host_budget_bytes", a->host.bytes);
    rp_json_string(&w, "state", state_word[p->state]);
    rp_json_uint(&w, "time_ns", p->time_ns);
    rp_json_uint(&w, "solver_ns", p->solver_ns);
    rp_json_end(&w);
    rp_json_finish(&w);
    rp_rc rc = rp_text_save(f, &text, &len, path, err);
    free(path);
    return rc;
}

static rp_rc refuse_options(const char *path, const char *options, uint64_t host_bytes,
                            struct rp_err *err) {
    char *host = host_bytes < RP_MAX_QUANTITY
                     ? rp_format(" --host-budget %" PRIu64, host_bytes)
                     : rp_strdup(" and no limit of host memory");
    rp_fail(
        err, RP_USAGE,
        "sweep: %s was planned with other options,%s%s: use the same, or choose another "
        "folder",
        path, options, host);
    free(host);
    return RP_USAGE;
}

/* Reads what the record says. Its strings belong to `root`. */
static rp_rc read_record(const struct rp_sweep *s, const struct rp_sweep_graph *a,
                         json_t *root, const char *path, struct rp_point *p,
                         struct rp_err *err) {
    const char *sha256, *options, *state;
    uint64_t host_bytes;
    const struct rp_json_field fields[] = {
        {"graph_sha256", RP_JSON_STRING, true, &sha256},
        {"options", RP_JSON_STRING, true, &options},
        {"host_budget_bytes", RP_JSON_NAT, true, &host_bytes},
        {"state", RP_JSON_STRING, true, &state},
        {"time_ns", RP_JSON_NAT, true, &p->time_ns},
        {"solver_ns", RP_JSON_NAT, true, &p->solver_ns},
        {0},
    };
    rp_rc rc = rp_json_fields(root, fields, path, "the record", err);
    if (rc != RP_OK)
        return rc;
    if (strcmp(sha256, a->g.sha256) != 0)
        return rp_fail(err, RP_USAGE,
                       "sweep: %s is about another graph than %s: choose another folder",
                       path, a->path);
    if (strcmp(options, s->settings) != 0 || host_bytes != a->host.bytes)
        return refuse_options(path, options, host_bytes, err);
    for (int k = RP_NONE_FOUND; k <= RP_PLANNED; k++)
        if (strcmp(state, state_word[k]) == 0)
            p->state = (enum rp_point_state)k;
    return p->state == RP_NOT_PLANNED
               ? rp_fail(err, RP_INPUT, "%s: there is no state '%.80s'", path, state)
               : RP_OK;
}

static rp_rc load_record(const struct rp_sweep *s, const struct rp_sweep_graph *a,
                         const char *path, struct rp_point *p, struct rp_err *err) {
    char *text = NULL;
    size_t len;
    json_t *root = NULL;
    rp_rc rc = rp_read_file(path, &text, &len, err);
    if (rc == RP_OK)
        rc = rp_json_parse(text, len, path, &root, err);
    if (rc == RP_OK)
        rc = read_record(s, a, root, path, p, err);
    json_decref(root);
    free(text);
    return rc;
}

/* Is the plan of the record there, and valid? */
static rp_rc check_plan(const struct rp_sweep_graph *a, const struct rp_point *p,
                        struct rp_err *err) {
    struct rp_plan plan = {0};
    if (p->state != RP_PLANNED)
        return RP_OK;
    rp_rc rc = rp_point_load_plan(a, p->budget_bytes, &plan, err);
    rp_plan_fini(&plan);
    return rc;
}

/* Sets what became of the point. If its files are damaged, it is to be planned again. */
static rp_rc load_point(const struct rp_sweep *s, const struct rp_sweep_graph *a,
                        struct rp_point *p, struct rp_err *err) {
    char *path = record_path(a, p->budget_bytes);
    struct rp_err damage = {{0}};
    struct rp_point empty = *p;
    rp_rc rc = RP_OK;
    if (access(path, F_OK) == 0) {
        rc = load_record(s, a, path, p, &damage);
        if (rc == RP_OK && !rp_stop_interrupted(s->options.stop))
            rc = check_plan(a, p, &damage);
    }
    free(path);
    if (rc == RP_USAGE) /* of another sweep */
        return rp_fail(err, rc, "%s", damage.msg);
    if (rc != RP_OK) {
        rp_log(0, "%s: this point counts as not planned", damage.msg);
        *p = empty;
    }
    return RP_OK;
}

/* ---- rounds ---- */

size_t rp_sweep_n_missing(const struct rp_sweep_graph *a) {
    size_t n = 0;
    for (size_t i = 0; i < a->points.n; i++)
        n += a->points.at[i].state == RP_NOT_PLANNED;
    return n;
}

uint64_t rp_sweep_n_left(const struct rp_sweep *s) {
    uint64_t n = 0;
    for (size_t i = 0; i < s->n_graphs; i++)
        n += rp_sweep_n_missing(&s->graphs[i]);
    return n;
}

uint64_t rp_sweep_n_to_come(const struct rp_sweep *s) {
    uint64_t n = 0;
    for (size_t i = 0; i < s->n_graphs; i++)
        if (s->graphs[i].given.n == 0)
            n += s->n_points - rp_min_u64(s->n_points, s->graphs[i].points.n);
    return n;
}

rp_rc rp_sweep_fail_missing(const struct rp_sweep *s, const char *why, struct rp_err *err) {
    uint64_t later = rp_sweep_n_to_come(s), n_points = later;
    for (size_t i = 0; i < s->n_graphs; i++)
        n_points += s->graphs[i].points.n;
    return rp_fail(err, RP_LIMIT,
                   "sweep: %s%" PRIu64 " of %" PRIu64
                   " points are not planned: give the same command again to go on",
                   why, rp_sweep_n_left(s) + later, n_points);
}

rp_rc rp_sweep_check_stop(const struct rp_sweep *s, struct rp_err *err) {
    return rp_stop_interrupted(s->options.stop)
               ? rp_sweep_fail_missing(s, "interrupted, ", err)
               : RP_OK;
}

uint64_t rp_sweep_round_size(const struct rp_sweep *s) {
    uint64_t most = 0;
    for (size_t i = 0; i < s->n_graphs; i++)
        most = rp_max_u64(most, s->graphs[i].given.n);
    bool given = most > 0;
    for (uint32_t round = 0; round < RP_SWEEP_ROUNDS && !given; round++)
        most = rp_max_u64(most, rp_round_points(s->n_points, round));
    return most;
}

static size_t bend_budgets(const struct rp_sweep_graph *a, uint64_t n, uint64_t *budgets) {
    struct rp_known_point *known = rp_calloc(a->points.n, sizeof *known);
    for (size_t i = 0; i < a->points.n; i++)
        known[i] =
            (struct rp_known_point){a->points.at[i].budget_bytes, a->points.at[i].time_ns};
    size_t count = rp_bend_budgets(known, a->points.n, a->g.total_time_ns, n, budgets);
    free(known);
    return count;
}

/* The budgets of a round, when all rounds before it are listed. The caller frees them. */
static uint64_t *round_budgets(const struct rp_sweep *s, const struct rp_sweep_graph *a,
                               uint32_t round, size_t *n) {
    uint64_t *budgets = rp_calloc(rp_max_u64(a->given.n, s->n_points), sizeof *budgets);
    *n = a->given.n;
    if (a->given.n > 0)
        memcpy(budgets, a->given.at, a->given.n * sizeof *budgets);
    else if (round == 0)
        *n = rp_even_budgets(a->floor_bytes, a->keep_all_bytes,
                             rp_round_points(s->n_points, 0), budgets);
    else
        *n = bend_budgets(a, rp_round_points(s->n_points, round), budgets);
    return budgets;
}

rp_rc rp_sweep_load_points(const struct rp_sweep *s, struct rp_sweep_graph *a,
                           struct rp_err *err) {
    uint32_t n_rounds = a->given.n > 0 ? 1 : RP_SWEEP_ROUNDS;
    rp_rc rc = RP_OK;
    a->points.n = 0;
    for (uint32_t r = 0; r < n_rounds && rc == RP_OK && rp_sweep_n_missing(a) == 0; r++) {
        size_t n;
        uint64_t *budgets = round_budgets(s, a, r, &n);
        for (uint32_t i = 0; i < n && rc == RP_OK; i++) {
            struct rp_point p = {.budget_bytes = budgets[i], .round = r, .index = i};
            rc = load_point(s, a, &p, err);
            rp_push(&a->points, p);
        }
        free(budgets);
    }
    return rc;
}

/* ---- plans ---- */

rp_rc rp_point_load_plan(const struct rp_sweep_graph *a, uint64_t budget_bytes,
                         struct rp_plan *plan, struct rp_err *err) {
    char *path = rp_point_plan_path(a, budget_bytes);
    struct rp_verdict v;
    struct rp_err reason = {{0}};
    rp_rc rc = rp_plan_load(path, plan, err);
    if (rc == RP_OK && rp_verify(&a->g, plan, &v, &reason) != RP_OK)
        rc = rp_fail(err, RP_INPUT, "%s: %.900s", path, reason.msg);
    if (rc == RP_OK &&
        (plan->budget_bytes != budget_bytes || plan->host_bytes > a->host.bytes))
        rc = rp_fail(err, RP_INPUT, "%s: this plan is for another budget", path);
    free(path);
    return rc;
}
