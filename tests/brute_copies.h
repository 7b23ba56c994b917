/* brute_copies: solves the planning problem with copies by trying all step sequences: all
 * orders of runs, frees, swap-outs and swap-ins that docs/formats.md allows. The first runs
 * are in the graph's order, or in any in which ops that may run only once keep theirs. It
 * reads the graph itself and shares nothing with src/solve. Sources that may live on the
 * host are tried in both places.
 *
 * Bytes are not rounded. Memory figures do not include sources that live on the device;
 * those that may live on the host count as such. So the limit is below 0, modulo 2^64, if
 * some of them cannot stay.
 */
#ifndef RP_TESTS_BRUTE_COPIES_H
#define RP_TESTS_BRUTE_COPIES_H

#include <stdbool.h>
#include <stdint.h>

#include "model/graph.h"

enum { RP_BRUTE_COPIED = 7 }; /* the largest number of tensors that may be copied */

struct rp_brute_copies {
    uint64_t limit_bytes, host_limit_bytes;
    bool recompute, swap; /* allowed */
    bool any_order;       /* of first runs */
    uint32_t max_states;  /* the search gives up beyond this many */
};

enum rp_brute_result { RP_BRUTE_FOUND, RP_BRUTE_NONE, RP_BRUTE_GAVE_UP };

/* The least time of all valid step sequences. */
enum rp_brute_result rp_brute_copies_best(const struct rp_graph *g,
                                          const struct rp_brute_copies *o,
                                          uint64_t *time_ns);

#endif
