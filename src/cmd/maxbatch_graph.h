/* maxbatch_graph: what `maxbatch` is asked, the graph of a size, and what can be said of
 * sizes without a plan. Not thread-safe. */
#ifndef RP_CMD_MAXBATCH_GRAPH_H
#define RP_CMD_MAXBATCH_GRAPH_H

#include "cmd/host_budget.h"
#include "model/device.h"
#include "model/zoo/registry.h"
#include "policy/policy_plan.h"

/* What is to be as large as possible: a size is a batch, a number of layers or a width. */
enum rp_extent { RP_EXTENT_BATCH, RP_EXTENT_LAYERS, RP_EXTENT_WIDTH };
enum { RP_N_EXTENTS = 3 };
extern const char *const rp_extent_word[RP_N_EXTENTS];

struct rp_maxbatch_options {
    const char *network;
    enum rp_extent extent;
    struct rp_zoo_options zoo; /* without a value of `extent` */
    const struct rp_device_model *device;
    const struct rp_policy *policy;
    struct rp_policy_options policy_options;
    struct rp_host_budget host; /* as in policy_options, and where it is from */
    uint64_t h2d_bytes_per_s, d2h_bytes_per_s; /* UINT64_MAX: the device's */
    double max_overhead; /* a share of keep-all's time; negative: no limit */
    bool one_forward;    /* the overhead may be one more forward pass instead */
    double precision;    /* how far the largest size may be off, as a share of it */
    bool fit_only;       /* do not plan for speed */
};

/* Sizes are multiples of this: a batch of the number of micro-batches, a width of a head's.
 * 0 if the network has no such extent. */
uint64_t rp_maxbatch_unit(const struct rp_maxbatch_options *o);

/* Builds the graph of a size, with the device's times. RP_USAGE: an option that the
 * network does not have. The caller empties *g on RP_OK. */
rp_rc rp_maxbatch_graph(const struct rp_maxbatch_options *o, uint64_t size,
                        struct rp_graph *g, struct rp_err *err);

/* The largest size for which keep-all fits; 0 if not even the smallest does. After an
 * interrupt, of this function and the next: the largest that was found so far. */
uint64_t rp_maxbatch_keep_all(const struct rp_maxbatch_options *o);

/* The largest size whose sources and largest working set find room: none above has a plan.
 * `from` is the smallest or more; 0 if not even that one is. */
uint64_t rp_maxbatch_possible(const struct rp_maxbatch_options *o, uint64_t from);

#endif
