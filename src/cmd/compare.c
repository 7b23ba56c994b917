/* compare: all policies at several budgets, side by side. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/format.h"
#include "base/io.h"
#include "base/json_writer.h"
#include "base/log.h"
#include "base/mem.h"
#include "cmd/budget_argument.h"
#include "cmd/commands.h"
#include "cmd/common.h"
#include "cmd/host_budget.h"
#include "cmd/interrupt.h"
#include "cmd/policy_argument.h"
#include "cmd/policy_outcome.h"
#include "emit/page/page.h"
#include "solve/solver.h"

/* One policy at one budget. */
struct row {
    const struct rp_policy *policy;
    uint64_t budget_bytes;
    bool planned;              /* false: an interrupt came first */
    uint64_t solver_ns;        /* how long planning took */
    struct rp_outcome outcome; /* without the plan's steps, unless they are shown */
};

struct table {
    const struct rp_graph *g;
    uint64_t keep_all_bytes, kept_bytes;
    struct rp_host_budget host;
    bool keep_steps; /* of the plans, for a page */
    bool no_seconds; /* solver_ns is not shown */
    bool interrupted;
    RP_VEC(struct row) rows;
};

/* True if the policy aims at the budget and missed it. The figures of its attempt mean
 * nothing then. A policy with the same plan for every budget is shown with its figures even
 * if the plan does not fit. */
static bool out_of_memory(const struct row *r) {
    return r->planned && r->outcome.rc == RP_OK && !r->outcome.report.fits &&
           r->policy->fits_budget;
}

static bool has_figures(const struct row *r) {
    return r->planned && r->outcome.rc == RP_OK && !out_of_memory(r);
}

/* Why a row has no figures. The caller frees it. */
static char *reason(const struct table *t, const struct row *r) {
    if (!r->planned)
        return rp_strdup("not planned (interrupted)");
    if (!out_of_memory(r))
        return rp_strdup(r->outcome.report.reason);
    if (r->outcome.report.needed_bytes <= r->budget_bytes)
        return rp_format("out of host memory: it needs %s",
                         rp_show_bytes(r->outcome.plan.host_bytes).s);
    return r->outcome.report.needed_bytes < t->keep_all_bytes
               ? rp_format("out of memory: it gets to %s",
                           rp_show_bytes(r->outcome.report.needed_bytes).s)
               : rp_strdup("out of memory");
}

static void print_row(const struct table *t, const struct row *r) {
    const struct rp_claims *c = &r->outcome.plan.claims;
    printf("%-13s ", r->policy->name);
    if (!t->no_seconds)
        printf("%10s ", r->planned ? rp_show_ns(r->solver_ns).s : "-");
    if (!has_figures(r)) {
        char *why = reason(t, r);
        fputs(r->planned && r->outcome.rc != RP_OK ? "no plan: " : "", stdout);
        rp_put_clean(why, stdout);
        putchar('\n');
        free(why);
        return;
    }
    printf("%9s %11s %11s %-4s %10s %10s %11s %11s%s\n",
           r->outcome.report.fits
               ? rp_show_percent(c->time_ns - c->baseline_time_ns, c->baseline_time_ns).s
               : "-",
           rp_show_bytes(r->outcome.report.needed_bytes).s,
           rp_show_bytes(r->outcome.plan.host_bytes).s,
           r->outcome.report.fits ? "yes" : "no", rp_show_ns(c->recompute_ns).s,
           rp_show_ns(c->stall_ns).s, rp_show_bytes(r->outcome.report.out_bytes).s,
           rp_show_bytes(r->outcome.report.in_bytes).s,
           rp_show_tail("  ", rp_claims_tail_ns(c)).s);
}

static void print_text(const struct table *t) {
    rp_put_clean(t->g->name, stdout);
    printf(": %" PRIu32 " ops, %s, keep-all needs %s\n", t->g->n_ops,
           rp_show_ns(t->g->total_time_ns).s, rp_show_bytes(t->keep_all_bytes).s);
    rp_host_budget_print(&t->host);
    for (size_t i = 0; i < t->rows.n; i++) {
        uint64_t budget = t->rows.at[i].budget_bytes;
        if (i == 0 || budget != t->rows.at[i - 1].budget_bytes)
            printf("\nbudget %s, %s of keep-all\n"
                   "policy        %sover time       needs     on host fits  recompute  "
                   "    stall     copied out          in\n",
                   rp_show_bytes(budget).s, rp_show_percent(budget, t->keep_all_bytes).s,
                   t->no_seconds ? "" : "planned in ");
        print_row(t, &t->rows.at[i]);
    }
}

/* The figures of a row, in the order of the columns of the CSV file. */
struct figure {
    const char *name;
    uint64_t value;
};
enum { N_FIGURES = 10 };

