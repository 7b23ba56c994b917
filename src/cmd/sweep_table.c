#include "cmd/sweep_table.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/format.h"
#include "base/io.h"
#include "base/log.h"
#include "base/numbers.h"
#include "cmd/sweep_page.h"
#include "emit/chart.h"

struct row {
    struct rp_point point;
    /* Of its plan; time_ns is 0 if it has none. */
    uint64_t plan_budget_bytes; /* of the point that the plan was made for */
    struct rp_claims claims;    /* the bound is that of this row */
    uint64_t arena_bytes, host_bytes;
};

struct curve {
    const struct rp_sweep_graph *a;
    struct row *rows; /* one for each point, by budget */
};

struct table {
    const struct rp_sweep *s;
    struct curve *curves;
};

/* ---- joining ---- */

static int by_budget(const void *a, const void *b) {
    return rp_compare_u64(&((const struct row *)a)->point.budget_bytes,
                          &((const struct row *)b)->point.budget_bytes);
}

/* Replaces *best, the plan so far, by the row's own one unless that is worse. The row's
 * figures are those of the better one, with the bound of its own. */
static rp_rc join_row(const struct rp_sweep_graph *a, struct row *row, struct rp_plan *best,
                      uint64_t *best_budget, struct rp_err *err) {
    struct rp_plan own = {0};
    uint64_t bound_ns = a->g.total_time_ns;
    rp_rc rc = RP_OK;
    if (row->point.state == RP_PLANNED) {
        rc = rp_point_load_plan(a, row->point.budget_bytes, &own, err);
        if (rc != RP_OK) {
            rp_plan_fini(&own);
            return rc;
        }
        bound_ns = rp_max_u64(bound_ns, own.claims.lower_bound_ns);
        if (best->graph_name == NULL || rp_plan_order(&a->g, best, &own) >= 0) {
            rp_plan_fini(best);
            *best = own;
            *best_budget = row->point.budget_bytes;
        } else
            rp_plan_fini(&own);
    }
    if (row->point.state != RP_NOT_PLANNED)
        row->claims = best->claims;
    row->claims.lower_bound_ns = bound_ns;
    row->arena_bytes = best->arena_bytes;
    row->host_bytes = best->host_bytes;
    row->plan_budget_bytes = *best_budget;
    return RP_OK;
}

static rp_rc join(const struct rp_sweep *s, struct curve *c, struct rp_err *err) {
    struct rp_plan best = {0};
    uint64_t best_budget = 0;
    size_t n = c->a->points.n;
    rp_rc rc = RP_OK;
    c->rows = rp_calloc(n, sizeof *c->rows);
    for (size_t i = 0; i < n; i++)
        c->rows[i].point = c->a->points.at[i];
    qsort(c->rows, n, sizeof *c->rows, by_budget);
    for (size_t i = 0; i < n && rc == RP_OK; i++) {
        rc = rp_sweep_check_stop(s, err);
        if (rc == RP_OK)
            rc = join_row(c->a, &c->rows[i], &best, &best_budget, err);
    }
    /* A bound for a larger budget also holds for a smaller one. */
    for (size_t i = n; i-- > 1;)
        c->rows[i - 1].claims.lower_bound_ns = rp_max_u64(
            c->rows[i - 1].claims.lower_bound_ns, c->rows[i].claims.lower_bound_ns);
    rp_plan_fini(&best);
    return rc;
}

static bool has_plan(const struct row *r) {
    return r->claims.time_ns > 0;
}

/* Whether the row has a plan, and why not. */
static const char *status_word(const struct row *r) {
    static const char *const why_not[] = {
        [RP_NOT_PLANNED] = "not planned",
        [RP_NONE_FOUND] = "no plan found",
        [RP_PROVED_NONE] = "no plan can exist",
        [RP_PLANNED] = "planned", /* no op, no time */
    };
    return has_plan(r) ? "planned" : why_not[r->point.state];
}

