/* maxbatch_size: what `maxbatch` knows of a size, that is of a batch, a number of layers or
 * a width, and plans that go from one size to another. Not thread-safe. */
#ifndef RP_CMD_MAXBATCH_SIZE_H
#define RP_CMD_MAXBATCH_SIZE_H

#include "policy/policy.h"

/* What is known of a size. For a policy with one plan for every budget, the plan fits or
 * not. A search that finds no plan may have proved that none exists. */
enum rp_size_verdict {
    RP_SIZE_FITS,     /* there is a plan, within the accepted overhead */
    RP_SIZE_TOO_SLOW, /* the plan takes longer than accepted */
    RP_SIZE_NO,       /* the policy's only plan does not fit */
    RP_SIZE_PROVED_NO,
    RP_SIZE_NOT_FOUND, /* no plan was found, without a proof */
    RP_SIZE_INTERRUPTED
};
extern const char *const rp_size_word[];

struct rp_size {
    uint64_t size;
    uint64_t samples; /* in a step */
    enum rp_size_verdict verdict;
    bool for_speed; /* planned for speed, not only for whether it fits */
    uint64_t keep_all_bytes;
    uint64_t needed_bytes; /* by the plan */
    struct rp_plan plan;   /* empty: there is none */
    char *reason;          /* why the size does not fit; or NULL */
};

double rp_size_samples_per_s(const struct rp_size *p);

/* A plan of another one of the n sizes that is also one for `g`, the graph of this size,
 * within the limits of `o`: of a larger size, which fits, or of a smaller one that left
 * room. False if there is none. The caller ends *start in any case. */
bool rp_size_find_start(const struct rp_size *points, size_t n, const struct rp_graph *g,
                        uint64_t size, const struct rp_policy_options *o,
                        struct rp_plan *start);

#endif
