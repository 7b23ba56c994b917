/* bounds: what one run of the planner says about a graph, held against what other runs and
 * brute force say about it. */
#ifndef RP_CAMPAIGN_BOUNDS_H
#define RP_CAMPAIGN_BOUNDS_H

#include "case.h"

/* A set of plans: those that these options allow. */
struct cam_class {
    uint64_t budget_bytes, host_budget_bytes; /* host: UINT64_MAX: no limit */
    bool recompute, swap, any_order, schedules;
    bool addressed; /* sizes are rounded up to the alignment */
};

struct cam_answer {
    struct cam_class of;
    bool found, impossible; /* there is a plan; the run says that there can be none */
    bool none_found;        /* it has found none, and leaves open whether there is one */
    bool has_bound;
    uint64_t lower_bound_ns;   /* no plan of the class takes less time */
    struct cam_class bound_of; /* what the bound is about: often `of` */
    struct ck_figures plan;
    char name[32]; /* of the plan */
};

/* Takes over what the plan says about its bound. */
void cam_read_bound(struct cam_answer *a);

/* Whether that bound is about the plan itself, too. One about schedules is not about a plan
 * that the search of all programs found: such a plan may be faster than every schedule. */
bool cam_bound_holds_for_plan(const struct cam_answer *a);

/* Fails if a bound is above the time of another run's plan that it speaks of, or if a run
 * calls impossible what another found. */
void cam_cross_check(struct cam_case *c, const struct cam_answer *answers, size_t n);

/* Draws a tiny graph of the unit tests' generator into the folder, whose sources live on
 * the host or may do so. */
void cam_new_host_graph(struct cam_case *c, const char *name, struct cam_graph *graph);

/* Does the same against all step programs, for graphs drawn for brute force. */
void cam_brute_check(struct cam_case *c, const char *graph, const struct cam_answer *a);

#endif
