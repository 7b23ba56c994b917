/* glpk_branching: on which column GLPK's branch and cut branches.
 *
 * What a side of a column adds to the bound is judged by its pseudocost, which is what it
 * added per unit at earlier nodes (Benichou et al., "Experiments in mixed-integer linear
 * programming", 1971). Where there is none, it is judged by the first pivot of the dual
 * simplex (Driebeck, "An algorithm for the solution of mixed integer programming problems",
 * 1966). That is looked at where a column is first fractional, and again for the best few
 * of each node. GLPK's own rule of Driebeck and Tomlin looks at all columns at each node,
 * which took two thirds of the time on long rows. Its pseudocosts start with two linear
 * programs for each column. The column with the largest product of both sides is chosen
 * (Achterberg, Koch and Martin, "Branching rules revisited", 2005).
 *
 * Not thread-safe: one object, one thread.
 */
#ifndef RP_SOLVE_ENGINE_GLPK_BRANCHING_H
#define RP_SOLVE_ENGINE_GLPK_BRANCHING_H

#include <stdbool.h>
#include <stdint.h>

typedef struct glp_tree glp_tree; /* as glpk.h has it */

/* What GLPK keeps for each node (cb_size). */
enum { RP_GLPK_BRANCHING_NODE_BYTES = 32 };

struct rp_pseudocost {
    double sum; /* of what was added per unit, at n nodes */
    int n;
    double ahead; /* what the first pivot added per unit, when it was looked at last */
    bool looked;
};

struct rp_glpk_branching {
    int n_cols;
    struct rp_pseudocost *cost[2];       /* down, up; per column, from 1 on */
    struct rp_glpk_candidate *candidate; /* of a node */
    int *index;                          /* a row of the simplex table */
    double *value;
    uint64_t n_rows; /* of simplex tables, looked at so far */
};
void rp_glpk_branching_init(struct rp_glpk_branching *b, int n_cols);
void rp_glpk_branching_fini(struct rp_glpk_branching *b); /* safe on a zeroed one */

/* Learns from the current node, whose linear program has just been solved (GLP_IROWGEN).
 * Only the first call for a node counts. */
void rp_glpk_branching_learn(struct rp_glpk_branching *b, glp_tree *tree);

/* Branches (GLP_IBRANCH). GLPK goes on with the node of the lowest bound: incumbents come
 * from elsewhere, so it is to raise the bound. */
void rp_glpk_branching_choose(struct rp_glpk_branching *b, glp_tree *tree);

#endif
