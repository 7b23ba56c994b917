/* lp_variables: the 0/1 variables of a certificate's rows, and what the rows sum to for
 * each.
 *
 *   R[t][j] = 1: op j runs in stage t.   S[t][x] = 1: tensor x is held as stage t begins.
 *
 * The position of an op is its place in the order of first runs. A stage ends with a first
 * run: with the one at position t, or, if a stage has several first runs, with the last of
 * them. It begins where the stage before it ends. Some variables can be fixed to 0 or 1, or
 * equated with another, because some fastest plan has these values. Rules (A) to (F) of
 * docs/certificate.md say which, and prove it. They are applied to the graph alone, without
 * the planner's own reductions.
 *
 * Ops and tensors are the graph's. Stages and positions count from 0. Not thread-safe: one
 * object, one thread.
 */
#ifndef RP_VERIFY_LP_VARIABLES_H
#define RP_VERIFY_LP_VARIABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/graph.h"

struct rp_lp_variable {
    uint64_t key;     /* of R or S and its indices; 0: a free entry of the table */
    __int128 row_sum; /* over all rows: multiplier * coefficient; (A'y) in the document */
};

struct rp_lp_variables {
    const struct rp_graph *g; /* borrowed */
    uint32_t n_stages;
    uint32_t *position;                /* per op: of its first run */
    uint32_t *stage;                   /* per op: of its first run */
    uint32_t *last_position, *last_op; /* per stage: of the first run that ends it */
    uint32_t *last_run;                /* per op: the last stage that may run it */
    uint32_t *last_hold;  /* per tensor: the last stage that may begin with it */
    uint32_t *held_until; /* per tensor: held in all stages from its making to this one */
    /* For each tensor x, from index reader_start[x] + x on: one entry for its maker, then
     * one for each reader, by position. touch_first is the first stage in which that op may
     * run. touch_last is the last stage in which that op, or one of an earlier entry, may
     * run. */
    uint32_t *touch_first, *touch_last;
    struct rp_lp_variable *table; /* by key, open addressing */
    size_t n, capacity;           /* of the table; the capacity is a power of two */
    __int128 constant;            /* the row sum of all variables that are 1 */
};

/* order[i] is the op at position i: each op once, after those it reads from. `ends` are the
 * positions that end the n_stages stages, ascending, the last one n_ops - 1; NULL: each one
 * ends a stage. `g` must outlive *c. */
void rp_lp_variables_init(struct rp_lp_variables *c, const struct rp_graph *g,
                          const uint32_t *order, const uint32_t *ends, uint32_t n_stages);
void rp_lp_variables_fini(struct rp_lp_variables *c); /* safe on a zeroed one */

/* Adds to the row sum of R[t][j] (t < n_stages) or S[t][x] (t <= n_stages; x no source).
 * False if the sum passes 127 bits. */
bool rp_lp_variables_add_run(struct rp_lp_variables *c, uint32_t t, uint32_t j,
                             __int128 amount);
bool rp_lp_variables_add_hold(struct rp_lp_variables *c, uint32_t t, uint32_t x,
                              __int128 amount);

/* Which variable R[t][j] or S[t][x] is: a number of its own, or one of these constants. */
#define RP_VARIABLE_ZERO 0
#define RP_VARIABLE_ONE 1
uint64_t rp_lp_variables_run_key(const struct rp_lp_variables *c, uint32_t t, uint32_t j);
uint64_t rp_lp_variables_hold_key(const struct rp_lp_variables *c, uint32_t t, uint32_t x);

/* May op j run in stage t? */
bool rp_lp_variables_may_run(const struct rp_lp_variables *c, uint32_t t, uint32_t j);

/* The smallest cost over all values of the variables: sum of all op times + constant + sum
 * over variables of min(0, time + row_sum), where the time of an S is 0. In units of
 * 2^-scale_log2 ns, scale_log2 <= 62. False if it passes 127 bits. */
bool rp_lp_variables_min_cost(const struct rp_lp_variables *c, unsigned scale_log2,
                              __int128 *cost);

#endif
