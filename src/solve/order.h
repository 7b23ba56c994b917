/* order: a better order of first runs.
 *
 * Annealing over topological orders. An order is judged by the step without recomputation:
 * the sum over its ops of the bytes above the limit. Where that reaches 0 keep-all fits;
 * elsewhere it leaves the least for recomputation to do. A move takes one op to another
 * place between what it reads and what reads it; only the steps in between change.
 *
 * Ops that run once only (side effects, unseeded randomness) keep their order among
 * themselves.
 */
#ifndef RP_SOLVE_ORDER_H
#define RP_SOLVE_ORDER_H

#include <stdbool.h>
#include <stdint.h>

#include "solve/problem.h"

struct rp_order_options {
    uint64_t seed;
    uint64_t work;                /* limit: about ten nanoseconds each */
    bool (*stop)(void *stop_arg); /* asked now and then: true ends the search */
    void *stop_arg;
};

/* An order of the problem's ops (places in its own order, which the search begins with)
 * with less overflow into `order`; false if none was found. A problem in the graph's order.
 */
bool rp_order_search(const struct rp_problem *p, const struct rp_order_options *o,
                     uint32_t *order);

#endif
