/* maxbatch_search: bisects for the largest batch of a network that fits a device, and plans
 * batches below it for the most samples per second. Not thread-safe. */
#ifndef RP_CMD_MAXBATCH_SEARCH_H
#define RP_CMD_MAXBATCH_SEARCH_H

#include "base/mem.h"
#include "cmd/host_budget.h"
#include "model/device.h"
#include "model/zoo/registry.h"
#include "policy/policy_plan.h"

struct rp_maxbatch_options {
    const char *network;
    struct rp_zoo_options zoo; /* its batch is not used */
    const struct rp_device_model *device;
    const struct rp_policy *policy;
    struct rp_policy_options policy_options;
    struct rp_host_budget host; /* as in policy_options, and where it is from */
    uint64_t h2d_bytes_per_s, d2h_bytes_per_s; /* UINT64_MAX: the device's */
    double max_overhead; /* a share of keep-all's time; negative: no limit */
    bool one_forward;    /* the overhead may be one more forward pass instead */
    double precision;    /* how far the largest batch may be off, as a share of it */
    bool fit_only;       /* do not plan for speed */
};

/* What is known of a batch. For a policy with one plan for every budget, the plan fits or
 * not. A search that finds no plan may have proved that none exists. */
enum rp_batch_verdict {
    RP_BATCH_FITS,     /* there is a plan, within the accepted overhead */
    RP_BATCH_TOO_SLOW, /* the plan takes longer than accepted */
    RP_BATCH_NO,       /* the policy's only plan does not fit */
    RP_BATCH_PROVED_NO,
    RP_BATCH_NOT_FOUND, /* no plan was found, without a proof */
    RP_BATCH_INTERRUPTED
};
extern const char *const rp_batch_word[];

struct rp_batch {
    uint64_t batch;
    enum rp_batch_verdict verdict;
    bool for_speed; /* planned for speed, not only for whether it fits */
    uint64_t keep_all_bytes;
    uint64_t needed_bytes; /* by the plan */
    struct rp_plan plan;   /* empty: there is none */
    char *reason;          /* why the batch does not fit; or NULL */
};

/* What a search found. Zeroed before; rp_maxbatch_fini empties it. */
struct rp_maxbatch {
    RP_VEC(struct rp_batch) points; /* the batches that were planned */
    uint64_t keep_all_batch;        /* the largest that needs no plan; 0: not even one */
    uint64_t largest;               /* the largest that fits; 0: none */
    /* What an interrupt left undecided: the range of batches that may still fit, and the
     * number of batches that were to be planned for speed. All 0 without an interrupt. */
    uint64_t open_from, open_to;
    unsigned n_open_for_speed;
};

/* One network on one device. */
struct rp_maxbatch_answer {
    struct rp_maxbatch_options options;
    struct rp_maxbatch found;
};

/* Builds the graph of a batch, with the device's times. RP_USAGE: an option that the
 * network does not have. The caller empties *g on RP_OK. */
rp_rc rp_maxbatch_graph(const struct rp_maxbatch_options *o, uint64_t batch,
                        struct rp_graph *g, struct rp_err *err);

/* Fills in *m, which is zeroed before. The caller empties it in any case. A search starts
 * from a plan of another batch, if one fits: a network has the same ops for every batch. */
rp_rc rp_maxbatch_search(const struct rp_maxbatch_options *o, struct rp_maxbatch *m,
                         struct rp_err *err);
void rp_maxbatch_fini(struct rp_maxbatch *m);

double rp_batch_samples_per_s(const struct rp_batch *b);

/* The batch with the most samples per second. NULL if none was planned for speed: the first
 * plan that fits says little about how fast its batch can be. */
const struct rp_batch *rp_maxbatch_fastest(const struct rp_maxbatch *m);

/* The fastest plan of the largest batch that fits. NULL if it was not planned. */
const struct rp_batch *rp_maxbatch_largest(const struct rp_maxbatch *m);

bool rp_maxbatch_interrupted(const struct rp_maxbatch *m);

/* True if a search found no plan for some batch: that is no proof that none exists. */
bool rp_maxbatch_undecided(const struct rp_maxbatch_options *o,
                           const struct rp_maxbatch *m);

#endif