/* By how much the plan may be slower than the best, as a percentage of the bound. */
static double gap_percent(const struct row *r) {
    double bound = (double)r->claims.lower_bound_ns;
    return 100 * ((double)r->claims.time_ns - bound) / bound;
}

/* ---- figures ---- */

struct figure {
    const char *name;
    uint64_t value;
};
enum { N_FIGURES = 8 };

/* The figures of a row's plan. */
static void list_figures(const struct row *r, struct figure f[N_FIGURES]) {
    const struct rp_claims *c = &r->claims;
    const struct figure all[N_FIGURES] = {
        {"time_ns", c->time_ns},
        {"baseline_time_ns", c->baseline_time_ns},
        {"lower_bound_ns", c->lower_bound_ns},
        {"recompute_ns", c->recompute_ns},
        {"stall_ns", c->stall_ns},
        {"peak_bytes", c->peak_bytes},
        {"arena_bytes", r->arena_bytes},
        {"host_bytes", r->host_bytes},
    };
    memcpy(f, all, sizeof all);
}

static double solver_seconds(const struct row *r) {
    return (double)r->point.solver_ns / 1e9;
}

static bool shows_seconds(const struct table *t, const struct row *r) {
    return !t->s->no_seconds && r->point.state != RP_NOT_PLANNED;
}

/* ---- JSON ---- */

static void write_row(struct rp_json_writer *w, const struct table *t,
                      const struct curve *c, const struct row *r) {
    struct figure f[N_FIGURES];
    list_figures(r, f);
    rp_json_object(w, NULL);
    rp_json_uint(w, "budget_bytes", r->point.budget_bytes);
    rp_json_string(w, "status", status_word(r));
    for (int k = 0; k < N_FIGURES && has_plan(r); k++)
        rp_json_uint(w, f[k].name, f[k].value);
    if (has_plan(r)) {
        char *name = rp_point_plan_name(c->a, r->plan_budget_bytes);
        rp_json_double(w, "gap_percent", gap_percent(r), 3);
        rp_json_string(w, "plan", name);
        free(name);
    }
    if (shows_seconds(t, r))
        rp_json_double(w, "solver_seconds", solver_seconds(r), 2);
    rp_json_end(w);
}

static void write_curve(struct rp_json_writer *w, const struct table *t,
                        const struct curve *c) {
    rp_json_newline(w);
    rp_json_object(w, NULL);
    rp_json_string(w, "graph", c->a->name);
    rp_json_string(w, "name", c->a->g.name);
    rp_json_string(w, "sha256", c->a->g.sha256);
    rp_json_uint(w, "baseline_time_ns", c->a->g.total_time_ns);
    rp_json_uint(w, "floor_bytes", c->a->floor_bytes);
    rp_json_uint(w, "keep_all_bytes", c->a->keep_all_bytes);
    rp_host_budget_json(&c->a->host, w);
    rp_json_array(w, "points");
    for (size_t i = 0; i < c->a->points.n; i++)
        write_row(w, t, c, &c->rows[i]);
    rp_json_end(w);
    rp_json_end(w);
}

static void write_json(const struct table *t, FILE *f) {
    struct rp_json_writer w = rp_json_writer_on(f);
    rp_json_object(&w, NULL);
    rp_json_string(&w, "method", t->s->policy->name);
    rp_json_bool(&w, "complete", rp_sweep_n_left(t->s) == 0);
    rp_json_array(&w, "graphs");
    for (size_t i = 0; i < t->s->n_graphs; i++)
        write_curve(&w, t, &t->curves[i]);
    rp_json_end(&w);
    rp_json_end(&w);
    rp_json_finish(&w);
}

/* ---- CSV ---- */

/* Would a spreadsheet take it for a formula? Some take signs of double width for signs, and
 * some leave out blanks before them. */
static bool is_like_a_formula(const char *text) {
    static const char *const wide[] = {"\uff1d", "\uff0b", "\uff0d", "\uff20"};
    const char *sign = text + strspn(text, " ");
    if (*sign != '\0' && strchr("=+-@\t\r\n", *sign) != NULL)
        return true;
    for (size_t k = 0; k < sizeof wide / sizeof *wide; k++)
        if (strncmp(sign, wide[k], strlen(wide[k])) == 0)
            return true;
    return false;
}

