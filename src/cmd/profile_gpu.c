/* `profile GRAPH` on a GPU: writes the step as a program (emit/templates/profile), builds
 * it and traces it. */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/log.h"
#include "base/mem.h"
#include "cmd/common.h"
#include "cmd/cuda_build.h"
#include "cmd/profile.h"
#include "cmd/profile_ways.h"
#include "emit/project.h"
#include "kernels/op_table.h"

static const char caller[] = "profile";

/* ---- the notes that the profiling program writes in addition to its trace ---- */

/* Copies the attributes first, because ops may share the object. */
static void set_attr(json_t **attrs, const char *key, json_t *value) {
    json_t *copy = *attrs ? json_copy(*attrs) : json_object();
    json_object_set_new(copy, key, value);
    json_decref(*attrs);
    *attrs = copy;
}

static rp_rc fail_on_notes(const char *path, struct rp_err *err) {
    return rp_fail(err, RP_BUG, "profile: %s: unexpected output from the profiling program",
                   path);
}

static json_t *count_tf32(const struct rp_graph *g) {
    json_int_t n = 0;
    for (uint32_t i = 0; i < g->n_ops; i++)
        n += json_is_true(json_object_get(g->ops[i].attrs, "tf32"));
    return json_integer(n);
}

/* Adds to the graph which algorithm computed each convolution, the versions of the driver
 * and libraries, and the GPU's clocks. `timing` are the notes of the run without tracing.
 */
static rp_rc apply_notes(const char *path, const json_t *timing, struct rp_graph *g,
                         struct rp_err *err) {
    json_t *notes = json_load_file(path, 0, NULL);
    const json_t *algorithms = json_object_get(notes, "algorithms");
    json_t *versions = json_object_get(notes, "versions");
    rp_rc rc = RP_OK;
    if (json_array_size(algorithms) != g->n_ops || !json_is_object(versions))
        rc = fail_on_notes(path, err);
    for (uint32_t i = 0; i < g->n_ops && rc == RP_OK; i++) {
        const char *word = json_string_value(json_array_get(algorithms, i));
        if (word == NULL)
            rc = fail_on_notes(path, err);
        else if (word[0] != '\0')
            set_attr(&g->ops[i].attrs, "algorithm", json_string(word));
    }
    if (rc == RP_OK) {
        json_object_set(versions, "spare_calls", json_object_get(notes, "spare_calls"));
        json_object_set(versions, "whole_step", json_object_get(notes, "whole"));
        json_object_set(versions, "warm_up_steps",
                        json_object_get(timing, "warm_up_steps"));
        json_object_set_new(versions, "tf32_ops", count_tf32(g));
        json_object_set(versions, "clocks", json_object_get(timing, "clocks"));
        json_t *slower = rp_ways_warn(g, json_object_get(notes, "slower"));
        if (slower != NULL)
            json_object_set_new(versions, "slower", slower);
        set_attr(&g->notes, "profile", json_incref(versions));
        if (json_is_false(json_object_get(notes, "whole")))
            rp_log(0, "the step does not fit into this GPU's memory, so that its ops were "
                      "measured on values of other tensors");
    }
    json_decref(notes);
    return rc;
}

/* ---- TF32 ---- */

static bool may_round(const struct rp_graph *g, const struct rp_op *op,
                      enum rp_tf32 which) {
    const struct rp_op_kind *kind = rp_op_kind_find(op->kind);
    const char *dtype = op->n_outputs > 0 ? g->tensors[op->outputs[0]].dtype : NULL;
    if (kind == NULL || dtype == NULL || strcmp(dtype, "f32") != 0)
        return false;
    if (strncmp(kind->kernel, "conv", strlen("conv")) == 0)
        return which == RP_TF32_CONV || which == RP_TF32_ALL;
    return which == RP_TF32_ALL &&
           (strcmp(kind->kernel, "matmul") == 0 || strcmp(kind->kernel, "bmm") == 0);
}

/* Sets the attribute of all ops, so that programs for plans use the same arithmetic. */
static void set_tf32(struct rp_graph *g, enum rp_tf32 which) {
    for (uint32_t i = 0; i < g->n_ops && which != RP_TF32_AS_GIVEN; i++) {
        struct rp_op *op = &g->ops[i];
        if (may_round(g, op, which))
            set_attr(&op->attrs, "tf32", json_true());
        else if (json_object_get(op->attrs, "tf32") != NULL)
            set_attr(&op->attrs, "tf32", json_false());
    }
}

/* ---- building and running ---- */

/* The program's arguments; notes[] is a file in the folder. */
struct command {
    char *argv[9];
    char *owned[6];
};

static struct command command_for(const char *folder, const char *mode, const char *notes,
                                  const struct rp_gpu_measure *how) {
    struct command c = {
        .owned = {
            rp_format("%s/profile", folder), rp_format("%s/%s", folder, notes),
            rp_format("%" PRIu64, how->gpu), rp_format("%" PRIu64, how->repeat),
            rp_format("%.9f", how->warm_up_s),
            rp_format("%.9f", how->limit_s / 2), /* there are two runs */
        }};
    char *const argv[] = {
        c.owned[0], (char *)mode, c.owned[1], c.owned[2],
        c.owned[3], c.owned[4],   c.owned[5], rp_shows_progress() ? "1" : "0"};
    memcpy(c.argv, argv, sizeof argv);
    unlink(c.owned[1]); /* of an earlier run */
    return c;
}

