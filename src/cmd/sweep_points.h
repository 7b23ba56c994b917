/* sweep_points: the points of a sweep, one for each graph and budget, and their files.
 *
 * A point depends on its graph, its budget, the options, and the points of earlier rounds
 * (sweep_budgets.h), never on who plans it. Its plan goes to DIR/NAME/BUDGET.plan.json, and
 * then a record to DIR/NAME/BUDGET.point.json: a point with a record is finished. Neither
 * file is ever changed. So a sweep goes on where it was interrupted, and any number of
 * processes and machines that share DIR can plan the points of a round.
 *
 * Not thread-safe. RP_ENV if a file or folder cannot be read or made. */
#ifndef RP_CMD_SWEEP_POINTS_H
#define RP_CMD_SWEEP_POINTS_H

#include "base/mem.h"
#include "cmd/budget_argument.h"
#include "cmd/host_budget.h"
#include "policy/policy_plan.h"

enum rp_point_state {
    RP_NOT_PLANNED,
    RP_NONE_FOUND,
    RP_PROVED_NONE, /* no plan can exist */
    RP_PLANNED
};

struct rp_point {
    uint64_t budget_bytes;
    uint32_t round, index; /* where it was chosen: the round, and its place in it */
    enum rp_point_state state;
    uint64_t time_ns;   /* of its own plan; 0: it has none */
    uint64_t solver_ns; /* what planning took, by the clock */
};

struct rp_sweep_graph {
    struct rp_graph g;
    const char *path;
    char *name, *dir; /* of its folder: the file's name without .json or .graph.json */
    struct rp_host_budget host;
    uint64_t floor_bytes; /* the largest working set: no plan fits in less */
    uint64_t keep_all_bytes;
    struct rp_budgets given; /* those of --budget, ascending; none: they are chosen */
    RP_VEC(struct rp_point) points; /* see rp_sweep_load_points */
};

struct rp_sweep {
    const char *dir;
    const struct rp_policy *policy;
    struct rp_policy_options options; /* those of all points */
    char *settings;    /* the same, as they stand on a command line: " --seed 1 ..." */
    char *limits;      /* the budgets and the host budget, likewise */
    bool no_seconds;   /* the table leaves out what the clock said */
    bool html;         /* a page for a browser is written for each graph */
    uint64_t n_points; /* for each graph, where budgets are chosen */
    struct rp_sweep_graph *graphs;
    size_t n_graphs;
};

/* Lists the points of all rounds that can be known now: up to the first round with a point
 * that is not planned. They are in the order of their rounds. A point whose record or plan
 * is damaged or gone counts as not planned, and a message says so. RP_USAGE: a point was
 * planned with other options, or from another graph. */
rp_rc rp_sweep_load_points(const struct rp_sweep *s, struct rp_sweep_graph *a,
                           struct rp_err *err);

/* How many of the listed points are not planned, of one graph and of all. */
size_t rp_sweep_n_missing(const struct rp_sweep_graph *a);
uint64_t rp_sweep_n_left(const struct rp_sweep *s);

/* The most points that the rounds after the listed ones can have. */
uint64_t rp_sweep_n_to_come(const struct rp_sweep *s);

/* Fails with RP_LIMIT: says why, and how many points are not planned. */
rp_rc rp_sweep_fail_missing(const struct rp_sweep *s, const char *why, struct rp_err *err);

/* RP_LIMIT after an interrupt. To be asked before each plan that is read, since reading a
 * large one takes a good part of a second. */
rp_rc rp_sweep_check_stop(const struct rp_sweep *s, struct rp_err *err);

/* The most points that a round can have for one graph. */
uint64_t rp_sweep_round_size(const struct rp_sweep *s);

/* Records a finished point. Its plan is saved. */
rp_rc rp_point_save(const struct rp_sweep *s, const struct rp_sweep_graph *a,
                    const struct rp_point *p, struct rp_err *err);

/* The file of a point's plan, relative to DIR and from here. The caller frees the text. */
char *rp_point_plan_name(const struct rp_sweep_graph *a, uint64_t budget_bytes);
char *rp_point_plan_path(const struct rp_sweep_graph *a, uint64_t budget_bytes);

/* Loads the plan that was made for this budget and checks it. RP_INPUT: it is not valid, or
 * not within the limits. The caller ends *plan in any case. */
rp_rc rp_point_load_plan(const struct rp_sweep_graph *a, uint64_t budget_bytes,
                         struct rp_plan *plan, struct rp_err *err);

#endif
