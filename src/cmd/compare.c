/* compare: all policies at several budgets, side by side. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/format.h"
#include "base/io.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/options.h"
#include "cmd/commands.h"
#include "cmd/common.h"
#include "cmd/policy_options.h"
#include "solve/solver.h"

static const struct rp_command command = {
    "compare", "GRAPH",
    "Plans a step with every published policy and with our own, at several budgets.",
    "A policy that has one plan for every budget is shown with what that needs; one that\n"
    "aims at the budget and misses it ran out of memory. Every plan passed verify.\n"
    "checkmate is the search without swaps, remat the search with all it may do; each\n"
    "works for --time-limit at most, the others take no time to speak of. Ctrl-C ends it:\n"
    "what was not planned is said, and the exit code is 4.\n"};

struct row {
    const struct rp_policy *policy;
    uint64_t budget_bytes;
    bool planned;        /* false: an interrupt came first */
    struct rp_outcome o; /* without its steps */
};

struct table {
    const struct rp_graph *g;
    uint64_t keep_all_bytes;
    bool interrupted;
    struct row *at;
    size_t n, cap;
};

/* A policy that aims at the budget and misses it has no plan: what it did is no measure of
 * anything. One that has the same plan for every budget is shown with what that needs. */
static bool out_of_memory(const struct row *r) {
    return r->planned && r->o.rc == RP_OK && !r->o.report.fits && r->policy->aims;
}

static bool has_figures(const struct row *r) {
    return r->planned && r->o.rc == RP_OK && !out_of_memory(r);
}

/* Why there are no figures; the caller frees it. */
static char *reason(const struct table *t, const struct row *r) {
    if (!r->planned)
        return rp_strdup("not planned (interrupted)");
    if (!out_of_memory(r))
        return rp_strdup(r->o.report.reason);
    return r->o.report.needed_bytes < t->keep_all_bytes
               ? rp_format("out of memory: it gets to %s",
                           rp_show_bytes(r->o.report.needed_bytes).s)
               : rp_strdup("out of memory");
}

