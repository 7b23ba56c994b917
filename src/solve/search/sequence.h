/* sequence: the turns that a search takes, in one fixed order for each graph.
 *
 * A round is a list of turns. The annealing runs of round 0 are short; those of each next
 * round are four times as long, until they are as long as is useful for the graph. Later
 * rounds differ in their seeds, and every second one has runs from the incumbent. Where
 * sources may live on the host, all annealing runs but the first of a round start from it.
 *
 * On graphs of MIN_ROUNDING_OPS and more, rounds have turns of LP rounding, which also
 * takes turns that do not suit a large graph. The first one comes before annealing has done
 * much.
 *
 * Which turns come depends on the graph, on whether plans may swap, and on whether sources
 * may live on the host. The time limit says where the sequence is cut. A search that may
 * not recompute leaves turns out, and these count as done. So
 *   - a search with a longer limit takes the turns of a shorter one, and then others;
 *   - a search that may swap takes the turns of one that may not recompute, beside its own.
 *     (The search without swaps has all the time for itself. It runs beside a search with
 *     swaps: narrower.h.)
 * A turn sees only what earlier turns of its own space have found, but those of the whole
 * space see everything (context.h). So each turn finds the same in either search.
 *
 * Not thread-safe: one object, one thread.
 */
#ifndef RP_SOLVE_SEARCH_SEQUENCE_H
#define RP_SOLVE_SEARCH_SEQUENCE_H

#include "solve/statistics.h"

/* What the plans that a turn looks for may do. */
enum rp_space_id { RP_WITHOUT_SWAPS, RP_WITHOUT_RECOMPUTE, RP_BOTH, RP_N_SPACES };

struct rp_turn {
    uint64_t k; /* its number, from 0; seeds depend on it */
    uint32_t round;
    enum rp_method method;
    enum rp_space_id space;
    bool from_incumbent; /* an annealing run does not start from keep-all */
    double seconds;      /* of a 2020s core, for the search */
    double run_seconds;  /* of an annealing run of its round */
    double begin;        /* the sum of `seconds` of all turns before it */
};

struct rp_sequence {
    uint32_t n_ops;
    bool may_swap, homes, beside;
    uint32_t round, row; /* of the next turn */
    uint64_t k;
    /* The sum of `seconds` of all turns so far, and what else was taken from their time. */
    double done;
};

/* may_swap: plans may. homes: sources may live on the host, so that nothing fits without
 * copies, and no turn looks for that. beside: a search without swaps runs beside this one,
 * so that no later turn looks for that. */
struct rp_sequence rp_sequence_begin(uint32_t n_ops, bool may_swap, bool homes,
                                     bool beside);

/* Is the first turn of LP rounding still to come, and ends before `limit`, in seconds? */
bool rp_sequence_will_round(const struct rp_sequence *s, double limit);

/* The next turn. False if it would pass `limit`, in seconds, or if there are no more. The
 * first one comes in any case. */
bool rp_sequence_next(struct rp_sequence *s, double limit, struct rp_turn *turn);

#endif
