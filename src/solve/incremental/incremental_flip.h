/* incremental_flip: the changes that moves consist of.
 *
 * A flip sets one tensor over a range of rows of S, or one entry of I. It changes the
 * schedule at once and marks the stages to evaluate: the two at the ends of the range, and
 * those inside in which the tensor is used. The others only gain or lose the tensor's
 * bytes.
 *
 * Not thread-safe: one state, one thread.
 */
#ifndef RP_SOLVE_INCREMENTAL_INCREMENTAL_FLIP_H
#define RP_SOLVE_INCREMENTAL_INCREMENTAL_FLIP_H

#include "solve/incremental/incremental_state.h"

/* Of S: rows first..last of x, all !value before. Of I (`swap_in`): stage first == last. */
struct rp_flip {
    uint32_t x, first, last;
    bool value, swap_in;
    double in_end_ns, out_end_ns; /* of removed copies, for undo */
};

void rp_incremental_begin(struct rp_incremental *s);

/* Sets rows first..last of x (producer[x] < first) to `value`; rows that have it already
 * are left alone, and so are all rows of a pinned tensor, those in which a version of a
 * source may not be held, and all of one that stays. No stage swaps in what it holds:
 * where `value` is true, swap-ins of x in these stages are removed. Sets s->infeasible, and
 * then does nothing, if the move has too many flips. */
void rp_incremental_flip(struct rp_incremental *s, uint32_t x, uint32_t first,
                         uint32_t last, bool value);
/* Sets I[t][x]. Where `value` is true S[t][x] must be 0, and x made before stage t and not
 * overwritten by then, else s->infeasible is set. */
void rp_incremental_flip_swap_in(struct rp_incremental *s, uint32_t x, uint32_t t,
                                 bool value);

/* Makes the source of version 0 x stay on the device, which its home allows, or leave it.
 * All its copies are removed. If it leaves, the caller adds those that are needed. */
void rp_incremental_flip_stay(struct rp_incremental *s, uint32_t x, bool value);

/* Sets I[t][x] = 0 for first <= t <= last. */
void rp_incremental_remove_swap_ins(struct rp_incremental *s, uint32_t x, uint32_t first,
                                    uint32_t last);

/* The flips of the move so far, each one a change: what had the value already is not among
 * them. Valid until the next begin. */
const struct rp_flip *rp_incremental_flips(const struct rp_incremental *s, uint32_t *n);

/* Undoes the move. */
void rp_incremental_undo(struct rp_incremental *s);

/* ---- for the sources of this folder ---- */

/* Makes a flip without evaluating anything. The same flip with the value negated undoes
 * it. */
void rp_incremental_apply_flip(struct rp_incremental *s, struct rp_flip *f);
/* The first row from t to `last` in which x is held, or is not; last + 1 if none is so. */
uint32_t rp_incremental_next_row(const struct rp_incremental *s, uint32_t x, uint32_t t,
                                 uint32_t last, bool held);
void rp_incremental_clear_dirty(struct rp_incremental *s);

#endif
