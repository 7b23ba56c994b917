/* incremental_stage: what one stage runs, and what memory that takes, for the schedule with
 * the flips of the move in progress. It is rp_stage_eval (solve/core/schedule.h) over
 * columns and lists of changes, so that it takes time in proportion to the stage's runs.
 *
 * Not thread-safe: one state, one thread.
 */
#ifndef RP_SOLVE_INCREMENTAL_INCREMENTAL_STAGE_H
#define RP_SOLVE_INCREMENTAL_INCREMENTAL_STAGE_H

#include "solve/incremental/incremental_state.h"

enum rp_closure {
    RP_CLOSURE_DONE,
    /* An op that may run only once would have to run again, or a version of a source that
     * lives on the host is missing. */
    RP_CLOSURE_STUCK,
    RP_CLOSURE_TOO_SLOW
};

/* Appends the runs of stage t to s->move->runs, ascending, and sets *time_ns to their time.
 * RP_CLOSURE_STUCK: *stuck is an output of the op, or the version. RP_CLOSURE_TOO_SLOW: the
 * time passes max_ns, and the runs are not complete. */
enum rp_closure rp_incremental_find_closure(struct rp_incremental *s, uint32_t t,
                                            double max_ns, double *time_ns,
                                            uint32_t *stuck);
/* Peak of stage t minus the limit, given its runs and the bytes of S[t]. */
double rp_incremental_stage_over(struct rp_incremental *s, uint32_t t, const uint32_t *runs,
                                 uint32_t n_runs, int64_t base_bytes);

#endif
