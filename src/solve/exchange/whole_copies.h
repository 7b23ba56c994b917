/* whole_copies: rows (M10) and (W2) to (W6) of whole_model.h, with their columns P, Z, Y
 * and V. */
#ifndef RP_SOLVE_EXCHANGE_WHOLE_COPIES_H
#define RP_SOLVE_EXCHANGE_WHOLE_COPIES_H

#include "solve/exchange/whole_model.h"

/* Stops early once the model is too large. */
void rp_whole_copy_rows(struct rp_whole_model *m);

#endif
