/* policies: plans of published policies, made and checked. Not thread-safe. */
#ifndef RP_TESTS_POLICIES_H
#define RP_TESTS_POLICIES_H

#include <stdbool.h>
#include <stdint.h>

#include "model/zoo/registry.h"
#include "policy/policy_plan.h"
#include "solve/solver.h"
#include "verify/verifier.h"

/* The plan of a policy. The budget is a share of the range between sources and keep-all. */
struct rp_planned {
    rp_rc rc;
    struct rp_plan plan;
    struct rp_policy_report report;
    struct rp_verdict verdict;
    bool valid;
};

struct rp_planned rp_plan_with(const struct rp_graph *g, const char *name,
                               struct rp_policy_options o, uint64_t percent);

/* Options for a plan in next to no time. */
struct rp_policy_options rp_quick_options(bool addressed);

/* The steps in one line: the names of ops that run, and of tensors after '-' (freed), '>'
 * (swapped out) or '<' (swapped in). The caller frees it. */
char *rp_steps_text(const struct rp_graph *g, const struct rp_plan *plan);

/* Do two plans have the same steps, whatever the addresses? */
bool rp_same_steps(const struct rp_plan *a, const struct rp_plan *b);

/* A network of the zoo on a device model. The caller owns it. */
struct rp_graph rp_priced_network(const char *name, struct rp_zoo_options o);

/* The budget at a share of the range between sources and keep-all. */
uint64_t rp_budget_between(const struct rp_graph *g, bool addressed, uint64_t percent);

/* Options of a search for a share of keep-all's memory. */
struct rp_solve_options rp_share_options(const struct rp_graph *g, uint64_t percent,
                                         bool swap);

#endif
