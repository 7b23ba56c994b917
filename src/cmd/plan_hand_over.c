#include "cmd/plan_hand_over.h"

#include <jansson.h>
#include <stdlib.h>

#include "base/numbers.h"
#include "pack/addresses.h"
#include "solve/core/plan_claims.h"
#include "solve/core/warm_start.h"
#include "verify/verifier.h"

static const uint64_t PACK_WORK = UINT64_C(200000000);

/* True if the plan's steps name the ops of `g`: a valid plan runs each of them. */
static bool has_ops_of(const struct rp_plan *plan, const struct rp_graph *g) {
    uint32_t n_ops = 0;
    for (size_t i = 0; i < plan->steps.n; i++) {
        const struct rp_step *step = &plan->steps.at[i];
        if (step->kind == RP_RUN)
            n_ops = rp_max_u32(n_ops, step->id + 1);
        else if (step->id >= g->n_tensors)
            return false;
    }
    return n_ops == g->n_ops;
}

bool rp_plan_hand_over(const struct rp_plan *from, const struct rp_graph *g,
                       const struct rp_policy_options *o, struct rp_plan *to) {
    struct rp_verdict v;
    struct rp_err ignored = {{0}};
    *to = (struct rp_plan){0};
    if (!has_ops_of(from, g))
        return false;
    rp_plan_restate(from, false, o->budget_bytes, to);
    const uint64_t fixed_bytes = rp_plan_fixed_bytes(to, g);
    if (fixed_bytes > o->budget_bytes)
        return false;
    free(to->graph_name);
    free(to->graph_sha256);
    to->graph_name = rp_strdup(g->name);
    to->graph_sha256 = rp_strdup(g->sha256);
    to->notes = json_incref(from->notes);
    if (rp_plan_fill_claims(g, to, &ignored) != RP_OK ||
        fixed_bytes + to->arena_bytes > o->budget_bytes)
        return false;
    if (o->addressed) {
        struct rp_pack_options pack = {.capacity = o->budget_bytes - fixed_bytes,
                                       .work_limit = PACK_WORK,
                                       .squeeze = true,
                                       .stop = o->stop};
        rp_assign_addresses(g, to, &pack, NULL);
        if (rp_plan_fill_claims(g, to, &ignored) != RP_OK)
            return false;
    }
    rp_plan_set_bound(g, &to->claims, g->total_time_ns, rp_bound_for_all_plans);
    return to->host_bytes <= o->host_bytes && rp_verify(g, to, &v, &ignored) == RP_OK;
}
