/* policy_table: the list of policies, in the order in which `compare` prints them. Each is
 * defined at the end of its own file, src/policy/NAME.c.
 *
 * Constant data: any thread may read it.
 */
#ifndef RP_POLICY_POLICY_TABLE_H
#define RP_POLICY_POLICY_TABLE_H

#include "policy/policy.h"

extern const struct rp_policy *const rp_policies[];
extern const size_t rp_n_policies;
const struct rp_policy *rp_policy_find(const char *name); /* NULL: there is no such one */
size_t rp_policy_index(const struct rp_policy *policy);   /* its place in rp_policies */

/* Sets all options to their defaults: those of the papers, and one minute of search. */
void rp_policy_options_init(struct rp_policy_options *o);

#endif
