/* knapsack: the 0-1 knapsack problem, solved by the dynamic program over sizes (Bellman,
 * "Dynamic Programming", 1957). Thread-safe: it writes only what it is given. */
#ifndef RP_POLICY_KNAPSACK_H
#define RP_POLICY_KNAPSACK_H

#include <stdbool.h>
#include <stdint.h>

/* Chooses the items with the most value whose sizes add up to at most `capacity`; of equal
 * choices one that leaves out later items. Values add up to less than 2^64. Takes time and
 * bits in the order of n * capacity. chosen has room for n. */
void rp_knapsack(uint32_t n, const uint32_t *size, const uint64_t *value, uint32_t capacity,
                 bool *chosen);

#endif
