/* sequence: an order of runs, first ones and repeated ones, that can be edited.
 *
 * What a reader reads is made by the latest run before it of the op that makes it. So each
 * run of an op makes its outputs anew, and a tensor is on the device from there to the last
 * reader before the next run (a kept tensor, after the last run, to the end). Nothing else
 * need be said, and both the order and what is made again follow from the sequence. It is
 * less than a schedule can say in one respect only: what is made again together with
 * something that is still there is freed first.
 */
#ifndef RP_SOLVE_ORDER_RUN_SEQUENCE_H
#define RP_SOLVE_ORDER_RUN_SEQUENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"
#include "model/plan.h"
#include "solve/core/instance.h"

struct rp_runs { /* of one op; the next two members belong to each run */
    uint32_t *at;
    size_t n, cap;
};

struct rp_run_sequence {
    const struct rp_instance *p;
    uint32_t n, most;     /* runs now; at most */
    uint32_t *at;         /* per place: run */
    uint32_t *place;      /* per run; runs 0 .. n_ops-1 are those of op 0 .. n_ops-1 */
    uint32_t *op;         /* per run */
    uint32_t *unused;     /* runs from n_ops on that are not in the sequence, most - n */
    uint32_t *extra;      /* those that are, n - n_ops, */
    uint32_t *extra_at;   /* and per run its index there */
    struct rp_runs *runs; /* per op, in no order */
    uint32_t **last; /* per tensor, per run of its op: the run it is freed after, or NONE */
    uint32_t *before_once, *after_once; /* per op that runs once: the ones next to it */
    int64_t *gain, *drop;       /* per run: bytes it allocates; bytes freed after it */
    int64_t *live;              /* per place: bytes before the run; n: at the end */
    double *over;               /* per place: bytes above the limit, at least 0 */
    double overflow;            /* sum of them */
    double extra_ns;            /* time of the repeated runs */
    uint64_t work;              /* done, in about ten nanoseconds each */
    uint32_t first, last_place; /* of the edit under way: the places it changes */
};

/* Runs of ops[0] .. ops[n-1], all ops among them, at most 3 n_ops + 16, each after one of
 * every op that it reads from; `ops` NULL: each op once, in the problem's order. `p` must
 * outlive it. */
void rp_run_sequence_init(struct rp_run_sequence *s, const struct rp_instance *p,
                          const uint32_t *ops, uint32_t n);
void rp_run_sequence_fini(struct rp_run_sequence *s);

/* The places that run r may be taken to while all others stay in order. */
void rp_run_sequence_range(const struct rp_run_sequence *s, uint32_t r, uint32_t *low,
                           uint32_t *high);
/* The latest run before place q of the op that makes x. RP_NONE if there is none. */
uint32_t rp_run_sequence_maker(const struct rp_run_sequence *s, uint32_t x, uint32_t q);
/* Whether all readers have what they read without run r, one of the repeated. */
bool rp_run_sequence_may_cut(const struct rp_run_sequence *s, uint32_t r);

/* The edits: the run at place `from` to place `to`; a run of op j (which has run by then,
 * and may again) to place q, false if there are `most`; run r (>= n_ops, may be cut) out.
 * They keep the totals up to date. */
void rp_run_sequence_move(struct rp_run_sequence *s, uint32_t from, uint32_t to);
bool rp_run_sequence_put(struct rp_run_sequence *s, uint32_t j, uint32_t q);
void rp_run_sequence_cut(struct rp_run_sequence *s, uint32_t r);

/* The op at each place, into `ops` (`most` places); n. */
uint32_t rp_run_sequence_ops(const struct rp_run_sequence *s, uint32_t *ops);
/* The steps of it, runs and frees with the graph's indices, appended to plan->steps. */
void rp_run_sequence_steps(const struct rp_run_sequence *s, struct rp_plan *plan);

#endif
