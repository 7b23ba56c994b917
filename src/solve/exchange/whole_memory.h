/* whole_memory: rows (W1) of whole_model.h, with their columns L and W. */
#ifndef RP_SOLVE_EXCHANGE_WHOLE_MEMORY_H
#define RP_SOLVE_EXCHANGE_WHOLE_MEMORY_H

#include "solve/exchange/whole_model.h"

/* For stage t. */
void rp_whole_memory_rows(struct rp_whole_model *m, uint32_t t);

#endif
