/* sweep: what its two files share. cmd/sweep.c chooses the budgets and plans the points,
 * cmd/sweep_curve.c puts the plans in the folder together to a curve. */
#ifndef RP_CMD_SWEEP_H
#define RP_CMD_SWEEP_H

#include "policy/policy.h"

/* What became of a point in this run. */
enum rp_point_state {
    RP_NOT_PLANNED, /* an interrupt came first */
    RP_NONE_FOUND,
    RP_PROVED_NONE, /* no plan can exist */
    RP_PLANNED,     /* its file is there */
    RP_NOT_THERE    /* --merge: there is no file, whatever the reason */
};

struct rp_sweep {
    const struct rp_graph *g;
    const char *graph_path, *dir;
    struct rp_policy_options o;
    uint64_t points, processes;
    bool merge; /* the plans in the folder are another run's */
    uint64_t floor_bytes, keep_all_bytes;
    uint64_t *budget;     /* per point, ascending */
    unsigned char *state; /* per point: enum rp_point_state; shared with the processes */
    struct rp_plan *plan; /* per point; no graph name: none */
};

/* The file of point k; the caller frees it. */
char *rp_sweep_file(const struct rp_sweep *s, uint64_t k);

/* The number of the point whose file in the folder has that name; UINT64_MAX if it is none.
 */
uint64_t rp_sweep_point(const char *file_name);

/* Loads the points' plans, lets no point be worse than the one before it, writes the curve
 * and reports. RP_LIMIT: some points were not planned. */
rp_rc rp_sweep_report(struct rp_sweep *s, bool json, struct rp_err *err);

#endif
