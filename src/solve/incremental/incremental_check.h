/* incremental_check: checks an incremental state against its schedule, in debug builds and
 * in tests.
 *
 * Everything is worked out anew from S and I, by rp_stage_eval and the time line of
 * model/timeline.h, without the sources that keep the state up to date.
 *
 * Not thread-safe: one state, one thread.
 */
#ifndef RP_SOLVE_INCREMENTAL_INCREMENTAL_CHECK_H
#define RP_SOLVE_INCREMENTAL_INCREMENTAL_CHECK_H

#include <stdbool.h>

#include "solve/incremental/incremental.h"

struct rp_incremental_fault {
    char text[256]; /* which field is wrong, at which stage and tensor or op */
};

/* Between moves only. True, with an empty text, if all fields are right; else `fault` says
 * what the first wrong one is. Takes time in proportion to the whole schedule. */
bool rp_incremental_check(const struct rp_incremental *s,
                          struct rp_incremental_fault *fault);

#endif
