/* solution_file: the solution files of other solvers, which are recognised by what is in
 * them:
 *
 *   glpsol -w    c, s, i and j lines (glp_write_mip), columns by number; before GLPK 4.65
 *                two lines of two numbers, then all values
 *   glpsol -o    the printable report (glp_print_mip), of six digits
 *   HiGHS        "Model status" or "# Primal solution values", then "# Columns N" (solution
 *                style 0), or "# Columns -N" and the N that are not 0 (style 4); or a table
 *                "Columns" (style 1)
 *   CBC          "Optimal - objective value ...", or the status alone; then perhaps the
 * rows, and the columns: number, name, value, cost Clp          "optimal", "Objective value
 * ...", then the same Gurobi       "# Objective value = ...", or nothing; then name, value
 *   SCIP         "objective value: ...", then name, value, (obj:...)
 *   CPLEX        XML with <variable name= value=/>
 *   Xpress       .slx: C, name, value between NAME and ENDATA
 *   lp_solve     "Actual values of the variables:", then name, value
 *
 * Files of CBC, Clp and SCIP and those of HiGHS's style 4 leave out columns that are 0.
 *
 * Sources: GLPK 5.0's reference manual, and files that HiGHS 1.15, CBC 2.10 and SCIP 10
 * have written; the formats of Gurobi, CPLEX, Xpress and lp_solve as their manuals describe
 * them.
 *
 * Thread-safe: there is no shared state.
 */
#ifndef RP_SOLVE_EXCHANGE_SOLUTION_FILE_H
#define RP_SOLVE_EXCHANGE_SOLUTION_FILE_H

#include <stdint.h>
#include <stdio.h>

#include "base/status.h"

/* Reads the value of each of n_cols columns, which have these names, into x[n_cols]. The
 * file may name a column ONE beside them (model_file.h). *writer gets the program's name,
 * which is a constant.
 *
 * RP_ENV: the file cannot be read. RP_INPUT: "file:line: rule", if it is none of these, is
 * damaged or cut short, is about other columns, or says that there is no solution. */
rp_rc rp_solution_load(const char *path, uint32_t n_cols, char *const *names, double *x,
                       const char **writer, struct rp_err *err);
rp_rc rp_solution_parse(char *text, const char *path, uint32_t n_cols, char *const *names,
                        double *x, const char **writer, struct rp_err *err);

/* Writes a point of a model and the column ONE, which costs nothing here, in Gurobi's form,
 * with the lines of comments at the top that HiGHS expects. So Gurobi, HiGHS and SCIP can
 * start from it. HiGHS takes values by their order, not by name. */
void rp_solution_write(uint32_t n_cols, char *const *names, const double *x, double cost,
                       FILE *f);

#endif
