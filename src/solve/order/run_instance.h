/* run_instance: the instance in which orders of runs are compared (run_sequence.h). It
 * knows no copies. Sources that may live on the host are no tensors of it: their bytes
 * count as workspace of each op that reads or updates them. At least so much of them is on
 * the device then, and with copies at the right times no more needs to be.
 *
 * Thread safety: nothing is kept between calls.
 */
#ifndef RP_SOLVE_ORDER_RUN_INSTANCE_H
#define RP_SOLVE_ORDER_RUN_INSTANCE_H

#include "solve/core/instance.h"

/* The one of `of`: its graph and order, its limit. `addressed` is that of `of`. The caller
 * owns `p`. */
void rp_run_instance_init(struct rp_instance *p, const struct rp_instance *of,
                          bool addressed);

#endif
