#include "verify/verifier.h"

#include "verify/check_steps.h"
#include "verify/hash_replay.h"
#include "verify/races.h"
#include "verify/task_graph.h"

rp_rc rp_verify(const struct rp_graph *g, const struct rp_plan *p, struct rp_verdict *v,
                struct rp_err *err) {
    return rp_check_steps(g, p, v, err);
}

rp_rc rp_verify_replay(const struct rp_graph *g, const struct rp_plan *p,
                       struct rp_replay *r, struct rp_err *err) {
    struct rp_task_graph tg;
    *r = (struct rp_replay){0};
    rp_rc rc = rp_task_graph_build(g, p, &tg, err);
    if (rc == RP_OK)
        rc = rp_hash_replay(g, &tg, r, err);
    if (rc == RP_OK)
        rc = rp_check_races(g, &tg, err);
    rp_task_graph_fini(&tg);
    return rc;
}
