/* run_sequence: an order of runs, first ones and repeated ones, that can be edited. Its
 * memory and time are kept up to date edit by edit.
 *
 * A reader reads what the producer's latest run before it made. So each run of an op makes
 * its outputs anew, and a tensor is on the device from there to the last reader before the
 * op's next run (a kept tensor, after the op's last run, to the end). Both the order of
 * first runs and what is made again follow from the sequence alone. A schedule
 * (solve/core/schedule.h) can say more in one respect only: when an op with several outputs
 * runs again, a sequence replaces all of them, even those that are still on the device. A
 * pinned tensor stays where the op's first run made it, and later runs find it there.
 *
 * Runs are numbered. Run j < n_ops belongs to op j and is never removed. Repeats have
 * numbers from n_ops on. A place is an index into the sequence.
 *
 * Not thread-safe: one object, one thread. Different objects may be used by different
 * threads.
 */
#ifndef RP_SOLVE_ORDER_RUN_SEQUENCE_H
#define RP_SOLVE_ORDER_RUN_SEQUENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"
#include "model/plan.h"
#include "solve/core/instance.h"

struct rp_runs { /* of one op, in no order */
    RP_VEC(uint32_t);
};

struct rp_run_sequence {
    const struct rp_instance *p; /* borrowed */
    uint32_t n, capacity;        /* runs in the sequence, and its maximum */
    uint32_t *at;                /* per place: run */
    uint32_t *place;             /* per run */
    uint32_t *op;                /* per run */
    uint32_t *unused;            /* repeats that are not in the sequence: capacity - n */
    uint32_t *repeats;           /* those that are: n - n_ops */
    uint32_t *repeat_index;      /* per run: its index in `repeats` */
    struct rp_runs *runs;        /* per op */
    uint32_t **freed_after; /* per tensor, per run of its producer: the run after which what
                               it made is freed; RP_NONE: it stays to the end */
    /* Per op that runs once or is ordered: the ones next to it. First runs of these keep
     * their order. */
    uint32_t *ordered_before, *ordered_after;
    int64_t *alloc_bytes, *free_bytes; /* per run: bytes it makes, shadows too; bytes freed
                                          after it */
    int64_t *live_bytes;               /* per place: bytes before the run; n: at the end */
    double *over_bytes;                /* per place: bytes above the limit, at least 0 */
    double overflow_bytes;             /* sum of them */
    double recompute_ns;               /* time of the repeats */
    uint64_t work;                     /* done, in about six nanoseconds each */
    /* Of the edit in progress: the places whose memory it changes. */
    uint32_t edit_first, edit_last;
};

/* The most runs that a sequence holds. */
uint32_t rp_run_sequence_capacity(const struct rp_instance *p);

/* Makes the sequence of runs of ops[0] .. ops[n-1]. Every op is among them, n is at most
 * the capacity, and each run comes after a run of every op that it reads from. `ops` NULL:
 * each op once, in the instance's order. `p` must outlive it. */
void rp_run_sequence_init(struct rp_run_sequence *s, const struct rp_instance *p,
                          const uint32_t *ops, uint32_t n);
void rp_run_sequence_fini(struct rp_run_sequence *s);

/* The places, *low..*high, that run r may be moved to while all others stay in order. */
void rp_run_sequence_range(const struct rp_run_sequence *s, uint32_t r, uint32_t *low,
                           uint32_t *high);
/* The latest run before place q of the op that makes x. RP_NONE if there is none. */
uint32_t rp_run_sequence_maker(const struct rp_run_sequence *s, uint32_t x, uint32_t q);
/* The last place at which a run of op j may be inserted. */
uint32_t rp_run_sequence_last_place(const struct rp_run_sequence *s, uint32_t j);
/* True if every reader still has what it reads after r, a repeat, is removed, and first
 * runs keep the order that they must. */
bool rp_run_sequence_may_remove(const struct rp_run_sequence *s, uint32_t r);

/* The edits. They keep the totals up to date. */
/* Moves the run at place `from` to place `to`, which is in its range. */
void rp_run_sequence_move(struct rp_run_sequence *s, uint32_t from, uint32_t to);
/* Inserts a run of op j, which has run by then and may run again, at place q, which is not
 * after its last place. False if the sequence is full. */
bool rp_run_sequence_insert(struct rp_run_sequence *s, uint32_t j, uint32_t q);
/* Removes r, a repeat that may be removed. */
void rp_run_sequence_remove(struct rp_run_sequence *s, uint32_t r);

/* Writes the op at each place into `ops`, which has room for `capacity`; returns n. */
uint32_t rp_run_sequence_ops(const struct rp_run_sequence *s, uint32_t *ops);
/* Appends its steps, runs and frees with the graph's indices, to plan->steps. */
void rp_run_sequence_steps(const struct rp_run_sequence *s, struct rp_plan *plan);

#endif
