/* schedule: a solution of the planning problem. It is two matrices, S as in Checkmate (Jain
 * et al., MLSys 2020), and I for swaps:
 *
 *   S[t][x] = 1 when tensor x is on the device as stage t begins (row n_ops: at the end of
 *   the step);
 *   I[t][x] = 1 when x is swapped in, in stage t. Then S[t][x] = 0, x was made before, and
 *   stage t reads it or S[t+1] holds it.
 *
 * The cheapest runs R follow from them. Stage t runs op t, the ops that make the tensors of
 * S[t+1] that S[t] and I[t] lack, and the ops that make what those need (the closure).
 *
 * The steps of a stage have this order. First, what it neither uses nor holds on is freed.
 * Then its swap-ins begin, the tensor that was made last first. Then ops run in order, and
 * a tensor is freed right after its last use unless S[t+1] holds it. A tensor that is
 * swapped in anywhere is swapped out once, directly after its first run.
 *
 * Sources that may live on the host (instance.h) obey the same rules, version by version,
 * with these additions. S[1][x] = 1 for version 0 of a source says that the source stays on
 * the device: then S holds each of its versions in all rows in which that is the content,
 * and nothing is copied. Otherwise the source lives on the host. Version 0 comes by
 * swap-ins only, is dropped for nothing, and never needs a swap-out. The last version is
 * swapped out even if nothing swaps it in again.
 *
 * The stage of `end`, where the instance has it, is what comes after the graph's last first
 * run. Its steps are swap-ins of what is kept, or runs that make it again.
 *
 * I says the stage of a swap-in, not its time. The search chooses the stage
 * (local/moves_swap.h), local/shrink_lifetimes.h then moves the step as late as it can be,
 * and model/timeline.h says when the copy starts and ends.
 *
 * Peak and runs of stage t depend on the rows t and t+1 only. When copies end, and so how
 * long the runs wait, depends on all rows (docs/formats.md, "The time line").
 *
 * Not thread-safe: one object, one thread. Different objects may be used by different
 * threads.
 */
#ifndef RP_SOLVE_CORE_SCHEDULE_H
#define RP_SOLVE_CORE_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/stop.h"
#include "model/plan.h"
#include "solve/core/instance.h"

struct rp_schedule {
    uint32_t n_stages;
    size_t words;   /* 64-bit words per row */
    uint64_t *rows; /* n_stages + 1 rows; bit x of row t is S[t][x] */
    uint64_t *ins;  /* the same for I (the last row is 0); NULL: nothing is swapped */
};

/* As memset and memcpy, of n words of bits that are mostly zeros. Stretches of zeros that
 * are zeros already are not written, so memory that nothing has touched yet takes no page.
 * The arrays do not overlap. */
void rp_words_clear(uint64_t *to, size_t n);
void rp_words_copy(uint64_t *to, const uint64_t *from, size_t n);

/* True if a matrix of the instance's shape would take more than MAX_SCHEDULE_BYTES
 * (params.h). No such schedule may be made. */
bool rp_schedule_too_large(const struct rp_instance *p);

/* Both make a new schedule that the caller owns. keep_all holds each tensor from the run
 * that makes it to its last reader, and kept ones to the end, so nothing runs again.
 * Sources stay on the device if they may, else they are swapped in at the beginning. empty
 * is all zeros. */
void rp_schedule_keep_all(const struct rp_instance *p, struct rp_schedule *s);
void rp_schedule_empty(const struct rp_instance *p, struct rp_schedule *s);
/* `to` has the same shape or no rows yet. */
void rp_schedule_copy(struct rp_schedule *to, const struct rp_schedule *from);
void rp_schedule_exchange(struct rp_schedule *a, struct rp_schedule *b);
void rp_schedule_clear(struct rp_schedule *s); /* all zeros */
void rp_schedule_fini(struct rp_schedule *s);

