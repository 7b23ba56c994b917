/* tree_core: what the files of the exact method share. Included by tree*.c alone.
 *
 * Columns of the LP: those of the formulation, then one sum for each op that may run again.
 */
#ifndef RP_SOLVE_MIP_MIP_INTERNAL_H
#define RP_SOLVE_MIP_MIP_INTERNAL_H

#include "solve/lp/separation.h"
#include "solve/lp/simplex_glpk.h"
#include "solve/mip/branch_cut.h"

/* low <= x[col] <= high, in one part of the tree. */
struct change {
    uint32_t col;
    uint32_t low, high;
};
struct changes {
    struct change *at;
    size_t n, cap;
};
struct node {
    uint64_t bound_ns;
    uint64_t serial; /* of two with the same bound, the newer is taken first */
    struct changes changes;
};

/* How much the bound rose for each unit a column was pushed, so far. */
struct history {
    double rise[2]; /* down, up */
    uint32_t n[2];
};

/* A formulation of what is not yet decided, and its LP. */
struct model {
    struct rp_formulation form;
    struct rp_separation cuts;
    struct rp_lp *lp;
    uint32_t n_base_rows;             /* the rows it began with; cuts come after: */
    struct rp_row_set pool;           /* those in the LP, in its order */
    uint32_t n_all;                   /* columns with sums */
    uint32_t *sum_of;                 /* per sum column: its op */
    uint32_t *low, *high;             /* per column: bounds that hold in the whole tree */
    uint32_t n_fixed;                 /* columns where they are equal */
    double *v, *reduced;              /* at the vertex of the last finished solve */
    double *root_reduced, root_bound; /* the best at the root; NULL before the first */
    struct history *history;          /* per column */
};

struct rp_branch_cut {
    const struct rp_instance *problem;
    struct rp_branch_cut_options options;
    struct model m;
    struct model whole; /* while m is a part of it made for a guess (branch_cut.h) */
    bool guessing;
    uint64_t step_ns; /* every schedule's time is a multiple of it */

    struct rp_schedule best;
    uint64_t best_ns;   /* UINT64_MAX: none */
    uint64_t guess_ns;  /* only schedules below are looked for now */
    uint64_t proven_ns; /* there is none below */
    uint64_t closed_ns; /* least bound of what was closed without a full search */
    struct {
        struct node *at;
        size_t n, cap;
    } open; /* a heap, least bound first */

    struct node here;
    bool has_here, at_root;
    uint32_t round, stalled; /* of cuts at this node */
    double last_value;
    uint32_t unfinished; /* solves of this LP that came to their limit */
    uint64_t serial;
    double bound; /* of the last solve, scaled */
    struct rp_branch_cut_state state;
};

/* The least possible time of a schedule, given that it is not below `bound` (scaled). */
uint64_t rp_branch_cut_bound_ns(const struct rp_branch_cut *tree, double bound);
/* A bound from here on closes a node. */
uint64_t rp_branch_cut_target_ns(const struct rp_branch_cut *tree);
/* Something was closed that may have had a schedule of this time. */
void rp_branch_cut_close_at(struct rp_branch_cut *tree, uint64_t bound_ns);

/* ---- node_lp.c ---- */

void rp_branch_cut_lp_init(
    struct rp_branch_cut *tree); /* formulation and LP of the whole problem */
void rp_branch_cut_lp_fini(struct rp_branch_cut *tree);
/* Makes tree->m anew for the schedules below the target: without the columns that no such
 * schedule has away from where they are in the root's bound. All open nodes are void. With
 * `keep` the model it came from goes to tree->whole. */
void rp_branch_cut_rebuild(struct rp_branch_cut *tree, bool keep);
void rp_branch_cut_back_to_whole(struct rp_branch_cut *tree);
/* How many columns a target would fix. */
uint32_t rp_branch_cut_count_fixed(const struct rp_branch_cut *tree, uint64_t target_ns);
/* Solves for at most `pivots`; fills `bound` and, when finished, `v`. Counts the work. */
enum rp_lp_status rp_branch_cut_solve(struct rp_branch_cut *tree, uint64_t pivots);
/* Sets bounds of a column in this part of the tree. */
void rp_branch_cut_change(struct rp_branch_cut *tree, struct change c);
void rp_branch_cut_add_cuts(struct rp_branch_cut *tree, const struct rp_row_set *rows);
void rp_branch_cut_drop_slack_cuts(struct rp_branch_cut *tree); /* if there are many */
/* At the root: keeps the bound and reduced costs at hand if they are the best so far. */
void rp_branch_cut_note_root(struct rp_branch_cut *tree);
/* Fixes columns that no plan better than the best can have away from where they are in the
 * root's bound. */
void rp_branch_cut_fix_columns(struct rp_branch_cut *tree);
/* ---- branching.c ---- */

/* Chooses what to branch on at vertex v, by trial solves where there is no history. The
 * result's col is RP_NONE if nothing is fractional; low and high are those of the child to
 * be taken first, `other` gets the second child. *closed: trial solves closed this node, or
 * tightened it by rp_branch_cut_change (then col is RP_NONE and it must be solved again).
 */
enum rp_branch { RP_BRANCH_TWO, RP_BRANCH_NONE, RP_BRANCH_CLOSED, RP_BRANCH_TIGHTENED };
enum rp_branch rp_branch_cut_branch(struct rp_branch_cut *tree, struct change *first,
                                    struct change *second);
/* Notes what branching on `c` did to the bound (scaled). */
void rp_branch_cut_learn(struct rp_branch_cut *tree, const struct change *c, double value,
                         double rise);

#endif
