/* solve --policy: the options of the published policies, and their way through a command.
 */
#ifndef RP_CMD_POLICY_OPTIONS_H
#define RP_CMD_POLICY_OPTIONS_H

#include <stdbool.h>

#include "base/options.h"
#include "policy/policy.h"
#include "solve/solver.h"

/* What the command line says of tflms; UINT64_MAX where it says nothing. */
struct rp_policy_words {
    const char *ctrld;
    struct rp_tflms_options tflms;
};
#define RP_NO_POLICY_WORDS                                                                 \
    {                                                                                      \
        .tflms = {                                                                         \
            .n_tensors = UINT64_MAX,                                                       \
            .lb = UINT64_MAX,                                                              \
            .ub = UINT64_MAX,                                                              \
            .branch_threshold = UINT64_MAX                                                 \
        }                                                                                  \
    }

/* Rows for a command's option table. */
#define RP_TFLMS_ROWS(words)                                                               \
    {"n-tensors", 0,                                                                       \
     RP_OPT_NAT,  &(words)->tflms.n_tensors,                                               \
     "N",         "tflms: swap so many tensors at most (all)"},                            \
        {"lb",       0,                                                                    \
         RP_OPT_NAT, &(words)->tflms.lb,                                                   \
         "N",        "tflms: least levels from a swap-in's trigger to its use (1)"},       \
        {"ub", 0, RP_OPT_NAT, &(words)->tflms.ub, "N", "tflms: most such levels (10000)"}, \
        {"ctrld",       0,                                                                 \
         RP_OPT_STRING, &(words)->ctrld,                                                   \
         "RULE",        "tflms: trigger by chain_rule (the default) or direct_order"},     \
        {"fuse-swapins", 0,                                                                \
         RP_OPT_FLAG,    &(words)->tflms.fuse_swapins,                                     \
         NULL,           "tflms: one swap-in for all of a tensor's backward readers"},     \
        {"swap-branches",                                                                  \
         0,                                                                                \
         RP_OPT_FLAG,                                                                      \
         &(words)->tflms.swap_branches,                                                    \
         NULL,                                                                             \
         "tflms: swap in the forward phase too, between distant ops"},                     \
    {                                                                                      \
        "branch-threshold", 0, RP_OPT_NAT, &(words)->tflms.branch_threshold, "N",          \
            "tflms: distant is more than so many levels (0)"                               \
    }

/* RP_USAGE: an unknown policy (NULL is none), or words for tflms and it is another. */
rp_rc rp_policy_take(const char *command, const char *name, const struct rp_policy_words *w,
                     struct rp_policy_options *o, const struct rp_policy **policy,
                     struct rp_err *err);

/* The words alone, into `o`. RP_USAGE: there are some, and tflms is not `wanted`. */
rp_rc rp_tflms_take(const char *command, const struct rp_policy_words *w, bool wanted,
                    struct rp_tflms_options *o, struct rp_err *err);

/* Plans, checks, reports (in JSON, in words, or, if `silent`, not at all but when there is
 * no plan) and writes to `out`, if that is not NULL. */
rp_rc rp_solve_by_policy(const struct rp_graph *g, const struct rp_policy *policy,
                         const struct rp_policy_options *o, const char *out, bool json,
                         bool silent, struct rp_err *err);

/* The better of two published policies' plans, for a search to begin with. A schedule only;
 * the caller ends it. Only for graphs of thousands of ops, where a search from nothing is
 * weak, and where it takes a small part of the time limit: on smaller graphs the search
 * ended in the same place without it, or in a better one. */
bool rp_cmd_initial_plan(const struct rp_graph *g, const struct rp_solve_options *o,
                         struct rp_plan *plan);

/* "keep-all, chen-sqrt, ...": for help texts and messages; the caller frees it. */
char *rp_policy_names(void);

#endif