static inline bool rp_held(const struct rp_schedule *s, uint32_t t, uint32_t x) {
    return s->rows[(size_t)t * s->words + x / 64] >> (x % 64) & 1;
}
static inline bool rp_swapped_in(const struct rp_schedule *s, uint32_t t, uint32_t x) {
    return s->ins != NULL && s->ins[(size_t)t * s->words + x / 64] >> (x % 64) & 1;
}
/* Both are of one instance. In how many tensors they differ. */
uint32_t rp_schedule_distance(const struct rp_schedule *a, const struct rp_schedule *b);
bool rp_schedule_swaps(const struct rp_schedule *s); /* I is not all 0 */
/* A bit per tensor: it is swapped in somewhere. The caller frees it. */
uint64_t *rp_schedule_swapped(const struct rp_schedule *s);
/* A bit per tensor: it is swapped out, after its first run. The caller frees it. */
uint64_t *rp_schedule_copied_out(const struct rp_instance *p, const struct rp_schedule *s);
/* What takes room on the host: sources that live there, and what else is copied out. */
uint64_t rp_schedule_host_bytes(const struct rp_instance *p, const struct rp_schedule *s);
/* The source of version x stays on the device. */
bool rp_source_stays(const struct rp_instance *p, const struct rp_schedule *s, uint32_t x);
/* Sets I[t][x]. */
void rp_schedule_set_in(struct rp_schedule *s, uint32_t x, uint32_t t, bool value);
/* Sets S[t][x] for first <= t <= last. */
void rp_schedule_set(struct rp_schedule *s, uint32_t x, uint32_t first, uint32_t last,
                     bool value);
/* Sets many S[t][x] in one pass over the rows. Between rp_schedule_empty and
 * rp_schedule_from_changes each row holds the bits in which it differs from the row before;
 * rp_schedule_change flips S[t][x] for first <= t <= last, or for none if first > last. */
void rp_schedule_change(struct rp_schedule *s, uint32_t x, uint32_t first, uint32_t last);
void rp_schedule_from_changes(struct rp_schedule *s);

/* One stage: its runs in order, ending with op t itself. */
struct rp_stage {
    uint32_t *runs; /* room for n_ops */
    uint32_t n_runs;
    uint64_t time_ns;    /* of all its runs */
    uint64_t peak_bytes; /* sources not included */
    uint32_t peak_op;
};

/* Working memory of stage evaluation; rp_stage_work_fini frees it. */
struct rp_stage_work {
    uint64_t *op_bits;  /* ops that run in this stage */
    uint32_t *last_use; /* per tensor: last run in this stage that reads it (or makes it) */
    uint64_t *row;      /* the row of S whose bytes were summed last */
    uint64_t row_bytes; /* its bytes */
    uint32_t *freed;    /* what is freed as the stage begins; room for all tensors */
    uint32_t n_freed;
    struct rp_stage stage;
};
void rp_stage_work_init(const struct rp_instance *p, struct rp_stage_work *w);
void rp_stage_work_fini(struct rp_stage_work *w);

/* Evaluates stage t into w->stage. False if an op would have to run in a stage in which it
 * may not, or a row holds a tensor that no earlier stage can have made. */
bool rp_stage_eval(const struct rp_instance *p, const struct rp_schedule *s, uint32_t t,
                   struct rp_stage_work *w);

struct rp_cost {
    bool sound; /* every stage evaluates, the last row holds the kept tensors and each row
                   the pinned ones that are made, versions of sources are held as above,
                   the time is below 2^63 ns, nothing is freed or made again during its
                   swap-in */
    bool overflows;      /* the time of the runs passes 2^63 ns; then it is not sound */
    uint64_t time_ns;    /* until runs and copies have ended */
    uint64_t stall_ns;   /* how long runs and frees wait for copies */
    uint64_t host_bytes; /* of all that is copied out, and of sources that live there */
    uint64_t peak_bytes; /* sources not included */
    uint32_t peak_stage; /* the first stage that reaches the peak */
    uint32_t peak_op;    /* the op that runs then */
};
struct rp_cost rp_schedule_cost(const struct rp_instance *p, const struct rp_schedule *s);
/* The same, but not sound once `stop` hits. */
struct rp_cost rp_schedule_cost_until(const struct rp_instance *p,
                                      const struct rp_schedule *s, struct rp_stop *stop);

/* Is it sound, and within the limits of device and host memory? */
bool rp_cost_fits(const struct rp_instance *p, const struct rp_cost *c);
bool rp_schedule_fits(const struct rp_instance *p, const struct rp_schedule *s);

/* Appends a step without an address to plan->steps, but for a run of `begin` or `end`. `i`
 * is the instance's number of the op (RP_RUN) or tensor (all others). */
void rp_append_step(const struct rp_instance *p, struct rp_plan *plan,
                    enum rp_step_kind kind, uint32_t i);

/* Appends the sources that live on the host, in the graph's order, to plan->homes. Per
 * version 0: its source stays on the device. */
void rp_append_homes(const struct rp_instance *p, struct rp_plan *plan, const bool *stays);

/* Appends the steps of a sound schedule, with the graph's indices and without addresses, to
 * plan->steps, and the sources that live on the host to plan->homes. Other members are not
 * touched. Steps are missing once `stop` (which may be NULL) hits. */
void rp_schedule_steps(const struct rp_instance *p, const struct rp_schedule *s,
                       struct rp_stop *stop, struct rp_plan *plan);

#endif
