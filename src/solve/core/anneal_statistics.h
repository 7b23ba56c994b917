/* anneal_statistics: what an annealing search counts. Plain data without pointers: it may
 * be copied, and sent to another process, as it is.
 *
 * Moves are counted by their row in the search's table of moves. Moves that were neither
 * infeasible nor accepted were rejected: they cost too much at the temperature.
 *
 * Not thread-safe: one object, one thread.
 */
#ifndef RP_SOLVE_CORE_ANNEAL_STATISTICS_H
#define RP_SOLVE_CORE_ANNEAL_STATISTICS_H

#include <stdint.h>

enum { RP_MAX_MOVES = 24 }; /* rows a table of moves may have */

struct rp_move_statistics {
    uint64_t proposed;
    uint64_t infeasible; /* nothing was found to do, or it cannot be done */
    uint64_t accepted;
    uint64_t improving; /* of these: the cost fell */
};

struct rp_anneal_statistics {
    uint64_t runs;       /* of annealing, each from its own start */
    uint64_t work;       /* in the unit of the search's work limit */
    uint64_t uphill;     /* accepted moves by which the cost rose */
    uint64_t incumbents; /* times that a solution was the best so far of its search */
    uint64_t repaired;   /* runs whose result was made to fit */
    struct rp_move_statistics moves[RP_MAX_MOVES];
};

/* Adds every counter of `from` to that of `into`. */
void rp_anneal_statistics_add(struct rp_anneal_statistics *into,
                              const struct rp_anneal_statistics *from);
/* Counts an accepted move by which the cost rose by `rise_ns`. */
void rp_anneal_statistics_accept(struct rp_anneal_statistics *s, uint32_t row,
                                 double rise_ns);

#endif
