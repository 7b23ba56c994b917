/* maxbatch: what its two files share. cmd/maxbatch.c looks for batches, this and
 * cmd/maxbatch_report.c hold what was found out and say it. */
#ifndef RP_CMD_MAXBATCH_H
#define RP_CMD_MAXBATCH_H

#include "model/device.h"
#include "policy/policy.h"

/* What is known of a batch. A policy that has one plan for every budget says no with it;
 * a search either proves its no or has not found a plan. */
enum rp_batch_verdict {
    RP_BATCH_FITS, /* there is a plan, within the overhead asked for */
    RP_BATCH_TOO_SLOW,
    RP_BATCH_NO,
    RP_BATCH_PROVED_NO,
    RP_BATCH_NOT_FOUND,
    RP_BATCH_CUT_SHORT /* by an interrupt */
};
extern const char *const rp_batch_word[];

/* One batch that was looked at. */
struct rp_batch {
    uint64_t batch;
    enum rp_batch_verdict verdict;
    bool polish; /* planned for speed, not only for whether it fits */
    struct rp_claims claims;
    uint64_t needed_bytes, keep_all_bytes;
};

struct rp_batches {
    const char *network;
    const struct rp_device_model *device;
    const struct rp_policy *how;
    uint64_t budget_bytes;
    struct {
        struct rp_batch *at;
        size_t n, cap;
    } points;
    uint64_t keep_all_batch; /* the largest without a plan; 0: not even one */
    uint64_t largest;        /* the largest that fits; 0: none */
    unsigned plans;          /* made so far */
    /* What an interrupt left open: batches that may fit, and how many were to be planned
     * for speed. 0: nothing. */
    uint64_t open_from, open_to;
    unsigned not_polished;
};

/* The batch of most samples a second. NULL if none was planned for speed: a first plan that
 * fits says little of how fast its batch can be. */
const struct rp_batch *rp_batches_fastest(const struct rp_batches *b);

/* The fastest plan of the largest batch that fits; NULL if it was not planned. */
const struct rp_batch *rp_batches_largest(const struct rp_batches *b);

bool rp_batches_interrupted(const struct rp_batches *b);

/* No batch fits, as far as a search got: that is no proof. */
bool rp_batches_open(const struct rp_batches *b);

/* Sorts the points, and prints them and what they come to. */
void rp_batches_report(struct rp_batches *b, bool json);

#endif
