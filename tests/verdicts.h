/* verdicts: what the checker must say of plans of the tests. Not thread-safe. */
#ifndef RP_TESTS_VERDICTS_H
#define RP_TESTS_VERDICTS_H

#include "fixture.h"

/* Expects the verdict "no" with this reason (NULL: "yes"), and the same verdict of the
 * naive checker. */
void rp_expect_verdict(struct rp_world *w, const char *why);

/* The same of a plan written as in fixture.h, for a graph or for rp_net. */
void rp_expect_plan_of(const char *graph, const char *sizes, const char *steps,
                       const char *why);
void rp_expect_plan(const char *sizes, const char *steps, const char *why);

#endif
