/* interval_proof: a lower bound from the whole interval model, or from windows of it, or
 * from both. Up to about 40 ops the whole model proves more, from 60 on windows do where
 * memory is short. Chains of dense layers whose copies take three times as long as an op, a
 * twentieth of the way from the floor to the peak, gap after 15 s of GLPK:
 *
 *     ops    whole    windows
 *     41      5.4%       6.3%
 *     61     14.1%       9.5%
 *     81     31.5%      15.9%
 *
 * So the whole model comes first, and windows get the rest of the work if it leaves a gap
 * that they can close.
 *
 * Thread-safe as far as the engine is.
 */
#ifndef RP_SOLVE_MILP_INTERVAL_PROOF_H
#define RP_SOLVE_MILP_INTERVAL_PROOF_H

#include "solve/milp/interval_windows.h"

struct rp_interval_proof {
    const struct rp_interval_model *whole; /* or NULL */
    /* With d_ns, or without the whole: as rp_interval_windows_solve. The horizon of the
     * whole model is just below plan_ns. */
    const struct rp_instance *p;
    uint64_t plan_ns;
    const uint64_t *d_ns; /* NULL: no windows */
};

/* x and *r are as those of rp_interval_solve. x may be NULL without the whole. */
void rp_interval_prove(const struct rp_interval_proof *q,
                       const struct rp_interval_options *o, double *x,
                       struct rp_interval_result *r);

#endif
