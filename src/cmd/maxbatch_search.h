/* maxbatch_search: bisects for the largest size of a network that fits a device, and plans
 * batches below it for the most samples per second. Not thread-safe. */
#ifndef RP_CMD_MAXBATCH_SEARCH_H
#define RP_CMD_MAXBATCH_SEARCH_H

#include "base/mem.h"
#include "cmd/maxbatch_graph.h"
#include "cmd/maxbatch_size.h"

/* What a search found. Zeroed before; rp_maxbatch_fini empties it. */
struct rp_maxbatch {
    RP_VEC(struct rp_size) points; /* the sizes that were planned */
    uint64_t keep_all_size;        /* the largest that needs no plan; 0: not even one */
    uint64_t largest;              /* the largest that fits; 0: none */
    /* What an interrupt left undecided: the range of sizes that may still fit (open_to
     * UINT64_MAX: no upper end is known), and the number of sizes that were to be planned
     * for speed. All 0 without an interrupt. */
    uint64_t open_from, open_to;
    unsigned n_open_for_speed;
};

/* One network on one device. */
struct rp_maxbatch_answer {
    struct rp_maxbatch_options options;
    struct rp_maxbatch found;
};

/* Fills in *m, which is zeroed before. The caller empties it in any case. A search starts
 * from a plan of another size, if one fits: a network has the same ops for every batch and
 * every width. */
rp_rc rp_maxbatch_search(const struct rp_maxbatch_options *o, struct rp_maxbatch *m,
                         struct rp_err *err);
void rp_maxbatch_fini(struct rp_maxbatch *m);

/* The size with the most samples per second. NULL if none was planned for speed: the first
 * plan that fits says little about how fast its size can be. */
const struct rp_size *rp_maxbatch_fastest(const struct rp_maxbatch *m);

/* The fastest plan of the largest size that fits. NULL if it was not planned. */
const struct rp_size *rp_maxbatch_largest(const struct rp_maxbatch *m);

bool rp_maxbatch_interrupted(const struct rp_maxbatch *m);

/* True if a search found no plan for some size: that is no proof that none exists. */
bool rp_maxbatch_undecided(const struct rp_maxbatch_options *o,
                           const struct rp_maxbatch *m);

#endif
