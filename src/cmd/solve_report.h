/* solve_report: what `solve` prints about a plan, or if there is none. The owner of `f`
 * checks for write errors. Not thread-safe. */
#ifndef RP_CMD_SOLVE_REPORT_H
#define RP_CMD_SOLVE_REPORT_H

#include <signal.h>
#include <stdio.h>

#include "model/graph.h"
#include "model/plan.h"
#include "solve/solver.h"
#include "solve/statistics.h"
#include "verify/verifier.h"

void rp_solve_report_text(const struct rp_graph *g, const struct rp_plan *p,
                          const struct rp_solve_report *r, const struct rp_verdict *v,
                          FILE *f);

/* Says that the plan is not written, if `path` is NULL. */
void rp_solve_report_unwritten(const char *path, FILE *f);

/* One JSON object. `seconds` is how long the search took. `s` may be NULL. */
void rp_solve_report_json(const struct rp_graph *g, const struct rp_plan *p,
                          const struct rp_solve_report *r, const struct rp_verdict *v,
                          const struct rp_statistics *s, double seconds, FILE *f);

/* `rc` is RP_NO if no plan can exist, and RP_LIMIT if none was found. `s` is written as
 * JSON only, and may be NULL. */
void rp_solve_report_no_plan(const struct rp_graph *g, const struct rp_solve_options *o,
                             const struct rp_solve_report *r, rp_rc rc,
                             const struct rp_statistics *s, bool json, FILE *f);

/* Returns RP_LIMIT with the message that no plan was found, or none before the interrupt if
 * *interrupted is set. Why is said by the report. */
rp_rc rp_fail_without_plan(const volatile sig_atomic_t *interrupted, struct rp_err *err);

#endif
