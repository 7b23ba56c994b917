/* naive_layout: the step without rematerialization, with addresses. A replay on a GPU runs
 * it for comparison with the plan. Tensors are placed first-fit as they are made, which may
 * take more memory than needed. If it does not fit into the device's memory, the replay
 * skips this run and reports that.
 *
 * Thread-safe: nothing is kept between calls.
 */
#ifndef RP_EMIT_NAIVE_LAYOUT_H
#define RP_EMIT_NAIVE_LAYOUT_H

#include "emit/replay_tables.h"

/* Each op runs once. Each tensor that is not kept is released after its last use. *s must
 * be empty. The caller owns it: rp_replay_tables_fini frees it with its tables. */
void rp_naive_layout(const struct rp_graph *g, struct rp_schedule_tables *s,
                     uint64_t *arena_bytes);

#endif
