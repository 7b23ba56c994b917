#include "cmd/solve_policy.h"

#include <stdio.h>

#include "base/format.h"
#include "base/json_writer.h"
#include "base/log.h"
#include "base/mem.h"
#include "cmd/policy_outcome.h"
#include "cmd/solve_report.h"

static void print_text(const struct rp_outcome *out, const struct rp_policy *policy,
                       const struct rp_policy_options *o) {
    const struct rp_plan *p = &out->plan;
    const struct rp_policy_report *r = &out->report;
    const struct rp_claims *c = &p->claims;
    printf("policy  %s\n", policy->name);
    printf("time    %s, %s over keep-all (%s made again, %s stall%s)\n",
           rp_show_ns(c->time_ns).s,
           rp_show_percent(c->time_ns - c->baseline_time_ns, c->baseline_time_ns).s,
           rp_show_ns(c->recompute_ns).s, rp_show_ns(c->stall_ns).s,
           rp_show_tail(", ", rp_claims_tail_ns(c)).s);
    printf("memory  %s of %s%s\n", rp_show_bytes(r->needed_bytes).s,
           rp_show_bytes(o->budget_bytes).s,
           r->needed_bytes <= o->budget_bytes ? "" : ": does not fit");
    if (o->host_bytes < RP_MAX_QUANTITY)
        printf("host    %s of %s%s\n", rp_show_bytes(p->host_bytes).s,
               rp_show_bytes(o->host_bytes).s,
               p->host_bytes <= o->host_bytes ? "" : ": does not fit");
    printf("moved   %s out, %s in\n", rp_show_bytes(r->out_bytes).s,
           rp_show_bytes(r->in_bytes).s);
}

static void print_json(const struct rp_outcome *out, const struct rp_policy *policy,
                       const struct rp_policy_options *o) {
    const struct rp_claims *c = &out->plan.claims;
    const struct rp_policy_report *r = &out->report;
    struct rp_json_writer w = rp_json_writer_on(stdout);
    rp_json_object(&w, NULL);
    rp_json_string(&w, "status", r->fits ? "feasible" : "infeasible");
    rp_json_string(&w, "policy", policy->name);
    rp_json_uint(&w, "time_ns", c->time_ns);
    rp_json_uint(&w, "baseline_time_ns", c->baseline_time_ns);
    rp_json_uint(&w, "recompute_ns", c->recompute_ns);
    rp_json_uint(&w, "stall_ns", c->stall_ns);
    rp_json_uint(&w, "peak_bytes", c->peak_bytes);
    rp_json_uint(&w, "needed_bytes", r->needed_bytes);
    rp_json_uint(&w, "budget_bytes", o->budget_bytes);
    rp_json_uint(&w, "host_bytes", out->plan.host_bytes);
    rp_json_uint(&w, "out_bytes", r->out_bytes);
    rp_json_uint(&w, "in_bytes", r->in_bytes);
    rp_json_uint(&w, "steps", out->plan.steps.n);
    rp_json_end(&w);
    rp_json_finish(&w);
}

static void report_no_plan(const struct rp_outcome *out, const struct rp_policy *policy,
                           const struct rp_policy_options *o, bool json) {
    if (!json) {
        rp_put_styled(RP_BAD, out->rc == RP_NO ? "infeasible: " : "no plan: ", stdout);
        rp_put_clean(out->report.reason, stdout);
        putchar('\n');
        return;
    }
    struct rp_json_writer w = rp_json_writer_on(stdout);
    rp_json_object(&w, NULL);
    rp_json_string(&w, "status", out->rc == RP_NO ? "infeasible" : "limit");
    rp_json_string(&w, "policy", policy->name);
    rp_json_uint(&w, "budget_bytes", o->budget_bytes);
    rp_json_string(&w, "reason", out->report.reason);
    rp_json_end(&w);
    rp_json_finish(&w);
}

rp_rc rp_solve_by_policy(const struct rp_graph *g, const struct rp_policy *policy,
                         const struct rp_policy_options *o,
                         const struct rp_output_options *output, struct rp_err *err) {
    struct rp_outcome out;
    rp_rc rc = rp_outcome_make(g, policy, o, &out, err);
    rp_progress_end();
    if (rc != RP_OK)
        return rc;
    if (out.rc == RP_INPUT)
        return rp_fail(err, out.rc, "%s: %s", policy->name, out.report.reason);
    if (out.rc != RP_OK) {
        report_no_plan(&out, policy, o, output->json);
        return out.rc == RP_NO ? RP_NO : rp_fail_without_plan(o->stop->interrupted, err);
    }
    bool fits = out.report.fits;
    if (!fits || (!output->silent && (output->json || rp_log_level() >= 0)))
        (output->json ? print_json : print_text)(&out, policy, o);
    if (fits && !output->json && !output->silent && rp_log_level() >= 0)
        rp_solve_report_unwritten(output->plan, stdout);
    if (fits && output->plan != NULL)
        rc = rp_plan_save(&out.plan, output->plan, err);
    rp_outcome_fini(&out);
    return fits ? rc : RP_NO;
}
