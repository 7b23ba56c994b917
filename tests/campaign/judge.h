/* judge: the state of a plan between two steps, for the second checker. Part of checker.h.
 *
 * judge_steps.c carries out steps on it; judge_memory.c counts storage and addresses. */
#ifndef RP_CAMPAIGN_JUDGE_H
#define RP_CAMPAIGN_JUDGE_H

#include "files.h"

struct ck_range {
    int64_t lo, hi;
};

struct ck_state_of_tensor {
    bool on_device, made;
    struct ck_range at; /* on the device, with addresses */
    int64_t ready_ns;   /* when its content on the device is complete */
    bool copied, stale; /* it has a host copy; that one is out of date */
    int64_t copied_ns;  /* when its host copy is complete */
    bool listed;        /* a source that lives on the host */
    int64_t host_at;
    int updates; /* done to it so far */
};

struct ck_judge {
    const struct ck_graph *g;
    const struct ck_plan *p;
    char *why;
    int step;
    struct ck_state_of_tensor *x;
    int *runs;            /* per op */
    int **updates_before; /* per op and touched source (inputs, then updates): rule 7 */
    int last_ordered, last_first, last_in_stage;
    int64_t compute, d2h, h2d, stall, recompute;
    int64_t fixed, live, peak, arena_used, host_sum, host_used;
    struct ck_range *host_ranges;
    int n_host_ranges;
    struct ck_figures *f;
};

/* Records the first fault, with the step, and returns false. */
bool ck_broken(struct ck_judge *j, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* *sum += value, or a fault if that overflows. */
bool ck_sum(struct ck_judge *j, int64_t *sum, int64_t value);

/* ---- judge_memory.c ---- */

/* Bytes with what the alignment adds in addressed plans; a fault on overflow. */
bool ck_size(struct ck_judge *j, int64_t bytes, int64_t *size);
/* Storage for x at this address; the peak is noted by ck_note_peak. */
bool ck_allocate(struct ck_judge *j, int x, int64_t address);
void ck_release(struct ck_judge *j, int x);
/* `extra` bytes at `address` are live too, for a moment. */
bool ck_note_peak(struct ck_judge *j, int64_t extra, int64_t address);
/* A range of the host slab for x, to the end of the step. */
bool ck_host_range(struct ck_judge *j, int x, int64_t address);

/* ---- judge_steps.c ---- */

bool ck_step(struct ck_judge *j, const struct ck_step *s);

#endif
