#include "cmd/plan_pair.h"

#include <stdlib.h>

#include "base/io.h"

rp_rc rp_pair_load(const char *graph_path, const char *plan_path, struct rp_pair *pair,
                   struct rp_err *err) {
    *pair = (struct rp_pair){.graph_name = rp_path_name(graph_path),
                             .plan_name = rp_path_name(plan_path)};
    rp_rc rc = rp_read_file(graph_path, &pair->graph_text, &pair->graph_len, err);
    if (rc == RP_OK)
        rc = rp_graph_parse(pair->graph_text, pair->graph_len, pair->graph_name, &pair->g,
                            err);
    if (rc == RP_OK)
        rc = rp_read_file(plan_path, &pair->plan_text, &pair->plan_len, err);
    if (rc == RP_OK)
        rc = rp_plan_parse(pair->plan_text, pair->plan_len, pair->plan_name, &pair->p, err);
    return rc;
}

void rp_pair_fini(struct rp_pair *pair) {
    free(pair->graph_text);
    free(pair->plan_text);
    rp_graph_fini(&pair->g);
    rp_plan_fini(&pair->p);
    *pair = (struct rp_pair){0};
}

rp_rc rp_pair_tables(const struct rp_pair *pair, struct rp_replay_tables *t,
                     struct rp_err *err) {
    struct remat_error error;
    *t = (struct rp_replay_tables){0};
    if (!pair->p.addressed)
        return rp_fail(err, RP_INPUT,
                       "%s: a plan with addresses is needed, but its 'addressed' is false",
                       pair->plan_name);
    remat *r = remat_parse(pair->graph_text, pair->graph_len, pair->plan_text,
                           pair->plan_len, &error);
    if (r == NULL) /* the plan passed verify */
        return rp_fail(err, RP_BUG, "libremat rejects a valid plan: %s", error.text);
    rp_rc rc = rp_replay_tables_build(&pair->g, r, pair->graph_name,
                                      pair->p.claims.baseline_time_ns,
                                      pair->p.claims.stall_ns, t, err);
    remat_close(r);
    return rc;
}
