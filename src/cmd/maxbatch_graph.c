#include "cmd/maxbatch_graph.h"

#include <stdlib.h>

#include "base/sha256.h"
#include "model/cost.h"
#include "solve/core/instance.h"
#include "solve/solver.h"

rp_rc rp_maxbatch_graph(const struct rp_maxbatch_options *o, uint64_t batch,
                        struct rp_graph *g, struct rp_err *err) {
    struct rp_zoo_options z = o->zoo;
    char *text;
    size_t len;
    z.batch = batch;
    rp_rc rc = rp_zoo_build(o->network, &z, g, err);
    if (rc != RP_OK)
        return rc;
    rc = rp_cost_apply(g, o->device, o->network, err);
    if (rc != RP_OK) {
        rp_graph_fini(g);
        return rc;
    }
    if (o->h2d_bytes_per_s != UINT64_MAX)
        g->device.h2d_bytes_per_s = o->h2d_bytes_per_s;
    if (o->d2h_bytes_per_s != UINT64_MAX)
        g->device.d2h_bytes_per_s = o->d2h_bytes_per_s;
    rp_graph_dump(g, &text, &len);
    rp_sha256_hex(text, len, g->sha256);
    free(text);
    return RP_OK;
}

/* True if a plan of this batch may fit: the largest working set is within the budget. A
 * batch that no graph file can hold does not fit. */
static bool may_fit(const struct rp_maxbatch_options *o, uint64_t batch) {
    struct rp_graph g;
    struct rp_instance p;
    struct rp_err ignored = {{0}};
    uint32_t op;
    if (rp_maxbatch_graph(o, batch, &g, &ignored) != RP_OK)
        return false;
    bool fits = g.fixed_bytes <= o->policy_options.budget_bytes;
    if (fits) {
        rp_instance_init(&p, &g, o->policy_options.budget_bytes,
                         o->policy_options.addressed, NULL);
        if (!o->policy_options.no_swap)
            rp_instance_allow_swap(&p, RP_MAX_QUANTITY);
        fits = rp_instance_floor(&p, &op) <= p.limit_bytes;
        rp_instance_fini(&p);
    }
    rp_graph_fini(&g);
    return fits;
}

static bool keep_all_fits(const struct rp_maxbatch_options *o, uint64_t batch) {
    struct rp_graph g;
    struct rp_err ignored = {{0}};
    if (rp_maxbatch_graph(o, batch, &g, &ignored) != RP_OK)
        return false;
    bool fits = rp_keep_all_bytes(&g, o->policy_options.addressed) <=
                o->policy_options.budget_bytes;
    rp_graph_fini(&g);
    return fits;
}

/* The largest batch from `from` on for which `fits` holds, assuming that it holds for all
 * below. 0 if it does not hold for `from`. */
static uint64_t largest_batch(const struct rp_maxbatch_options *o, uint64_t from,
                              bool (*fits)(const struct rp_maxbatch_options *, uint64_t)) {
    uint64_t low = from, step = from;
    if (!fits(o, low))
        return 0;
    while (step < RP_MAX_QUANTITY / 4 && fits(o, low + step)) {
        low += step;
        step *= 2;
    }
    for (uint64_t high = low + step; low + 1 < high;) {
        uint64_t mid = low + (high - low) / 2;
        if (fits(o, mid))
            low = mid;
        else
            high = mid;
    }
    return low;
}

uint64_t rp_maxbatch_keep_all(const struct rp_maxbatch_options *o) {
    return largest_batch(o, 1, keep_all_fits);
}

uint64_t rp_maxbatch_possible(const struct rp_maxbatch_options *o, uint64_t from) {
    return largest_batch(o, from, may_fit);
}
