/* incremental_state: a schedule and its cost per stage, laid out so that a small change is
 * cheap to evaluate. incremental.h says in which order it is changed.
 *
 * S, I and R (solve/core/schedule.h) are stored by column, one bit per stage, so that the
 * stages in which a tensor is used are found by scanning words. Bytes and nanoseconds are
 * whole numbers in doubles: sums are exact below 2^53.
 *
 * Fields are grouped by who writes them. Anyone may read them. Only the sources named here
 * write them, except `work`, to which callers add their own.
 *
 * Not thread-safe: one object, one thread. Different objects may be used by different
 * threads.
 */
#ifndef RP_SOLVE_INCREMENTAL_INCREMENTAL_STATE_H
#define RP_SOLVE_INCREMENTAL_INCREMENTAL_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "solve/core/instance.h"

struct rp_id_list { /* of ops or tensors */
    uint32_t *at;
    uint32_t n, cap;
};

/* A swap-in. Its end counts from the beginning of its stage, stalls included. */
struct rp_swap_in {
    uint32_t x;
    double end_ns;     /* NAN: begun by the move in progress, not known yet */
    double new_end_ns; /* in the move in progress, where its stage is simulated */
};

struct rp_swap_ins { /* of one stage, in the order in which they begin: largest x first */
    struct rp_swap_in *at;
    uint32_t n, cap;
};

/* Copies, and what the runs wait for them. Pointers are NULL and figures 0 where the
 * instance allows no swaps. */
struct rp_incremental_swaps {
    /* The schedule, with the flips of the move in progress: incremental_flip.c. */
    uint64_t *swapped_in;         /* n_tensors columns: bit t is I[t][x] */
    struct rp_swap_ins *swap_ins; /* per stage */
    uint32_t *n_swap_ins;         /* per tensor */
    uint32_t *n_swap_outs;        /* per stage t: outputs of op t that are swapped out */
    uint32_t n_copies;            /* swap-ins and swap-outs */
    uint64_t host_bytes;          /* as in struct rp_cost */
    /* The time line without that move: incremental_timeline.c. */
    double *swap_out_end_ns; /* per tensor, from the beginning of its producer's stage; NAN:
                                not known yet */
    double *stage_stall_ns;  /* per stage: how long its runs and frees wait for copies */
    /* Per row: how long after its stage begins each copy queue stays busy. */
    double *d2h_backlog_ns, *h2d_backlog_ns;
    double stall_ns; /* sum of stage_stall_ns, and what the queues take after the last op */
};

struct rp_incremental_move;       /* incremental_internal.h */
struct rp_incremental_simulation; /* incremental_timeline.c */

struct rp_incremental {
    /* Shape: rp_incremental_init. */
    const struct rp_instance *p; /* borrowed */
    uint32_t n_stages, n_tensors;
    size_t words; /* 64-bit words per column */
    bool loaded;  /* a schedule has been, if only in part */
    /* Per tensor: the room that it takes is worth no run and no copy. The smallest sources
     * that may stay on the device are, up to a hundredth of the limit together, and the
     * smallest of what ops make, up to a three-hundredth. */
    bool *is_small;

    /* The schedule, with the flips of the move in progress: incremental_flip.c. */
    uint64_t *held;            /* n_tensors columns: bit t is S[t][x] */
    struct rp_id_list *opens;  /* per stage t: x with S[t] = 0, S[t+1] = 1 */
    struct rp_id_list *closes; /* per stage t: x with S[t] = 1, S[t+1] = 0 */
    struct rp_incremental_swaps swaps;

    /* Its cost without that move: rp_incremental_load and rp_incremental_commit. */
    uint64_t *runs;                /* n_stages columns: bit t is R[t][j] */
    struct rp_id_list *stage_runs; /* per stage: its runs, ascending */
    int64_t *base_bytes;           /* per row: bytes of S[t] */
    double *over_bytes;            /* per stage: peak - limit; negative: room; one unused */
    double *stage_ns;              /* per stage: its runs, without stalls */
    double time_ns;                /* sum of stage_ns, and swaps.stall_ns */
    double overflow_bytes;         /* sum over stages of max(0, over_bytes) */

    /* What the move in progress would make of it: rp_incremental_evaluate. */
    double new_time_ns, new_overflow_bytes;
    bool infeasible; /* the move cannot be done at all; also set by flips */

    uint64_t work; /* so far, in units of anneal.h */

    /* Private to the sources of this folder. */
    struct rp_incremental_move *move;
    struct rp_incremental_simulation *simulation;
};

/* Memory for all of `s` but the simulation; all zero. */
void rp_incremental_state_init(struct rp_incremental *s, const struct rp_instance *p);
void rp_incremental_state_fini(struct rp_incremental *s);

/* S[t][x], 0 <= t <= n_stages. */
static inline bool rp_incremental_held(const struct rp_incremental *s, uint32_t t,
                                       uint32_t x) {
    return s->held[(size_t)x * s->words + t / 64] >> (t % 64) & 1;
}
/* I[t][x]. */
static inline bool rp_incremental_swapped_in(const struct rp_incremental *s, uint32_t t,
                                             uint32_t x) {
    return s->swaps.swapped_in != NULL &&
           s->swaps.swapped_in[(size_t)x * s->words + t / 64] >> (t % 64) & 1;
}
/* R[t][j], without the move in progress. */
static inline bool rp_incremental_runs(const struct rp_incremental *s, uint32_t t,
                                       uint32_t j) {
    return s->runs[(size_t)j * s->words + t / 64] >> (t % 64) & 1;
}
/* x is swapped in, in some stage. */
static inline bool rp_incremental_swapped(const struct rp_incremental *s, uint32_t x) {
    return s->swaps.n_swap_ins != NULL && s->swaps.n_swap_ins[x] > 0;
}
/* x is a version of a source that stays on the device. */
static inline bool rp_incremental_stays(const struct rp_incremental *s, uint32_t x) {
    return rp_is_version(s->p, x) && rp_incremental_held(s, 1, s->p->version_0[x]);
}
/* x is swapped out once, right after its first run. */
static inline bool rp_incremental_copied_out(const struct rp_incremental *s, uint32_t x) {
    return x >= s->p->n_homes &&
           (rp_incremental_swapped(s, x) ||
            (rp_must_copy_out(s->p, x) && !rp_incremental_stays(s, x)));
}

/* The last stage before t, and the first stage from t on, in which x is made or read by the
 * runs as they are without the move in progress; RP_NONE if there is none. */
uint32_t rp_incremental_use_before(const struct rp_incremental *s, uint32_t x, uint32_t t);
uint32_t rp_incremental_use_from(const struct rp_incremental *s, uint32_t x, uint32_t t);

#endif
