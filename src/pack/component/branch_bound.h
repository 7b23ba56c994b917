/* branch_bound: exact search for a placement at or below a goal.
 *
 * A node branches on one section t of a valley: a run of sections with equal floors between
 * higher ones. The lowest unplaced item of t either lies on the floor, and then it is one
 * of the items that live in the valley only. Or the floor of t can be raised to the next
 * level at which an item of t could rest. These branches are few and complete. Of all
 * valleys the section with the fewest branches is taken, so forced moves come first.
 *
 * It looks at placements in which every item rests on another or on the ground, the
 * "canonical solutions" of M. D. Moffitt, "MiniMalloc: A Lightweight Memory Allocator for
 * Hardware-Accelerated Machine Learning", ASPLOS 2023. MiniMalloc also splits what has
 * become independent, prunes by sums over a section and by dominance, but orders all
 * placements by offset.
 *
 * The time to a solution varies widely with the order of the branches. So the search is
 * restarted with other orders, after a number of nodes that follows the sequence of Luby,
 * Sinclair and Zuckerman ("Optimal speedup of Las Vegas algorithms", 1993). An attempt
 * learns from earlier ones where they failed: sections whose limit was often exceeded are
 * branched on early (F. Boussemart, F. Hemery, C. Lecoutre and L. Sais, "Boosting
 * systematic search by weighting constraints", 2004).
 *
 * Not thread-safe: one component, one thread.
 */
#ifndef RP_PACK_COMPONENT_BRANCH_BOUND_H
#define RP_PACK_COMPONENT_BRANCH_BOUND_H

#include "pack/component/components.h"

/* Makes attempts until a placement is at or below `goal`, the bound is above it, or the
 * work is used up. p->bound rises where it is proved that no placement is that low. Large
 * components are left alone. What it learns is kept in p->branch_bound, which points to p
 * and `work`, so neither may move from one call to the next. */
void rp_pack_branch_bound(struct rp_pack_component *p, uint64_t goal,
                          struct rp_pack_work *work);
void rp_pack_branch_bound_free(struct rp_pack_branch_bound *q); /* NULL is safe */

#endif
