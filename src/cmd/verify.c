/* verify: check every rule and claim of a plan, then carry it out with digests. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/format.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/options.h"
#include "cmd/commands.h"
#include "cmd/plan_pair.h"
#include "emit/ref_replay.h"
#include "verify/check_certificate.h"
#include "verify/verifier.h"

enum replay { REPLAY_NONE, REPLAY_HASH, REPLAY_REF, REPLAY_CUDA, N_REPLAYS };
static const char *const replay_word[N_REPLAYS] = {NULL, "hash", "ref", "cuda"};

struct report {
    const char *graph_path, *plan_path;
    enum replay replay;
    struct rp_pair pair;
    struct rp_verdict v;
    bool replayed;
    struct rp_replay r;
    struct rp_ref_replay ref;     /* of REPLAY_REF */
    char *cuda;                   /* of REPLAY_CUDA: JSON, or NULL */
    const char *certificate_path; /* or NULL */
    struct rp_certificate c;
    struct rp_support support;
    const char *unsupported; /* why not, or NULL */
};

/* ---- text ---- */

/* Names come from files: nothing in them may move the reader's cursor. */
static void put_clean(FILE *f, const char *name) {
    char *text = rp_strdup(name);
    rp_clean_text(text);
    fputs(text, f);
    free(text);
}

static void print_text_no(FILE *f, const struct report *r, const char *reason) {
    fputs("rejected  ", f);
    put_clean(f, r->plan_path);
    fprintf(f, ": %s\n", reason);
}

static void print_memory(FILE *f, const struct report *r) {
    fprintf(f, "memory    peak %s of %s: sources %s, %s %s",
            rp_show_bytes(r->v.peak_bytes).s, rp_show_bytes(r->pair.p.budget_bytes).s,
            rp_show_bytes(r->pair.g.fixed_bytes).s,
            r->pair.p.addressed ? "arena" : "sum without addresses",
            rp_show_bytes(r->pair.p.arena_bytes).s);
    if (r->v.n_swap_outs > 0)
        fprintf(f, ", host %s", rp_show_bytes(r->v.host_used_bytes).s);
    fputc('\n', f);
}

/* Up to the sum of all op times the bound needs no row: every op runs at least once. */
static void print_support(FILE *f, const struct report *r) {
    if (r->unsupported != NULL)
        fprintf(f, "certified no: %s\n", r->unsupported);
    else if (r->support.plan_bound_ns <= r->pair.g.total_time_ns)
        fprintf(f, "certified at least %s, the sum of all op times, for every plan\n",
                rp_show_ns(r->support.plan_bound_ns).s);
    else
        fprintf(f,
                "certified at least %s, for plans %s swaps, in this order of first "
                "runs%s\n",
                rp_show_ns(r->support.plan_bound_ns).s, r->c.swaps ? "with" : "without",
                r->support.in_order ? ", in order between them" : "");
}

static void print_text(FILE *f, const struct report *r) {
    const struct rp_verdict *v = &r->v;
    uint64_t base = v->baseline_time_ns, bound = r->pair.p.claims.lower_bound_ns;
    fputs("valid     ", f);
    put_clean(f, r->plan_path);
    fputs(" for ", f);
    put_clean(f, r->pair.g.name);
    fputc('\n', f);
    fprintf(f, "time      %s, %s over keep-all: recompute %s, stall %s\n",
            rp_show_ns(v->time_ns).s, rp_show_percent(v->time_ns - base, base).s,
            rp_show_percent(v->recompute_ns, base).s, rp_show_percent(v->stall_ns, base).s);
    print_memory(f, r);
    fprintf(f, "bound     %s, gap %s, proof %s (claimed)\n", rp_show_ns(bound).s,
            rp_show_percent(v->time_ns - bound, bound).s,
            rp_proof_word[r->pair.p.claims.proof]);
    fprintf(f, "steps     %zu runs, %zu of them again", v->n_runs, v->n_reruns);
    if (v->n_swap_outs > 0)
        fprintf(f, "; swaps: %zu out (%s), %zu in (%s)", v->n_swap_outs,
                rp_show_bytes(v->swapped_out_bytes).s, v->n_swap_ins,
                rp_show_bytes(v->swapped_in_bytes).s);
    fputc('\n', f);
    if (r->replayed)
        fprintf(
            f,
            "replay    %zu values right in %zu orders of the copies, %zu device and %zu "
            "host cells\n",
            r->r.n_values, r->r.n_schedules, r->r.device_cells, r->r.host_cells);
    else
        fputs("replay    none (--no-replay)\n", f);
    if (r->replay == REPLAY_REF)
        fprintf(f,
                "kernels   %" PRIu64 " tensors equal bit for bit in %" PRIu32
                " orders of the copies, %" PRIu32 " of them kept\n",
                r->ref.n_checked, r->ref.n_orders, r->ref.n_kept);
    if (r->cuda != NULL)
        fprintf(f, "cuda      %s\n", r->cuda);
    if (r->certificate_path != NULL)
        print_support(f, r);
}

