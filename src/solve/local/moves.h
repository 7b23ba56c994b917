/* moves: what the search may do to a schedule, for anneal.c. moves_hold.c has the moves
 * over S, moves_swap.c those over I. A move is a few flips (incremental.h) after
 * rp_incremental_begin; it is false if the random look found nothing to do.
 */
#ifndef RP_SOLVE_LOCAL_MOVES_H
#define RP_SOLVE_LOCAL_MOVES_H

#include <stddef.h>

#include "solve/local/anneal.h"
#include "solve/local/incremental.h"

struct rp_anneal {
    struct rp_incremental s;
    const struct rp_instance *p;
    uint64_t random;
    struct { /* flips since the best schedule; unused once that has been stored */
        struct rp_flip *at;
        size_t n, cap;
    } journal;
    bool best_stored;
    double price;       /* ns per byte of overflow, summed over stages */
    double temperature; /* ns */
    double hot, cold;   /* its first and last values */
    double progress;    /* share of the work done when they were last set */
    double best_time, best_over;
};

/* xorshift64*: Vigna, "An experimental exploration of Marsaglia's xorshift generators". */
static inline uint64_t rp_next_random(struct rp_anneal *a) {
    a->random ^= a->random >> 12;
    a->random ^= a->random << 25;
    a->random ^= a->random >> 27;
    return a->random * 2685821657736338717u;
}

static inline uint32_t rp_below(struct rp_anneal *a, uint32_t n) {
    return (uint32_t)((rp_next_random(a) >> 32) * n >> 32);
}

static inline double rp_unit(struct rp_anneal *a) {
    return (double)(rp_next_random(a) >> 11) * 0x1p-53;
}

/* One random move. */
bool rp_propose(struct rp_anneal *a);

/* ---- moves_hold.c, for moves_swap.c ---- */

/* The gap of tensor x around row t: rows between two touches. False if there is none. */
bool rp_find_gap(const struct rp_anneal *a, uint32_t x, uint32_t t, uint32_t *first,
                 uint32_t *last);
/* A tensor that is made again: *t the stage, RP_NONE if the random look finds none. */
uint32_t rp_random_remake(struct rp_anneal *a, uint32_t *t);
/* For what the run of op j in stage t would have to make first: by chance hold it, or leave
 * it to be made, and so on for its own inputs. */
void rp_provide_inputs(struct rp_anneal *a, uint32_t j, uint32_t t, int depth);

/* ---- moves_swap.c, for moves_hold.c ---- */

bool rp_swappable(const struct rp_anneal *a, uint32_t x);
/* Swaps x over its gap, rows first..last, which stage `last` needs: x stays until it is
 * copied out, and comes back as late as seems early enough. */
bool rp_swap_gap(struct rp_anneal *a, uint32_t x, uint32_t first, uint32_t last);
/* Takes back the swaps of x in rows first..last. */
void rp_undo_swap_ins(struct rp_anneal *a, uint32_t x, uint32_t first, uint32_t last);
bool rp_propose_swap(struct rp_anneal *a);

#endif
