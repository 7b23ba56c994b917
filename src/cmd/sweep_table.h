/* sweep_table: the points of a sweep joined to curves of time over memory, and the table of
 * all of them as text, CSV, JSON and pictures.
 *
 * A plan that was found at a smaller budget fits every larger one. So each row has the
 * fastest plan of its own and all smaller budgets, and time never rises with the budget. No
 * file of a point is changed. Not thread-safe. */
#ifndef RP_CMD_SWEEP_TABLE_H
#define RP_CMD_SWEEP_TABLE_H

#include "cmd/sweep_points.h"

/* Writes DIR/sweep.csv, DIR/sweep.json and a DIR/NAME/curve.svg for each graph, and reports
 * on standard output, with `json` as JSON. The points of all graphs are listed. RP_LIMIT:
 * some are not planned. RP_INPUT: a plan is damaged. */
rp_rc rp_sweep_tabulate(const struct rp_sweep *s, bool json, struct rp_err *err);

#endif
