/* `profile GRAPH` on a GPU: writes the step as a program (emit/templates/profile), builds
 * it and traces it. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/log.h"
#include "base/mem.h"
#include "cmd/common.h"
#include "cmd/cuda_build.h"
#include "cmd/profile.h"
#include "emit/project.h"

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

/* Adds to the graph which algorithm computed each convolution, and the versions of the
 * driver and libraries. */
static rp_rc apply_notes(const char *path, struct rp_graph *g, struct rp_err *err) {
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
        set_attr(&g->notes, "profile", json_incref(versions));
        if (json_is_false(json_object_get(notes, "whole")))
            rp_log(0, "the step does not fit into this GPU's memory, so that its ops were "
                      "measured on values of other tensors");
    }
    json_decref(notes);
    return rc;
}

/* ---- building and running ---- */

/* Runs and traces the program. If it fails, its reason is the first line of the notes. */
static rp_rc run(const char *folder, uint64_t gpu, uint64_t repeat, struct rp_traces *t,
                 struct rp_err *err) {
    struct rp_err ran = {{0}};
    char *program = rp_format("%s/profile", folder), *notes = rp_format("%s/notes", folder);
    char *number = rp_format("%" PRIu64, gpu), *times = rp_format("%" PRIu64, repeat);
    char *const argv[] = {program, notes, number, times, rp_shows_progress() ? "1" : "0",
                          NULL};
    unlink(notes);
    rp_rc rc = rp_traces_run(argv, NULL, t, &ran);
    if (rc != RP_OK) {
        char *line = rp_cuda_first_line(folder, "notes");
        rc = rp_fail(err, rc, "%s: %.400s", caller,
                     line[0] != '\0' && line[0] != '{' ? line : ran.msg);
        free(line);
    }
    free(program);
    free(notes);
    free(number);
    free(times);
    return rc;
}

static rp_rc build_and_run(const struct rp_replay_tables *tables, const char *folder,
                           const char *nvcc, const char *arch, uint64_t gpu,
                           uint64_t repeat, struct rp_traces *t, struct rp_err *err) {
    uint64_t bytes;
    rp_rc rc = rp_project_write(tables, RP_TARGET_PROFILE, folder, &bytes, err);
    rp_progress_task(NAN, NAN, "building the profiling program");
    if (rc == RP_OK)
        rc = rp_cuda_build(caller, folder, nvcc, arch, "profile", err);
    rp_progress_end();
    if (rc == RP_OK)
        rc = run(folder, gpu, repeat, t, err);
    return rc;
}

/* Opens the folder `program`, as an absolute path, or a temporary one if it is NULL. */
static rp_rc open_folder(const char *program, char **folder, struct rp_err *err) {
    if (program == NULL)
        return rp_cuda_open_folder(folder, err);
    if (mkdir(program, 0777) != 0 && errno != EEXIST)
        return rp_fail(err, RP_ENV, "%s: %s", program, strerror(errno));
    *folder = realpath(program, NULL);
    return *folder != NULL ? RP_OK
                           : rp_fail(err, RP_ENV, "%s: %s", program, strerror(errno));
}

static rp_rc measure(const struct rp_measure *m, struct rp_graph *g, const char *folder,
                     const struct rp_replay_tables *tables, const char *nvcc,
                     const char *arch, uint64_t gpu, uint64_t repeat, struct rp_err *err) {
    struct rp_traces t = {0};
    char *notes = rp_format("%s/notes", folder);
    rp_rc rc = build_and_run(tables, folder, nvcc, arch, gpu, repeat, &t, err);
    if (rc == RP_OK)
        rc = apply_notes(notes, g, err);
    if (rc == RP_OK)
        rc = rp_profile_finish(m, g, &t, err);
    rp_traces_fini(&t);
    free(notes);
    return rc;
}

rp_rc rp_profile_on_gpu(const struct rp_measure *m, const char *program, uint64_t gpu,
                        uint64_t repeat, struct rp_err *err) {
    struct rp_graph g = {0};
    struct rp_replay_tables tables = {0};
    char *arch = NULL, *nvcc = NULL, *folder = NULL;
    rp_rc rc = rp_load_graph(m->graph, &g, err);
    if (rc == RP_OK && g.n_ops == 0)
        rc = rp_fail(err, RP_INPUT, "%s: the graph has no ops to measure",
                     rp_path_name(m->graph));
    if (rc == RP_OK)
        rc = rp_replay_tables_step(&g, rp_path_name(m->graph), &tables, err);
    if (rc == RP_OK)
        rc = rp_traces_ready(err);
    if (rc == RP_OK)
        rc = rp_cuda_find_gpu(caller,
                              "--device NAME models one ('remat-plan profile --device "
                              "list' lists them)",
                              gpu, &arch, err);
    if (rc == RP_OK)
        rc = rp_cuda_find_nvcc(caller, &nvcc, err);
    if (rc == RP_OK)
        rc = open_folder(program, &folder, err);
    if (rc == RP_OK)
        rc = measure(m, &g, folder, &tables, nvcc, arch, gpu, repeat, err);
    if (program == NULL)
        rp_cuda_close_folder(folder);
    else
        free(folder);
    rp_replay_tables_fini(&tables);
    rp_graph_fini(&g);
    free(arch);
    free(nvcc);
    return rc;
}
