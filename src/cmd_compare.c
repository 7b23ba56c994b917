/* compare: all policies at several budgets, side by side. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/opt.h"
#include "base/units.h"
#include "cmd_common.h"
#include "cmd_solve_policy.h"
#include "commands.h"
#include "solve/solve.h"

static const struct rp_command command = {
    "compare", "GRAPH",
    "Plans a step with every published policy and with our own, at several budgets.",
    "A plan that does not fit is shown with what it needs. Every plan passed verify.\n"
    "checkmate is the search without swaps, remat the search with all it may do; each\n"
    "works for --time-limit at most, the others take no time to speak of.\n"};

struct row {
    const struct rp_policy *policy;
    uint64_t budget_bytes;
    struct rp_outcome o; /* without its steps */
};

struct table {
    const struct rp_graph *g;
    uint64_t keep_all_bytes;
    struct row *at;
    size_t n, cap;
};

static void put_row_text(const struct row *r) {
    const struct rp_claims *c = &r->o.plan.claims;
    if (r->o.rc != RP_OK) {
        printf("%-13s no plan: %.100s\n", r->policy->name, r->o.report.reason);
        return;
    }
    printf("%-13s %9s %11s %-4s %10s %10s %11s %11s\n", r->policy->name,
           rp_show_percent(c->time_ns - c->baseline_time_ns, c->baseline_time_ns).s,
           rp_show_bytes(r->o.report.needed_bytes).s, r->o.report.fits ? "yes" : "no",
           rp_show_ns(c->recompute_ns).s, rp_show_ns(c->stall_ns).s,
           rp_show_bytes(r->o.report.out_bytes).s, rp_show_bytes(r->o.report.in_bytes).s);
}

static void put_text(const struct table *t) {
    printf("%s: %" PRIu32 " ops, %s, keep-all needs %s\n", t->g->name, t->g->n_ops,
           rp_show_ns(t->g->total_time_ns).s, rp_show_bytes(t->keep_all_bytes).s);
    for (size_t i = 0; i < t->n; i++) {
        uint64_t budget = t->at[i].budget_bytes;
        if (i == 0 || budget != t->at[i - 1].budget_bytes)
            printf("\nbudget %s, %s of keep-all\n"
                   "policy        over time       needs fits  recompute      stall  "
                   "   copied out          in\n",
                   rp_show_bytes(budget).s, rp_show_percent(budget, t->keep_all_bytes).s);
        put_row_text(&t->at[i]);
    }
}

/* Figures of a row, in the order of the CSV's columns. */
struct figure {
    const char *name;
    uint64_t value;
};
enum { N_FIGURES = 9 };

static void list_figures(const struct row *r, struct figure f[N_FIGURES]) {
    const struct rp_claims *c = &r->o.plan.claims;
    const struct figure all[N_FIGURES] = {
        {"budget_bytes", r->budget_bytes},
        {"time_ns", c->time_ns},
        {"baseline_time_ns", c->baseline_time_ns},
        {"recompute_ns", c->recompute_ns},
        {"stall_ns", c->stall_ns},
        {"peak_bytes", c->peak_bytes},
        {"needed_bytes", r->o.report.needed_bytes},
        {"out_bytes", r->o.report.out_bytes},
        {"in_bytes", r->o.report.in_bytes},
    };
    memcpy(f, all, sizeof all);
}

static const char *status_word(const struct row *r) {
    return rp_outcome_fits(&r->o)                 ? "feasible"
           : r->o.rc == RP_OK || r->o.rc == RP_NO ? "infeasible"
                                                  : "limit";
}

static void put_json(const struct table *t) {
    json_t *rows = json_array();
    for (size_t i = 0; i < t->n; i++) {
        struct figure f[N_FIGURES];
        const struct row *r = &t->at[i];
        json_t *row =
            json_pack("{s:s, s:s}", "policy", r->policy->name, "status", status_word(r));
        list_figures(r, f);
        for (int k = 0; k < N_FIGURES; k++)
            if (k == 0 || r->o.rc == RP_OK)
                json_object_set_new(row, f[k].name, json_integer((json_int_t)f[k].value));
        if (r->o.rc != RP_OK)
            json_object_set_new(row, "reason", json_string(r->o.report.reason));
        json_array_append_new(rows, row);
    }
    json_t *root =
        json_pack("{s:s, s:s, s:I, s:I, s:o}", "graph", t->g->name, "sha256", t->g->sha256,
                  "baseline_time_ns", (json_int_t)t->g->total_time_ns, "keep_all_bytes",
                  (json_int_t)t->keep_all_bytes, "rows", rows);
    rp_json_put(stdout, root);
    putchar('\n');
    json_decref(root);
}

