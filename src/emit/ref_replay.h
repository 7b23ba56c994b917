/* ref: a plan carried out with the reference kernels, and compared bit for bit with the
 * un-rematerialized step: `verify --replay ref`. */
#ifndef RP_EMIT_REF_REPLAY_H
#define RP_EMIT_REF_REPLAY_H

#include "emit/replay_tables.h"

struct rp_ref_replay {
    uint64_t n_checked, arena_bytes, host_bytes;
    uint32_t n_orders, n_kept;
};

/* On threads that run freely; before that, with `extremes` and copies in the plan, with all
 * copies as early and as late as they may be. RP_NO: "replay, copies first: steps[3]: ..."
 * names the first wrong tensor. */
rp_rc rp_ref_replay(const struct rp_replay_tables *t, bool extremes,
                    struct rp_ref_replay *r, struct rp_err *err);

#endif
