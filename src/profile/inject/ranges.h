/* ranges: the NVTX ranges that each thread has open, and the steps.
 *
 * A range "rp:NAME" has an id of its own, which CUPTI is told: what the thread launches
 * inside carries it. Other ranges are kept only so that each pop finds its push. A thread
 * has one stack over all NVTX domains; a domain's pop closes that domain's last range, also
 * from under another domain's.
 */
#ifndef RP_PROFILE_INJECT_RANGES_H
#define RP_PROFILE_INJECT_RANGES_H

#include <stdbool.h>
#include <stdint.h>

/* What follows in a range's message. */
struct rp_mark {
    const char *text; /* all of it, UTF-8; NULL if there is none */
    bool has_workspace;
    uint64_t workspace_bytes;
};

/* How this thread's ids reach CUPTI, and its clock; NULL until CUPTI is at work. */
struct rp_ranges_sink {
    bool (*push)(uint64_t id);
    void (*pop)(void);
    void (*step_ended)(void);
    uint64_t (*now)(void);
};
void rp_ranges_connect(const struct rp_ranges_sink *sink); /* from now on */

/* Both return the depth in that domain, as NVTX's own do; -1 for a pop without a push. */
int rp_ranges_push(const void *domain, const struct rp_mark *mark);
int rp_ranges_pop(const void *domain);

/* Ranges that belong to no thread: steps may, ops may not. */
uint64_t rp_ranges_start(const struct rp_mark *mark);
void rp_ranges_end(uint64_t id);

/* The thread's innermost "rp:" range, 0 if none is open. */
uint64_t rp_ranges_innermost(void);

/* A step that is still on is written as one without end. */
void rp_ranges_finish(void);

/* In a child after fork: what is open is the parent's, and CUPTI too. If CUPTI was at work
 * (`parent` is then that process, otherwise 0), the child's first range says so. */
void rp_ranges_in_child(long parent);

#endif
