/* offload-state: the plain rule of the frameworks: optimizer state is moved to the host
 * after the step, and reloaded in the backward pass before the updates (DeepSpeed's
 * offload_states and reload_states; Megatron Core's offloading of optimizer state).
 *
 * Interpretation: state lives on the host. It comes in from the start of the backward pass
 * on, in buckets of updates in a row; the next bucket comes in while one is used. A bucket
 * goes back when its last update has run. Parameters whose home is the host come in as the
 * step begins.
 */
#include <stddef.h>

#include "policy/source_rule.h"

#define AT(member) offsetof(struct rp_policy_options, offload_state.member)
static const struct rp_policy_option option_table[] = {
    {"bucket", RP_POLICY_NAT, "MIB",
     "reload the state of updates in a row in parts of MIB "
     "MiB or more; 0: all at once",
     AT(bucket_mib), 512},
    {"window", RP_POLICY_NAT, "N", "a bucket comes in N buckets ahead", AT(window), 1},
    RP_CHECKPOINT_OPTION(AT(checkpoint)),
    {0},
};

static void record(const struct rp_instance *p, const struct rp_policy_options *o,
                   struct rp_recorder *r) {
    const struct rp_source_rule rule = {.unit = RP_UNIT_BUCKET,
                                        .bucket_bytes = o->offload_state.bucket_mib << 20,
                                        .from_backward = true,
                                        .out_together = true};
    rp_source_rule_record(p, o, &rule, &o->offload_state, r);
}

const struct rp_policy rp_policy_offload_state = {
    .name = "offload-state",
    .summary = "optimizer state reloaded in the backward pass, in buckets",
    .record = record,
    .fits_budget = true,
    .makes_schedule = true,
    .may_recompute = true,
    .may_swap = true,
    .needs_swap = true,
    .moves_sources = true,
    .options = option_table,
};
