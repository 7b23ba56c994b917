/* mip_internal: the state that the files of branch and cut share. Only branch_cut.c,
 * node_lp.[ch] and branching.[ch] include it. Not thread-safe: one object, one thread.
 *
 * Columns of the LP: first those of the formulation, then a sum column for each op that may
 * run again, which counts its runs.
 */
#ifndef RP_SOLVE_MIP_MIP_INTERNAL_H
#define RP_SOLVE_MIP_MIP_INTERNAL_H

#include "base/mem.h"
#include "solve/engine/lp_engine.h"
#include "solve/lp/separation.h"
#include "solve/mip/branch_cut.h"

/* A branching decision: low <= x[col] <= high below one node of the search tree. */
struct change {
    uint32_t col;
    uint32_t low, high;
};
struct changes {
    RP_VEC(struct change);
};
struct node {
    uint64_t bound_ns;
    uint64_t serial; /* of two nodes with the same bound, the newer one is taken first */
    struct changes changes;
};

/* Pseudo-costs of one column: how much the bound has risen so far for each unit that the
 * column was pushed down [0] or up [1], over n trials. */
struct pseudo_cost {
    double rise[2];
    uint32_t n[2];
};

/* A formulation of what is not decided yet, and its LP. */
struct model {
    struct rp_formulation formulation;
    struct rp_separation separation;
    struct rp_lp *lp;
    uint32_t n_base_rows;   /* the LP's first rows; cuts come after them */
    struct rp_row_set cuts; /* those in the LP, in its order */
    uint32_t n_all;         /* columns with sums */
    uint32_t *sum_of;       /* per sum column: its op */
    uint32_t *low, *high;   /* per column: bounds that hold in the whole search tree */
    uint32_t n_fixed;       /* columns where they are equal */
    double *v, *reduced;    /* at the vertex of the last finished solve */
    double *root_reduced;   /* of the best bound at the root; NULL before the first */
    double root_bound;
    struct pseudo_cost *pseudo_cost; /* per column */
};

struct rp_branch_cut {
    const struct rp_instance *instance;
    struct rp_branch_cut_options options;
    struct model m;
    struct model full;   /* while m is restricted to a tried cutoff; else zeroed */
    bool trying_cutoff;  /* see branch_cut.c */
    uint64_t divisor_ns; /* the time of every schedule is a multiple of it */

    struct rp_schedule best;  /* the incumbent; zeroed if there is none */
    uint64_t best_ns;         /* UINT64_MAX: none */
    uint64_t cutoff_ns;       /* only schedules below are looked for; UINT64_MAX: all */
    uint64_t pruned_bound_ns; /* least bound of what was pruned without a full search */
    RP_VEC(struct node) open; /* a heap, least bound first */

    struct node node; /* the current one */
    bool has_node, at_root;
    uint32_t n_separations, n_stalled; /* at this node; in a row without a gain */
    double last_value;                 /* the bound after the last gain, scaled */
    uint32_t n_interrupted;            /* solves of this LP in a row that hit their limit */
    uint64_t next_serial;
    double bound;           /* of the last solve, scaled */
    uint64_t allotted_work; /* by all calls of rp_branch_cut_run */
    struct rp_branch_cut_state state;
};

#endif
