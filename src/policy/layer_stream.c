/* layer-stream: Rajbhandari, Ruwase, Rasley, Smith and He, "ZeRO-Infinity: Breaking the GPU
 * Memory Wall for Extreme Scale Deep Learning", SC 2021, arXiv 2104.07857, and CPU
 * offloading of PyTorch's FSDP (Zhao et al., "PyTorch FSDP", VLDB 2023, arXiv 2304.11277).
 *
 * Parameters and optimizer state live on the host. The parameters of a layer come in before
 * it runs, on the way forward and again on the way back, and are dropped after it. While a
 * layer runs, the parameters of the next ones are prefetched (ZeRO-Infinity, section 6.2;
 * FSDP's forward and backward prefetch).
 *
 * Interpretation: layers are those of network_layers.h. The state of a layer's updates
 * comes in with its parameters on the way back. What has been updated goes to the host
 * right away.
 */
#include <stddef.h>

#include "policy/source_rule.h"

#define AT(member) offsetof(struct rp_policy_options, layer_stream.member)
static const struct rp_policy_option option_table[] = {
    {"window", RP_POLICY_NAT, "N", "a layer's sources come in N layers ahead", AT(window),
     1},
    RP_CHECKPOINT_OPTION(AT(checkpoint)),
    {0},
};

static void record(const struct rp_instance *p, const struct rp_policy_options *o,
                   struct rp_recorder *r) {
    const struct rp_source_rule rule = {.streams_parameters = true, .unit = RP_UNIT_LAYER};
    rp_source_rule_record(p, o, &rule, &o->layer_stream, r);
}

const struct rp_policy rp_policy_layer_stream = {
    .name = "layer-stream",
    .summary = "parameters layer by layer, with prefetching (Rajbhandari et al. 2021)",
    .record = record,
    .fits_budget = true,
    .makes_schedule = true,
    .may_recompute = true,
    .may_swap = true,
    .needs_swap = true,
    .moves_sources = true,
    .options = option_table,
};
