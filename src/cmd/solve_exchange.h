/* solve_exchange: what `solve --write-mps`, `--write-lp`, `--write-solution` and
 * `--solution` do. Not thread-safe: it prints. */
#ifndef RP_CMD_SOLVE_EXCHANGE_H
#define RP_CMD_SOLVE_EXCHANGE_H

#include "cmd/common.h"
#include "solve/solver.h"

struct rp_exchange_options {
    const char *mps, *lp; /* files to write the whole model to; or NULL */
    const char *point;    /* a file to write the start plan to, as a solution; or NULL */
    const char *start;    /* that plan's file, for messages */
    const char *solution; /* a file with a solution of it to read; or NULL */
};

/* True if any of them is given: then nothing is searched. */
bool rp_exchange_wanted(const struct rp_exchange_options *e);

/* Writes the model, writes o->start as a solution of it, and makes, checks, reports and
 * writes the plan of a solution. The first runs come in the graph's order. RP_NO if no plan
 * exists, which the report says. */
rp_rc rp_solve_by_exchange(const struct rp_graph *g, const struct rp_solve_options *o,
                           const struct rp_exchange_options *e,
                           const struct rp_output_options *output, struct rp_err *err);

#endif
