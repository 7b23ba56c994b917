/* plan: what to run, free and copy, in which order and at which address, and what the
 * planner claims of it. The file format is "remat-plan" version 2; version 1 is read too
 * (docs/formats.md).
 *
 * Invariants: a plan that was read is well-formed (types, keys). Whether it is valid for a
 * graph is decided by verify/ alone.
 *
 * Units: bytes and nanoseconds. Ops and tensors are named by their index in the graph.
 * Ownership: a plan owns all it points to. Its owner ends it with rp_plan_fini.
 * Errors: RP_INPUT names the file, the place in it and the rule; RP_ENV: the file cannot be
 * read or written.
 * Threads: any number of threads may read a plan that none writes.
 */
#ifndef RP_MODEL_PLAN_H
#define RP_MODEL_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"
#include "base/status.h"
#include "model/bound_scope.h"

#define RP_NO_ADDRESS UINT64_MAX /* JSON null, or the key is absent */

struct json_t;

enum rp_step_kind { RP_RUN, RP_FREE, RP_SWAP_OUT, RP_SWAP_IN };

struct rp_step {
    enum rp_step_kind kind;
    uint32_t id; /* RUN: op; otherwise: tensor */
    /* RUN: workspace_at, SWAP_OUT: host_at, SWAP_IN: at; otherwise RP_NO_ADDRESS. */
    uint64_t address;
    uint32_t at;   /* RUN: index in plan->at of its first output's address */
    uint32_t n_at; /* RUN: how many addresses */
    bool has_at;   /* RUN: the step has "at"; if false, n_at is 0 */
};

/* What lower_bound_ns is. NONE: the sum of all op times. BOUNDED: more than that. OPTIMAL:
 * the plan's own time. */
enum rp_proof { RP_PROOF_NONE, RP_PROOF_BOUNDED, RP_PROOF_OPTIMAL };
extern const char *const rp_proof_word[3];

struct rp_claims {
    uint64_t time_ns, baseline_time_ns, recompute_ns, stall_ns, peak_bytes, lower_bound_ns;
    enum rp_proof proof;
    struct rp_bound_scope bound_for;
};

/* A source whose content lies on the host when the step begins and when it ends. */
struct rp_plan_home {
    uint32_t tensor;
    uint64_t host_at; /* RP_NO_ADDRESS in a plan without addresses */
};

/* time = baseline + recompute + stall + tail: how long the copies go on after the last op.
 * The claims are true. */
static inline uint64_t rp_claims_tail_ns(const struct rp_claims *c) {
    return c->time_ns - c->baseline_time_ns - c->recompute_ns - c->stall_ns;
}

struct rp_plan {
    char *graph_name, *graph_sha256;
    uint64_t budget_bytes; /* for sources and arena together */
    bool addressed;        /* steps have addresses */
    uint64_t arena_bytes;  /* of the device; without addresses the peak of the sum */
    uint64_t host_bytes;   /* of all host copies together */
    /* It was read from a file of version 1: bound_for is what that version can have meant,
     * and arena_bytes and host_bytes may be more than what is used. */
    bool version_1;
    RP_VEC(struct rp_plan_home) homes;
    RP_VEC(struct rp_step) steps;
    RP_VEC(uint64_t) at; /* of the outputs of all runs; RP_NO_ADDRESS: no new storage */
    struct rp_claims claims;
    struct json_t *notes; /* a free-form JSON object, or NULL */
};

/* Reads a file ("-": standard input), or text in memory (`file` names it in messages). The
 * caller owns `p` on RP_OK; otherwise it is empty. */
rp_rc rp_plan_load(const char *path, struct rp_plan *p, struct rp_err *err);
rp_rc rp_plan_parse(const char *text, size_t len, const char *file, struct rp_plan *p,
                    struct rp_err *err);

/* The text of the file. The same plan gives the same bytes. The caller frees *text. */
void rp_plan_dump(const struct rp_plan *p, char **text, size_t *len);

/* Writes that text to a file ("-": standard output), whole or not at all. */
rp_rc rp_plan_save(const struct rp_plan *p, const char *path, struct rp_err *err);

/* The bytes of the sources that stay on the device under a valid plan. */
uint64_t rp_plan_fixed_bytes(const struct rp_plan *p, const struct rp_graph *g);

void rp_plan_fini(struct rp_plan *p); /* safe on an empty or zeroed plan */

#endif
