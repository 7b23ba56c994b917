/* update_order: which ops keep their order because one of them updates a source that the
 * other one touches (docs/formats.md, rule 7). An op that reads or updates a source does so
 * after exactly as many updates of it as in the graph.
 *
 * Thread safety: const after init.
 */
#ifndef RP_SOLVE_CORE_UPDATE_ORDER_H
#define RP_SOLVE_CORE_UPDATE_ORDER_H

#include <stdint.h>

#include "model/graph.h"

/* All runs of the ops before[before_start[i]] .. before[before_start[i + 1] - 1] come
 * before every run of op i, and those of the ops in `after`, in the same way, come after
 * it. One of each two ops updates something. Orders that follow from others may be left
 * out. */
struct rp_update_order {
    uint32_t *before_start, *before;
    uint32_t *after_start, *after;
};

/* place[i] is the number, below n_ops, that graph op i has here. The caller owns *u. */
void rp_update_order_init(struct rp_update_order *u, const struct rp_graph *g,
                          const uint32_t *place, uint32_t n_ops);
void rp_update_order_fini(struct rp_update_order *u); /* safe on a zeroed one */

#endif