static void list_figures(const struct row *r, struct figure f[N_FIGURES]) {
    const struct rp_claims *c = &r->outcome.plan.claims;
    const struct figure all[N_FIGURES] = {
        {"budget_bytes", r->budget_bytes},
        {"time_ns", c->time_ns},
        {"baseline_time_ns", c->baseline_time_ns},
        {"recompute_ns", c->recompute_ns},
        {"stall_ns", c->stall_ns},
        {"peak_bytes", c->peak_bytes},
        {"needed_bytes", r->outcome.report.needed_bytes},
        {"host_bytes", r->outcome.plan.host_bytes},
        {"out_bytes", r->outcome.report.out_bytes},
        {"in_bytes", r->outcome.report.in_bytes},
    };
    memcpy(f, all, sizeof all);
}

static double solver_seconds(const struct row *r) {
    return (double)r->solver_ns / 1e9;
}

static const char *status_word(const struct row *r) {
    return !r->planned                                        ? "interrupted"
           : rp_outcome_fits(&r->outcome)                     ? "feasible"
           : r->outcome.rc == RP_OK || r->outcome.rc == RP_NO ? "infeasible"
           : r->outcome.rc == RP_INPUT                        ? "failed"
                                                              : "limit";
}

static void write_row(struct rp_json_writer *w, const struct table *t,
                      const struct row *r) {
    struct figure f[N_FIGURES];
    list_figures(r, f);
    rp_json_object(w, NULL);
    rp_json_string(w, "policy", r->policy->name);
    rp_json_string(w, "status", status_word(r));
    for (int k = 0; k < N_FIGURES; k++)
        if (k == 0 || has_figures(r))
            rp_json_uint(w, f[k].name, f[k].value);
    if (!t->no_seconds)
        rp_json_double(w, "solver_seconds", solver_seconds(r), 3);
    if (!has_figures(r)) {
        char *why = reason(t, r);
        rp_json_string(w, "reason", why);
        free(why);
    }
    rp_json_end(w);
}

static void print_json(const struct table *t) {
    struct rp_json_writer w = rp_json_writer_on(stdout);
    rp_json_object(&w, NULL);
    rp_json_string(&w, "graph", t->g->name);
    rp_json_string(&w, "sha256", t->g->sha256);
    rp_json_uint(&w, "baseline_time_ns", t->g->total_time_ns);
    rp_json_uint(&w, "keep_all_bytes", t->keep_all_bytes);
    rp_json_uint(&w, "fixed_bytes", t->g->fixed_bytes);
    rp_json_uint(&w, "kept_bytes", t->kept_bytes);
    rp_host_budget_json(&t->host, &w);
    rp_json_bool(&w, "interrupted", t->interrupted);
    rp_json_array(&w, "rows");
    for (size_t i = 0; i < t->rows.n; i++)
        write_row(&w, t, &t->rows.at[i]);
    rp_json_end(&w);
    rp_json_end(&w);
    rp_json_finish(&w);
}

static rp_rc save_csv(const struct table *t, const char *path, struct rp_err *err) {
    char *text;
    size_t len;
    struct figure figures[N_FIGURES];
    FILE *f = rp_text_open(&text, &len);
    fputs("policy,status", f);
    for (size_t i = 0; i < t->rows.n; i++) {
        list_figures(&t->rows.at[i], figures);
        for (int k = 0; k < N_FIGURES && i == 0; k++)
            fprintf(f, ",%s", figures[k].name);
        if (i == 0 && !t->no_seconds)
            fputs(",solver_seconds", f);
        fprintf(f, "\n%s,%s", t->rows.at[i].policy->name, status_word(&t->rows.at[i]));
        for (int k = 0; k < N_FIGURES; k++)
            if (k == 0 || has_figures(&t->rows.at[i]))
                fprintf(f, ",%" PRIu64, figures[k].value);
            else
                fputc(',', f);
        if (!t->no_seconds)
            fprintf(f, ",%.3f", solver_seconds(&t->rows.at[i]));
    }
    fputc('\n', f);
    return rp_text_save(f, &text, &len, path, err);
}

static rp_rc save_html(const struct table *t, const char *path, struct rp_err *err) {
    struct rp_page_entry *entries = rp_calloc(t->rows.n, sizeof *entries);
    char *text, **reasons = rp_calloc(t->rows.n, sizeof *reasons);
    size_t len;
    FILE *f = rp_text_open(&text, &len);
    for (size_t i = 0; i < t->rows.n; i++) {
        const struct row *r = &t->rows.at[i];
        bool shown = has_figures(r);
        reasons[i] = shown ? NULL : reason(t, r);
        entries[i] = (struct rp_page_entry){
            r->policy->name,        r->budget_bytes, shown ? &r->outcome.plan : NULL,
            r->outcome.report.fits, reasons[i],      t->no_seconds ? NULL : &r->solver_ns};
    }
    rp_page_write(&(struct rp_page){RP_PAGE_COMPARISON, t->g, entries, t->rows.n}, f);
    for (size_t i = 0; i < t->rows.n; i++)
        free(reasons[i]);
    free(reasons);
    free(entries);
    return rp_text_save(f, &text, &len, path, err);
}

