/* ranges: the NVTX ranges that each thread has open, and the steps.
 *
 * Steps are ranges "rp:step", sections are ranges "rp:@NAME" (profile/join/link_fit.h).
 * CUPTI is flushed when one ends.
 *
 * Each range "rp:NAME" gets an id and passes it to CUPTI, which attaches it to everything
 * that the thread launches inside. Other ranges are kept only so that each pop finds its
 * push. A thread has one stack for all NVTX domains. A domain's pop closes the last range
 * of that domain, even if a range of another domain lies above it.
 *
 * Thread-safe: each thread has its own stack, and steps are atomic.
 */
#ifndef RP_PROFILE_INJECT_RANGES_H
#define RP_PROFILE_INJECT_RANGES_H

#include <stdbool.h>
#include <stdint.h>

/* A range's message and payload. */
struct rp_mark {
    const char *text; /* UTF-8, or NULL */
    bool has_workspace;
    uint64_t workspace_bytes;
};

/* How a thread passes its ids to CUPTI, and CUPTI's clock. */
struct rp_ranges_sink {
    bool (*push)(uint64_t id);
    void (*pop)(void);
    void (*flush)(void); /* a step or a section has ended */
    uint64_t (*now)(void);
};
/* Passes ids to `sink` from now on. Before this call they are only stored. */
void rp_ranges_connect(const struct rp_ranges_sink *sink);

/* Both return the depth in that domain, as NVTX's functions do; -1 for a pop without push.
 */
int rp_ranges_push(const void *domain, const struct rp_mark *mark);
int rp_ranges_pop(const void *domain);

/* Ranges that belong to no thread. Steps may be such ranges, ops may not. */
uint64_t rp_ranges_start(const struct rp_mark *mark);
void rp_ranges_end(uint64_t id);

/* The thread's innermost "rp:" range, 0 if none is open. */
uint64_t rp_ranges_innermost(void);

/* Writes a step that is still open with end 0, and stops passing ids on. */
void rp_ranges_finish(void);

/* For a child after fork: open ranges and CUPTI belong to the parent. If CUPTI was active,
 * `parent` is the process that started it, otherwise 0; the child's first range then writes
 * an error line. */
void rp_ranges_in_child(long parent);

#endif
