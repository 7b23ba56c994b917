/* verify_report: what `verify` found, and how it is printed. Not thread-safe: one report,
 * one thread. */
#ifndef RP_CMD_VERIFY_REPORT_H
#define RP_CMD_VERIFY_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "cmd/plan_pair.h"
#include "emit/ref_replay.h"
#include "verify/certificate/certificate_claim.h"
#include "verify/verifier.h"

/* How far the replay goes. Both ref and cuda include hash. */
enum rp_replay_kind {
    RP_REPLAY_NONE,
    RP_REPLAY_HASH,
    RP_REPLAY_REF,
    RP_REPLAY_CUDA,
    RP_N_REPLAYS
};
extern const char *const rp_replay_word[RP_N_REPLAYS]; /* arguments of --replay */

struct rp_verify_report {
    const char *graph_path, *plan_path;
    struct rp_pair pair;
    struct rp_verdict verdict;
    enum rp_replay_kind replay; /* requested */
    uint32_t n_steps;           /* of training, for ref and cuda; 0: as many as needed */
    bool replayed;              /* `hash` is filled in */
    struct rp_replay hash;
    struct rp_ref_replay ref; /* of RP_REPLAY_REF */
    char *cuda;               /* of RP_REPLAY_CUDA: the program's JSON, or NULL; owned */
    const char *certificate_path; /* or NULL: none is checked */
    struct rp_certificate certificate;
    struct rp_certified_bound support;
    const char *unsupported; /* why the certificate does not support the bound, or NULL */
};

/* For a valid plan, even if its certificate does not support its bound. */
void rp_verify_report_valid(const struct rp_verify_report *r, bool json, FILE *f);
void rp_verify_report_rejected(const struct rp_verify_report *r, const char *reason,
                               bool json, FILE *f);

#endif
