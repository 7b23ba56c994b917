/* partition_choice: what PyTorch's partitioner saves for the backward phase under an
 * activation memory budget, by a minimum cut and a knapsack. policy/pytorch.c says how and
 * cites the sources.
 *
 * Not thread-safe: one object, one thread. Different objects may be used by different
 * threads.
 */
#ifndef RP_POLICY_PARTITION_CHOICE_H
#define RP_POLICY_PARTITION_CHOICE_H

#include "policy/partition_rules.h"

struct rp_partition_choice {
    bool *saved; /* per forward tensor: it stays from the forward to the backward phase */
    bool *
        again; /* per forward op: the backward phase runs it, again or for the first time */
};

/* budget: from 0 to 1. The caller ends the choice with fini. */
void rp_partition_choose(const struct rp_partition *s, double budget,
                         struct rp_partition_choice *c);
void rp_partition_choice_fini(struct rp_partition_choice *c);

#endif