/* Keeps only the claims of the plan and its host bytes, unless its steps are shown. */
static rp_rc plan_row(struct table *t, const struct rp_policy_options *o, struct row *row,
                      struct rp_err *err) {
    double begin = rp_seconds();
    rp_rc rc = rp_outcome_make(t->g, row->policy, o, &row->outcome, err);
    row->solver_ns = (uint64_t)((rp_seconds() - begin) * 1e9);
    if (!t->keep_steps) {
        struct rp_plan kept = {.claims = row->outcome.plan.claims,
                               .host_bytes = row->outcome.plan.host_bytes};
        rp_outcome_fini(&row->outcome);
        row->outcome.plan = kept;
    }
    row->planned = row->outcome.rc != RP_LIMIT || !rp_stop_interrupted(o->stop);
    return rc;
}

/* Adds a row for every chosen policy at every budget, planned or not. */
static rp_rc fill_table(struct table *t, struct rp_policy_options *o, const bool *chosen,
                        const uint64_t *budgets, size_t n, struct rp_err *err) {
    rp_rc rc = RP_OK;
    size_t searches_left = 0;
    for (size_t i = 0; i < rp_n_policies; i++)
        searches_left += chosen[i] && rp_policies[i]->record == NULL ? n : 0;
    for (size_t b = 0; b < n; b++)
        for (size_t i = 0; i < rp_n_policies && rc == RP_OK; i++) {
            struct row row = {.policy = rp_policies[i], .budget_bytes = budgets[b]};
            if (!chosen[i])
                continue;
            bool search = row.policy->record == NULL;
            searches_left -= search;
            rp_progress_task(search ? o->time_limit : 0,
                             (double)searches_left * o->time_limit, "budget %zu of %zu, %s",
                             b + 1, n, row.policy->name);
            o->budget_bytes = budgets[b];
            if (!rp_stop_interrupted(o->stop))
                rc = plan_row(t, o, &row, err);
            rp_push(&t->rows, row);
        }
    t->interrupted = rp_stop_interrupted(o->stop);
    rp_progress_end();
    return rc;
}

/* RP_LIMIT if rows were not planned, as for an interrupted solve without a plan. */
static rp_rc report_interrupt(const struct table *t, struct rp_err *err) {
    size_t missing = 0;
    for (size_t i = 0; i < t->rows.n; i++)
        missing += !t->rows.at[i].planned;
    if (missing > 0)
        return rp_fail(err, RP_LIMIT, "compare: interrupted, %zu of %zu rows not planned",
                       missing, t->rows.n);
    if (t->interrupted)
        rp_log(0, "compare: interrupted during the last search");
    return RP_OK;
}

struct options {
    struct rp_budget_texts budgets;
    const char *policies, *csv, *html;
    uint64_t host_budget; /* UINT64_MAX: not given */
    bool json, no_seconds;
    bool silent; /* a file goes to standard output, so the table does not */
    struct rp_policy_options policy;
    bool *chosen; /* one for each of rp_policies */
};

static rp_rc report(const struct table *t, const struct options *o, struct rp_err *err) {
    if (o->json)
        print_json(t);
    else if (rp_log_level() >= 0 && !o->silent)
        print_text(t);
    rp_rc rc = o->csv != NULL ? save_csv(t, o->csv, err) : RP_OK;
    if (rc == RP_OK && o->html != NULL)
        rc = save_html(t, o->html, err);
    return rc == RP_OK ? report_interrupt(t, err) : rc;
}

/* Policies of sources on the host are left out where there is none, unless named. */
static void choose(const struct rp_graph *g, struct options *o) {
    for (size_t i = 0; i < rp_n_policies && o->policies == NULL; i++)
        o->chosen[i] = o->chosen[i] && rp_policy_has_sources(rp_policies[i], g);
}

