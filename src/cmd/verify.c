/* verify: checks every rule and claim of a plan, then replays it. */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "cmd/commands.h"
#include "cmd/common.h"
#include "cmd/nearest.h"
#include "cmd/replay_cuda.h"
#include "cmd/verify_report.h"

static rp_rc load(struct rp_verify_report *r, struct rp_err *err) {
    rp_rc rc = rp_pair_load(r->graph_path, r->plan_path, &r->pair, err);
    if (rc == RP_OK && r->certificate_path != NULL)
        rc = rp_certificate_load(r->certificate_path, &r->certificate, err);
    return rc;
}

static rp_rc replay_kernels(struct rp_verify_report *r, struct rp_err *err) {
    struct rp_replay_tables tables = {0};
    rp_rc rc = RP_OK;
    if (r->replay == RP_REPLAY_CUDA)
        rc = rp_pair_check_cuda_alignment(&r->pair, err);
    if (rc == RP_OK)
        rc = rp_pair_tables(&r->pair, &tables, err);
    if (rc == RP_OK && r->replay == RP_REPLAY_CUDA)
        rc = rp_cuda_replay(&tables, r->n_steps, &r->cuda, err);
    else if (rc == RP_OK)
        rc = rp_ref_replay(&tables, r->n_steps, true, &r->ref, err);
    rp_replay_tables_fini(&tables);
    return rc;
}

/* RP_OK only if every check passed. */
static rp_rc check_plan(struct rp_verify_report *r, struct rp_err *err) {
    rp_rc rc = rp_verify(&r->pair.g, &r->pair.p, &r->verdict, err);
    if (rc != RP_OK || r->replay == RP_REPLAY_NONE)
        return rc;
    r->replayed = true;
    rc = rp_verify_replay(&r->pair.g, &r->pair.p, &r->hash, err);
    return rc == RP_OK && r->replay >= RP_REPLAY_REF ? replay_kernels(r, err) : rc;
}

/* Checks that the certificate supports the bound of a valid plan. */
static rp_rc check_certificate(struct rp_verify_report *r, struct rp_err *err) {
    rp_rc rc = rp_certificate_check_plan(&r->certificate, &r->pair.g, &r->pair.p,
                                         &r->support, err);
    r->unsupported = rc == RP_NO ? err->msg : NULL;
    return rc;
}

static rp_rc verify_and_report(struct rp_verify_report *r, bool json, struct rp_err *err) {
    rp_rc rc = check_plan(r, err);
    if (rc == RP_NO) {
        rp_verify_report_rejected(r, err->msg, json, stdout);
        return rc;
    }
    if (rc == RP_OK && r->certificate_path != NULL)
        rc = check_certificate(r, err);
    if (rc == RP_NO || (rc == RP_OK && (json || rp_log_level() >= 0)))
        rp_verify_report_valid(r, json, stdout);
    return rc;
}

static const char *replay_name(size_t i) {
    return RP_REPLAY_HASH + i < RP_N_REPLAYS ? rp_replay_word[RP_REPLAY_HASH + i] : NULL;
}

static rp_rc parse_replay(const char *word, bool no_replay, enum rp_replay_kind *kind,
                          struct rp_err *err) {
    size_t chosen = 0;
    *kind = no_replay ? RP_REPLAY_NONE : RP_REPLAY_HASH;
    if (word == NULL)
        return RP_OK;
    if (no_replay)
        return rp_fail(err, RP_USAGE,
                       "verify: --no-replay cannot be combined with --replay");
    rp_rc rc = rp_choose("verify", "replay", word, replay_name, &chosen, err);
    *kind = RP_REPLAY_HASH + (enum rp_replay_kind)chosen;
    return rc;
}

#define NOT_GIVEN UINT64_MAX

static rp_rc check_steps(struct rp_verify_report *r, uint64_t n_steps, struct rp_err *err) {
    enum { MAX_STEPS = 1000000 };
    if (n_steps == NOT_GIVEN)
        return RP_OK;
    if (r->replay < RP_REPLAY_REF)
        return rp_fail(err, RP_USAGE, "verify: --steps needs --replay ref or cuda");
    if (n_steps < 1 || n_steps > MAX_STEPS)
        return rp_fail(err, RP_USAGE, "verify: --steps: not a number from 1 to %d",
                       MAX_STEPS);
    r->n_steps = (uint32_t)n_steps;
    return RP_OK;
}

static rp_rc run(int argc, char **argv, struct rp_err *err) {
    struct rp_verify_report r = {0};
    bool json = false, no_replay = false, done;
    const char *replay = NULL;
    uint64_t n_steps = NOT_GIVEN;
    int n = 0;
    const struct rp_option table[] = {
        {"no-replay", 0, RP_OPT_FLAG, &no_replay, NULL,
         "check rules and claims only, without a replay"},
        {"replay", 0, RP_OPT_STRING, &replay, "HOW",
         "hash: digests; ref: kernels on the CPU; cuda: on a GPU (hash)", replay_name},
        {"steps", 0, RP_OPT_NAT, &n_steps, "N",
         "with ref and cuda: training steps in a row (2 if ops update tensors, else 1)"},
        {"certificate", 0, RP_OPT_STRING, &r.certificate_path, "FILE",
         "check that this certificate proves the claimed bound"},
        rp_option_json(&json),
        {0},
    };
    rp_rc rc = rp_options_parse(&rp_cmd_verify, table, argc, argv, &n, &done, err);
    if (rc != RP_OK || done)
        return rc;
    r.graph_path = argv[1];
    r.plan_path = argv[2];
    rc = parse_replay(replay, no_replay, &r.replay, err);
    if (rc == RP_OK)
        rc = check_steps(&r, n_steps, err);
    if (rc == RP_OK)
        rc = load(&r, err);
    if (rc == RP_OK)
        rc = verify_and_report(&r, json, err);
    rp_certificate_fini(&r.certificate);
    free(r.cuda);
    rp_pair_fini(&r.pair);
    return rc;
}

const struct rp_command rp_cmd_verify = {
    .name = "verify",
    .operands = "GRAPH PLAN",
    .min_operands = 2,
    .max_operands = 2,
    .summary = "Check every rule and claim of a plan, and replay it",
    .detail =
        "A plan is valid (exit code 0) only if every rule of docs/formats.md holds,\n"
        "every claim except the bound is confirmed by computing it anew, and a replay\n"
        "on the CPU, in a scaled-down arena and with digests for data, gives the right\n"
        "values. Otherwise the first broken rule is printed, and the exit code is 1.\n"
        "\n"
        "--replay ref then also runs the plan with plain C kernels, in an arena of\n"
        "exactly its size. Every tensor must equal, bit for bit, that of the step\n"
        "without recomputation. Where ops update parameters, several steps run in a\n"
        "row, and each goes on with what the one before has left. The graph must have\n"
        "shapes, as the graphs of the zoo do; use --tiny ones. --replay cuda instead\n"
        "builds the program of 'emit' and runs it on a GPU. Every tensor that the step\n"
        "keeps or updates must be equal.\n"
        "\n"
        "If --certificate does not prove the plan's bound, the exit code is 1 too.\n",
    .run = run,
};
