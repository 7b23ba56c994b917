#include "policies.h"

#include <stdio.h>

#include "base/io.h"
#include "model/cost.h"
#include "networks.h"
#include "run.h"
#include "solve/solver.h"

struct rp_planned rp_plan_with(const struct rp_graph *g, const char *name,
                               struct rp_policy_options o, uint64_t percent) {
    struct rp_planned r = {0};
    struct rp_err err = {{0}};
    struct rp_replay replay;
    o.budget_bytes = rp_budget_between(g, o.addressed, percent);
    r.rc = rp_policy_plan(g, rp_policy_find(name), &o, &r.plan, &r.report, &err);
    r.valid = r.rc == RP_OK && rp_verify(g, &r.plan, &r.verdict, &err) == RP_OK &&
              rp_verify_replay(g, &r.plan, &replay, &err) == RP_OK &&
              r.verdict.swapped_out_bytes == r.report.out_bytes &&
              r.verdict.swapped_in_bytes == r.report.in_bytes;
    if (r.rc == RP_OK && !r.valid)
        printf("%s: %s\n", name, err.msg);
    rp_plan_fini(&r.plan);
    return r;
}

struct rp_policy_options rp_quick_options(bool addressed) {
    struct rp_policy_options o;
    rp_policy_options_init(&o);
    o.addressed = addressed;
    o.time_limit = 0.02;
    o.ignore_clock = true;
    return o;
}

bool rp_same_steps(const struct rp_plan *a, const struct rp_plan *b) {
    bool same = a->steps.n == b->steps.n;
    for (size_t i = 0; i < a->steps.n && same; i++)
        same = a->steps.at[i].kind == b->steps.at[i].kind &&
               a->steps.at[i].id == b->steps.at[i].id;
    return same;
}

struct rp_graph rp_priced_network(const char *name, struct rp_zoo_options o) {
    struct rp_err err = {{0}};
    struct rp_graph g = rp_net_build(name, o);
    CU_ASSERT_EQUAL_FATAL(rp_cost_apply(&g, rp_device_find("p100-16g"), name, &err), RP_OK);
    return g;
}

uint64_t rp_budget_between(const struct rp_graph *g, bool addressed, uint64_t percent) {
    uint64_t all = rp_keep_all_bytes(g, addressed);
    return g->fixed_bytes + (all - g->fixed_bytes) / 100 * percent;
}

struct rp_solve_options rp_share_options(const struct rp_graph *g, uint64_t percent,
                                         bool swap) {
    return (struct rp_solve_options){
        .budget_bytes = rp_keep_all_bytes(g, false) / 100 * percent,
        .recompute = true,
        .swap = swap,
        .host_bytes = RP_MAX_QUANTITY,
        .ignore_clock = true,
    };
}

char *rp_steps_text(const struct rp_graph *g, const struct rp_plan *plan) {
    static const char sign[] = {[RP_FREE] = '-', [RP_SWAP_OUT] = '>', [RP_SWAP_IN] = '<'};
    char *text;
    size_t len;
    FILE *f = rp_text_open(&text, &len);
    for (size_t i = 0; i < plan->steps.n; i++) {
        const struct rp_step *s = &plan->steps.at[i];
        fputs(i == 0 ? "" : " ", f);
        if (s->kind == RP_RUN)
            fputs(g->ops[s->id].name, f);
        else
            fprintf(f, "%c%s", sign[s->kind], g->tensors[s->id].name);
    }
    rp_text_close(f);
    return text;
}
