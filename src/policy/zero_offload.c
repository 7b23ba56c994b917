/* zero-offload: Ren, Rajbhandari, Aminabadi, Ruwase, Yang, Zhang, Li and He, "ZeRO-Offload:
 * Democratizing Billion-Scale Model Training", USENIX ATC 2021, arXiv 2101.06840.
 *
 * Optimizer state (moments and f32 copies of the parameters) lives on the host; parameters
 * and activations are on the device (section 3).
 *
 * Interpretation: the paper updates the parameters on the CPU, so that gradients go to the
 * host and parameters come back. Here updates are ops of the device. So the state of one
 * update comes in while the one before it waits or runs, and goes back after it. Parameters
 * whose home is the host come in as the step begins.
 */
#include <stddef.h>

#include "policy/source_rule.h"

#define AT(member) offsetof(struct rp_policy_options, zero_offload.member)
static const struct rp_policy_option option_table[] = {
    {"window", RP_POLICY_NAT, "N", "the state of an update comes in N updates ahead",
     AT(window), 1},
    RP_CHECKPOINT_OPTION(AT(checkpoint)),
    {0},
};

static void record(const struct rp_instance *p, const struct rp_policy_options *o,
                   struct rp_recorder *r) {
    const struct rp_source_rule rule = {.unit = RP_UNIT_UPDATE, .from_backward = true};
    rp_source_rule_record(p, o, &rule, &o->zero_offload, r);
}

const struct rp_policy rp_policy_zero_offload = {
    .name = "zero-offload",
    .summary = "optimizer state on the host, in for each update (Ren et al. 2021)",
    .record = record,
    .fits_budget = true,
    .makes_schedule = true,
    .may_recompute = true,
    .may_swap = true,
    .needs_swap = true,
    .moves_sources = true,
    .options = option_table,
};
