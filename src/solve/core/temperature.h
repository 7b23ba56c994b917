/* temperature: the cooling schedule of simulated annealing (Kirkpatrick, Gelatt and Vecchi,
 * "Optimization by simulated annealing", Science 220, 1983), and the price of overflow.
 *
 * A move that makes the cost rise by d is taken with probability exp(-d / temperature). The
 * cost is a time in ns + price * overflow, where overflow is what is above the memory
 * limit, summed over the solution. The price is a Lagrange multiplier that is found on the
 * way: it rises while there is overflow and falls while there is none, so that a search
 * passes through solutions that do not fit and ends in those that do.
 *
 * local/anneal.c and order/anneal_order.c use it during a run. portfolio.c and placement.c
 * choose the first temperature of each run.
 *
 * Not thread-safe: one object, one thread.
 */
#ifndef RP_SOLVE_CORE_TEMPERATURE_H
#define RP_SOLVE_CORE_TEMPERATURE_H

#include <stdint.h>

struct rp_temperature {
    double initial_ns;
    double final_share; /* the last temperature as a share of the first */
    double now_ns;
    double price;    /* ns per byte of overflow */
    double progress; /* share of the work done at the last update */
};

/* The first temperature of a run, in units of the mean op time. `share` is its work as a
 * share of what one run can usefully do. A run with little work has to be greedy. */
double rp_initial_temperature(double share);

/* `price` is the first price. Call rp_temperature_update before now_ns is used. */
void rp_temperature_init(struct rp_temperature *t, double initial_ns, double final_share,
                         double price);
/* Sets temperature and price when `progress` of the work, 0 to 1, is done. */
void rp_temperature_update(struct rp_temperature *t, double progress, double overflow);
/* Draws a random number, and returns the largest rise of the cost that is accepted with it.
 * To be called before a move is evaluated: the evaluation can stop once the rise is larger.
 */
double rp_temperature_max_rise(const struct rp_temperature *t, uint64_t *random);

#endif
