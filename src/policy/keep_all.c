/* keep-all: every op once, in order, each tensor freed after its last use. What a framework
 * does by itself, and the time that all others are measured against. */
#include "policy/policy.h"

void rp_record_keep_all(const struct rp_instance *p, const struct rp_policy_options *o,
                        struct rp_recorder *t) {
    struct rp_schedule s;
    (void)o;
    rp_schedule_keep_all(p, &s);
    rp_recorder_schedule(t, &s);
    rp_schedule_fini(&s);
}
