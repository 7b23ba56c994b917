/* segments: schedules that keep what crosses some cuts of the forward phase and make the
 * rest again when the backward phase comes to it. What Chen's and Griewank's methods share.
 */
#ifndef RP_POLICY_SEGMENTS_H
#define RP_POLICY_SEGMENTS_H

#include "policy/phases.h"
#include "solve/core/schedule.h"

struct rp_segmented {
    const struct rp_instance *p;
    uint32_t n_forward;
    const struct rp_segments *cuts;
    uint32_t *segment_of; /* per op: its segment; the backward phase has cuts->n */
    uint32_t *turn;       /* per segment: the first stage that needs what was made and last
                             read in it; n_ops: none does */
    uint32_t *reach;      /* per tensor: the last need of it or of anything that forward ops
                             make of it */
};

void rp_segmented_init(const struct rp_instance *p, uint32_t n_forward,
                       const struct rp_segments *cuts, struct rp_segmented *s);
void rp_segmented_fini(struct rp_segmented *s);

/* The schedule that holds every forward tensor over its forward uses and, from its
 * segment's turn (or its own first use, if that is earlier) on, to its last need. What may
 * not be made again is held throughout, and so is all of the backward phase. */
void rp_segmented_base(const struct rp_segmented *s, struct rp_schedule *to);

/* Holds what crosses the end of segment k over rows first .. last, as far as it is made by
 * then. */
void rp_segmented_hold(const struct rp_segmented *s, struct rp_schedule *to, uint32_t k,
                       uint32_t first, uint32_t last);

#endif
