/* incremental_internal: the move in progress, for the sources of this folder alone.
 *
 * Not thread-safe: one state, one thread.
 */
#ifndef RP_SOLVE_INCREMENTAL_INCREMENTAL_INTERNAL_H
#define RP_SOLVE_INCREMENTAL_INCREMENTAL_INTERNAL_H

#include "solve/incremental/incremental_flip.h"
#include "solve/incremental/incremental_state.h"

enum { RP_MAX_FLIPS = 96, RP_MAX_DIRTY = 4 * RP_MAX_FLIPS };

/* A stage that the move changes in runs or shape, not only in bytes. */
struct rp_dirty_stage {
    uint32_t t;
    uint32_t first_run, n_runs; /* in move->runs; n_runs RP_NONE: not evaluated yet */
    double time_ns, over_bytes; /* as stage_ns and over_bytes of the state */
};

struct rp_incremental_move {
    struct rp_flip flips[RP_MAX_FLIPS];
    uint32_t n_flips;
    struct rp_dirty_stage dirty[RP_MAX_DIRTY];
    uint32_t n_dirty;
    uint32_t *dirty_of; /* per stage: 1 + its index in `dirty`, 0 if there is none */
    bool swaps_changed; /* some flip is one of I */
    struct rp_id_list runs;
    /* Working memory of incremental_stage.c. */
    uint64_t *op_bits;  /* all 0 between calls */
    uint32_t *last_use; /* per tensor */
};

static inline uint64_t rp_bit(uint32_t i) {
    return (uint64_t)1 << (i % 64);
}

#endif