/* A field, in quotes if it needs them (RFC 4180). Spreadsheets take a text that begins like
 * a formula for one, in quotes too, so an apostrophe comes before it. */
static void put_field(const char *text, FILE *f) {
    bool is_formula = is_like_a_formula(text);
    if (!is_formula && strpbrk(text, ",\"\r\n\t") == NULL) {
        fputs(text, f);
        return;
    }
    fputs(is_formula ? "\"'" : "\"", f);
    for (; *text != '\0'; text++)
        fprintf(f, *text == '"' ? "\"\"" : "%c", *text);
    fputc('"', f);
}

static void write_line(const struct table *t, const struct curve *c, const struct row *r,
                       FILE *f) {
    struct figure figures[N_FIGURES];
    list_figures(r, figures);
    put_field(c->a->name, f);
    fprintf(f, ",%" PRIu64 ",%s,%s", r->point.budget_bytes, t->s->policy->name,
            status_word(r));
    for (int k = 0; k < N_FIGURES; k++)
        if (has_plan(r))
            fprintf(f, ",%" PRIu64, figures[k].value);
        else
            fputc(',', f);
    if (has_plan(r)) {
        char *name = rp_point_plan_name(c->a, r->plan_budget_bytes);
        fprintf(f, ",%.3f,", gap_percent(r));
        put_field(name, f);
        free(name);
    } else
        fputs(",,", f);
    if (shows_seconds(t, r))
        fprintf(f, ",%.2f", solver_seconds(r));
    else if (!t->s->no_seconds)
        fputc(',', f);
    fputc('\n', f);
}

static void write_csv(const struct table *t, FILE *f) {
    struct figure figures[N_FIGURES];
    list_figures(&(struct row){0}, figures);
    fputs("graph,budget_bytes,method,status", f);
    for (int k = 0; k < N_FIGURES; k++)
        fprintf(f, ",%s", figures[k].name);
    fprintf(f, ",gap_percent,plan%s\n", t->s->no_seconds ? "" : ",solver_seconds");
    for (size_t i = 0; i < t->s->n_graphs; i++)
        for (size_t k = 0; k < t->curves[i].a->points.n; k++)
            write_line(t, &t->curves[i], &t->curves[i].rows[k], f);
}

/* ---- words and pictures ---- */

static void print_row(const struct table *t, const struct row *r) {
    const struct rp_claims *c = &r->claims;
    printf("%11s ", rp_show_bytes(r->point.budget_bytes).s);
    if (!has_plan(r)) {
        printf("  %s\n", status_word(r));
        return;
    }
    printf("%10s %10s %10s %10s %11s",
           rp_show_percent(c->time_ns - c->baseline_time_ns, c->baseline_time_ns).s,
           rp_show_percent(c->lower_bound_ns - c->baseline_time_ns, c->baseline_time_ns).s,
           rp_show_ns(c->recompute_ns).s, rp_show_ns(c->stall_ns).s,
           rp_show_bytes(r->host_bytes).s);
    if (shows_seconds(t, r))
        printf(" %9.2f s", solver_seconds(r));
    printf("%s\n", rp_show_tail("  ", rp_claims_tail_ns(c)).s);
}

static void print_curve(const struct table *t, const struct curve *c) {
    rp_put_clean(c->a->name, stdout);
    printf(": %s, keep-all needs %s\n", rp_show_ns(c->a->g.total_time_ns).s,
           rp_show_bytes(c->a->keep_all_bytes).s);
    rp_host_budget_print(&c->a->host);
    printf("     budget  over time      bound  recompute      stall     on host%s\n",
           t->s->no_seconds ? "" : "  planned in");
    for (size_t k = 0; k < c->a->points.n; k++)
        print_row(t, &c->rows[k]);
}

static void print_text(const struct table *t) {
    for (size_t i = 0; i < t->s->n_graphs; i++) {
        if (i > 0)
            putchar('\n');
        print_curve(t, &t->curves[i]);
    }
}

