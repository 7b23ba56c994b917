/* lp_variables: the 0/1 variables of a certificate's rows, and what the rows sum to for
 * each.
 *
 *   R[t][j] = 1: op j runs in stage t.   S[t][x] = 1: tensor x is held as stage t begins.
 *
 * Positions are those of the ops in the order of their first runs. Stage t is what a plan
 * does after the first run at position t - 1, up to and with that at position t; or a stage
 * has several of these first runs. Some variables can be taken as 0 or 1, or as equal to
 * another, because some fastest plan has them so; docs/certificate.md proves it, rules (A)
 * to (F). They are worked out from the graph alone, without the planner's own reductions.
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
    uint32_t *last_run;                /* per op: no later stage runs it */
    uint32_t *last_hold;               /* per tensor: no later stage begins with it */
    uint32_t *held_until; /* per tensor: all stages from its making up to here hold it */
    /* Per tensor x, from reader_start[x] + x on, for its maker and then each reader by
     * position: the first stage that it may run in, and the last stage in which it or one
     * of those before it may run. */
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

/* The least cost over all values of the variables: sum of all op times + constant + sum
 * over variables of min(0, time + row_sum), where the time of an S is 0. In units of
 * 2^-scale_log2 ns, scale_log2 <= 62. False if it passes 127 bits. */
bool rp_lp_variables_min_cost(const struct rp_lp_variables *c, unsigned scale_log2,
                              __int128 *cost);

#endif
