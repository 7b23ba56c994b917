/* columns: the 0/1 quantities that a certificate's rows speak of, and their prices.
 *
 *   R[t][j] = 1: op j runs in stage t.   S[t][x] = 1: tensor x is held as stage t begins.
 *
 * Stage t is what a plan does after the first run of the op at place t - 1, up to and with
 * that of the op at place t; or a stage has several of these first runs. Some quantities
 * can be taken as 0 or 1, or as equal to another, because some fastest plan has them so;
 * docs/certificate.md proves it, rules (A) to (E). Worked out from the graph alone; the
 * planner's own reductions are not used.
 *
 * Ops and tensors are the graph's; stages and places count from 0.
 */
#ifndef RP_VERIFY_LP_VARIABLES_H
#define RP_VERIFY_LP_VARIABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/graph.h"

struct rp_price { /* of one quantity: what the rows say of it */
    uint64_t key; /* of R or S and its indices; 0 is a free place in the table */
    __int128 sum;
};

struct rp_lp_variables {
    const struct rp_graph *g; /* borrowed */
    uint32_t n_stages;
    uint32_t *place;                /* per op: which of the first runs is its own */
    uint32_t *stage;                /* per op: the stage of its first run */
    uint32_t *last_place, *last_op; /* per stage: of the first run that ends it */
    uint32_t *last_run;             /* per op: no later stage runs it */
    uint32_t *last_hold;            /* per tensor: no later stage begins with it */
    uint32_t *held_until; /* per tensor: up to here all stages after its making do */
    /* Per tensor x, from reader_start[x] + x on, for its maker and each reader by place:
     * the first stage that it may run in, and the last in which it or one before it may. */
    uint32_t *touch_first, *touch_last;
    struct rp_price *table; /* by key, open addressing */
    size_t n, room;         /* room is a power of two */
    __int128 constant;      /* what the rows say of quantities that are 1 */
};

/* order[i] is the op at place i: each op once, after those it reads from. ends: the places
 * that end the n_stages stages, ascending, the last one n_ops - 1; NULL: all of them. */
void rp_lp_variables_init(struct rp_lp_variables *c, const struct rp_graph *g,
                          const uint32_t *order, const uint32_t *ends, uint32_t n_stages);
void rp_lp_variables_fini(struct rp_lp_variables *c); /* safe on a zeroed one */

/* Adds to the price of R[t][j] (t < n_stages) or S[t][x] (t <= n_stages; x no source).
 * False if the sum passes 127 bits. */
bool rp_lp_variables_run(struct rp_lp_variables *c, uint32_t t, uint32_t j,
                         __int128 amount);
bool rp_lp_variables_hold(struct rp_lp_variables *c, uint32_t t, uint32_t x,
                          __int128 amount);

/* Which quantity R[t][j] or S[t][x] is: a number of its own, or one of these. */
#define RP_QUANTITY_ZERO 0
#define RP_QUANTITY_ONE 1
uint64_t rp_lp_variables_run_key(const struct rp_lp_variables *c, uint32_t t, uint32_t j);
uint64_t rp_lp_variables_hold_key(const struct rp_lp_variables *c, uint32_t t, uint32_t x);

/* May op j run in stage t? */
bool rp_lp_variables_may_run(const struct rp_lp_variables *c, uint32_t t, uint32_t j);

/* The least that all quantities cost: sum of time + constant + sum over quantities of
 * min(0, time + price), with times in units of 2^-scale_log2 ns (at most 62). False if it
 * passes 127 bits. */
bool rp_lp_variables_min(const struct rp_lp_variables *c, unsigned scale_log2,
                         __int128 *least);

#endif
