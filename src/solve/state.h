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
 * (state_time.c). Without swaps none of that costs anything.
 */
#ifndef RP_SOLVE_STATE_H
#define RP_SOLVE_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "solve/problem.h"
#include "solve/schedule.h"

enum {
    RP_MAX_FLIPS = 96,
    RP_MAX_DIRTY = 4 * RP_MAX_FLIPS,
    RP_MAX_STRETCHES = RP_MAX_DIRTY,
    RP_MAX_LATE = 16
};

struct rp_list { /* of ops or tensors */
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
struct rp_trip {
    uint32_t x;
    double end, new_end; /* new_end: in the move under way, where its stage is simulated */
};

struct rp_trips { /* of one stage, in the order in which they begin: latest made first */
    struct rp_trip *at;
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
struct rp_late {
    uint32_t x, t;
    double wait;
    bool in; /* the copy comes in */
};

/* Copies and what they do to the time. All empty where the problem allows no swaps. */
struct rp_copies {
    uint64_t *brought;      /* m columns: bit t is I[t][x] */
    struct rp_trips *trips; /* per stage */
    uint32_t *n_trips;      /* per tensor; swapped out once if it is not 0 */
    uint32_t *n_outs;       /* per stage t: how many outputs of op t are swapped out */
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
    struct rp_late late[RP_MAX_LATE];
    uint32_t n_late;
    /* Working memory: 0 unless a copy is on its way. */
    double *ready, *host_ready;       /* per tensor */
    struct rp_list waits, host_waits; /* where these are not 0 */
    struct rp_pendings out, in;
};

struct rp_dirty { /* a stage that a move evaluates anew */
    uint32_t t;
    uint32_t run0, n_runs; /* in state->scratch_runs */
    double time, over;
};

struct rp_state {
    const struct rp_problem *p;
    uint32_t n, m;              /* stages, tensors */
    size_t words;               /* 64-bit words a column */
    uint64_t *held;             /* m columns: bit t is S[t][x] */
    uint64_t *runs;             /* n columns: bit t is R[t][j] */
    struct rp_list *stage_runs; /* per stage: its runs, ascending */
    struct rp_list *opens;      /* per stage t: x with S[t] = 0, S[t+1] = 1 */
    struct rp_list *closes;     /* per stage t: x with S[t] = 1, S[t+1] = 0 */
    int64_t *base;              /* per stage: bytes of S[t] */
    double *over;               /* per stage: peak - limit (negative: room) */
    double *stage_time;
    double time;     /* sum of stage_time, and copies.stalls */
    double overflow; /* sum over stages of max(0, over) */
    struct rp_copies copies;
    uint64_t work; /* runs evaluated and rows scanned, so far */

    /* The move under way. */
    struct rp_flip flips[RP_MAX_FLIPS];
    uint32_t n_flips;
    struct rp_dirty dirty[RP_MAX_DIRTY];
    uint32_t n_dirty;
    double new_time, new_overflow; /* after rp_state_judge */
    bool broken;                   /* more flips or dirty stages than there is room for */
    bool patient; /* where it makes copies late, it also moves frees and swap-ins */

    struct rp_list scratch_runs;
    uint64_t *op_bits;
    uint32_t *last_use;
    uint32_t *dirty_of; /* per stage: 1 + index in `dirty`, 0 if clean */
};

void rp_state_init(struct rp_state *s, const struct rp_problem *p);
void rp_state_fini(struct rp_state *s);
/* Loads a sound schedule, stores the present one. */
void rp_state_load(struct rp_state *s, const struct rp_schedule *from);
void rp_state_store(const struct rp_state *s, struct rp_schedule *to);

static inline bool rp_state_held(const struct rp_state *s, uint32_t t, uint32_t x) {
    return s->held[(size_t)x * s->words + t / 64] >> (t % 64) & 1;
}
/* x is swapped in, in stage t; in some stage. */
static inline bool rp_state_brought(const struct rp_state *s, uint32_t t, uint32_t x) {
    return s->copies.brought != NULL &&
           s->copies.brought[(size_t)x * s->words + t / 64] >> (t % 64) & 1;
}
static inline bool rp_state_swapped(const struct rp_state *s, uint32_t x) {
    return s->copies.n_trips != NULL && s->copies.n_trips[x] > 0;
}
static inline bool rp_state_runs(const struct rp_state *s, uint32_t t, uint32_t j) {
    return s->runs[(size_t)j * s->words + t / 64] >> (t % 64) & 1;
}

/* The last stage before t, and the first stage from t on, in which x is made or read by the
 * runs as they are (before the move under way); RP_NONE if there is none. */
uint32_t rp_state_touch_before(const struct rp_state *s, uint32_t x, uint32_t t);
uint32_t rp_state_touch_from(const struct rp_state *s, uint32_t x, uint32_t t);

void rp_state_begin(struct rp_state *s);
/* Sets rows first..last of x to `value`; rows that have it already are left alone. No stage
 * swaps in what it has: such trips are undone where `value` is true. */
void rp_state_flip(struct rp_state *s, uint32_t x, uint32_t first, uint32_t last,
                   bool value);
/* Sets I[t][x]; where `value` is true, S[t][x] must be 0 and x made before stage t. */
void rp_state_flip_trip(struct rp_state *s, uint32_t x, uint32_t t, bool value);
/* Evaluates the move. False if it cannot be done, or if time + price * overflow (price in
 * ns a byte) would rise by more than `most`. Run-once tensors that a re-run needs are held
 * by further flips, and holds and trips that lose their use are taken back. With `patient`
 * set, what has to wait longer for copies is freed later and swapped in earlier. */
bool rp_state_judge(struct rp_state *s, double price, double most);
void rp_state_commit(struct rp_state *s);
void rp_state_undo(struct rp_state *s);

/* ---- state_stage.c, for state.c ---- */

enum rp_closure { RP_CLOSED, RP_STUCK, RP_TOO_SLOW };

/* Appends what must run in stage t to scratch_runs, ascending, and sets *time to their
 * time. RP_STUCK: a run-once op would have to run again, *stuck is an output of it.
 * RP_TOO_SLOW: the time passes `most`. */
enum rp_closure rp_state_close_stage(struct rp_state *s, uint32_t t, double most,
                                     double *time, uint32_t *stuck);
/* Peak of stage t minus the limit, given its runs and the bytes of S[t]. */
double rp_state_stage_over(struct rp_state *s, uint32_t t, const uint32_t *runs,
                           uint32_t n_runs, int64_t base);

/* ---- state_time.c, for state.c and state_stage.c ---- */

void rp_state_time_init(struct rp_state *s);
void rp_state_time_fini(struct rp_state *s);
/* Takes over I, before the stages are evaluated; simulates all stages, after. */
void rp_state_time_load_trips(struct rp_state *s, const struct rp_schedule *from);
void rp_state_time_load(struct rp_state *s);
/* Sets copies.new_stalls: the stages in `dirty` are new. False if something would be freed
 * or made again while it is on its way in. */
bool rp_state_time_judge(struct rp_state *s);
/* Flips what waited for copies when last judged: freed later, swapped in earlier. */
void rp_state_time_help(struct rp_state *s);
void rp_state_time_commit(struct rp_state *s);
/* Makes the flip of a trip; its own inverse with the value negated. */
void rp_state_turn_trip(struct rp_state *s, struct rp_flip *f);

#endif
