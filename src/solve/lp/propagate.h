/* propagate: fixes the columns of a formulation whose values follow from constants.
 *
 * It serves formulation.c while a formulation is being made, before columns have numbers.
 * An entry of r_col or s_col is then RP_COL_ZERO, RP_COL_ONE or RP_COL_OPEN.
 *
 * The rules are (2) and (3) of formulation.h read as implications, and two properties of
 * the schedules that matter: they are pruned, and their R is the closure of their S (an op
 * runs again only for what is missing and wanted).
 */
#ifndef RP_SOLVE_LP_PROPAGATE_H
#define RP_SOLVE_LP_PROPAGATE_H

#include "solve/lp/formulation.h"

/* Not decided yet. */
#define RP_COL_OPEN (UINT32_MAX - 2)

/* Applies the rules until nothing changes. Sets f->empty if two of them contradict each
 * other. Not thread-safe: one formulation, one thread. */
void rp_formulation_propagate(struct rp_formulation *f);

#endif
