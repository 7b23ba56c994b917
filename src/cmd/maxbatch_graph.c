#include "cmd/maxbatch_graph.h"

#include <stdlib.h>

#include "base/sha256.h"
#include "model/cost.h"
#include "solve/core/instance.h"
#include "solve/solver.h"

const char *const rp_extent_word[RP_N_EXTENTS] = {"batch", "layers", "width"};

uint64_t rp_maxbatch_unit(const struct rp_maxbatch_options *o) {
    const struct rp_zoo_entry *entry = rp_zoo_find(o->network);
    switch (o->extent) {
    case RP_EXTENT_LAYERS:
        return (entry->takes & RP_TAKES_LAYERS) != 0;
    case RP_EXTENT_WIDTH:
        return entry->head_width;
    default:
        return o->zoo.micro_batches;
    }
}

/* The graph of a size, without its digest. */
static rp_rc build(const struct rp_maxbatch_options *o, uint64_t size, struct rp_graph *g,
                   struct rp_err *err) {
    struct rp_zoo_options z = o->zoo;
    uint64_t *const extent[RP_N_EXTENTS] = {&z.batch, &z.layers, &z.width};
    *extent[o->extent] = size;
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
    return RP_OK;
}

rp_rc rp_maxbatch_graph(const struct rp_maxbatch_options *o, uint64_t size,
                        struct rp_graph *g, struct rp_err *err) {
    char *text;
    size_t len;
    rp_rc rc = build(o, size, g, err);
    if (rc != RP_OK)
        return rc;
    rp_graph_dump(g, &text, &len);
    rp_sha256_hex(text, len, g->sha256);
    free(text);
    return RP_OK;
}

/* Is there room for all sources, on the host for those whose home it is? */
static bool sources_may_fit(const struct rp_policy_options *o, const struct rp_graph *g) {
    const uint64_t bytes = rp_source_bytes(g);
    const uint64_t excess = bytes > o->budget_bytes ? bytes - o->budget_bytes : 0;
    return rp_bytes_at_home_on_device(g) <= o->budget_bytes &&
           bytes - g->fixed_bytes <= o->host_bytes && excess <= o->host_bytes;
}

/* True if a plan of this size may fit: there is room for the sources, and the largest
 * working set is within the budget. A size that no graph file can hold does not fit. */
static bool may_fit(const struct rp_maxbatch_options *o, uint64_t size) {
    struct rp_graph g;
    struct rp_instance p;
    struct rp_err ignored = {{0}};
    uint32_t op;
    if (build(o, size, &g, &ignored) != RP_OK)
        return false;
    bool fits = sources_may_fit(&o->policy_options, &g);
    if (fits) {
        rp_instance_init_homes(&p, &g, o->policy_options.budget_bytes,
                               o->policy_options.addressed, NULL);
        if (!o->policy_options.no_swap)
            rp_instance_allow_swap(&p, RP_MAX_QUANTITY);
        fits = rp_instance_floor(&p, &op) <= p.limit_bytes;
        rp_instance_fini(&p);
    }
    rp_graph_fini(&g);
    return fits;
}

/* Keep-all leaves all sources on the device, so none may have its home on the host. */
static bool keep_all_fits(const struct rp_maxbatch_options *o, uint64_t size) {
    struct rp_graph g;
    struct rp_err ignored = {{0}};
    if (build(o, size, &g, &ignored) != RP_OK)
        return false;
    bool fits = !rp_any_home(&g, RP_HOME_HOST) &&
                rp_keep_all_bytes(&g, o->policy_options.addressed) <=
                    o->policy_options.budget_bytes;
    rp_graph_fini(&g);
    return fits;
}

/* The largest size from `from` on for which `fits` holds, assuming that it holds for all
 * below. 0 if it does not hold for `from`. After an interrupt, the largest found so far. */
static uint64_t largest_size(const struct rp_maxbatch_options *o, uint64_t from,
                             bool (*fits)(const struct rp_maxbatch_options *, uint64_t)) {
    const uint64_t unit = rp_maxbatch_unit(o);
    const struct rp_stop *stop = o->policy_options.stop;
    uint64_t low = from, step = from;
    if (rp_stop_interrupted(stop) || !fits(o, low))
        return 0;
    while (step < RP_MAX_QUANTITY / 4 && !rp_stop_interrupted(stop) &&
           fits(o, low + step)) {
        low += step;
        step *= 2;
    }
    for (uint64_t high = low + step; low + unit < high && !rp_stop_interrupted(stop);) {
        uint64_t mid = low + (high - low) / unit / 2 * unit;
        if (fits(o, mid))
            low = mid;
        else
            high = mid;
    }
    return low;
}

uint64_t rp_maxbatch_keep_all(const struct rp_maxbatch_options *o) {
    return largest_size(o, rp_maxbatch_unit(o), keep_all_fits);
}

uint64_t rp_maxbatch_possible(const struct rp_maxbatch_options *o, uint64_t from) {
    return largest_size(o, from, may_fit);
}
