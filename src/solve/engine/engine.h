/* engine: the programs that solve linear and mixed-integer programs for us.
 *
 *   GLPK    linked, so it is always there, and the default.
 *   HiGHS   looked for at run time, through its C library, and never needed to build. The
 *           first of these that can be loaded is used:
 *             the file that the environment variable REMAT_PLAN_HIGHS names,
 *             libhighs.so.1, then libhighs.so, where the system's loader finds them,
 *             libhighs.so.1 in the Python package highspy (below 1.16: later ones have
 *             no such library) beside the `python3` in PATH.
 *
 * Both see the same rows and columns. Nothing that an engine claims is taken as a proof:
 * lp_engine.h derives its own bounds, and mip_engine.h says what its bound is worth.
 *
 * Not thread-safe: look for an engine before threads start.
 */
#ifndef RP_SOLVE_ENGINE_ENGINE_H
#define RP_SOLVE_ENGINE_ENGINE_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

enum rp_engine { RP_ENGINE_GLPK, RP_ENGINE_HIGHS };
#define RP_N_ENGINES 2

/* "glpk" or "highs". */
const char *rp_engine_name(enum rp_engine e);
/* Its version, such as "5.0", or NULL if it is not there. */
const char *rp_engine_version(enum rp_engine e);
/* Loads the engine. RP_ENV if it is not there; the message says where it was looked for and
 * what was wrong there. */
rp_rc rp_engine_load(enum rp_engine e, struct rp_err *err);

/* What GLPK has to say goes to the log at level 2, and never to the terminal. Those who use
 * GLPK call this first. Returns the level for its messages. */
int rp_engine_glpk_log(void);

/* Most columns of our programs cost nothing, so many pivots of GLPK's dual simplex gain
 * nothing. With costs that are raised a little, by another amount for each column, they do
 * (Koberstein, "The dual simplex method, techniques for a fast and stable implementation",
 * 2005, section 6.2.2). The first returns the most, which is `share` of the mean of all
 * costs that are not 0; the second what it is for this column, as a share of the most: 0.5
 * to 1. */
double rp_engine_glpk_most_raised(double share, size_t n, const double *cost);
static inline double rp_engine_glpk_raise(int col) {
    return 0.5 + (double)((uint32_t)col * UINT32_C(2654435761)) / 8589934592.0;
}

#endif
