/* segments: the forward phase cut into segments, and schedules that keep only what crosses
 * the cuts. The rest of a segment is recomputed when the backward phase comes to it. This
 * is what Chen's and Griewank's methods share.
 *
 * The literature speaks of layers in a chain. Here the forward phase can be cut before any
 * op. What crosses the cut are the tensors made before it and read by forward ops after it.
 * In a chain that is one tensor. In a network with branches, the chain's layer boundaries
 * become the cuts that fewer tensors cross than the cuts next to them.
 *
 * Not thread-safe: one object, one thread. Different objects may be used by different
 * threads.
 */
#ifndef RP_POLICY_SEGMENTS_H
#define RP_POLICY_SEGMENTS_H

#include <stdint.h>

#include "solve/core/instance.h"
#include "solve/core/schedule.h"

/* Segment k is ops end[k-1] .. end[k]-1, where end[-1] is 0 and end[n-1] the end of the
 * forward phase. */
struct rp_cuts {
    uint32_t *end;
    uint32_t n;
};

/* [i]: how many tensors cross the cut before op i, for i up to n_forward. The caller frees
 * it. */
uint32_t *rp_count_crossing(const struct rp_instance *p, uint32_t n_forward);

/* The finest sensible cuts: wherever no more tensors cross than one op earlier and one op
 * later, and the segment makes something to drop. The caller ends it with fini. */
void rp_cuts_init(const struct rp_instance *p, uint32_t n_forward, struct rp_cuts *cuts);
void rp_cuts_fini(struct rp_cuts *cuts);

struct rp_segments {
    const struct rp_instance *p; /* borrowed */
    uint32_t n_forward;
    const struct rp_cuts *cuts; /* borrowed */
    struct rp_stop *stop; /* once it hits, schedules are left unfinished; may be NULL */
    uint32_t *segment_of; /* per op; backward ops have cuts->n */
    /* Per segment: the first backward stage that reads a tensor made in it which does not
     * cross its end; n_ops if none does. Then the segment is recomputed. */
    uint32_t *backward_stage;
    /* Per tensor: the last need of it, or of anything that forward ops make of it. */
    uint32_t *last_derived_need;
};

/* `p` and `cuts` must outlive `s`. */
void rp_segments_init(const struct rp_instance *p, uint32_t n_forward,
                      const struct rp_cuts *cuts, struct rp_stop *stop,
                      struct rp_segments *s);
void rp_segments_fini(struct rp_segments *s);

/* Sets `to` to the schedule in which nothing is kept between the phases. It holds every
 * forward tensor over its forward uses. From its segment's backward stage on, or from its
 * own first backward use if that is earlier, it holds the tensor to its last need. What may
 * not be recomputed is held throughout, and so are tensors of the backward phase. */
void rp_segments_base(const struct rp_segments *s, struct rp_schedule *to);

/* Holds what crosses the end of segment k over rows first .. last, as far as it has been
 * made. */
void rp_segments_hold_cut(const struct rp_segments *s, struct rp_schedule *to, uint32_t k,
                          uint32_t first, uint32_t last);

#endif
