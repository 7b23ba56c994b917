/* mutate: small random changes in graphs and plans, as JSON. */
#ifndef RP_CAMPAIGN_MUTATE_H
#define RP_CAMPAIGN_MUTATE_H

#include <jansson.h>

#include "case.h"

/* Changes the steps of a plan so that it often stays valid but for its sizes and claims: a
 * step moves, an op runs again, a tensor is copied out and in. `graph` says which tensors
 * an op makes. */
void cam_change_steps(struct rp_rng *r, const json_t *graph, json_t *plan);

/* Changes a size, a claim or a key of a plan. */
void cam_change_fields(struct rp_rng *r, json_t *plan);

/* Changes anything anywhere: a number, a type, a key. */
void cam_change_anything(struct rp_rng *r, json_t *root);

/* Sets sizes and claims of the plan to what its steps give, if the steps obey the rules.
 * `path` is where the plan is written to be judged. */
void cam_repair(struct cam_case *c, const char *graph, const char *name, json_t *plan);

#endif