static rp_rc save_picture(const struct curve *c, struct rp_err *err) {
    struct rp_curve curve = {.title = c->a->g.name, .baseline_ns = c->a->g.total_time_ns};
    struct rp_curve_point *at = rp_calloc(c->a->points.n, sizeof *at);
    for (size_t k = 0; k < c->a->points.n; k++)
        if (has_plan(&c->rows[k]))
            at[curve.n++] = (struct rp_curve_point){c->rows[k].point.budget_bytes,
                                                    c->rows[k].claims.time_ns,
                                                    c->rows[k].claims.lower_bound_ns};
    curve.at = at;
    char *text, *path = rp_format("%s/curve.svg", c->a->dir);
    size_t len;
    FILE *f = rp_text_open(&text, &len);
    rp_chart_curve(&curve, f);
    rp_rc rc = rp_text_save(f, &text, &len, path, err);
    free(path);
    free(at);
    return rc;
}

static rp_rc save_page(const struct rp_sweep *s, const struct curve *c,
                       struct rp_err *err) {
    size_t n = c->a->points.n;
    struct rp_page_point *points = rp_calloc(n, sizeof *points);
    for (size_t k = 0; k < n; k++) {
        const struct row *r = &c->rows[k];
        points[k] = (struct rp_page_point){r->point.budget_bytes, r->plan_budget_bytes,
                                           r->claims, has_plan(r) ? NULL : status_word(r)};
    }
    rp_rc rc = rp_sweep_save_page(s, c->a, points, n, err);
    free(points);
    return rc;
}

/* ---- the table ---- */

static rp_rc save(const struct table *t, const char *name,
                  void (*write)(const struct table *, FILE *), struct rp_err *err) {
    char *text, *path = rp_format("%s/%s", t->s->dir, name);
    size_t len;
    FILE *f = rp_text_open(&text, &len);
    write(t, f);
    rp_rc rc = rp_text_save(f, &text, &len, path, err);
    free(path);
    return rc;
}

static void print_folder(const struct rp_sweep *s) {
    fputs("table in ", stdout);
    rp_put_clean(s->dir, stdout);
    fputs("/sweep.csv and sweep.json, pictures in ", stdout);
    rp_put_clean(s->dir, stdout);
    printf("/*/curve.svg%s\n", s->html ? " and .html" : "");
}

/* The report comes first, since it is an answer even if the files cannot be written. */
static rp_rc print_and_save(const struct table *t, bool json, struct rp_err *err) {
    bool text = !json && rp_log_level() >= 0;
    if (json)
        write_json(t, stdout);
    else if (text)
        print_text(t);
    rp_rc rc = save(t, "sweep.json", write_json, err);
    if (rc == RP_OK)
        rc = save(t, "sweep.csv", write_csv, err);
    for (size_t i = 0; i < t->s->n_graphs && rc == RP_OK; i++)
        rc = save_picture(&t->curves[i], err);
    for (size_t i = 0; i < t->s->n_graphs && rc == RP_OK && t->s->html; i++)
        rc = save_page(t->s, &t->curves[i], err);
    if (rc == RP_OK && text)
        print_folder(t->s);
    return rc;
}

rp_rc rp_sweep_tabulate(const struct rp_sweep *s, bool json, struct rp_err *err) {
    struct table t = {.s = s};
    rp_rc rc = RP_OK;
    t.curves = rp_calloc(s->n_graphs, sizeof *t.curves);
    for (size_t i = 0; i < s->n_graphs && rc == RP_OK; i++) {
        t.curves[i].a = &s->graphs[i];
        rc = join(s, &t.curves[i], err);
    }
    if (rc == RP_OK)
        rc = print_and_save(&t, json, err);
    if (rc == RP_OK && rp_sweep_n_left(s) > 0)
        rc = rp_sweep_fail_missing(s, "", err);
    for (size_t i = 0; i < s->n_graphs; i++)
        free(t.curves[i].rows);
    free(t.curves);
    return rc;
}
