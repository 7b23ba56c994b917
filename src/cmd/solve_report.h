/* solve_report: what `solve` prints of a plan, or of there being none. */
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

/* `seconds` is how long the search took. `s` is written too, unless it is NULL. */
void rp_solve_report_json(const struct rp_graph *g, const struct rp_plan *p,
                          const struct rp_solve_report *r, const struct rp_verdict *v,
                          const struct rp_statistics *s, double seconds, FILE *f);

/* rc RP_NO: no plan can exist. RP_LIMIT: none was found. JSON has `s` too, unless it is
 * NULL. */
void rp_solve_report_no_plan(const struct rp_graph *g, const struct rp_solve_options *o,
                             const struct rp_solve_report *r, rp_rc rc,
                             const struct rp_statistics *s, bool json, FILE *f);

/* RP_LIMIT: no plan was found before an interrupt or the work limit. */
rp_rc rp_fail_without_plan(const volatile sig_atomic_t *interrupted, struct rp_err *err);

#endif
