#include "cmd/solve_report.h"

#include <sys/resource.h>

#include "base/format.h"
#include "base/json_writer.h"
#include "base/log.h"
#include "emit/memory/memory_trace.h"

/* ---- no plan ---- */

/* Suggests a budget for which a plan is known, or else a lower bound of such budgets. */
static void suggest_budget(const struct rp_solve_options *o,
                           const struct rp_solve_report *r, uint64_t keep_all_bytes,
                           FILE *f) {
    uint64_t known = r->min_bytes > 0 ? r->min_bytes : keep_all_bytes;
    if (r->min_bytes > 0 || r->floor_bytes >= known)
        fprintf(f, "try --budget %s\n", rp_show_budget(known).s);
    else if (r->floor_bytes > o->budget_bytes)
        fprintf(f, "try --budget %s or more; keep-all needs %s\n",
                rp_show_budget(r->floor_bytes).s, rp_show_budget(known).s);
    else
        fprintf(f, "try a larger --budget; keep-all needs %s\n", rp_show_budget(known).s);
}

/* Says what would help. */
static void suggest(const struct rp_solve_options *o, const struct rp_solve_report *r,
                    uint64_t keep_all_bytes, FILE *f) {
    if (r->remedy == RP_COPIES)
        fprintf(f, "try %s\n",
                o->swap ? "--h2d and --d2h, which set the bandwidths"
                        : "without --no-swap");
    else if (r->remedy == RP_HOST_MEMORY)
        fprintf(f, "try --host-budget %s or more\n", rp_show_budget(r->least_host_bytes).s);
    else
        suggest_budget(o, r, keep_all_bytes, f);
    if (r->remedy == RP_LARGER_BUDGET && r->least_host_bytes > 0)
        fprintf(f, "or try --host-budget %s or more\n",
                rp_show_budget(r->least_host_bytes).s);
}

void rp_solve_report_no_plan(const struct rp_graph *g, const struct rp_solve_options *o,
                             const struct rp_solve_report *r, rp_rc rc,
                             const struct rp_statistics *s, bool json, FILE *f) {
    uint64_t keep_all_bytes = rp_keep_all_bytes(g, o->addressed);
    if (!json) {
        rp_put_styled(RP_BAD, rc == RP_NO ? "infeasible: " : "no plan: ", f);
        rp_put_clean(r->reason, f);
        fputc('\n', f);
        suggest(o, r, keep_all_bytes, f);
        return;
    }
    struct rp_json_writer w = rp_json_writer_on(f);
    rp_json_object(&w, NULL);
    rp_json_string(&w, "status", rc == RP_NO ? "infeasible" : "limit");
    rp_json_uint(&w, "budget_bytes", o->budget_bytes);
    rp_json_uint(&w, "floor_bytes", r->floor_bytes);
    rp_json_uint(&w, "keep_all_bytes", keep_all_bytes);
    rp_json_uint(&w, "fixed_bytes", g->fixed_bytes);
    rp_json_uint(&w, "kept_bytes", rp_kept_bytes(g, o->addressed));
    if (r->min_bytes > 0)
        rp_json_uint(&w, "least_bytes_found", r->min_bytes);
    if (r->least_host_bytes > 0)
        rp_json_uint(&w, "least_host_bytes", r->least_host_bytes);
    rp_json_string(&w, "reason", r->reason);
    if (s != NULL)
        rp_statistics_json(s, &w);
    rp_json_end(&w);
    rp_json_finish(&w);
}

rp_rc rp_fail_without_plan(const volatile sig_atomic_t *interrupted, struct rp_err *err) {
    return rp_fail(err, RP_LIMIT, "solve: %s",
                   *interrupted ? "interrupted before any plan was found"
                                : "no plan was found");
}

/* ---- text ---- */

/* Bytes copied, and the share of the time that each copy queue is busy. */
static void print_copies(const struct rp_verdict *v, FILE *f) {
    if (v->n_swap_outs + v->n_swap_ins == 0)
        return;
    fprintf(f, "copies  out %s (queue busy %s), ", rp_show_bytes(v->swapped_out_bytes).s,
            rp_show_percent(v->d2h_busy_ns, v->time_ns).s);
    fprintf(f, "in %s (%s)\n", rp_show_bytes(v->swapped_in_bytes).s,
            rp_show_percent(v->h2d_busy_ns, v->time_ns).s);
}