static void command_fini(struct command *c) {
    for (size_t i = 0; i < sizeof c->owned / sizeof c->owned[0]; i++)
        free(c->owned[i]);
}

/* If the program failed, its reason is the first line of its notes. Returns `rc`. */
static rp_rc fail_run(rp_rc rc, const char *folder, const char *notes,
                      const char *otherwise, struct rp_err *err) {
    char *line = rp_cuda_first_line(folder, notes);
    rp_fail(err, rc, "%s: %.400s", caller,
            line[0] != '\0' && line[0] != '{' ? line : otherwise);
    free(line);
    return rc;
}

/* Times the step without tracing. *notes, NULL before, is what the program writes; the
 * caller releases it. */
static rp_rc run_timed(const char *folder, const struct rp_gpu_measure *how,
                       struct rp_untraced_step *step, json_t **notes, struct rp_err *err) {
    struct command c = command_for(folder, "timed", "timing", how);
    rp_progress_task(NAN, NAN, "timing the step without tracing");
    const int code = rp_cuda_run(folder, c.argv);
    rp_progress_end();
    rp_rc rc = RP_OK;
    if (code != 0) {
        char *line = rp_cuda_first_line(folder, "err");
        rc = fail_run(code == RP_LIMIT ? RP_LIMIT : RP_ENV, folder, "timing",
                      line[0] != '\0' ? line : "the profiling program failed", err);
        free(line);
    } else {
        *notes = json_load_file(c.owned[1], 0, NULL);
        step->eager_ns = (uint64_t)json_integer_value(json_object_get(*notes, "eager_ns"));
        step->graph_ns = (uint64_t)json_integer_value(json_object_get(*notes, "graph_ns"));
        if (step->eager_ns == 0 || step->graph_ns == 0)
            rc = fail_on_notes(c.owned[1], err);
    }
    command_fini(&c);
    return rc;
}

static rp_rc run_traced(const char *folder, const struct rp_gpu_measure *how,
                        struct rp_traces *t, struct rp_err *err) {
    struct rp_err ran = {{0}};
    struct command c = command_for(folder, "traced", "notes", how);
    rp_rc rc = rp_traces_run(c.argv, NULL, t, &ran);
    if (rc != RP_OK)
        rc = fail_run(RP_ENV, folder, "notes", ran.msg, err);
    command_fini(&c);
    return rc;
}

static rp_rc build(const struct rp_replay_tables *tables, const char *folder,
                   const char *arch, struct rp_err *err) {
    uint64_t bytes;
    rp_rc rc = rp_project_write(tables, RP_TARGET_PROFILE, folder, &bytes, err);
    rp_progress_task(NAN, NAN, "building the profiling program");
    return rc == RP_OK ? rp_cuda_build(caller, folder, arch, "profile", err) : rc;
}

/* In the folder with the program. */
static rp_rc measure(const struct rp_measure *m, const struct rp_gpu_measure *how,
                     struct rp_graph *g, const char *folder, struct rp_err *err) {
    struct rp_traces t = {0};
    struct rp_untraced_step step = {0};
    json_t *timing = NULL;
    char *notes = rp_format("%s/notes", folder);
    rp_rc rc = run_timed(folder, how, &step, &timing, err);
    if (rc == RP_OK)
        rc = run_traced(folder, how, &t, err);
    if (rc == RP_OK)
        rc = apply_notes(notes, timing, g, err);
    if (rc == RP_OK)
        rc = rp_profile_finish(m, g, &t, &step, how->gaps, err);
    rp_traces_fini(&t);
    json_decref(timing);
    free(notes);
    return rc;
}

rp_rc rp_profile_on_gpu(const struct rp_measure *m, const struct rp_gpu_measure *how,
                        struct rp_err *err) {
    struct rp_graph g = {0};
    struct rp_replay_tables tables = {0};
    char *arch = NULL, *folder = NULL;
    rp_rc rc = rp_load_graph(m->graph, &g, err);
    if (rc == RP_OK && g.n_ops == 0)
        rc = rp_fail(err, RP_INPUT, "%s: the graph has no ops to measure",
                     rp_path_name(m->graph));
    if (rc == RP_OK)
        set_tf32(&g, how->tf32);
    if (rc == RP_OK)
        rc = rp_replay_tables_step(&g, rp_path_name(m->graph), &tables, err);
    if (rc == RP_OK)
        rc = rp_traces_ready(err);
    if (rc == RP_OK)
        rc = rp_cuda_find_gpu(caller,
                              "--device NAME models one ('remat-plan profile --device "
                              "list' lists them)",
                              how->gpu, &arch, err);
    if (rc == RP_OK)
        rc = rp_cuda_open_folder(how->program, &folder, err);
    if (rc == RP_OK)
        rc = build(&tables, folder, arch, err);
    if (rc == RP_OK)
        rc = measure(m, how, &g, folder, err);
    rp_cuda_close_folder(how->program, folder);
    rp_replay_tables_fini(&tables);
    rp_graph_fini(&g);
    free(arch);
    return rc;
}
