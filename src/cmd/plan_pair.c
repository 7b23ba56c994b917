#include "cmd/plan_pair.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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

rp_rc rp_pair_check_cuda_alignment(const struct rp_pair *pair, struct rp_err *err) {
    enum { CUDA_ALIGNMENT = 256 }; /* of operands and workspace (kernels/cuda/cuda.h) */
    const uint64_t alignment = pair->g.device.alignment_bytes;
    if (alignment % CUDA_ALIGNMENT == 0)
        return RP_OK;
    return rp_fail(err, RP_INPUT,
                   "%s: device.alignment_bytes is %" PRIu64
                   "; on a GPU it must be a multiple of %d, since cuDNN and cuBLAS choose "
                   "kernels by alignment",
                   pair->graph_name, alignment, CUDA_ALIGNMENT);
}

/* Messages of remat_parse begin with "graph:" or "plan:"; here comes the file's name. */
static rp_rc cannot_walk(const struct rp_pair *pair, const char *message,
                         struct rp_err *err) {
    bool graph = strncmp(message, "graph", 5) == 0;
    const char *rest = strchr(message, ':');
    return rp_fail(err, RP_INPUT, "%s%s", graph ? pair->graph_name : pair->plan_name,
                   rest != NULL ? rest : message);
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
    if (r == NULL)
        return cannot_walk(pair, error.text, err);
    rp_rc rc = rp_replay_tables_build(&pair->g, r, pair->graph_name,
                                      pair->p.claims.baseline_time_ns,
                                      pair->p.claims.stall_ns, t, err);
    remat_close(r);
    return rc;
}