static rp_rc save_csv(const struct table *t, const char *path, struct rp_err *err) {
    char *text;
    size_t len;
    struct figure figures[N_FIGURES];
    FILE *f = rp_text_open(&text, &len);
    fputs("policy,status", f);
    for (size_t i = 0; i < t->n; i++) {
        list_figures(&t->at[i], figures);
        for (int k = 0; k < N_FIGURES && i == 0; k++)
            fprintf(f, ",%s", figures[k].name);
        fprintf(f, "\n%s,%s", t->at[i].policy->name, status_word(&t->at[i]));
        for (int k = 0; k < N_FIGURES; k++)
            if (k == 0 || t->at[i].o.rc == RP_OK)
                fprintf(f, ",%" PRIu64, figures[k].value);
            else
                fputc(',', f);
    }
    fputc('\n', f);
    rp_text_close(f);
    rp_rc rc = rp_write_file(path, text, len, err);
    free(text);
    return rc;
}

static rp_rc fill(struct table *t, struct rp_policy_options *o, const bool *chosen,
                  const uint64_t *budgets, size_t n, struct rp_err *err) {
    rp_rc rc = RP_OK;
    for (size_t b = 0; b < n; b++)
        for (size_t i = 0; i < rp_n_policies && rc == RP_OK && !*o->stop; i++) {
            struct row row = {.policy = &rp_policies[i], .budget_bytes = budgets[b]};
            if (!chosen[i])
                continue;
            rp_progress("budget %zu of %zu: %s", b + 1, n, row.policy->name);
            o->budget_bytes = budgets[b];
            rc = rp_outcome_make(t->g, row.policy, o, &row.o, err);
            struct rp_claims claims = row.o.plan.claims;
            rp_outcome_fini(&row.o);
            row.o.plan.claims = claims;
            rp_push(t, row);
        }
    rp_progress("%s", "");
    return rc;
}

static rp_rc compare(const struct rp_graph *g, struct rp_policy_options *o,
                     const char *budgets_text, const char *policies, const char *csv,
                     bool json, struct rp_err *err) {
    bool *chosen = rp_calloc(rp_n_policies, sizeof *chosen);
    uint64_t *budgets = NULL;
    size_t n = 0;
    struct table t = {.g = g};
    rp_rc rc = rp_parse_policies("compare", policies, chosen, err);
    if (rc == RP_OK)
        rc = rp_parse_budgets("compare", budgets_text, g, o->addressed, &budgets, &n, err);
    if (rc == RP_OK) {
        t.keep_all_bytes = rp_keep_all_bytes(g, o->addressed);
        rc = fill(&t, o, chosen, budgets, n, err);
    }
    if (rc == RP_OK && csv != NULL)
        rc = save_csv(&t, csv, err);
    if (rc == RP_OK && !(csv != NULL && strcmp(csv, "-") == 0) &&
        (json || rp_log_level() >= 0))
        (json ? put_json : put_text)(&t);
    free(t.at);
    free(budgets);
    free(chosen);
    return rc;
}

rp_rc rp_cmd_compare(int argc, char **argv, struct rp_err *err) {
    const char *budgets = "80%,60%,40%", *policies = NULL, *csv = NULL;
    bool json = false, no_addresses = false, done;
    struct rp_policy_words words = {0};
    const struct rp_policy *none;
    struct rp_policy_options o;
    int n;
    rp_policy_options_init(&o);
    o.time_limit = 10;
    const struct rp_opt table[] = {
        {"budget", 'b', RP_OPT_STRING, &budgets, "A,B,C",
         "device memory, each as for solve (80%,60%,40%)"},
        {"policy", 'p', RP_OPT_STRING, &policies, "A,B,C", "these only (all)"},
        {"time-limit", 't', RP_OPT_NUMBER, &o.time_limit, "SEC",
         "for each search of checkmate and remat (10)"},
        {"csv", 0, RP_OPT_STRING, &csv, "FILE", "write the table here; - is stdout"},
        RP_TFLMS_ROWS(&o, &words),
        {"no-addresses", 0, RP_OPT_FLAG, &no_addresses, NULL,
         "schedules only; sizes are not rounded"},
        {"seed", 0, RP_OPT_NAT, &o.seed, "N", "of the search's random choices (1)"},
        {"json", 0, RP_OPT_FLAG, &json, NULL, "report as one JSON object on stdout"},
        {0},
    };
    rp_rc rc = rp_opt_parse(&command, table, argc, argv, &n, &done, err);
    if (rc != RP_OK || done)
        return rc;
    if (n != 1)
        return rp_fail(err, RP_USAGE, "compare: one GRAPH is needed (try --help)");
    if (!(o.time_limit > 0))
        return rp_fail(err, RP_USAGE, "compare: --time-limit must be above 0");
    if ((rc = rp_policy_take("compare", NULL, &words, &o, &none, err)) != RP_OK)
        return rc;
    struct rp_graph g;
    if ((rc = rp_graph_load(argv[1], &g, err)) != RP_OK)
        return rc;
    o.addressed = !no_addresses;
    o.stop = rp_watch_interrupts();
    rc = rp_check_times(&g, argv[1], err);
    if (rc == RP_OK)
        rc = compare(&g, &o, budgets, policies, csv, json, err);
    rp_graph_fini(&g);
    return rc;
}
