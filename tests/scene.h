/* scene: traces written line by line, as the profiler's library writes them, and what
 * joining them with a graph of two ops gives. */
#ifndef RP_TESTS_SCENE_H
#define RP_TESTS_SCENE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/join/join.h"

/* x -a-> y -b-> z. %s is the name of b. */
extern const char rp_scene_net[];

/* A trace that is written line by line. Ids are assigned in increasing order. */
struct rp_scene {
    char text[16384];
    size_t len, lines;
    unsigned id, correlation, step;
    uint64_t clock, clock_before_step;
};

/* Appends a line of the trace. */
void rp_scene_line(struct rp_scene *s, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
struct rp_scene rp_scene_begin(void);
void rp_scene_begin_step(struct rp_scene *s);
void rp_scene_end_step(struct rp_scene *s);
/* A range of an op within range `parent` (0: none). Returns its id. */
unsigned rp_scene_range(struct rp_scene *s, const char *name, unsigned parent);
/* A kernel of `ns` launched in range r by a call of 10 ns. The call begins `gap` ns after
 * the current time. */
void rp_scene_kernel(struct rp_scene *s, unsigned r, unsigned gap, unsigned ns);
/* One step in which op a takes `a` ns and op b takes `b` ns. */
void rp_scene_step(struct rp_scene *s, unsigned a, unsigned b);

struct rp_joined {
    struct rp_graph g;
    struct rp_joined_costs c;
    struct rp_err err;
    rp_rc rc;
};

/* Joins n traces with rp_scene_net; `complete` ends each with its last line. End the result
 * with rp_joined_fini. */
void rp_scene_join(struct rp_joined *o, struct rp_scene *s, size_t n, bool complete);
void rp_joined_fini(struct rp_joined *o);
/* Joining this one trace fails with this code and message. */
void rp_scene_refused(struct rp_scene *s, rp_rc rc, const char *message);

#endif
