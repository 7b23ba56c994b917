/* brute: solves the planning problem by trying everything, for the tests. It reads the
 * graph itself, simulates by its own rules, and shares nothing with src/solve.
 *
 * Sets of tensors are bit masks over the tensors that ops make, in the order in which they
 * are made (the numbers of rp_instance). Bytes are not rounded. Memory figures do not
 * include sources.
 */
#ifndef RP_TESTS_BRUTE_H
#define RP_TESTS_BRUTE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/graph.h"

#define RP_BRUTE_TENSORS 9 /* the largest number of tensors that rp_brute_best accepts */

/* When exactly the ops with a bit in `ran` have run, does op j find every source that it
 * touches after as many updates as in the graph? And may it run again then? */
bool rp_brute_finds_sources(const struct rp_graph *g, uint32_t ran, uint32_t j);
bool rp_brute_may_run_again(const struct rp_graph *g, uint32_t ran, uint32_t j);

/* Time and peak of one stage. `now` is on the device before it, and `next` must be after
 * it. False if that is impossible. */
bool rp_brute_stage(const struct rp_graph *g, uint32_t t, uint32_t now, uint32_t next,
                    uint64_t *time_ns, uint64_t *peak_bytes);

/* The least time of all schedules whose peak is at most limit_bytes; false if there is
 * none. */
bool rp_brute_best(const struct rp_graph *g, uint64_t limit_bytes, uint64_t *time_ns);

/* The same for step sequences that may run ops in any order, and as often as they like,
 * between two first runs. Nothing runs after the last first run. */
bool rp_brute_sequence_best(const struct rp_graph *g, uint64_t limit_bytes,
                            uint64_t *time_ns);

/* The least peak of all schedules. */
uint64_t rp_brute_floor(const struct rp_graph *g);

#endif
