/* state: a schedule held so that small changes to it are cheap to judge.
 *
 * The search changes S by flips: one tensor over a range of rows. Only the stages at the
 * two ends of the range, and those inside in which the tensor is used, change in runs or
 * shape; the others merely gain or lose the tensor's bytes. A move is a handful of flips,
 * judged together: begin, flip..., judge, then commit or undo.
 *
 * S and R are stored by column (one bit a stage), so that the stages in which a tensor is
 * touched (made or read) are found by scanning words.
 */
#ifndef RP_SOLVE_STATE_H
#define RP_SOLVE_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "solve/problem.h"
#include "solve/schedule.h"

struct rp_list { /* of ops or tensors */
    uint32_t *at;
    uint32_t n, cap;
};

struct rp_flip {
    uint32_t x, first, last; /* rows first..last, all equal before the flip */
    bool value;
};

struct rp_dirty { /* a stage that a move evaluates anew */
    uint32_t t;
    uint32_t run0, n_runs; /* in state->scratch_runs */
    double time, over;
};

enum { RP_MAX_FLIPS = 96, RP_MAX_DIRTY = 4 * RP_MAX_FLIPS };

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
    double time, overflow; /* sums over stages: of stage_time; of max(0, over) */
    uint64_t work;         /* runs evaluated and rows scanned, so far */

    /* The move under way. */
    struct rp_flip flips[RP_MAX_FLIPS];
    uint32_t n_flips;
    struct rp_dirty dirty[RP_MAX_DIRTY];
    uint32_t n_dirty;
    double new_time, new_overflow; /* after rp_state_judge */
    bool broken;                   /* more flips or dirty stages than there is room for */

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
static inline bool rp_state_runs(const struct rp_state *s, uint32_t t, uint32_t j) {
    return s->runs[(size_t)j * s->words + t / 64] >> (t % 64) & 1;
}

/* The last stage before t, and the first stage from t on, in which x is made or read by the
 * runs as they are (before the move under way); RP_NONE if there is none. */
uint32_t rp_state_touch_before(const struct rp_state *s, uint32_t x, uint32_t t);
uint32_t rp_state_touch_from(const struct rp_state *s, uint32_t x, uint32_t t);

void rp_state_begin(struct rp_state *s);
/* Sets rows first..last of x to `value`; rows that have it already are left alone. */
void rp_state_flip(struct rp_state *s, uint32_t x, uint32_t first, uint32_t last,
                   bool value);
/* Evaluates the move. False if it cannot be done, or if time + price * overflow (price in
 * ns a byte) would rise by more than `most`. Run-once tensors that a re-run needs are held
 * by further flips, and holds that lose their use are shortened. */
bool rp_state_judge(struct rp_state *s, double price, double most);
void rp_state_commit(struct rp_state *s);
void rp_state_undo(struct rp_state *s);

#endif
