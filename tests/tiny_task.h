/* tiny_task: a tiny graph near its floor, whose copies take about as long as its ops, and
 * what plans for it may do, for tests that compare with brute force over all programs. */
#ifndef RP_TESTS_TINY_TASK_H
#define RP_TESTS_TINY_TASK_H

#include "brute_copies.h"
#include "solve/core/instance.h"

struct rp_tiny_task {
    struct rp_graph g;
    struct rp_instance p;
    struct rp_brute_copies o;
};
/* Of some seeds, plans may not recompute, or the host's memory is small. */
void rp_tiny_task_init(struct rp_tiny_task *t, uint64_t seed, bool swap);
void rp_tiny_task_fini(struct rp_tiny_task *t);

#endif
