/* sweep_budgets: which budgets a sweep plans, where the command line does not say.
 *
 * They are chosen in rounds. The first is an even grid. The others go where the curve
 * bends. Between two neighbouring points the curve lies in the rectangle that they span,
 * since time never rises with the budget. The largest rectangle is what is known least, so
 * it is split first (the box method of Hamacher, Pedersen and Ruzika, "Finding
 * representative systems for discrete bicriterion optimization problems", Operations
 * Research Letters 35, 2007).
 *
 * Thread-safe: there is no state. */
#ifndef RP_CMD_SWEEP_BUDGETS_H
#define RP_CMD_SWEEP_BUDGETS_H

#include <stddef.h>
#include <stdint.h>

enum { RP_SWEEP_ROUNDS = 4 };

/* A point that is planned. */
struct rp_known_point {
    uint64_t budget_bytes, time_ns; /* time_ns is 0: there is no plan */
};

/* How many of n_points (2 or more) a round has. The first has at least two. */
uint64_t rp_round_points(uint64_t n_points, uint32_t round);

/* Writes n budgets (2 or more) from low to high, evenly spaced, and returns how many
 * differ: fewer than n if high - low < n - 1. */
size_t rp_even_budgets(uint64_t low, uint64_t high, uint64_t n, uint64_t *budgets);

/* Writes up to n further budgets, ascending, between those of the n_points points, which
 * are planned and in any order. Fewer if nothing is left to split. Of a point without a
 * plan the time counts as twice as far above baseline_ns as that of the slowest plan. */
size_t rp_bend_budgets(const struct rp_known_point *points, size_t n_points,
                       uint64_t baseline_ns, uint64_t n, uint64_t *budgets);

#endif
