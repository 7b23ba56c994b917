/* sweep_points: the points of a sweep and their files in its folder. cmd/sweep.c plans the
 * points, cmd/sweep_curve.c joins their plans to a curve. Not thread-safe.
 *
 * RP_ENV if the folder or a file in it cannot be read, made or removed. */
#ifndef RP_CMD_SWEEP_POINTS_H
#define RP_CMD_SWEEP_POINTS_H

#include "cmd/host_budget.h"
#include "policy/policy_plan.h"

/* What became of a point in this run. */
enum rp_point_state {
    RP_NOT_PLANNED, /* an interrupt came first */
    RP_NONE_FOUND,
    RP_PROVED_NONE, /* no plan can exist */
    RP_PLANNED,     /* its file is there */
    RP_NO_FILE      /* --merge: there is no file, whatever the reason */
};

struct rp_sweep {
    const struct rp_graph *g; /* the caller's */
    const char *graph_path, *dir;
    struct rp_policy_options policy;
    struct rp_host_budget host; /* as in `policy`, and where it is from */
    uint64_t n_points, n_processes;
    bool merge; /* only join the plans that other runs left in the folder */
    uint64_t floor_bytes, keep_all_bytes;
    uint64_t *budgets;     /* per point, ascending */
    unsigned char *states; /* per point: enum rp_point_state; shared between processes */
    struct rp_plan *plans; /* per point; graph_name is NULL if there is no plan */
};

/* The file of point k. The caller frees the path. */
char *rp_sweep_file(const struct rp_sweep *s, uint64_t k);

/* Creates the folder if need be, and checks that the curve can be written there. RP_USAGE
 * if a file of the sweep there is the graph, by whatever name. */
rp_rc rp_sweep_create_folder(const struct rp_sweep *s, struct rp_err *err);

/* Removes the points and the curve of an earlier run from the folder. */
rp_rc rp_sweep_remove_old(const struct rp_sweep *s, struct rp_err *err);

/* Checks for --merge that the folder holds points, and none with a number of n_points or
 * more. RP_INPUT otherwise; RP_USAGE as above. */
rp_rc rp_sweep_check_points(const struct rp_sweep *s, struct rp_err *err);

#endif
