/* policy_argument: `--policy NAME[:KEY[=VALUE]]...`. Colons separate a policy from its
 * options, and commas separate the policies of a list. */
#ifndef RP_CMD_POLICY_ARGUMENT_H
#define RP_CMD_POLICY_ARGUMENT_H

#include <stdbool.h>

#include "cmd/nearest.h"
#include "policy/policy_plan.h"

/* The names of all policies, as an rp_names. */
const char *rp_policy_name(size_t i);

/* Parses one policy, and stores its options in `o`. If `text` is NULL, *policy is NULL.
 * RP_USAGE if there is no such policy, or if it has no such option. */
rp_rc rp_parse_policy(const char *command, const char *text, struct rp_policy_options *o,
                      const struct rp_policy **policy, struct rp_err *err);

/* RP_USAGE if the policy always does what --no-recompute or --no-swap forbid. */
rp_rc rp_check_policy_allowed(const char *command, const struct rp_policy *policy,
                              bool no_recompute, bool no_swap, struct rp_err *err);

/* Parses a list of policies; NULL stands for all. *chosen[i] says if rp_policies[i] is one
 * of them. RP_USAGE as above, and if a policy with options is listed twice. */
rp_rc rp_parse_policies(const char *command, const char *text, struct rp_policy_options *o,
                        bool *chosen, struct rp_err *err);

/* Prints all policies and their options, as the end of a command's help. */
void rp_print_policies(void);

#endif
