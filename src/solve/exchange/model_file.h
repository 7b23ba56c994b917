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

#include "solve/exchange/named_milp.h"

void rp_write_mps(const struct rp_named_milp *m, FILE *f);
void rp_write_lp(const struct rp_named_milp *m, FILE *f);

#endif
