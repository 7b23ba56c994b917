/* sweep: the plans of its points as one curve. */
#include "cmd/sweep.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/format.h"
#include "base/io.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "emit/chart_curve.h"
#include "solve/core/warm_start.h"
#include "verify/verifier.h"

static rp_rc load_point(struct rp_sweep *s, uint64_t k, struct rp_err *err) {
    char *path = rp_sweep_file(s, k);
    struct rp_verdict v;
    struct rp_err why = {{0}};
    rp_rc rc = RP_OK;
    if (s->merge)
        s->state[k] = access(path, F_OK) == 0 ? RP_PLANNED : RP_NOT_THERE;
    if (s->state[k] == RP_PLANNED) {
        rc = rp_plan_load(path, &s->plan[k], err);
        if (rc == RP_OK && rp_verify(s->g, &s->plan[k], &v, &why) != RP_OK)
            rc = rp_fail(err, RP_INPUT, "%s: %.900s", path, why.msg);
        if (rc == RP_OK && s->plan[k].budget_bytes != s->budget[k])
            rc =
                rp_fail(err, RP_INPUT,
                        "%s: a plan for another budget: sweep with the same options", path);
    }
    free(path);
    return rc;
}

/* The plan of point k-1 for the budget of point k. */
static rp_rc carry_over(struct rp_sweep *s, uint64_t k, struct rp_err *err) {
    const struct rp_plan *from = &s->plan[k - 1];
    char *path = rp_sweep_file(s, k);
    uint64_t bound = s->plan[k].claims.lower_bound_ns;
    rp_plan_fini(&s->plan[k]);
    rp_plan_restate(from, from->addressed, s->budget[k], &s->plan[k]);
    s->plan[k].arena_bytes = from->arena_bytes;
    s->plan[k].host_bytes = from->host_bytes;
    s->plan[k].claims = from->claims;
    s->plan[k].claims.lower_bound_ns = bound > 0 ? bound : s->g->total_time_ns;
    s->plan[k].claims.proof = RP_PROOF_NONE;
    s->plan[k].notes = json_incref(from->notes);
    rp_rc rc = rp_plan_save(&s->plan[k], path, err);
    free(path);
    return rc;
}

static bool has_plan(const struct rp_sweep *s, uint64_t k) {
    return s->plan[k].graph_name != NULL;
}

/* Point k, which this run came to, has no plan or a worse one than point k-1. */
static bool is_worse(const struct rp_sweep *s, uint64_t k) {
    return s->state[k] != RP_NOT_PLANNED && has_plan(s, k - 1) &&
           (!has_plan(s, k) || rp_plan_order(s->g, &s->plan[k - 1], &s->plan[k]) < 0);
}

/* Loads all, and lets no point be worse than the one before it. */
static rp_rc merge(struct rp_sweep *s, struct rp_err *err) {
    rp_rc rc = RP_OK;
    for (uint64_t k = 0; k < s->points && rc == RP_OK; k++) {
        rc = load_point(s, k, err);
        if (rc == RP_OK && k > 0 && is_worse(s, k))
            rc = carry_over(s, k, err);
    }
    /* What bounds a larger budget bounds a smaller one. */
    for (uint64_t k = s->points; rc == RP_OK && k-- > 1;) {
        struct rp_claims *a = &s->plan[k - 1].claims;
        if (has_plan(s, k) && has_plan(s, k - 1) &&
            a->lower_bound_ns < s->plan[k].claims.lower_bound_ns)
            a->lower_bound_ns = s->plan[k].claims.lower_bound_ns;
    }
    return rc;
}

/* Why point k has no plan. */
static const char *reason(const struct rp_sweep *s, uint64_t k) {
    static const char *const words[] = {
        [RP_NOT_PLANNED] = "not planned (interrupted)",
        [RP_NONE_FOUND] = "no plan found",
        [RP_PROVED_NONE] = "no plan can exist",
        [RP_NOT_THERE] = "no plan in the folder",
    };
    return words[s->state[k]];
}

static uint64_t n_not_planned(const struct rp_sweep *s) {
    uint64_t n = 0;
    for (uint64_t k = 0; k < s->points; k++)
        n += s->state[k] == RP_NOT_PLANNED;
    return n;
}

static json_t *curve_json(const struct rp_sweep *s) {
    json_t *points = json_array();
    for (uint64_t k = 0; k < s->points; k++) {
        const struct rp_claims *c = &s->plan[k].claims;
        json_t *p = json_pack("{s:I}", "budget_bytes", (json_int_t)s->budget[k]);
        json_array_append_new(points, p);
        json_object_set_new(p, "found", json_boolean(has_plan(s, k)));
        if (!has_plan(s, k)) {
            json_object_set_new(p, "reason", json_string(reason(s, k)));
            continue;
        }
        json_object_set_new(p, "time_ns", json_integer((json_int_t)c->time_ns));
        json_object_set_new(p, "lower_bound_ns",
                            json_integer((json_int_t)c->lower_bound_ns));
        json_object_set_new(p, "recompute_ns", json_integer((json_int_t)c->recompute_ns));
        json_object_set_new(p, "stall_ns", json_integer((json_int_t)c->stall_ns));
        json_object_set_new(p, "peak_bytes", json_integer((json_int_t)c->peak_bytes));
        json_object_set_new(p, "arena_bytes",
                            json_integer((json_int_t)s->plan[k].arena_bytes));
        json_object_set_new(p, "host_bytes",
                            json_integer((json_int_t)s->plan[k].host_bytes));
    }
    return json_pack("{s:s, s:s, s:I, s:I, s:I, s:b, s:o}", "graph", s->g->name, "sha256",
                     s->g->sha256, "baseline_time_ns", (json_int_t)s->g->total_time_ns,
                     "floor_bytes", (json_int_t)s->floor_bytes, "keep_all_bytes",
                     (json_int_t)s->keep_all_bytes, "interrupted", n_not_planned(s) > 0,
                     "points", points);
}