/* ---- JSON ---- */

static void put_nat(FILE *f, const char *key, uint64_t value) {
    fprintf(f, ",\"%s\":%" PRIu64, key, value);
}

/* part/whole as percent with four decimals; null of 0. */
static void put_percent(FILE *f, const char *key, uint64_t part, uint64_t whole) {
    if (whole == 0) {
        fprintf(f, ",\"%s\":null", key);
        return;
    }
    unsigned __int128 x = (unsigned __int128)part * 1000000u / whole;
    fprintf(f, ",\"%s\":%" PRIu64 ".%04u", key, (uint64_t)(x / 10000),
            (unsigned)(x % 10000));
}

static void open_json(FILE *f, const struct report *r, const char *verdict) {
    fprintf(f, "{\"verdict\":\"%s\",\"plan\":", verdict);
    rp_json_put_string(f, r->plan_path);
    fputs(",\"graph\":", f);
    rp_json_put_string(f, r->pair.g.name);
}

static void print_json_no(FILE *f, const struct report *r, const char *reason) {
    open_json(f, r, "rejected");
    fputs(",\"reason\":", f);
    rp_json_put_string(f, reason);
    fputs("}\n", f);
}

static void put_support(FILE *f, const struct report *r) {
    fprintf(f,
            ",\"certificate\":{\"supported\":%s,\"bound_ns\":%" PRIu64
            ",\"plan_bound_ns\":%" PRIu64 ",\"in_order\":%s,\"swaps\":%s",
            r->unsupported == NULL ? "true" : "false", r->support.bound_ns,
            r->support.plan_bound_ns, r->support.in_order ? "true" : "false",
            r->c.swaps ? "true" : "false");
    if (r->unsupported != NULL) {
        fputs(",\"reason\":", f);
        rp_json_put_string(f, r->unsupported);
    }
    fputc('}', f);
}

static void print_json(FILE *f, const struct report *r) {
    const struct rp_verdict *v = &r->v;
    uint64_t base = v->baseline_time_ns, bound = r->pair.p.claims.lower_bound_ns;
    open_json(f, r, "valid");
    put_nat(f, "time_ns", v->time_ns);
    put_nat(f, "baseline_time_ns", base);
    put_percent(f, "overhead_percent", v->time_ns - base, base);
    put_nat(f, "recompute_ns", v->recompute_ns);
    put_nat(f, "stall_ns", v->stall_ns);
    put_nat(f, "peak_bytes", v->peak_bytes);
    put_nat(f, "budget_bytes", r->pair.p.budget_bytes);
    put_nat(f, "fixed_bytes", r->pair.g.fixed_bytes);
    fprintf(f, ",\"addressed\":%s", r->pair.p.addressed ? "true" : "false");
    put_nat(f, "arena_bytes", r->pair.p.arena_bytes);
    put_nat(f, "arena_used_bytes", v->arena_used_bytes);
    put_nat(f, "host_bytes", r->pair.p.host_bytes);
    put_nat(f, "host_used_bytes", v->host_used_bytes);
    put_nat(f, "runs", v->n_runs);
    put_nat(f, "reruns", v->n_reruns);
    put_nat(f, "swap_outs", v->n_swap_outs);
    put_nat(f, "swap_ins", v->n_swap_ins);
    put_nat(f, "swapped_out_bytes", v->swapped_out_bytes);
    put_nat(f, "swapped_in_bytes", v->swapped_in_bytes);
    put_nat(f, "d2h_busy_ns", v->d2h_busy_ns);
    put_nat(f, "h2d_busy_ns", v->h2d_busy_ns);
    put_nat(f, "lower_bound_ns", bound);
    put_percent(f, "gap_percent", v->time_ns - bound, bound);
    fprintf(f, ",\"proof\":\"%s\",\"replay\":", rp_proof_word[r->pair.p.claims.proof]);
    if (r->replayed)
        fprintf(f,
                "{\"schedules\":%zu,\"values\":%zu,\"device_cells\":%zu,"
                "\"host_cells\":%zu}",
                r->r.n_schedules, r->r.n_values, r->r.device_cells, r->r.host_cells);
    else
        fputs("null", f);
    if (r->replay == REPLAY_REF)
        fprintf(f,
                ",\"kernels\":{\"orders\":%" PRIu32 ",\"equal\":%" PRIu64
                ",\"kept\":%" PRIu32 "}",
                r->ref.n_orders, r->ref.n_checked, r->ref.n_kept);
    if (r->cuda != NULL)
        fprintf(f, ",\"cuda\":%s", r->cuda);
    if (r->certificate_path != NULL)
        put_support(f, r);
    fputs("}\n", f);
}

/* ---- the command ---- */

static rp_rc load(struct report *r, struct rp_err *err) {
    rp_rc rc = rp_pair_load(r->graph_path, r->plan_path, &r->pair, err);
    if (rc == RP_OK && r->certificate_path != NULL)
        rc = rp_certificate_load(r->certificate_path, &r->c, err);
    return rc;
}

