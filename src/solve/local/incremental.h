/* state: a schedule held so that small changes to it are cheap to judge.
 *
 * The search changes S by flips: one tensor over a range of rows. Only the stages at the
 * two ends of the range, and those inside in which the tensor is used, change in runs or
 * shape; the others merely gain or lose the tensor's bytes. A move is a handful of flips,
 * judged together: begin, flip..., judge, then commit or undo.
 *
 * S, I and R are stored by column (one bit a stage), so that the stages in which a tensor
 * is touched (made or read) are found by scanning words.
 *
 * Copies take part of the time: how long the runs of each stage wait, and how far each copy
 * queue is ahead of the compute queue as each stage begins, are known; a move simulates
 * from the first stage it changes until all is as before relative to the compute clock
 * (incremental_timeline.c). Without swaps none of that costs anything.
 */
#ifndef RP_SOLVE_LOCAL_INCREMENTAL_H
#define RP_SOLVE_LOCAL_INCREMENTAL_H

#include <stdbool.h>
#include <stdint.h>

#include "solve/core/instance.h"
#include "solve/core/schedule.h"

enum {
    RP_MAX_FLIPS = 96,
    RP_MAX_DIRTY = 4 * RP_MAX_FLIPS,
    RP_MAX_STRETCHES = RP_MAX_DIRTY,
    RP_MAX_STALLED = 16
};

struct rp_id_list { /* of ops or tensors */
    uint32_t *at;
    uint32_t n, cap;
};

/* Of S: rows first..last of x, all equal before the flip. Of I (`trip`): stage first. */
struct rp_flip {
    uint32_t x, first, last;
    bool value, trip;
    double in_end, out_end; /* what the flip of a trip forgets */
};

/* A swap-in. When it ends is counted from the beginning of its stage; NAN: not known yet.
 */
struct rp_swap_in {
    uint32_t x;
    double end, new_end; /* new_end: in the move under way, where its stage is simulated */
};

struct rp_swap_ins { /* of one stage, in the order in which they begin: latest made first */
    struct rp_swap_in *at;
    uint32_t n, cap;
};

/* A copy on its way, in the clock of a stretch of stages: now, and before the move. */
struct rp_pending {
    double end, old_end;
};

struct rp_pendings {
    struct rp_pending *at;
    size_t n, cap;
};

/* A run or a free of stage t that waits for a copy of x. */
struct rp_stalled {
    uint32_t x, t;
    double wait;
    bool in; /* the copy comes in */
};

/* Copies and what they do to the time. All empty where the problem allows no swaps. */
struct rp_copy_state {
    uint64_t *brought;         /* m columns: bit t is I[t][x] */
    struct rp_swap_ins *trips; /* per stage */
    uint32_t *n_trips;         /* per tensor; swapped out once if it is not 0 */
    uint32_t *n_outs;          /* per stage t: how many outputs of op t are swapped out */
    double
        *out_end; /* per tensor, from the beginning of its producer's stage; NAN: unknown */
    uint32_t n_swapped;
    uint64_t host_bytes;
    double *stall;     /* per stage */
    double *d2h, *h2d; /* per row: the queue is that far ahead of compute, at least 0 */
    double stalls;     /* sum of stall, and what the queues take after the last op */
    /* The move under way: stages first..last-1 of each stretch are simulated. */
    double *new_stall, *new_d2h, *new_h2d, *new_out_end;
    struct {
        uint32_t first, last;
    } stretches[RP_MAX_STRETCHES];
    uint32_t n_stretches;
    double new_stalls;
    bool changed; /* some trip was flipped */
    struct rp_stalled late[RP_MAX_STALLED];
    uint32_t n_late;
    /* Working memory: 0 unless a copy is on its way. */
    double *ready, *host_ready;          /* per tensor */
    struct rp_id_list waits, host_waits; /* where these are not 0 */
    struct rp_pendings out, in;
};

struct rp_dirty { /* a stage that a move evaluates anew */
    uint32_t t;
    uint32_t run0, n_runs; /* in state->scratch_runs */
    double time, over;
};

struct rp_incremental {
    const struct rp_instance *p;
    uint32_t n, m;                 /* stages, tensors */
    size_t words;                  /* 64-bit words a column */
    uint64_t *held;                /* m columns: bit t is S[t][x] */
    uint64_t *runs;                /* n columns: bit t is R[t][j] */
    struct rp_id_list *stage_runs; /* per stage: its runs, ascending */
    struct rp_id_list *opens;      /* per stage t: x with S[t] = 0, S[t+1] = 1 */
    struct rp_id_list *closes;     /* per stage t: x with S[t] = 1, S[t+1] = 0 */
    int64_t *base;                 /* per stage: bytes of S[t] */
    double *over;                  /* per stage: peak - limit (negative: room) */
    double *stage_time;
    double time;     /* sum of stage_time, and copies.stalls */
    double overflow; /* sum over stages of max(0, over) */
    struct rp_copy_state copies;
    uint64_t work; /* runs evaluated and rows scanned, so far */