static void put_csv(const struct rp_sweep *s, FILE *f) {
    fputs("budget_bytes,time_ns,baseline_time_ns,lower_bound_ns,peak_bytes\n", f);
    for (uint64_t k = 0; k < s->points; k++)
        if (has_plan(s, k))
            fprintf(f, "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n",
                    s->budget[k], s->plan[k].claims.time_ns, s->g->total_time_ns,
                    s->plan[k].claims.lower_bound_ns, s->plan[k].claims.peak_bytes);
}

static void put_svg(const struct rp_sweep *s, FILE *f) {
    struct rp_curve curve = {.title = s->g->name, .baseline_ns = s->g->total_time_ns};
    struct rp_curve_point *at = rp_calloc(s->points, sizeof *at);
    for (uint64_t k = 0; k < s->points; k++)
        if (has_plan(s, k))
            at[curve.n++] = (struct rp_curve_point){s->budget[k], s->plan[k].claims.time_ns,
                                                    s->plan[k].claims.lower_bound_ns};
    curve.at = at;
    rp_chart_curve(&curve, f);
    free(at);
}

static void put_curve_json(const struct rp_sweep *s, FILE *f) {
    json_t *root = curve_json(s);
    rp_json_put(f, root);
    fputc('\n', f);
    json_decref(root);
}

static rp_rc save(const struct rp_sweep *s, const char *name,
                  void (*put)(const struct rp_sweep *, FILE *), struct rp_err *err) {
    char *text, *path = rp_format("%s/%s", s->dir, name);
    size_t len;
    FILE *f = rp_text_open(&text, &len);
    put(s, f);
    rp_text_close(f);
    rp_rc rc = rp_write_file(path, text, len, err);
    free(text);
    free(path);
    return rc;
}

static void put_text(const struct rp_sweep *s) {
    printf("%s: %s, keep-all needs %s\n"
           "point      budget  over time      bound  recompute      stall     on host\n",
           s->g->name, rp_show_ns(s->g->total_time_ns).s,
           rp_show_bytes(s->keep_all_bytes).s);
    for (uint64_t k = 0; k < s->points; k++) {
        const struct rp_claims *c = &s->plan[k].claims;
        printf("%5" PRIu64 " %11s ", k, rp_show_bytes(s->budget[k]).s);
        if (!has_plan(s, k)) {
            printf("  %s\n", reason(s, k));
            continue;
        }
        printf(
            "%10s %10s %10s %10s %11s\n",
            rp_show_percent(c->time_ns - s->g->total_time_ns, s->g->total_time_ns).s,
            rp_show_percent(c->lower_bound_ns - s->g->total_time_ns, s->g->total_time_ns).s,
            rp_show_ns(c->recompute_ns).s, rp_show_ns(c->stall_ns).s,
            rp_show_bytes(s->plan[k].host_bytes).s);
    }
}

static rp_rc save_curve(const struct rp_sweep *s, struct rp_err *err) {
    rp_rc rc = save(s, "sweep.json", put_curve_json, err);
    if (rc == RP_OK)
        rc = save(s, "sweep.csv", put_csv, err);
    if (rc == RP_OK)
        rc = save(s, "sweep.svg", put_svg, err);
    return rc;
}

/* The report comes first: it is an answer even where the curve cannot be written. */
static rp_rc put_and_save(const struct rp_sweep *s, bool json, struct rp_err *err) {
    bool text = !json && rp_log_level() >= 0;
    if (json)
        put_curve_json(s, stdout);
    else if (text)
        put_text(s);
    rp_rc rc = save_curve(s, err);
    if (rc == RP_OK && text)
        printf("curve in %s/sweep.svg, .csv, .json\n", s->dir);
    return rc;
}

rp_rc rp_sweep_report(struct rp_sweep *s, bool json, struct rp_err *err) {
    s->plan = rp_calloc(s->points, sizeof *s->plan);
    rp_rc rc = merge(s, err);
    if (rc == RP_OK)
        rc = put_and_save(s, json, err);
    uint64_t missing = n_not_planned(s);
    if (rc == RP_OK && missing > 0)
        rc = rp_fail(err, RP_LIMIT,
                     "sweep: interrupted: %" PRIu64 " of %" PRIu64 " points not planned",
                     missing, s->points);
    for (uint64_t k = 0; k < s->points; k++)
        rp_plan_fini(&s->plan[k]);
    free(s->plan);
    return rc;
}
