/* branching: chooses the column to branch on.
 *
 * Candidates are the fractional sum columns (how often an op runs in all), and if there are
 * none, the other fractional columns. They are ranked by the product of the expected rises
 * of the bound on both sides. Rises come from pseudo-costs; columns with too few of them
 * are tried by a few pivots on each side (reliability branching: Achterberg, Koch and
 * Martin, "Branching rules revisited", 2005).
 *
 * Not thread-safe: one object, one thread.
 */
#ifndef RP_SOLVE_MIP_BRANCHING_H
#define RP_SOLVE_MIP_BRANCHING_H

#include "solve/mip/mip_internal.h"

enum rp_branching {
    RP_BRANCHING_TWO,    /* two children: `first` is to be entered first, `second` later */
    RP_BRANCHING_NONE,   /* nothing is fractional */
    RP_BRANCHING_PRUNED, /* trial solves proved both sides of a column out of reach */
    RP_BRANCHING_TIGHTENED /* or of one side; the other side now holds here */
};

/* Chooses at vertex m.v of the node's LP. bc->bound stays as it is. */
enum rp_branching rp_branching_choose(struct rp_branch_cut *bc, struct change *first,
                                      struct change *second);

#endif