static rp_rc replay_kernels(struct report *r, struct rp_err *err) {
    struct rp_replay_tables tables;
    rp_rc rc = rp_pair_tables(&r->pair, &tables, err);
    if (rc == RP_OK && r->replay == REPLAY_CUDA)
        rc = rp_cuda_replay(&tables, &r->cuda, err);
    else if (rc == RP_OK)
        rc = rp_ref_replay(&tables, true, &r->ref, err);
    rp_replay_tables_fini(&tables);
    return rc;
}

/* RP_OK once everything was checked; nothing else is a yes. */
static rp_rc judge(struct report *r, struct rp_err *err) {
    rp_rc rc = rp_verify(&r->pair.g, &r->pair.p, &r->v, err);
    if (rc != RP_OK || r->replay == REPLAY_NONE)
        return rc;
    r->replayed = true;
    rc = rp_verify_replay(&r->pair.g, &r->pair.p, &r->r, err);
    return rc == RP_OK && r->replay >= REPLAY_REF ? replay_kernels(r, err) : rc;
}

/* The plan is valid: does the certificate support its bound? */
static rp_rc judge_certificate(struct report *r, struct rp_err *err) {
    rp_rc rc = rp_certificate_check_plan(&r->c, &r->pair.g, &r->pair.p, &r->support, err);
    r->unsupported = rc == RP_NO ? err->msg : NULL;
    return rc;
}

static rp_rc answer(struct report *r, bool json, struct rp_err *err) {
    rp_rc rc = judge(r, err);
    if (rc == RP_NO) {
        (json ? print_json_no : print_text_no)(stdout, r, err->msg);
        return rc;
    }
    if (rc == RP_OK && r->certificate_path != NULL)
        rc = judge_certificate(r, err);
    if (rc == RP_NO || (rc == RP_OK && (json || rp_log_level() >= 0)))
        (json ? print_json : print_text)(stdout, r);
    return rc;
}

static rp_rc parse_replay(const char *word, bool none, struct report *r,
                          struct rp_err *err) {
    r->replay = none ? REPLAY_NONE : REPLAY_HASH;
    if (word == NULL)
        return RP_OK;
    if (none)
        return rp_fail(err, RP_USAGE,
                       "verify: --replay and --no-replay exclude each other");
    for (r->replay = REPLAY_HASH; r->replay < N_REPLAYS; r->replay++)
        if (strcmp(word, replay_word[r->replay]) == 0)
            return RP_OK;
    return rp_fail(err, RP_USAGE, "verify: --replay is hash, ref or cuda, not '%s'", word);
}

rp_rc rp_cmd_verify(int argc, char **argv, struct rp_err *err) {
    static const struct rp_command command = {
        "verify", "GRAPH PLAN", "Checks every rule and claim of a plan, and replays it.",
        "Says valid (0) only once every rule of docs/formats.md was checked, every claim\n"
        "but the bound computed anew, and the plan carried out on the CPU in a "
        "scaled-down\n"
        "arena, with digests for data. Otherwise it names the first broken rule (1).\n"
        "With --replay ref the plan then runs with plain C kernels in an arena of exactly "
        "its\n"
        "size, and every tensor must be equal, bit for bit, to that of the step without\n"
        "recomputation. That takes a graph with shapes, such as the zoo's; use --tiny "
        "ones.\n"
        "With --replay cuda the program of 'emit' is built and run on a GPU, and all that\n"
        "the step keeps must be equal.\n"
        "A certificate that does not support the plan's bound is a no (1), too.\n"};
    bool json = false, no_replay = false, done;
    const char *certificate = NULL, *replay = NULL;
    const struct rp_option table[] = {
        {"json", 0, RP_OPT_FLAG, &json, NULL, "report as one JSON object"},
        {"no-replay", 0, RP_OPT_FLAG, &no_replay, NULL, "check the rules and claims only"},
        {"replay", 0, RP_OPT_STRING, &replay, "HOW",
         "ref, cuda: also with real numbers, on CPU or GPU (hash)"},
        {"certificate", 0, RP_OPT_STRING, &certificate, "FILE",
         "why the claimed bound holds: check that too"},
        {0},
    };
    struct report r = {0};
    int n = 0;
    rp_rc rc = rp_options_parse(&command, table, argc, argv, &n, &done, err);
    if (rc != RP_OK || done)
        return rc;
    if (n != 2)
        return rp_fail(err, RP_USAGE, "verify: needs a graph and a plan (try --help)");
    r.graph_path = argv[1];
    r.plan_path = argv[2];
    r.certificate_path = certificate;
    rc = parse_replay(replay, no_replay, &r, err);
    if (rc == RP_OK)
        rc = load(&r, err);
    if (rc == RP_OK)
        rc = answer(&r, json, err);
    rp_certificate_fini(&r.c);
    free(r.cuda);
    rp_pair_fini(&r.pair);
    return rc;
}
