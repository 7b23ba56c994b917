/* keep-all: every op runs once, in order, and each tensor is freed after its last use. This
 * is what a framework does by itself, and the time that all others are measured against. */
#include "policy/policy.h"

static void record(const struct rp_instance *p, const struct rp_policy_options *o,
                   struct rp_recorder *r) {
    (void)p;
    (void)o;
    rp_recorder_keep_all(r);
}

const struct rp_policy rp_policy_keep_all = {
    .name = "keep-all",
    .summary = "every op once, nothing moved",
    .record = record,
};
