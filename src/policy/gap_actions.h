/* fates: what becomes of each tensor between two uses, and the steps that follow from it.
 *
 * A gap is what lies between a use of a tensor (or its making) and its next reader, in the
 * order of first runs. Gaps are numbered as the problem's `readers`: gap e ends with the
 * first run of op readers[e]. A policy fills in a fate a gap; rp_gap_actions_emit makes a
 * valid sequence of steps of any of them:
 *
 *   RP_KEEP     the tensor stays on the device.
 *   RP_REMAKE   it is freed, and made again just before the use, together with whatever
 *               its makers need that is not there (the closure).
 *   RP_SWAP     it is swapped out, freed, and swapped in at the start of stage trigger[e].
 *               Closures that need it before swap it in on the spot.
 *
 * A stage is as in solve/core/instance.h: closures, then the first run of its op.
 */
#ifndef RP_POLICY_GAP_ACTIONS_H
#define RP_POLICY_GAP_ACTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/recorder.h"
#include "solve/core/instance.h"

enum rp_gap_action { RP_KEEP, RP_REMAKE, RP_SWAP };

struct rp_gap_actions {
    uint8_t *fate;     /* per gap: enum rp_gap_action */
    uint32_t *trigger; /* per gap, SWAP: the stage that begins with the swap-in */
    uint32_t *out_at;  /* per tensor: the stage that begins with its swap-out */
    uint32_t *until; /* per tensor: held to the end of this stage for closures, though no op
                        reads it any more (0: freed after its last reader) */
    /* Per tensor: what a closure brings back in a gap stays until the next use; else it
     * goes again at the end of the stage. */
    bool *stays;
    /* The compute queue waits for a swap-out as soon as the gap begins. Else storage is
     * released when the copy is done, or when the budget is short, and then waited for. */
    bool prompt;
};

/* All KEEP; swap-outs right after the making; triggers at the use itself; all stay. */
void rp_gap_actions_init(const struct rp_instance *p, struct rp_gap_actions *f);
void rp_gap_actions_fini(struct rp_gap_actions *f);
void rp_gap_actions_copy(const struct rp_instance *p, struct rp_gap_actions *to,
                         const struct rp_gap_actions *from);

/* The op whose use begins gap e of tensor x: the reader before, or the producer. */
uint32_t rp_gap_begin(const struct rp_instance *p, uint32_t x, uint32_t e);

/* The first gap of x that ends in a stage >= t; reader_start[x + 1] if there is none. */
uint32_t rp_gap_ending_from(const struct rp_instance *p, uint32_t x, uint32_t t);

/* Steps into `t`, from the start. Fates that cannot be are read as KEEP: remaking what may
 * run once only, swapping without bandwidths, and swapping one output of an op of which
 * another is remade (its second run would meet the swap-in). stage_peak, if not NULL, gets
 * each stage's peak of bytes. */
void rp_gap_actions_emit(const struct rp_gap_actions *f, struct rp_recorder *t,
                         uint64_t *stage_peak);

/* As rp_gap_actions_emit, but swap-ins that are early where memory is short are put off
 * until it is there again; the triggers in `f` say so afterwards. */
void rp_gap_actions_emit_patient(struct rp_gap_actions *f, struct rp_recorder *t,
                                 uint64_t *stage_peak);

/* For each gap the first stage in which its tensor is needed: that of the reader, or of a
 * closure before it. What the fates are, but with all swap-ins as late as can be. */
void rp_gap_actions_needs(const struct rp_gap_actions *f, struct rp_recorder *t,
                          uint32_t *need);

/* The stage at whose start a copy of so many ns, ended by stage `use`, has to begin when
 * ops take their own time only; at least `first`. */
uint32_t rp_stage_before(const struct rp_instance *p, uint32_t use, uint64_t ns,
                         uint32_t first);

/* Gives every SWAP gap a trigger from which its copy, and all that follow on the queue, end
 * in time: the copies are packed backwards from the last need, on the clock of first runs.
 * need[e] as from rp_gap_actions_needs. */
void rp_gap_actions_schedule_ins(const struct rp_instance *p, struct rp_gap_actions *f,
                                 const uint32_t *need);

/* What it takes to make x again at the end of gap e: the time of all runs of the closure,
 * if the fates of other tensors stay what they are. UINT64_MAX if it cannot be. */
uint64_t rp_remake_ns(const struct rp_instance *p, const struct rp_gap_actions *f,
                      uint32_t x, uint32_t e);

/* The least k from 0 to n for which the tape that emit(arg, k) leaves is within the limit;
 * n if there is none. The tape is that of the result. */
uint32_t rp_min_that_fits(uint32_t n, void (*emit)(void *arg, uint32_t k), void *arg,
                          const struct rp_recorder *t);

/* True if the gap of x that ends with e, or the making that begins it, covers stage t: x is
 * not used there but would be held over it. */
bool rp_gap_covers(const struct rp_instance *p, uint32_t x, uint32_t e, uint32_t t);

/* Gaps from the forward to the backward phase: one a tensor at most. */
struct rp_gap {
    uint32_t x, e;
    uint32_t begin, use; /* stages */
    double key;          /* for sorting */
};
struct rp_gaps {
    struct rp_gap *at;
    size_t n, cap;
};
void rp_gaps_across(const struct rp_instance *p, uint32_t n_forward, struct rp_gaps *gaps);
void rp_gaps_sort(struct rp_gaps *gaps); /* by key, ascending; ties by place */

#endif
