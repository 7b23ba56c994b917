#include "cmd/policy_options.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/format.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "policy/quick_plans.h"
#include "verify/verifier.h"

char *rp_policy_names(void) {
    char *names = rp_strdup(rp_policies[0].name);
    for (size_t i = 1; i < rp_n_policies; i++) {
        char *more = rp_format("%s, %s", names, rp_policies[i].name);
        free(names);
        names = more;
    }
    return names;
}

/* The first option for tflms that was given; NULL: none. */
static const char *first_word(const struct rp_policy_words *w) {
    const struct rp_tflms_options *t = &w->tflms;
    return t->n_tensors != UINT64_MAX          ? "n-tensors"
           : t->lb != UINT64_MAX               ? "lb"
           : t->ub != UINT64_MAX               ? "ub"
           : w->ctrld != NULL                  ? "ctrld"
           : t->fuse_swapins                   ? "fuse-swapins"
           : t->swap_branches                  ? "swap-branches"
           : t->branch_threshold != UINT64_MAX ? "branch-threshold"
                                               : NULL;
}

static void take_given(uint64_t *to, uint64_t given) {
    if (given != UINT64_MAX)
        *to = given;
}

rp_rc rp_tflms_take(const char *command, const struct rp_policy_words *w, bool wanted,
                    struct rp_tflms_options *o, struct rp_err *err) {
    const char *given = first_word(w);
    if (given != NULL && !wanted)
        return rp_fail(err, RP_USAGE, "%s: --%s is for --policy tflms", command, given);
    if (w->ctrld == NULL || strcmp(w->ctrld, "chain_rule") == 0)
        o->ctrld = RP_CHAIN_RULE;
    else if (strcmp(w->ctrld, "direct_order") == 0)
        o->ctrld = RP_DIRECT_ORDER;
    else
        return rp_fail(err, RP_USAGE, "%s: --ctrld: '%s' is not chain_rule or direct_order",
                       command, w->ctrld);
    take_given(&o->n_tensors, w->tflms.n_tensors);
    take_given(&o->lb, w->tflms.lb);
    take_given(&o->ub, w->tflms.ub);
    take_given(&o->branch_threshold, w->tflms.branch_threshold);
    o->fuse_swapins = w->tflms.fuse_swapins;
    o->swap_branches = w->tflms.swap_branches;
    if (o->lb > o->ub)
        return rp_fail(err, RP_USAGE, "%s: --lb is above --ub", command);
    return RP_OK;
}

rp_rc rp_policy_take(const char *command, const char *name, const struct rp_policy_words *w,
                     struct rp_policy_options *o, const struct rp_policy **policy,
                     struct rp_err *err) {
    *policy = name != NULL ? rp_policy_find(name) : NULL;
    if (name != NULL && *policy == NULL) {
        char *names = rp_policy_names();
        rp_rc rc = rp_fail(err, RP_USAGE, "%s: --policy: '%s' is none of %s", command, name,
                           names);
        free(names);
        return rc;
    }
    bool wanted = *policy != NULL && strcmp(name, "tflms") == 0;
    return rp_tflms_take(command, w, wanted, &o->tflms, err);
}

bool rp_cmd_initial_plan(const struct rp_graph *g, const struct rp_solve_options *o,
                         struct rp_plan *plan) {
    enum { FEW_OPS = 2000, OPS_A_SECOND = 2000 };
    if (!o->recompute || o->reorder || g->n_ops <= FEW_OPS ||
        g->n_ops > OPS_A_SECOND * o->time_limit ||
        rp_keep_all_bytes(g, o->addressed) <= o->budget_bytes ||
        !rp_quick_policy_plan(g, o, plan))
        return false;
    rp_log(1, "first plan: %s over keep-all",
           rp_show_percent(plan->claims.time_ns - g->total_time_ns, g->total_time_ns).s);
    return true;
}

static void put_text(const struct rp_plan *p, const struct rp_policy *policy,
                     const struct rp_policy_options *o, const struct rp_policy_report *r) {
    const struct rp_claims *c = &p->claims;
    printf("policy  %s\n", policy->name);
    printf("time    %s, %s over keep-all (%s made again, %s stall)\n",
           rp_show_ns(c->time_ns).s,
           rp_show_percent(c->time_ns - c->baseline_time_ns, c->baseline_time_ns).s,
           rp_show_ns(c->recompute_ns).s, rp_show_ns(c->stall_ns).s);
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

static void put_json(const struct rp_plan *p, const struct rp_policy *policy,
                     const struct rp_policy_options *o, const struct rp_policy_report *r) {
    const struct rp_claims *c = &p->claims;
    printf("{\"status\":\"%s\",\"policy\":\"%s\",\"time_ns\":%" PRIu64
           ",\"baseline_time_ns\":%" PRIu64 ",\"recompute_ns\":%" PRIu64
           ",\"stall_ns\":%" PRIu64 ",\"peak_bytes\":%" PRIu64 ",\"needed_bytes\":%" PRIu64
           ",\"budget_bytes\":%" PRIu64 ",\"host_bytes\":%" PRIu64 ",\"out_bytes\":%" PRIu64
           ",\"in_bytes\":%" PRIu64 ",\"steps\":%zu}\n",
           r->fits ? "feasible" : "infeasible", policy->name, c->time_ns,
           c->baseline_time_ns, c->recompute_ns, c->stall_ns, c->peak_bytes,
           r->needed_bytes, o->budget_bytes, p->host_bytes, r->out_bytes, r->in_bytes,
           p->steps.n);
}

static void put_none(const struct rp_policy *policy, const struct rp_policy_options *o,
                     const struct rp_policy_report *r, rp_rc rc, bool json) {
    const char *word = rc == RP_NO ? "infeasible" : "limit";
    if (!json) {
        printf("%s: %s\n", rc == RP_NO ? "infeasible" : "no plan", r->reason);
        return;
    }
    printf("{\"status\":\"%s\",\"policy\":\"%s\",\"budget_bytes\":%" PRIu64 ",\"reason\":",
           word, policy->name, o->budget_bytes);
    rp_json_put_string(stdout, r->reason);
    puts("}");
}

rp_rc rp_solve_by_policy(const struct rp_graph *g, const struct rp_policy *policy,
                         const struct rp_policy_options *o, const char *out, bool json,
                         bool silent, struct rp_err *err) {
    struct rp_plan plan = {0};
    struct rp_policy_report r;
    struct rp_verdict v;
    struct rp_err why = {{0}};
    rp_rc rc = rp_policy_plan(g, policy, o, &plan, &r, err);
    rp_progress("%s", "");
    if (rc == RP_NO || rc == RP_LIMIT) {
        put_none(policy, o, &r, rc, json);
        return rc == RP_NO ? rc
                           : rp_fail(err, rc, "solve: %s before any plan was found",
                                     *o->stop ? "interrupted" : "the work limit came");
    }
    if (rc != RP_OK)
        return rc;
    if (rp_verify(g, &plan, &v, &why) != RP_OK)
        rc = rp_fail(err, RP_BUG, "solve: verify rejects the plan of %s: %.900s",
                     policy->name, why.msg);
    r.out_bytes = v.swapped_out_bytes;
    r.in_bytes = v.swapped_in_bytes;
    if (rc == RP_OK && (json || rp_log_level() >= 0 || !r.fits) && !(silent && r.fits))
        (json ? put_json : put_text)(&plan, policy, o, &r);
    if (rc == RP_OK && r.fits && out != NULL)
        rc = rp_plan_save(&plan, out, err);
    rp_plan_fini(&plan);
    return rc == RP_OK && !r.fits ? RP_NO : rc;
}
