/* source_stays: when sources that live on the host are on the device. A policy chooses the
 * stays; together with the steps of the ops they become the steps of a plan.
 *
 * Positions count the runs of the steps from 0; the number of runs is the end of the step.
 * A stay begins with a swap-in, before the run at `trigger`, or at a later one if there is
 * no room before, but at the latest before the run at `first`. After the run at `out` the
 * source is copied out, if `out` is not RP_NONE. After `last` and `out` it is freed: at
 * once if its host copy is current. Else when the copy out has ended, or when something
 * else needs the room, and the compute queue waits for the copy.
 *
 * Not thread-safe: one recorder, one thread.
 */
#ifndef RP_POLICY_SOURCE_STAYS_H
#define RP_POLICY_SOURCE_STAYS_H

#include "policy/recorder.h"

struct rp_source_stay {
    uint32_t source; /* tensor of the graph */
    uint32_t trigger, first, last, out;
};

struct rp_source_stays {
    bool *on_host; /* per tensor of the graph: it is a source that lives on the host */
    RP_VEC(struct rp_source_stay) list; /* of one source in order; they do not overlap */
};

void rp_source_stays_init(struct rp_source_stays *s, const struct rp_graph *g);
void rp_source_stays_fini(struct rp_source_stays *s);

/* Clears the recorder. Then appends `steps`, which are runs and frees numbered as in the
 * graph, with the stays. limit_bytes is for all but the sources that stay on the device.
 * Sorts the list by trigger and first use. */
void rp_source_stays_record(struct rp_source_stays *s, const struct rp_plan *steps,
                            uint64_t limit_bytes, struct rp_recorder *r);

#endif
