/* source_rule: what zero-offload, layer-stream and offload-state share: parameters and
 * optimizer state wait on the host, and come to the device by a fixed rule for each use.
 *
 * The sources that a rule streams live on the host. The runs are divided into units. All
 * streamed sources that a unit uses come in together, when the unit `window` units earlier
 * begins, and leave after the unit. Each is copied out after its update. Other sources stay
 * on the device if their home allows it. If it does not, they come in as the step begins,
 * and leave after their last use.
 *
 * The frameworks pair this with activation checkpointing, so `checkpoint` chooses between
 * keeping all activations, the sqrt(n) segments of Chen et al. (chen.h), and the first of
 * the two that fits. A window that needs too much memory is halved until the plan fits.
 */
#ifndef RP_POLICY_SOURCE_RULE_H
#define RP_POLICY_SOURCE_RULE_H

#include "policy/policy.h"

enum rp_source_unit {
    RP_UNIT_UPDATE, /* an op that uses a streamed source */
    RP_UNIT_LAYER,  /* the ops of one layer, on the way forward or back */
    RP_UNIT_BUCKET  /* ops in a row that use streamed sources of `bucket_bytes` or more */
};

struct rp_source_rule {
    bool streams_parameters; /* beside optimizer state */
    enum rp_source_unit unit;
    uint64_t bucket_bytes; /* 0: all in one bucket */
    bool from_backward;    /* the first units' sources come in with the backward pass, not
                              as the step begins */
    bool out_together;     /* copied out as the unit ends, not right after each update */
};

/* A row of a policy's option table; `offset` is that of its checkpoint. */
#define RP_CHECKPOINT_OPTION(offset)                                                       \
    {                                                                                      \
        "checkpoint", RP_POLICY_CHOICE, "fit|none|sqrt",                                   \
            "recompute activations in sqrt(n) segments: to fit, never or always", offset,  \
            RP_CHECKPOINT_FIT                                                              \
    }

/* Records the whole step. */
void rp_source_rule_record(const struct rp_instance *p, const struct rp_policy_options *o,
                           const struct rp_source_rule *rule,
                           const struct rp_stream_options *stream, struct rp_recorder *r);

#endif
