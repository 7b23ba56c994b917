#include "cmd/common.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/json_writer.h"
#include "base/log.h"
#include "base/mem.h"
#include "cmd/nearest.h"
#include "cmd/unit_hint.h"
#include "model/zoo/registry.h"

struct rp_option rp_option_json(bool *to) {
    return (struct rp_option){.name = "json",
                              .type = RP_OPT_FLAG,
                              .to = to,
                              .help = "print the report as one JSON object"};
}

struct rp_option rp_option_ignore_clock(bool *to) {
    return (struct rp_option){.name = "ignore-clock",
                              .type = RP_OPT_FLAG,
                              .to = to,
                              .help =
                                  "do all the work of --time-limit, however long it takes"};
}

struct rp_option rp_option_no_addresses(bool *to) {
    return (struct rp_option){.name = "no-addresses",
                              .type = RP_OPT_FLAG,
                              .to = to,
                              .help = "plan without addresses; do not round sizes up"};
}

struct rp_option rp_option_seed(uint64_t *to) {
    return (struct rp_option){.name = "seed",
                              .type = RP_OPT_NAT,
                              .to = to,
                              .arg = "N",
                              .help = "random seed (1)"};
}

static const char *engine_name(size_t i) {
    return i < RP_N_ENGINES ? rp_engine_name((enum rp_engine)i) : NULL;
}

struct rp_option rp_option_engine(const char **to) {
    return (struct rp_option){.name = "engine",
                              .type = RP_OPT_STRING,
                              .to = to,
                              .arg = "NAME",
                              .help = "solve linear programs with glpk or highs (glpk)",
                              .names = engine_name};
}

rp_rc rp_parse_engine(const char *command, const char *name, enum rp_engine *e,
                      struct rp_err *err) {
    struct rp_err reason = {{0}};
    size_t chosen;
    if (name == NULL)
        return RP_OK;
    rp_rc rc = rp_choose(command, "engine", name, engine_name, &chosen, err);
    if (rc != RP_OK)
        return rc;
    *e = (enum rp_engine)chosen;
    rc = rp_engine_load(*e, &reason);
    return rc == RP_OK ? rc : rp_fail(err, rc, "%s: --engine: %s", command, reason.msg);
}

/* ---- sizes ---- */

rp_rc rp_parse_bandwidth(const char *command, const char *option, const char *text,
                         uint64_t *bytes_per_s, struct rp_err *err) {
    if (text == NULL)
        return RP_OK;
    char *with_unit = rp_format("%sGB", text);
    bool ok = rp_parse_bytes(with_unit, bytes_per_s);
    free(with_unit);
    return ok ? RP_OK
              : rp_fail(err, RP_USAGE, "%s: --%s: '%.200s' is not a number of GB/s%s",
                        command, option, text, rp_hint_of_number(text, "GB/s").s);
}

/* ---- graphs ---- */

rp_rc rp_check_times(const struct rp_graph *g, const char *file, struct rp_err *err) {
    if (g->n_ops > 0 && g->total_time_ns == 0)
        return rp_fail(err, RP_INPUT,
                       "%s: all op times are 0: run 'remat-plan profile' on it first",
                       rp_path_name(file));
    return RP_OK;
}

rp_rc rp_refuse_homes(const struct rp_graph *g, const char *file, const char *what,
                      struct rp_err *err) {
    for (uint32_t x = 0; x < g->n_tensors; x++)
        if (g->tensors[x].home == RP_HOME_HOST)
            return rp_fail(err, RP_INPUT,
                           "%s: tensors[%" PRIu32
                           "] \"%.80s\": its home is the host, which %s cannot plan",
                           rp_path_name(file), x, g->tensors[x].name, what);
    return RP_OK;
}

rp_rc rp_load_graph(const char *file, struct rp_graph *g, struct rp_err *err) {
    if (rp_zoo_find(file) != NULL && access(file, F_OK) != 0)
        return rp_fail(
            err, RP_ENV,
            "there is no file '%s' ('remat-plan zoo %s -o FILE' writes the graph "
            "of this network)",
            file, file);
    return rp_graph_load(file, g, err);
}

rp_rc rp_load_timed_graph(const char *file, struct rp_graph *g, struct rp_err *err) {
    rp_rc rc = rp_load_graph(file, g, err);
    if (rc != RP_OK)
        return rc;
    rc = rp_check_times(g, file, err);
    if (rc != RP_OK)
        rp_graph_fini(g);
    return rc;
}

/* ---- files of the command line ---- */

static bool conflict(const struct rp_named_file *a, const struct rp_named_file *b) {
    if (a->path == NULL || b->path == NULL || (a->input && b->input))
        return false;
    return a->input   ? rp_replaces(b->path, a->path)
           : b->input ? rp_replaces(a->path, b->path)
                      : rp_same_output(a->path, b->path);
}

static rp_rc report_conflict(const char *command, const struct rp_named_file *a,
                             const struct rp_named_file *b, struct rp_err *err) {
    if (a->input || b->input)
        return rp_fail(err, RP_USAGE, "%s: %s would replace %s, %s", command,
                       a->input ? b->what : a->what, a->input ? a->what : b->what,
                       rp_path_name(a->input ? a->path : b->path));
    const char *path = strcmp(b->path, "-") == 0 ? a->path : b->path;
    return rp_fail(err, RP_USAGE, "%s: %s and %s both write to %s", command, a->what,
                   b->what, strcmp(path, "-") == 0 ? "standard output" : path);
}

rp_rc rp_check_files(const char *command, const struct rp_named_file *files, size_t n,
                     struct rp_err *err) {
    rp_rc rc = RP_OK;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++)
            if (conflict(&files[k], &files[i]))
                return report_conflict(command, &files[k], &files[i], err);
    for (size_t i = 0; i < n && rc == RP_OK; i++)
        if (files[i].path != NULL && !files[i].input)
            rc = rp_probe_file(files[i].path, err);
    return rc;
}

bool rp_uses_stdout(const struct rp_named_file *files, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (files[i].path != NULL && !files[i].input &&
            (strcmp(files[i].path, "-") == 0 || rp_same_output(files[i].path, "-")))
            return true;
    return false;
}

/* ---- plans and verify ---- */

rp_rc rp_verify_own_plan(const char *maker, const struct rp_graph *g,
                         const struct rp_plan *plan, struct rp_verdict *v,
                         struct rp_err *err) {
    struct rp_err reason = {{0}};
    if (rp_verify(g, plan, v, &reason) == RP_OK)
        return RP_OK;
    return rp_fail(err, RP_BUG, "verify rejects the plan that %s made: %.900s", maker,
                   reason.msg);
}

void rp_report_rejection(const char *plan_name, const char *reason, bool json) {
    if (!json) {
        rp_put_styled(RP_BAD, "rejected  ", stdout);
        rp_put_clean(plan_name, stdout);
        printf(": %s\n", reason);
        return;
    }
    struct rp_json_writer w = rp_json_writer_on(stdout);
    rp_json_object(&w, NULL);
    rp_json_string(&w, "verdict", "rejected");
    rp_json_string(&w, "reason", reason);
    rp_json_end(&w);
    rp_json_finish(&w);
}
