#include "cmd/sweep_curve.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/format.h"
#include "base/io.h"
#include "base/json_writer.h"
#include "base/log.h"
#include "base/mem.h"
#include "emit/chart.h"
#include "solve/core/plan_claims.h"
#include "solve/core/warm_start.h"
#include "verify/verifier.h"

static rp_rc load_point(struct rp_sweep *s, uint64_t k, struct rp_err *err) {
    char *path = rp_sweep_file(s, k);
    struct rp_verdict v;
    struct rp_err reason = {{0}};
    rp_rc rc = RP_OK;
    if (s->merge)
        s->states[k] = access(path, F_OK) == 0 ? RP_PLANNED : RP_NO_FILE;
    if (s->states[k] == RP_PLANNED) {
        rc = rp_plan_load(path, &s->plans[k], err);
        if (rc == RP_OK && rp_verify(s->g, &s->plans[k], &v, &reason) != RP_OK)
            rc = rp_fail(err, RP_INPUT, "%s: %.900s", path, reason.msg);
        if (rc == RP_OK && (s->plans[k].budget_bytes != s->budgets[k] ||
                            s->plans[k].host_bytes > s->host.bytes))
            rc = rp_fail(err, RP_INPUT,
                         "%s: this plan is for another budget: use the same options as for "
                         "the plans",
                         path);
    }
    free(path);
    return rc;
}

/* Gives point k the plan of point k-1, with its own budget and bound. */
static rp_rc carry_over(struct rp_sweep *s, uint64_t k, struct rp_err *err) {
    const struct rp_plan *from = &s->plans[k - 1];
    char *path = rp_sweep_file(s, k);
    struct rp_claims old = s->plans[k].claims;
    rp_plan_fini(&s->plans[k]);
    rp_plan_restate(from, from->addressed, s->budgets[k], &s->plans[k]);
    s->plans[k].arena_bytes = from->arena_bytes;
    s->plans[k].host_bytes = from->host_bytes;
    s->plans[k].claims = from->claims;
    rp_plan_set_bound(s->g, &s->plans[k].claims, old.lower_bound_ns, old.bound_for);
    s->plans[k].notes = json_incref(from->notes);
    rp_rc rc = rp_plan_save(&s->plans[k], path, err);
    free(path);
    return rc;
}

static bool has_plan(const struct rp_sweep *s, uint64_t k) {
    return s->plans[k].graph_name != NULL;
}

/* True if this run planned point k, and it has no plan or a worse one than point k-1. */
static bool is_worse(const struct rp_sweep *s, uint64_t k) {
    return s->states[k] != RP_NOT_PLANNED && has_plan(s, k - 1) &&
           (!has_plan(s, k) || rp_plan_order(s->g, &s->plans[k - 1], &s->plans[k]) < 0);
}

/* Loads all points. A point that is worse than the one before it takes over its plan. */
static rp_rc merge(struct rp_sweep *s, struct rp_err *err) {
    rp_rc rc = RP_OK;
    for (uint64_t k = 0; k < s->n_points && rc == RP_OK; k++) {
        rc = load_point(s, k, err);
        if (rc == RP_OK && k > 0 && is_worse(s, k))
            rc = carry_over(s, k, err);
    }
    /* A bound for a larger budget also holds for a smaller one. */
    for (uint64_t k = s->n_points; rc == RP_OK && k-- > 1;) {
        struct rp_claims *a = &s->plans[k - 1].claims;
        const struct rp_claims *b = &s->plans[k].claims;
        if (has_plan(s, k) && has_plan(s, k - 1) && a->lower_bound_ns < b->lower_bound_ns)
            rp_plan_set_bound(s->g, a, b->lower_bound_ns, b->bound_for);
    }
    return rc;
}

/* Why point k has no plan. */
static const char *reason(const struct rp_sweep *s, uint64_t k) {
    static const char *const words[] = {
        [RP_NOT_PLANNED] = "not planned (interrupted)",
        [RP_NONE_FOUND] = "no plan found",
        [RP_PROVED_NONE] = "no plan can exist",
        [RP_NO_FILE] = "no plan in the folder",
    };
    return words[s->states[k]];
}

static uint64_t n_not_planned(const struct rp_sweep *s) {
    uint64_t n = 0;
    for (uint64_t k = 0; k < s->n_points; k++)
        n += s->states[k] == RP_NOT_PLANNED;
    return n;
}

static void write_point(struct rp_json_writer *w, const struct rp_sweep *s, uint64_t k) {
    const struct rp_plan *plan = &s->plans[k];
    const struct rp_claims *c = &plan->claims;
    rp_json_object(w, NULL);
    rp_json_uint(w, "budget_bytes", s->budgets[k]);
    rp_json_bool(w, "found", has_plan(s, k));
    if (has_plan(s, k)) {
        rp_json_uint(w, "time_ns", c->time_ns);
        rp_json_uint(w, "lower_bound_ns", c->lower_bound_ns);
        rp_json_uint(w, "recompute_ns", c->recompute_ns);
        rp_json_uint(w, "stall_ns", c->stall_ns);
        rp_json_uint(w, "peak_bytes", c->peak_bytes);
        rp_json_uint(w, "arena_bytes", plan->arena_bytes);
        rp_json_uint(w, "host_bytes", plan->host_bytes);
    } else {
        rp_json_string(w, "reason", reason(s, k));
    }
    rp_json_end(w);
}

