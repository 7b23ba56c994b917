/* brute: the planning problem solved by trying everything, for the tests. Reads the graph
 * itself and simulates by its own rules; shares nothing with src/solve.
 *
 * Sets of tensors are bit masks over the tensors that ops make, in the order they are made
 * (the numbers of rp_instance). Bytes are not rounded; sources count in no memory figure.
 */
#ifndef RP_TESTS_BRUTE_H
#define RP_TESTS_BRUTE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/graph.h"

#define RP_BRUTE_TENSORS 9 /* the most that rp_brute_best takes */

/* One stage: `now` is on the device before it, `next` must be after it. False if it cannot
 * be done. */
bool rp_brute_stage(const struct rp_graph *g, uint32_t t, uint32_t now, uint32_t next,
                    uint64_t *time_ns, uint64_t *peak_bytes);

/* The least time of all schedules whose peak is at most limit_bytes; false if none is. */
bool rp_brute_best(const struct rp_graph *g, uint64_t limit_bytes, uint64_t *time_ns);

/* The same for programs that may run ops in any order, and as often as they like, between
 * two first runs; nothing runs after the last of these. */
bool rp_brute_free_best(const struct rp_graph *g, uint64_t limit_bytes, uint64_t *time_ns);

/* The least peak of all schedules. */
uint64_t rp_brute_floor(const struct rp_graph *g);

#endif
