/* named_milp: a mixed-integer linear program whose columns and rows have names, for files.
 *
 * A name has letters, digits and underscores, begins with a letter but not with e or E, is
 * at most 200 long, and comes once among columns or among rows. ONE and `cost` are taken.
 *
 * Not thread-safe: one object, one thread. */
#ifndef RP_SOLVE_EXCHANGE_NAMED_MILP_H
#define RP_SOLVE_EXCHANGE_NAMED_MILP_H

#include "base/mem.h"
#include "solve/engine/milp.h"

struct rp_named_milp {
    struct rp_milp p;
    RP_VEC(char *) cols, rows; /* names */
    char *title;               /* lines for people, each ending in a newline */
};
void rp_named_milp_fini(struct rp_named_milp *m); /* safe on a zeroed one */

/* All take over `name`. A row starts without terms. */
uint32_t rp_named_col(struct rp_named_milp *m, double cost, double low, double high,
                      bool integer, char *name);
void rp_named_row(struct rp_named_milp *m, double low, double high, char *name);
/* Appends to the row that was started last. `col` is a column, or RP_COL_ZERO or RP_COL_ONE
 * (lp/row_set.h), which moves to the right side. */
void rp_named_term(struct rp_named_milp *m, double coef, uint32_t col);

#endif