    /* The move under way. */
    struct rp_flip flips[RP_MAX_FLIPS];
    uint32_t n_flips;
    struct rp_dirty dirty[RP_MAX_DIRTY];
    uint32_t n_dirty;
    double new_time, new_overflow; /* after rp_incremental_evaluate */
    bool broken;                   /* more flips or dirty stages than there is room for */
    bool patient; /* where it makes copies late, it also moves frees and swap-ins */

    struct rp_id_list scratch_runs;
    uint64_t *op_bits;
    uint32_t *last_use;
    uint32_t *dirty_of; /* per stage: 1 + index in `dirty`, 0 if clean */
};

void rp_incremental_init(struct rp_incremental *s, const struct rp_instance *p);
void rp_incremental_fini(struct rp_incremental *s);
/* Loads a sound schedule, stores the present one. */
void rp_incremental_load(struct rp_incremental *s, const struct rp_schedule *from);
void rp_incremental_store(const struct rp_incremental *s, struct rp_schedule *to);

static inline bool rp_incremental_held(const struct rp_incremental *s, uint32_t t,
                                       uint32_t x) {
    return s->held[(size_t)x * s->words + t / 64] >> (t % 64) & 1;
}
/* x is swapped in, in stage t; in some stage. */
static inline bool rp_incremental_swapped_in(const struct rp_incremental *s, uint32_t t,
                                             uint32_t x) {
    return s->copies.brought != NULL &&
           s->copies.brought[(size_t)x * s->words + t / 64] >> (t % 64) & 1;
}
static inline bool rp_incremental_swapped(const struct rp_incremental *s, uint32_t x) {
    return s->copies.n_trips != NULL && s->copies.n_trips[x] > 0;
}
static inline bool rp_incremental_runs(const struct rp_incremental *s, uint32_t t,
                                       uint32_t j) {
    return s->runs[(size_t)j * s->words + t / 64] >> (t % 64) & 1;
}

/* The last stage before t, and the first stage from t on, in which x is made or read by the
 * runs as they are (before the move under way); RP_NONE if there is none. */
uint32_t rp_incremental_touch_before(const struct rp_incremental *s, uint32_t x,
                                     uint32_t t);
uint32_t rp_incremental_touch_from(const struct rp_incremental *s, uint32_t x, uint32_t t);

void rp_incremental_begin(struct rp_incremental *s);
/* Sets rows first..last of x to `value`; rows that have it already are left alone. No stage
 * swaps in what it has: such trips are undone where `value` is true. */
void rp_incremental_flip(struct rp_incremental *s, uint32_t x, uint32_t first,
                         uint32_t last, bool value);
/* Sets I[t][x]; where `value` is true, S[t][x] must be 0 and x made before stage t. */
void rp_incremental_flip_swap_in(struct rp_incremental *s, uint32_t x, uint32_t t,
                                 bool value);
/* Evaluates the move. False if it cannot be done, or if time + price * overflow (price in
 * ns a byte) would rise by more than `most`. Run-once tensors that a re-run needs are held
 * by further flips, and holds and trips that lose their use are taken back. With `patient`
 * set, what has to wait longer for copies is freed later and swapped in earlier. */
bool rp_incremental_evaluate(struct rp_incremental *s, double price, double most);
void rp_incremental_commit(struct rp_incremental *s);
void rp_incremental_undo(struct rp_incremental *s);

/* ---- incremental_stage.c, for incremental.c ---- */

enum rp_closure { RP_CLOSED, RP_STUCK, RP_TOO_SLOW };

/* Appends what must run in stage t to scratch_runs, ascending, and sets *time to their
 * time. RP_STUCK: a run-once op would have to run again, *stuck is an output of it.
 * RP_TOO_SLOW: the time passes `most`. */
enum rp_closure rp_incremental_close_stage(struct rp_incremental *s, uint32_t t,
                                           double most, double *time, uint32_t *stuck);
/* Peak of stage t minus the limit, given its runs and the bytes of S[t]. */
double rp_incremental_stage_over(struct rp_incremental *s, uint32_t t, const uint32_t *runs,
                                 uint32_t n_runs, int64_t base);

/* ---- incremental_timeline.c, for incremental.c and incremental_stage.c ---- */

void rp_incremental_timeline_init(struct rp_incremental *s);
void rp_incremental_timeline_fini(struct rp_incremental *s);
/* Takes over I, before the stages are evaluated; simulates all stages, after. */
void rp_incremental_timeline_load_swap_ins(struct rp_incremental *s,
                                           const struct rp_schedule *from);
void rp_incremental_timeline_load(struct rp_incremental *s);
/* Sets copies.new_stalls: the stages in `dirty` are new. False if something would be freed
 * or made again while it is on its way in. */
bool rp_incremental_timeline_evaluate(struct rp_incremental *s);
/* Flips what waited for copies when last judged: freed later, swapped in earlier. */
void rp_incremental_timeline_relieve(struct rp_incremental *s);
void rp_incremental_timeline_commit(struct rp_incremental *s);
/* Makes the flip of a trip; its own inverse with the value negated. */
void rp_incremental_apply_swap_in(struct rp_incremental *s, struct rp_flip *f);

#endif
