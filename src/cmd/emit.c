/* emit: a plan as a program that carries it out. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/format.h"
#include "base/json.h"
#include "base/log.h"
#include "base/options.h"
#include "cmd/commands.h"
#include "cmd/plan_pair.h"
#include "emit/project.h"
#include "verify/verifier.h"

static rp_rc parse_target(const char *word, enum rp_target *target, struct rp_err *err) {
    for (int k = 0; word != NULL && k <= RP_TARGET_CUDA; k++)
        if (strcmp(word, rp_target_word[k]) == 0) {
            *target = (enum rp_target)k;
            return RP_OK;
        }
    if (word == NULL)
        return rp_fail(err, RP_USAGE, "emit: needs --target c or cuda (try --help)");
    return rp_fail(err, RP_USAGE, "emit: --target is c or cuda, not '%s'", word);
}

static void report(const struct rp_pair *pair, enum rp_target target, const char *folder,
                   uint64_t bytes, bool json) {
    if (json) {
        printf("{\"target\":\"%s\",\"folder\":", rp_target_word[target]);
        rp_json_put_string(stdout, folder);
        printf(",\"source_bytes\":%" PRIu64 ",\"arena_bytes\":%" PRIu64
               ",\"host_bytes\":%" PRIu64 "}\n",
               bytes, pair->p.arena_bytes, pair->p.host_bytes);
    } else if (rp_log_level() >= 0) {
        printf("program   %s in %s: make run\n", rp_show_bytes(bytes).s, folder);
        printf("memory    arena %s, sources %s, host %s\n",
               rp_show_bytes(pair->p.arena_bytes).s, rp_show_bytes(pair->g.fixed_bytes).s,
               rp_show_bytes(pair->p.host_bytes).s);
    }
}

static void report_refusal(const struct rp_pair *pair, const char *reason, bool json) {
    if (json) {
        fputs("{\"verdict\":\"rejected\",\"reason\":", stdout);
        rp_json_put_string(stdout, reason);
        fputs("}\n", stdout);
    } else {
        printf("rejected  %s: %s\n", pair->plan_name, reason);
    }
}

/* Only what would pass verify is worth running. */
static rp_rc emit(const struct rp_pair *pair, enum rp_target target, const char *folder,
                  bool json, struct rp_err *err) {
    struct rp_verdict v;
    struct rp_replay_tables tables = {0};
    uint64_t bytes = 0;
    rp_rc rc = rp_verify(&pair->g, &pair->p, &v, err);
    if (rc == RP_NO)
        report_refusal(pair, err->msg, json);
    if (rc == RP_OK)
        rc = rp_pair_tables(pair, &tables, err);
    if (rc == RP_OK)
        rc = rp_project_write(&tables, target, folder, &bytes, err);
    if (rc == RP_OK)
        report(pair, target, folder, bytes, json);
    rp_replay_tables_fini(&tables);
    return rc;
}

rp_rc rp_cmd_emit(int argc, char **argv, struct rp_err *err) {
    static const struct rp_command command = {
        "emit", "GRAPH PLAN",
        "Writes a program that carries a plan out, and checks itself.",
        "The folder then holds all it takes: tables of the plan, kernels, a Makefile and "
        "a\n"
        "README. The program allocates one arena of exactly the plan's size and one host\n"
        "slab, runs the plan with an event behind each step that another waits for, runs\n"
        "the step without rematerialization too, and prints as JSON whether both agree "
        "bit\n"
        "for bit and how long each took. It takes a graph with shapes, such as the "
        "zoo's.\n"};
    bool json = false, done;
    const char *word = NULL, *folder = NULL;
    const struct rp_option table[] = {
        {"target", 0, RP_OPT_STRING, &word, "TARGET",
         "c: the CPU; cuda: a GPU, with cuDNN and cuBLAS (required)"},
        {"out", 'o', RP_OPT_STRING, &folder, "DIR", "the folder (required)"},
        {"json", 0, RP_OPT_FLAG, &json, NULL, "report as one JSON object"},
        {0},
    };
    struct rp_pair pair = {0};
    enum rp_target target = RP_TARGET_C;
    int n = 0;
    rp_rc rc = rp_options_parse(&command, table, argc, argv, &n, &done, err);
    if (rc != RP_OK || done)
        return rc;
    if (n != 2)
        return rp_fail(err, RP_USAGE, "emit: needs a graph and a plan (try --help)");
    rc = parse_target(word, &target, err);
    if (rc == RP_OK && (folder == NULL || folder[0] == '\0'))
        rc = rp_fail(err, RP_USAGE, "emit: needs --out DIR (try --help)");
    if (rc == RP_OK)
        rc = rp_pair_load(argv[1], argv[2], &pair, err);
    if (rc == RP_OK)
        rc = emit(&pair, target, folder, json, err);
    rp_pair_fini(&pair);
    return rc;
}
