/* brute_copies: the planning problem with copies, solved by trying every program there is:
 * all orders of runs, frees, swap-outs and swap-ins that docs/formats.md allows, each op's
 * first run in the graph's order. Reads the graph itself; shares nothing with src/solve.
 *
 * Bytes are not rounded; sources count in no memory figure.
 */
#ifndef RP_TESTS_BRUTE_COPIES_H
#define RP_TESTS_BRUTE_COPIES_H

#include <stdbool.h>
#include <stdint.h>

#include "model/graph.h"

enum { RP_BRUTE_COPIED = 7 }; /* the most tensors that ops make, of a graph it takes */

struct rp_brute_copies {
    uint64_t limit_bytes, host_limit_bytes;
    bool recompute, swap; /* allowed */
    uint32_t max_states;  /* gives up beyond */
};

enum rp_brute_result { RP_BRUTE_FOUND, RP_BRUTE_NONE, RP_BRUTE_GAVE_UP };

/* The least time of all valid programs. */
enum rp_brute_result rp_brute_copies_best(const struct rp_graph *g,
                                          const struct rp_brute_copies *o,
                                          uint64_t *time_ns);

#endif