static void put_row_text(const struct table *t, const struct row *r) {
    const struct rp_claims *c = &r->o.plan.claims;
    if (!has_figures(r)) {
        char *why = reason(t, r);
        printf("%-13s %s%s\n", r->policy->name,
               r->planned && r->o.rc != RP_OK ? "no plan: " : "", why);
        free(why);
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
        put_row_text(t, &t->at[i]);
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
    return !r->planned                            ? "interrupted"
           : rp_outcome_fits(&r->o)               ? "feasible"
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
            if (k == 0 || has_figures(r))
                json_object_set_new(row, f[k].name, json_integer((json_int_t)f[k].value));
        if (!has_figures(r)) {
            char *why = reason(t, r);
            json_object_set_new(row, "reason", json_string(why));
            free(why);
        }
        json_array_append_new(rows, row);
    }
    json_t *root = json_pack(
        "{s:s, s:s, s:I, s:I, s:b, s:o}", "graph", t->g->name, "sha256", t->g->sha256,
        "baseline_time_ns", (json_int_t)t->g->total_time_ns, "keep_all_bytes",
        (json_int_t)t->keep_all_bytes, "interrupted", (int)t->interrupted, "rows", rows);
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
            if (k == 0 || has_figures(&t->at[i]))
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

static rp_rc plan_row(struct table *t, const struct rp_policy_options *o, struct row *row,
                      struct rp_err *err) {
    rp_rc rc = rp_outcome_make(t->g, row->policy, o, &row->o, err);
    struct rp_claims claims = row->o.plan.claims;
    rp_outcome_fini(&row->o);
    row->o.plan.claims = claims;
    row->planned = row->o.rc != RP_LIMIT || !*o->stop;
    return rc;
}

/* Every policy at every budget has a row, whether it was planned or not. */
static rp_rc fill(struct table *t, struct rp_policy_options *o, const bool *chosen,
                  const uint64_t *budgets, size_t n, struct rp_err *err) {
    rp_rc rc = RP_OK;
    for (size_t b = 0; b < n; b++)
        for (size_t i = 0; i < rp_n_policies && rc == RP_OK; i++) {
            struct row row = {.policy = &rp_policies[i], .budget_bytes = budgets[b]};
            if (!chosen[i])
                continue;
            rp_progress("budget %zu of %zu: %s", b + 1, n, row.policy->name);
            o->budget_bytes = budgets[b];
            if (!*o->stop)
                rc = plan_row(t, o, &row, err);
            rp_push(t, row);
        }
    t->interrupted = *o->stop;
    rp_progress("%s", "");
    return rc;
}

/* Rows that nothing was planned for are a limit that came first, as for solve. */
static rp_rc answer_interrupt(const struct table *t, struct rp_err *err) {
    size_t missing = 0;
    for (size_t i = 0; i < t->n; i++)
        missing += !t->at[i].planned;
    if (missing > 0)
        return rp_fail(err, RP_LIMIT, "compare: interrupted: %zu of %zu not planned",
                       missing, t->n);
    if (t->interrupted)
        rp_log(0, "compare: interrupted in its last search");
    return RP_OK;
}

struct asked {
    const char *budgets, *policies, *csv;
    bool json;
};

static rp_rc report(const struct table *t, const struct asked *a, struct rp_err *err) {
    if (a->json)
        put_json(t);
    else if (rp_log_level() >= 0 && (a->csv == NULL || strcmp(a->csv, "-") != 0))
        put_text(t);
    rp_rc rc = a->csv != NULL ? save_csv(t, a->csv, err) : RP_OK;
    return rc == RP_OK ? answer_interrupt(t, err) : rc;
}

static rp_rc compare(const struct rp_graph *g, struct rp_policy_options *o,
                     const struct asked *a, const bool *chosen, struct rp_err *err) {
    uint64_t *budgets = NULL;
    size_t n = 0;
    struct table t = {.g = g};
    rp_rc rc = rp_parse_budgets("compare", a->budgets, g, o->addressed, &budgets, &n, err);
    if (rc == RP_OK) {
        t.keep_all_bytes = rp_keep_all_bytes(g, o->addressed);
        rc = fill(&t, o, chosen, budgets, n, err);
    }
    if (rc == RP_OK)
        rc = report(&t, a, err);
    free(t.at);
    free(budgets);
    return rc;
}

/* The policies, and what is said for tflms if it is one of them; then the outputs. */
static rp_rc take(const struct asked *a, const struct rp_policy_words *words, bool *chosen,
                  struct rp_policy_options *o, struct rp_err *err) {
    const struct rp_output outputs[] = {{"--json", a->json ? "-" : NULL},
                                        {"--csv", a->csv}};
    rp_rc rc = rp_parse_policies("compare", a->policies, chosen, err);
    if (rc == RP_OK)
        rc = rp_tflms_take("compare", words, chosen[rp_policy_find("tflms") - rp_policies],
                           &o->tflms, err);
    return rc == RP_OK ? rp_check_outputs("compare", outputs, 2, err) : rc;
}

static rp_rc compare_file(const char *file, struct rp_policy_options *o,
                          const struct asked *a, const struct rp_policy_words *words,
                          struct rp_err *err) {
    struct rp_graph g = {0};
    bool *chosen = rp_calloc(rp_n_policies, sizeof *chosen);
    o->stop = rp_watch_interrupts();
    rp_rc rc = take(a, words, chosen, o, err);
    if (rc == RP_OK)
        rc = rp_graph_load(file, &g, err);
    if (rc == RP_OK)
        rc = rp_check_times(&g, file, err);
    if (rc == RP_OK)
        rc = compare(&g, o, a, chosen, err);
    rp_graph_fini(&g);
    free(chosen);
    return rc;
}

rp_rc rp_cmd_compare(int argc, char **argv, struct rp_err *err) {
    struct asked a = {.budgets = "80%,60%,40%"};
    bool no_addresses = false, done;
    struct rp_policy_words words = RP_NO_POLICY_WORDS;
    struct rp_policy_options o;
    int n;
    rp_policy_options_init(&o);
    o.time_limit = 10;
    const struct rp_option table[] = {
        {"budget", 'b', RP_OPT_STRING, &a.budgets, "A,B,C",
         "device memory, each as for solve (80%,60%,40%)"},
        {"policy", 'p', RP_OPT_STRING, &a.policies, "A,B,C", "these only (all)"},
        {"time-limit", 't', RP_OPT_NUMBER, &o.time_limit, "SEC",
         "for each search of checkmate and remat (10)"},
        {"csv", 0, RP_OPT_STRING, &a.csv, "FILE", "write the table here; - is stdout"},
        RP_TFLMS_ROWS(&words),
        {"no-addresses", 0, RP_OPT_FLAG, &no_addresses, NULL,
         "schedules only; sizes are not rounded"},
        {"seed", 0, RP_OPT_NAT, &o.seed, "N", "of the search's random choices (1)"},
        {"json", 0, RP_OPT_FLAG, &a.json, NULL, "report as one JSON object on stdout"},
        {0},
    };
    rp_rc rc = rp_options_parse(&command, table, argc, argv, &n, &done, err);
    if (rc != RP_OK || done)
        return rc;
    if (n != 1)
        return rp_fail(err, RP_USAGE, "compare: one GRAPH is needed (try --help)");
    if (!(o.time_limit > 0))
        return rp_fail(err, RP_USAGE, "compare: --time-limit must be above 0");
    o.addressed = !no_addresses;
    return compare_file(argv[1], &o, &a, &words, err);
}
