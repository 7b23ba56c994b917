/* maxbatch_batch: what `maxbatch` knows of a batch, and plans that go from one batch to
 * another. Not thread-safe. */
#ifndef RP_CMD_MAXBATCH_BATCH_H
#define RP_CMD_MAXBATCH_BATCH_H

#include "policy/policy.h"

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

double rp_batch_samples_per_s(const struct rp_batch *b);

/* A plan of another one of the n batches that is also one for `g`, the graph of this batch,
 * within the limits of `o`: of a larger batch, which fits, or of a smaller one that left
 * room. False if there is none. The caller ends *start in any case. */
bool rp_batch_find_start(const struct rp_batch *points, size_t n, const struct rp_graph *g,
                         uint64_t batch, const struct rp_policy_options *o,
                         struct rp_plan *start);

#endif
