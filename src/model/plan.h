/* plan: what to run, free and move, in which order, at which address; and what the planner
 * claims of it. File format "remat-plan" version 1 (docs/formats.md).
 *
 * A plan that was read is well-formed (types, keys); whether it is valid for a graph is
 * decided by verify/ alone.
 */
#ifndef RP_MODEL_PLAN_H
#define RP_MODEL_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#define RP_NO_ADDRESS UINT64_MAX /* JSON null, or the key is absent */

struct json_t;

enum rp_step_kind { RP_RUN, RP_FREE, RP_SWAP_OUT, RP_SWAP_IN };

struct rp_step {
    enum rp_step_kind kind;
    uint32_t id; /* RUN: op; else: tensor */
    uint64_t
        address;   /* RUN: workspace_at, SWAP_OUT: host_at, SWAP_IN: at; else NO_ADDRESS */
    uint32_t at;   /* RUN: index in plan->at of its first output's address */
    uint32_t n_at; /* RUN: how many addresses; 0 and has_at == false without "at" */
    bool has_at;
};

enum rp_proof { RP_PROOF_NONE, RP_PROOF_BOUNDED, RP_PROOF_OPTIMAL };

struct rp_claims {
    uint64_t time_ns, baseline_time_ns, recompute_ns, stall_ns, peak_bytes, lower_bound_ns;
    enum rp_proof proof;
};

struct rp_plan {
    char *graph_name, *graph_sha256;
    uint64_t budget_bytes;
    bool addressed;
    uint64_t arena_bytes, host_bytes;
    struct {
        struct rp_step *at;
        size_t n, cap;
    } steps;
    struct { /* addresses of the outputs of all runs; RP_NO_ADDRESS is null */
        uint64_t *at;
        size_t n, cap;
    } at;
    struct rp_claims claims;
    struct json_t *notes; /* or NULL */
};

/* As for graphs: the caller owns `p` on RP_OK, otherwise it is empty. RP_INPUT names file,
 * place and rule. */
rp_rc rp_plan_load(const char *path, struct rp_plan *p, struct rp_err *err);
rp_rc rp_plan_parse(const char *text, size_t len, const char *file, struct rp_plan *p,
                    struct rp_err *err);
void rp_plan_dump(const struct rp_plan *p, char **text, size_t *len); /* caller frees */
rp_rc rp_plan_save(const struct rp_plan *p, const char *path, struct rp_err *err);
void rp_plan_fini(struct rp_plan *p); /* safe on an empty or zeroed plan */

extern const char *const rp_proof_word[3];

#endif