void rp_solve_report_text(const struct rp_graph *g, const struct rp_plan *p,
                          const struct rp_solve_report *r, const struct rp_verdict *v,
                          FILE *f) {
    const struct rp_claims *c = &p->claims;
    fprintf(f, "time    %s, %s over keep-all", rp_show_ns(c->time_ns).s,
            rp_show_percent(c->time_ns - c->baseline_time_ns, c->baseline_time_ns).s);
    if (v->n_swap_outs + v->n_swap_ins > 0)
        fprintf(f, ": recompute %s, stall %s%s", rp_show_ns(c->recompute_ns).s,
                rp_show_ns(c->stall_ns).s, rp_show_tail(", ", rp_claims_tail_ns(c)).s);
    fputc('\n', f);
    fprintf(f, "memory  %s of %s (keep-all needs %s)\n",
            rp_show_bytes(p->addressed ? rp_plan_fixed_bytes(p, g) + p->arena_bytes
                                       : c->peak_bytes)
                .s,
            rp_show_bytes(p->budget_bytes).s, rp_show_bytes(r->keep_all_bytes).s);
    print_copies(v, f);
    if (c->proof == RP_PROOF_OPTIMAL)
        fprintf(f, "bound   proved optimal%s\n",
                c->bound_for.all_programs ? "" : " (no op twice between two first runs)");
    else
        fprintf(f, "bound   %s, gap %s\n", rp_show_ns(c->lower_bound_ns).s,
                rp_show_percent(c->time_ns - c->lower_bound_ns, c->lower_bound_ns).s);
}

void rp_solve_report_unwritten(const char *path, FILE *f) {
    if (path == NULL)
        fputs("plan    not written (--out FILE writes it)\n", f);
}

/* ---- JSON ---- */

/* The largest memory use of this process, or of the child process of branch and cut. */
static uint64_t max_rss_bytes(void) {
    struct rusage self, child;
    getrusage(RUSAGE_SELF, &self);
    getrusage(RUSAGE_CHILDREN, &child);
    long kib = self.ru_maxrss > child.ru_maxrss ? self.ru_maxrss : child.ru_maxrss;
    return (uint64_t)kib * 1024;
}

static void write_claims(struct rp_json_writer *w, const struct rp_claims *c) {
    rp_json_string(w, "status", c->proof == RP_PROOF_OPTIMAL ? "optimal" : "feasible");
    rp_json_uint(w, "time_ns", c->time_ns);
    rp_json_uint(w, "baseline_time_ns", c->baseline_time_ns);
    rp_json_uint(w, "recompute_ns", c->recompute_ns);
    rp_json_uint(w, "stall_ns", c->stall_ns);
    rp_json_uint(w, "lower_bound_ns", c->lower_bound_ns);
    rp_json_string(w, "proof", rp_proof_word[c->proof]);
    rp_bound_scope_json(&c->bound_for, "bound_for", w);
    rp_json_uint(w, "peak_bytes", c->peak_bytes);
}

/* The peak and the host copies by what they hold. */
static void write_kinds(struct rp_json_writer *w, const struct rp_graph *g,
                        const struct rp_plan *p) {
    struct rp_memory_trace t;
    struct rp_memory_split host = rp_memory_split_host(g, p);
    rp_memory_trace_plan(g, p, &t);
    rp_memory_split_json(&t.peak, "peak_by_kind", w);
    rp_memory_split_json(&host, "host_by_kind", w);
    rp_memory_trace_fini(&t);
}

void rp_solve_report_json(const struct rp_graph *g, const struct rp_plan *p,
                          const struct rp_solve_report *r, const struct rp_verdict *v,
                          const struct rp_statistics *s, double seconds, FILE *f) {
    struct rp_json_writer w = rp_json_writer_on(f);
    rp_json_object(&w, NULL);
    write_claims(&w, &p->claims);
    rp_json_uint(&w, "fixed_bytes", rp_plan_fixed_bytes(p, g));
    rp_json_uint(&w, "kept_bytes", rp_kept_bytes(g, p->addressed));
    rp_json_uint(&w, "arena_bytes", p->arena_bytes);
    rp_json_uint(&w, "budget_bytes", p->budget_bytes);
    rp_json_uint(&w, "keep_all_bytes", r->keep_all_bytes);
    rp_json_uint(&w, "floor_bytes", r->floor_bytes);
    rp_json_bool(&w, "addressed", p->addressed);
    rp_json_uint(&w, "host_bytes", v->host_used_bytes);
    rp_json_uint(&w, "swapped_out_bytes", v->swapped_out_bytes);
    rp_json_uint(&w, "d2h_busy_ns", v->d2h_busy_ns);
    rp_json_uint(&w, "swapped_in_bytes", v->swapped_in_bytes);
    rp_json_uint(&w, "h2d_busy_ns", v->h2d_busy_ns);
    write_kinds(&w, g, p);
    rp_json_uint(&w, "steps", p->steps.n);
    rp_json_uint(&w, "moves", r->moves);
    rp_json_uint(&w, "missing_bytes", r->missing_bytes);
    rp_json_bool(&w, "capped", r->capped);
    rp_json_double(&w, "seconds", seconds, 3);
    rp_json_uint(&w, "max_rss_bytes", max_rss_bytes());
    if (s != NULL)
        rp_statistics_json(s, &w);
    rp_json_end(&w);
    rp_json_finish(&w);
}
