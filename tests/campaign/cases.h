/* cases: the kinds of case, with what each of them does and how often it is drawn. */
#ifndef RP_CAMPAIGN_CASES_H
#define RP_CAMPAIGN_CASES_H

#include "case.h"

struct cam_kind {
    const char *name;
    void (*run)(struct cam_case *c);
    uint32_t share;   /* tickets; how often it is drawn */
    bool needs_clock; /* left out of steady campaigns */
};

extern const struct cam_kind cam_kinds[];
extern const size_t cam_n_kinds;

void cam_case_solve(struct cam_case *c);     /* several option mixes on one graph */
void cam_case_repeat(struct cam_case *c);    /* the same twice gives the same bytes */
void cam_case_brute(struct cam_case *c);     /* the same, on a tiny graph */
void cam_case_wide(struct cam_case *c);      /* solve, ops of many inputs and outputs */
void cam_case_classes(struct cam_case *c);   /* more allowed is never slower */
void cam_case_exchange(struct cam_case *c);  /* a plan as a solution and back */
void cam_case_bandwidth(struct cam_case *c); /* other bandwidths */
void cam_case_busy(struct cam_case *c);      /* beside other programs */
void cam_case_cluster(struct cam_case *c);   /* a sweep in parts */
void cam_case_policies(struct cam_case *c);  /* `solve --policy` and `compare` */
void cam_case_sweep(struct cam_case *c);
void cam_case_maxbatch(struct cam_case *c); /* networks of the zoo */
void cam_case_emit(struct cam_case *c);     /* a network's plan as a program */
void cam_case_pack(struct cam_case *c);
void cam_case_show(struct cam_case *c);
void cam_case_mutants(struct cam_case *c);   /* broken plans and graphs */
void cam_case_interrupt(struct cam_case *c); /* a signal at any time */
void cam_case_limit(struct cam_case *c);     /* tiny time limits on large graphs */

#endif