static rp_rc compare(const struct rp_graph *g, struct options *o, struct rp_err *err) {
    struct rp_budgets budgets;
    bool addressed = o->policy.addressed;
    struct table t = {.g = g,
                      .keep_steps = o->html != NULL,
                      .no_seconds = o->no_seconds,
                      .host = rp_host_budget_choose(o->host_budget, g->device.name)};
    o->policy.host_bytes = t.host.bytes;
    choose(g, o);
    rp_rc rc = rp_parse_budgets("compare", &o->budgets, g, addressed, &budgets, err);
    if (rc == RP_OK) {
        t.keep_all_bytes = rp_keep_all_bytes(g, addressed);
        t.kept_bytes = rp_kept_bytes(g, addressed);
        rc = fill_table(&t, &o->policy, o->chosen, budgets.at, budgets.n, err);
    }
    if (rc == RP_OK)
        rc = report(&t, o, err);
    for (size_t i = 0; i < t.rows.n; i++)
        rp_outcome_fini(&t.rows.at[i].outcome);
    free(t.rows.at);
    free(budgets.at);
    return rc;
}

static rp_rc compare_file(const char *file, struct options *o, struct rp_err *err) {
    struct rp_graph g = {0};
    const struct rp_named_file files[] = {{"GRAPH", file, .input = true},
                                          {"--json", o->json ? "-" : NULL},
                                          {"--csv", o->csv},
                                          {"--html", o->html}};
    o->silent = rp_uses_stdout(files, 4);
    rp_rc rc = rp_check_budget_texts("compare", "80%,60%,40%", &o->budgets, err);
    if (rc == RP_OK)
        rc = rp_parse_policies("compare", o->policies, &o->policy, o->chosen, err);
    if (rc == RP_OK)
        rc = rp_check_files("compare", files, 4, err);
    if (rc == RP_OK)
        rc = rp_load_timed_graph(file, &g, err);
    if (rc == RP_OK)
        rc = compare(&g, o, err);
    rp_graph_fini(&g);
    return rc;
}

static rp_rc run(int argc, char **argv, struct rp_err *err) {
    struct options o = {.host_budget = UINT64_MAX};
    const char *engine = NULL;
    bool no_addresses = false, done;
    int n;
    rp_policy_options_init(&o.policy);
    o.policy.time_limit = 10;
    const struct rp_option table[] = {
        {"budget", 'b', RP_OPT_STRING, &o.budgets.all, "A,B,C",
         "device memory, each as for solve (80%,60%,40%)"},
        rp_option_activation_budget(&o.budgets, "A,B,C"),
        rp_option_host_budget(&o.host_budget),
        {"policy", 'p', RP_OPT_STRING, &o.policies, "A,B,C",
         "policies to compare, listed below (all)", rp_policy_name},
        {"time-limit", 't', RP_OPT_POSITIVE, &o.policy.time_limit, "SEC",
         "work for at most about SEC seconds on each plan (10)"},
        rp_option_ignore_clock(&o.policy.ignore_clock),
        {"csv", 0, RP_OPT_STRING, &o.csv, "FILE",
         "write the table to FILE; - is standard output"},
        {"html", 0, RP_OPT_STRING, &o.html, "FILE",
         "write a page for a browser into FILE, with all plans"},
        {"no-seconds", 0, RP_OPT_FLAG, &o.no_seconds, NULL,
         "leave out of the table how long planning took"},
        rp_option_no_addresses(&no_addresses),
        rp_option_seed(&o.policy.seed),
        rp_option_engine(&engine),
        rp_option_json(&o.json),
        {0},
    };
    rp_rc rc = rp_options_parse(&rp_cmd_compare, table, argc, argv, &n, &done, err);
    if (rc != RP_OK || done)
        return rc;
    if ((rc = rp_parse_engine("compare", engine, &o.policy.engine, err)) != RP_OK)
        return rc;
    o.policy.addressed = !no_addresses;
    struct rp_stop stop = {rp_watch_interrupts(), INFINITY};
    o.policy.stop = &stop;
    o.chosen = rp_calloc(rp_n_policies, sizeof *o.chosen);
    rc = compare_file(argv[1], &o, err);
    free(o.chosen);
    return rc;
}

const struct rp_command rp_cmd_compare = {
    .name = "compare",
    .operands = "GRAPH",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "Plan with published policies and our own, side by side",
    .detail =
        "Every plan has passed verify. A policy with one plan for every budget is shown\n"
        "with the memory which that plan needs. A policy that aims at the budget and\n"
        "misses it is shown as out of memory. checkmate and remat are searches:\n"
        "checkmate only recomputes, remat also swaps. The other policies take next to\n"
        "no time, except on graphs of thousands of ops. Host copies may take the memory\n"
        "of the device's usual server, divided by its GPUs, unless --host-budget is\n"
        "given. With --ignore-clock and --no-seconds the table is the same on any\n"
        "machine. Ctrl-C stops: the table lists what was not planned, and the exit code\n"
        "is 4.\n",
    .print_more = rp_print_policies,
    .run = run,
};
