#include "emit/project.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/embedded.h"
#include "base/io.h"
#include "base/mem.h"
#include "emit/plan_c.h"

const char *const rp_target_word[RP_N_TARGETS] = {"c", "cuda", "profile"};

static const char plan_name[] = "plan.c";
static const char licence[] = "SPDX-License-Identifier: MIT";

/* Makes the folders that contain `path`. Those that end before offset `from` exist. */
static rp_rc make_folders(const char *path, size_t from, struct rp_err *err) {
    char *prefix = rp_strdup(path);
    rp_rc rc = RP_OK;
    for (size_t k = from; prefix[k] != '\0' && rc == RP_OK; k++) {
        if (prefix[k] != '/')
            continue;
        prefix[k] = '\0';
        if (mkdir(prefix, 0777) != 0 && errno != EEXIST)
            rc = rp_fail(err, RP_ENV, "%s: %s", prefix, strerror(errno));
        prefix[k] = '/';
    }
    free(prefix);
    return rc;
}

static bool has_content(const char *path, const char *text, size_t len) {
    struct rp_err ignored = {{0}};
    char *existing = NULL;
    size_t n = 0;
    bool same = access(path, F_OK) == 0 &&
                rp_read_file(path, &existing, &n, &ignored) == RP_OK && n == len &&
                memcmp(existing, text, n) == 0;
    free(existing);
    return same;
}

static rp_rc write_one(const char *folder, const char *name, const char *text, size_t len,
                       uint64_t *bytes, struct rp_err *err) {
    char *path = rp_format("%s/%s", folder, name);
    rp_rc rc = make_folders(path, strlen(folder), err);
    if (rc == RP_OK && !has_content(path, text, len))
        rc = rp_write_file(path, text, len, err);
    *bytes += len;
    free(path);
    return rc;
}

/* Emitted sources begin with their licence. It is added to C sources that do not have it.
 */
static rp_rc write_source(const char *folder, const char *name,
                          const struct rp_embedded_file *file, uint64_t *bytes,
                          struct rp_err *err) {
    const char *dot = strrchr(name, '.'), *named = strstr(file->text, licence);
    const bool has_licence =
        dot == NULL || strcmp(dot, ".md") == 0 ||
        (named != NULL && named - file->text < (ptrdiff_t)sizeof licence);
    char *text = has_licence ? rp_strdup(file->text)
                             : rp_format("/* %s */\n%s", licence, file->text);
    rp_rc rc = write_one(folder, name, text, strlen(text), bytes, err);
    free(text);
    return rc;
}

/* Where embedded files go. A file whose path begins with `from` is written for these
 * targets, with `to` instead of `from`. The first row that matches decides. */
static const struct {
    const char *from, *to;
    bool targets[RP_N_TARGETS];
} places[] = {
    {"kernels/ref_f", "kernels/ref_f", {[RP_TARGET_C] = true}},
    {"kernels/ref_bf", "kernels/ref_bf", {[RP_TARGET_C] = true}},
    {"kernels/cuda/", "kernels/cuda/", {false, true, true}},
    {"kernels/", "kernels/", {true, true, true}},
    {"emit/runtime/replay.h", "replay.h", {true, true, true}},
    {"emit/runtime/", "", {[RP_TARGET_C] = true}},
    {"emit/templates/c/", "", {[RP_TARGET_C] = true}},
    {"emit/templates/cuda/machine.cuh", "machine.cuh", {false, true, true}},
    {"emit/templates/cuda/Makefile", "Makefile", {false, true, true}},
    {"emit/templates/cuda/find-cuda.sh", "find-cuda.sh", {false, true, true}},
    {"emit/templates/cuda/", "", {[RP_TARGET_CUDA] = true}},
    {"emit/templates/profile/", "", {[RP_TARGET_PROFILE] = true}},
};

/* The file's path in the folder; NULL if it is not written for the target. The caller frees
 * the path. */
static char *name_for(const struct rp_embedded_file *file, enum rp_target target) {
    for (size_t k = 0; k < sizeof places / sizeof places[0]; k++) {
        const size_t n = strlen(places[k].from);
        if (strncmp(file->path, places[k].from, n) == 0)
            return places[k].targets[target]
                       ? rp_format("%s%s", places[k].to, file->path + n)
                       : NULL;
    }
    return NULL;
}

rp_rc rp_project_write(const struct rp_replay_tables *t, enum rp_target target,
                       const char *folder, uint64_t *bytes, struct rp_err *err) {
    char *text;
    size_t len;
    FILE *f = rp_text_open(&text, &len);
    rp_plan_c_write(t, target, f);
    rp_text_close(f);
    *bytes = 0;
    rp_rc rc = write_one(folder, plan_name, text, len, bytes, err);
    free(text);
    for (size_t k = 0; k < rp_n_embedded && rc == RP_OK; k++) {
        char *name = name_for(&rp_embedded[k], target);
        if (name != NULL)
            rc = write_source(folder, name, &rp_embedded[k], bytes, err);
        free(name);
    }
    return rc;
}

static bool is_same(const char *folder, const char *name, const char *path) {
    char *written = rp_format("%s/%s", folder, name);
    bool same = rp_replaces(written, path);
    free(written);
    return same;
}

bool rp_project_replaces(enum rp_target target, const char *folder, const char *path) {
    bool replaces = is_same(folder, plan_name, path);
    for (size_t k = 0; k < rp_n_embedded && !replaces; k++) {
        char *name = name_for(&rp_embedded[k], target);
        replaces = name != NULL && is_same(folder, name, path);
        free(name);
    }
    return replaces;
}
