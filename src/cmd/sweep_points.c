#include "cmd/sweep_points.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/mem.h"
#include "base/numbers.h"

#define NO_POINT UINT64_MAX

char *rp_sweep_file(const struct rp_sweep *s, uint64_t k) {
    return rp_format("%s/point-%02" PRIu64 ".plan.json", s->dir, k);
}

/* The number of the point whose file has this name. NO_POINT if it is not a point's. */
static uint64_t point_of_file(const char *name) {
    uint64_t k = 0;
    char after;
    if (sscanf(name, "point-%4" SCNu64 ".plan.jso%c", &k, &after) != 2)
        return NO_POINT;
    char *same = rp_format("point-%02" PRIu64 ".plan.json", k);
    bool is_point = strcmp(same, name) == 0;
    free(same);
    return is_point ? k : NO_POINT;
}

static rp_rc fail_with_errno(const char *path, struct rp_err *err) {
    return rp_fail(err, RP_ENV, "%s: %s", path, strerror(errno));
}

static const char *const curve_files[] = {"sweep.json", "sweep.csv", "sweep.svg"};

/* True if a sweep writes or removes a file of this name in its folder. */
static bool is_ours(const char *name) {
    bool ours = point_of_file(name) != NO_POINT;
    for (size_t i = 0; i < sizeof curve_files / sizeof curve_files[0]; i++)
        ours = ours || strcmp(name, curve_files[i]) == 0;
    return ours;
}

/* Calls `visit` for each file of a sweep in the folder, until it fails. */
static rp_rc visit_files(const struct rp_sweep *s,
                         rp_rc (*visit)(const struct rp_sweep *, const char *path,
                                        struct rp_err *),
                         struct rp_err *err) {
    struct dirent *entry;
    rp_rc rc = RP_OK;
    DIR *dir = opendir(s->dir);
    if (dir == NULL)
        return fail_with_errno(s->dir, err);
    while (rc == RP_OK && (entry = readdir(dir)) != NULL) {
        char *path = rp_format("%s/%s", s->dir, entry->d_name);
        if (is_ours(entry->d_name))
            rc = visit(s, path, err);
        free(path);
    }
    closedir(dir);
    return rc;
}

static rp_rc refuse_graph(const struct rp_sweep *s, const char *path, struct rp_err *err) {
    return rp_same_file(path, s->graph_path)
               ? rp_fail(err, RP_USAGE, "sweep: --out would replace GRAPH, %s",
                         s->graph_path)
               : RP_OK;
}

static rp_rc remove_file(const struct rp_sweep *s, const char *path, struct rp_err *err) {
    (void)s;
    return unlink(path) != 0 && errno != ENOENT ? fail_with_errno(path, err) : RP_OK;
}

rp_rc rp_sweep_create_folder(const struct rp_sweep *s, struct rp_err *err) {
    if (mkdir(s->dir, 0777) != 0 && errno != EEXIST)
        return fail_with_errno(s->dir, err);
    char *curve = rp_format("%s/%s", s->dir, curve_files[0]);
    rp_rc rc = rp_probe_file(curve, err);
    free(curve);
    return rc == RP_OK ? visit_files(s, refuse_graph, err) : rc;
}

rp_rc rp_sweep_remove_old(const struct rp_sweep *s, struct rp_err *err) {
    return visit_files(s, remove_file, err);
}

rp_rc rp_sweep_check_points(const struct rp_sweep *s, struct rp_err *err) {
    struct dirent *entry;
    uint64_t n = 0, last = 0;
    DIR *dir = opendir(s->dir);
    if (dir == NULL)
        return fail_with_errno(s->dir, err);
    while ((entry = readdir(dir)) != NULL) {
        uint64_t k = point_of_file(entry->d_name);
        n += k != NO_POINT;
        last = k != NO_POINT ? rp_max_u64(k, last) : last;
    }
    closedir(dir);
    if (n == 0)
        return rp_fail(err, RP_INPUT, "%s: there is no point-NN.plan.json to merge",
                       s->dir);
    if (last >= s->n_points)
        return rp_fail(err, RP_INPUT,
                       "%s: point %" PRIu64 " is beyond the %" PRIu64
                       " points of this sweep: use the same options as for the plans",
                       s->dir, last, s->n_points);
    return visit_files(s, refuse_graph, err);
}
