/* emit: a program that carries out a plan. */
#include <stdio.h>
#include <string.h>

#include "base/format.h"
#include "base/json_writer.h"
#include "base/log.h"
#include "cmd/commands.h"
#include "cmd/common.h"
#include "cmd/nearest.h"
#include "cmd/plan_pair.h"
#include "emit/project.h"

static const char *target_word(size_t i) {
    return i <= RP_TARGET_CUDA ? rp_target_word[i] : NULL;
}

static rp_rc parse_target(const char *word, enum rp_target *target, struct rp_err *err) {
    size_t chosen = 0;
    rp_rc rc = rp_choose("emit", "target", word, target_word, &chosen, err);
    *target = (enum rp_target)chosen;
    return rc;
}

static void report(const struct rp_pair *pair, enum rp_target target, const char *folder,
                   uint64_t source_bytes, bool json) {
    if (json) {
        struct rp_json_writer w = rp_json_writer_on(stdout);
        rp_json_object(&w, NULL);
        rp_json_string(&w, "target", rp_target_word[target]);
        rp_json_string(&w, "folder", folder);
        rp_json_uint(&w, "source_bytes", source_bytes);
        rp_json_uint(&w, "arena_bytes", pair->p.arena_bytes);
        rp_json_uint(&w, "host_bytes", pair->p.host_bytes);
        rp_json_end(&w);
        rp_json_finish(&w);
    } else if (rp_log_level() >= 0) {
        printf("program   %s in ", rp_show_bytes(source_bytes).s);
        rp_put_clean(folder, stdout);
        puts(": make run");
        printf("memory    arena %s, sources %s, host %s\n",
               rp_show_bytes(pair->p.arena_bytes).s,
               rp_show_bytes(rp_plan_fixed_bytes(&pair->p, &pair->g)).s,
               rp_show_bytes(pair->p.host_bytes).s);
    }
}

/* Emits only what passes verify. */
static rp_rc emit(const struct rp_pair *pair, enum rp_target target, const char *folder,
                  bool json, struct rp_err *err) {
    struct rp_verdict v;
    struct rp_replay_tables tables = {0};
    uint64_t bytes = 0;
    rp_rc rc = rp_verify(&pair->g, &pair->p, &v, err);
    if (rc == RP_NO)
        rp_report_rejection(pair->plan_name, err->msg, json);
    if (rc == RP_OK && target == RP_TARGET_CUDA)
        rc = rp_pair_check_cuda_alignment(pair, err);
    if (rc == RP_OK)
        rc = rp_pair_tables(pair, &tables, err);
    if (rc == RP_OK)
        rc = rp_project_write(&tables, target, folder, &bytes, err);
    if (rc == RP_OK)
        report(pair, target, folder, bytes, json);
    rp_replay_tables_fini(&tables);
    return rc;
}

/* The program must not replace what it is made of. */
static rp_rc check_inputs(enum rp_target target, const char *folder,
                          char *const operands[2], struct rp_err *err) {
    static const char *const what[] = {"GRAPH", "PLAN"};
    for (int k = 0; k < 2; k++)
        if (rp_project_replaces(target, folder, operands[k]))
            return rp_fail(err, RP_USAGE, "emit: --out would replace %s, %s", what[k],
                           operands[k]);
    return RP_OK;
}

static rp_rc run(int argc, char **argv, struct rp_err *err) {
    bool json = false, done;
    const char *target_name = NULL, *folder = NULL;
    const struct rp_option table[] = {
        {"target", 0, RP_OPT_REQUIRED, &target_name, "TARGET",
         "c: for the CPU; cuda: for a GPU, with cuDNN and cuBLAS (required)", target_word},
        {"out", 'o', RP_OPT_REQUIRED, &folder, "DIR", "write into DIR (required)"},
        rp_option_json(&json),
        {0},
    };
    struct rp_pair pair = {0};
    enum rp_target target = RP_TARGET_C;
    int n = 0;
    rp_rc rc = rp_options_parse(&rp_cmd_emit, table, argc, argv, &n, &done, err);
    if (rc != RP_OK || done)
        return rc;
    rc = parse_target(target_name, &target, err);
    if (rc == RP_OK && folder[0] == '\0')
        rc = rp_fail(err, RP_USAGE, "emit: --out: the name of the folder is empty");
    if (rc == RP_OK)
        rc = check_inputs(target, folder, &argv[1], err);
    if (rc == RP_OK)
        rc = rp_pair_load(argv[1], argv[2], &pair, err);
    if (rc == RP_OK)
        rc = emit(&pair, target, folder, json, err);
    rp_pair_fini(&pair);
    return rc;
}

const struct rp_command rp_cmd_emit = {
    .name = "emit",
    .operands = "GRAPH PLAN",
    .min_operands = 2,
    .max_operands = 2,
    .summary = "Write a program that carries out a plan and checks itself",
    .detail =
        "DIR then holds everything the program needs: tables of the plan, kernels, a\n"
        "Makefile and a README. The program allocates one arena of exactly the plan's\n"
        "size and one host slab. It runs the plan, with an event after each step that\n"
        "another step waits for, and the step without rematerialization. Then it prints\n"
        "as JSON whether both agree bit for bit, and how long each took. Where ops update\n"
        "parameters, it runs several training steps in a row: './replay N', or with CUDA\n"
        "'./replay REPEATS N'. The graph must have shapes, as the graphs of the zoo do.\n",
    .run = run,
};
