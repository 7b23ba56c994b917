/* model_file: a mixed-integer linear program as a file that every solver reads.
 *
 * MPS is written in its free form. In LP files the objective names all columns, in order,
 * since some programs number columns by their first appearance. A constant of the objective
 * is the cost of a column that is fixed at 1, named ONE: programs disagree about the sign
 * of an objective constant.
 *
 * Sources: the format descriptions in the reference manuals of GLPK 5.0 (chapters "MPS
 * format" and "CPLEX LP format") and of HiGHS.
 *
 * Thread-safe: there is no shared state.
 */
#ifndef RP_SOLVE_EXCHANGE_MODEL_FILE_H
#define RP_SOLVE_EXCHANGE_MODEL_FILE_H

#include <stdio.h>

#include "solve/engine/milp.h"

/* What the program's parts are called: letters, digits and underscores, the first one a
 * letter and not e or E, at most 200, no name twice among columns or among rows. ONE and
 * `cost` are taken. */
struct rp_milp_names {
    char **col, **row; /* per column; per row */
    const char *title; /* lines for people, each ending in a newline */
};

void rp_write_mps(const struct rp_milp *m, const struct rp_milp_names *names, FILE *f);
void rp_write_lp(const struct rp_milp *m, const struct rp_milp_names *names, FILE *f);

#endif