static void write_json(const struct rp_sweep *s, FILE *f) {
    struct rp_json_writer w = rp_json_writer_on(f);
    rp_json_object(&w, NULL);
    rp_json_string(&w, "graph", s->g->name);
    rp_json_string(&w, "sha256", s->g->sha256);
    rp_json_uint(&w, "baseline_time_ns", s->g->total_time_ns);
    rp_json_uint(&w, "floor_bytes", s->floor_bytes);
    rp_json_uint(&w, "keep_all_bytes", s->keep_all_bytes);
    rp_host_budget_json(&s->host, &w);
    rp_json_bool(&w, "interrupted", n_not_planned(s) > 0);
    rp_json_array(&w, "points");
    for (uint64_t k = 0; k < s->n_points; k++)
        write_point(&w, s, k);
    rp_json_end(&w);
    rp_json_end(&w);
    rp_json_finish(&w);
}

static void write_csv(const struct rp_sweep *s, FILE *f) {
    fputs("budget_bytes,time_ns,baseline_time_ns,lower_bound_ns,peak_bytes,host_bytes\n",
          f);
    for (uint64_t k = 0; k < s->n_points; k++)
        if (has_plan(s, k))
            fprintf(f,
                    "%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64
                    "\n",
                    s->budgets[k], s->plans[k].claims.time_ns, s->g->total_time_ns,
                    s->plans[k].claims.lower_bound_ns, s->plans[k].claims.peak_bytes,
                    s->plans[k].host_bytes);
}

static void write_svg(const struct rp_sweep *s, FILE *f) {
    struct rp_curve curve = {.title = s->g->name, .baseline_ns = s->g->total_time_ns};
    struct rp_curve_point *at = rp_calloc(s->n_points, sizeof *at);
    for (uint64_t k = 0; k < s->n_points; k++)
        if (has_plan(s, k))
            at[curve.n++] =
                (struct rp_curve_point){s->budgets[k], s->plans[k].claims.time_ns,
                                        s->plans[k].claims.lower_bound_ns};
    curve.at = at;
    rp_chart_curve(&curve, f);
    free(at);
}

static rp_rc save(const struct rp_sweep *s, const char *name,
                  void (*write)(const struct rp_sweep *, FILE *), struct rp_err *err) {
    char *text, *path = rp_format("%s/%s", s->dir, name);
    size_t len;
    FILE *f = rp_text_open(&text, &len);
    write(s, f);
    rp_rc rc = rp_text_save(f, &text, &len, path, err);
    free(path);
    return rc;
}

static void print_text(const struct rp_sweep *s) {
    rp_put_clean(s->g->name, stdout);
    printf(": %s, keep-all needs %s\n", rp_show_ns(s->g->total_time_ns).s,
           rp_show_bytes(s->keep_all_bytes).s);
    rp_host_budget_print(&s->host);
    puts("point      budget  over time      bound  recompute      stall     on host");
    for (uint64_t k = 0; k < s->n_points; k++) {
        const struct rp_claims *c = &s->plans[k].claims;
        printf("%5" PRIu64 " %11s ", k, rp_show_bytes(s->budgets[k]).s);
        if (!has_plan(s, k)) {
            printf("  %s\n", reason(s, k));
            continue;
        }
        printf(
            "%10s %10s %10s %10s %11s%s\n",
            rp_show_percent(c->time_ns - s->g->total_time_ns, s->g->total_time_ns).s,
            rp_show_percent(c->lower_bound_ns - s->g->total_time_ns, s->g->total_time_ns).s,
            rp_show_ns(c->recompute_ns).s, rp_show_ns(c->stall_ns).s,
            rp_show_bytes(s->plans[k].host_bytes).s,
            rp_show_tail("  ", rp_claims_tail_ns(c)).s);
    }
}

static rp_rc save_curve(const struct rp_sweep *s, struct rp_err *err) {
    rp_rc rc = save(s, "sweep.json", write_json, err);
    if (rc == RP_OK)
        rc = save(s, "sweep.csv", write_csv, err);
    if (rc == RP_OK)
        rc = save(s, "sweep.svg", write_svg, err);
    return rc;
}

/* The report comes first, since it is an answer even if the curve cannot be written. */
static rp_rc print_and_save(const struct rp_sweep *s, bool json, struct rp_err *err) {
    bool text = !json && rp_log_level() >= 0;
    if (json)
        write_json(s, stdout);
    else if (text)
        print_text(s);
    rp_rc rc = save_curve(s, err);
    if (rc == RP_OK && text)
        printf("curve in %s/sweep.svg, .csv, .json\n", s->dir);
    return rc;
}

rp_rc rp_sweep_report(struct rp_sweep *s, bool json, struct rp_err *err) {
    s->plans = rp_calloc(s->n_points, sizeof *s->plans);
    rp_rc rc = merge(s, err);
    if (rc == RP_OK)
        rc = print_and_save(s, json, err);
    uint64_t missing = n_not_planned(s);
    if (rc == RP_OK && missing > 0)
        rc = rp_fail(err, RP_LIMIT,
                     "sweep: interrupted, %" PRIu64 " of %" PRIu64 " points not planned",
                     missing, s->n_points);
    for (uint64_t k = 0; k < s->n_points; k++)
        rp_plan_fini(&s->plans[k]);
    free(s->plans);
    return rc;
}
