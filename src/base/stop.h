/* stop: when long work is to end before it is done: at a signal, or at a moment of the
 * clock. Loops whose length depends on the input ask, and leave a valid state or say that
 * they have none.
 *
 * Asking never changes what a search does unless the answer is yes.
 *
 * Not thread-safe: one object, one thread. A copy serves another thread. */
#ifndef RP_BASE_STOP_H
#define RP_BASE_STOP_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/log.h"

/* Set the first two members; the others begin as 0. */
struct rp_stop {
    const volatile sig_atomic_t *interrupted; /* not 0: stop; may be NULL */
    double deadline;                          /* of rp_seconds(); INFINITY: none */
    uint64_t work;                            /* since the last question */
    uint64_t questions;                       /* so far */
    uint64_t max_questions; /* stop at this one: a limit of work; 0: none */
    bool hit;               /* the last answer; a yes stays until rp_stop_until */
};

/* Work from one question to the next, in units of about a nanosecond. */
#define RP_STOP_WORK ((uint64_t)1 << 20)

/* True once the signal has come. Of all functions: NULL never ends. */
static inline bool rp_stop_interrupted(const struct rp_stop *s) {
    return s != NULL && s->interrupted != NULL &&
           __atomic_load_n(s->interrupted, __ATOMIC_RELAXED);
}

/* The last answer: true if the work was to end. */
static inline bool rp_stop_hit(const struct rp_stop *s) {
    return s != NULL && s->hit;
}

/* True once the work is to end. */
static inline bool rp_stop_now(struct rp_stop *s) {
    if (s == NULL || s->hit)
        return s != NULL;
    s->work = 0;
    s->questions++;
    s->hit = rp_stop_interrupted(s) ||
             (s->max_questions > 0 && s->questions >= s->max_questions) ||
             rp_seconds() > s->deadline;
    return s->hit;
}

/* The same for inner loops: counts `work`, and asks once in RP_STOP_WORK. */
static inline bool rp_stop_after(struct rp_stop *s, uint64_t work) {
    if (s == NULL || s->hit)
        return s != NULL;
    s->work += work;
    return s->work >= RP_STOP_WORK && rp_stop_now(s);
}

/* Sets another deadline and forgets the last answer. */
static inline void rp_stop_until(struct rp_stop *s, double deadline) {
    if (s == NULL)
        return;
    s->deadline = deadline;
    s->hit = false;
    s->work = 0;
}

#endif
