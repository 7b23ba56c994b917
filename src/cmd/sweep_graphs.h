/* sweep_graphs: the graphs of a sweep, with the names of their folders and the budgets that
 * the command line lists. Not thread-safe. */
#ifndef RP_CMD_SWEEP_GRAPHS_H
#define RP_CMD_SWEEP_GRAPHS_H

#include "cmd/sweep_points.h"

enum { RP_SWEEP_MAX_POINTS = 1000 }; /* of a graph */

/* Fills in s->graphs; s->dir and s->options are set. If `budgets` says nothing, the budgets
 * are left to choose. RP_USAGE: a budget is wrong, there are too many, or two graphs would
 * share a folder; otherwise as rp_load_timed_graph. The caller frees them in any case. */
rp_rc rp_sweep_load_graphs(struct rp_sweep *s, char **paths, size_t n,
                           const struct rp_budget_texts *budgets, uint64_t host_budget,
                           struct rp_err *err);
void rp_sweep_free_graphs(struct rp_sweep *s);

#endif
