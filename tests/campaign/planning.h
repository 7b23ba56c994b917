/* planning: `solve` with random options on a graph, and what must hold of its answer. */
#ifndef RP_CAMPAIGN_PLANNING_H
#define RP_CAMPAIGN_PLANNING_H

#include "bounds.h"

/* The graph of a case, and the memory that it needs. */
struct cam_subject {
    char name[32]; /* of its file */
    struct cam_graph graph;
    bool accepted; /* the program reads it */
    bool solvable; /* there is a plan at 100% */
    uint64_t floor_bytes, keep_all_bytes;
};

/* Draws a graph into the folder and asks `solve` for the two sizes. If a source lives on
 * the host, a command must refuse the graph instead. */
void cam_new_subject(struct cam_case *c, const char *name, const struct cam_wish *wish,
                     struct cam_subject *s);

/* Asks for the sizes of the graph that is in the folder under the subject's name. */
void cam_measure(struct cam_case *c, struct cam_subject *s);

/* A wish for a graph of a random size: mostly small, now and then some thousand ops. */
struct cam_wish cam_draw_wish(struct cam_case *c);

/* Adds a budget between floor and keep-all, or around these, in a unit of its own, or now
 * and then a budget of the activations. */
void cam_draw_budget(struct cam_case *c, const struct cam_subject *s,
                     struct cam_line *line);

/* Adds a budget that is mostly in the lower half between floor and keep-all. */
void cam_draw_tight_budget(struct cam_case *c, const struct cam_subject *s,
                           struct cam_line *line);

/* Adds a time limit, as a number that the program reads. */
void cam_draw_limit(struct cam_case *c, struct cam_line *line, double least_s,
                    double most_s);

/* "remat-plan COMMAND" */
void cam_begin(const struct cam_case *c, struct cam_line *line, const char *command);

/* "remat-plan solve GRAPH --json -o NAME" */
void cam_begin_solve(const struct cam_case *c, const struct cam_subject *s,
                     const char *name, struct cam_line *line);

/* Adds --host-budget now and then. */
void cam_draw_host_budget(struct cam_case *c, const struct cam_subject *s,
                          struct cam_line *line);

/* Adds random options of `solve`, to write the plan `name`. `start`: an answer whose plan
 * it starts from, or NULL. Now and then the options contradict each other, and the line
 * says how it must exit. */
void cam_draw_solve(struct cam_case *c, const struct cam_subject *s, const char *name,
                    const struct cam_answer *start, struct cam_line *line);

/* Runs a line of `solve` and checks its answer: exit code, JSON, files and plan agree, the
 * options hold, and both checkers accept the plan. */
void cam_solve(struct cam_case *c, const struct cam_subject *s, const char *name,
               struct cam_line *line, struct cam_answer *a);

/* The name of a random policy, with options of its own. */
void cam_draw_policy(struct cam_case *c, char *text, size_t size);
/* The policy that a line names, or NULL. */
const char *cam_policy(const struct cam_line *line);
/* The host memory that a line allows, UINT64_MAX: no limit. */
uint64_t cam_host_budget(const struct cam_line *line);

#endif
