/* interval_join: the best schedule that takes each decision as one of two others does.
 *
 * The schedules in which two searches end differ in a part of the tensors: which are on the
 * host, which are made again, and when. Some or all of these are decided anew; all else is
 * as the first schedule has it. What is left of the interval model has about 1,000 columns
 * for a net of 400 ops, since a column stands for all stages in which neither schedule
 * changes.
 *
 * Thread-safe as far as the engine is.
 */
#ifndef RP_SOLVE_MILP_INTERVAL_JOIN_H
#define RP_SOLVE_MILP_INTERVAL_JOIN_H

#include "base/stop.h"
#include "solve/core/schedule.h"
#include "solve/engine/engine.h"

struct rp_interval_join_options {
    enum rp_engine engine; /* loaded */
    uint64_t work;         /* limit, about a microsecond each */
    struct rp_stop *stop;
    uint64_t below_ns; /* only schedules that take less are looked for */
    /* At most this many of the tensors in which both differ are decided anew. They are made
     * one after another, and `random` says which they are. */
    uint32_t most_open;
    uint64_t random;
};

struct rp_interval_join_result {
    bool found;  /* `child` is what the model has found */
    bool solved; /* the model has nothing better */
    uint32_t n_differ, n_open;
    uint64_t work; /* least work included */
};

/* What a program costs before branch and cut begins: its rows and a process. */
uint64_t rp_interval_join_least_work(const struct rp_instance *p);

/* `a` and `b` are pruned and fit. The model is a relaxation, so the child may be unsound,
 * take more memory than the limit, or more time than below_ns: it is a start for a short
 * search. `child` has the instance's shape, and is changed only if one is found. Nothing is
 * found if the system cannot start a process, or once `stop` hits. */
struct rp_interval_join_result rp_interval_join(const struct rp_instance *p,
                                                const struct rp_interval_join_options *o,
                                                const struct rp_schedule *a,
                                                const struct rp_schedule *b,
                                                struct rp_schedule *child);

#endif
