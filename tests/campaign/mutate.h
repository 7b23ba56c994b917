/* mutate: small random changes in graphs and plans, as JSON. */
#ifndef RP_CAMPAIGN_MUTATE_H
#define RP_CAMPAIGN_MUTATE_H

#include <jansson.h>

#include "case.h"

/* Changes the steps of a plan so that it often stays valid but for its sizes and claims: a
 * step moves, an op runs again, a tensor is copied out and in. `graph` says which tensors
 * an op makes. */
void cam_change_steps(struct rp_rng *r, const json_t *graph, json_t *plan);

/* {KIND: x}, and a swap in either direction with an address of its own. */
json_t *cam_tensor_step(const char *kind, int64_t x);
json_t *cam_swap_step(const json_t *graph, json_t *plan, bool out, int64_t x);

/* An address for tensor x beyond everything in the arena or the host slab (`size`:
 * "arena_bytes" or "host_bytes"), which grows by it: x overlaps nothing there. */
json_t *cam_fresh_address(const json_t *graph, json_t *plan, const char *size, int64_t x);

/* Changes a size, a claim or a key of a plan. */
void cam_change_fields(struct rp_rng *r, json_t *plan);

/* Changes anything anywhere: a number, a type, a key. */
void cam_change_anything(struct rp_rng *r, json_t *root);

/* Sets sizes and claims of the plan to what its steps give, if the steps obey the rules.
 * `name` is where the plan is written to be judged. */
void cam_repair(struct cam_case *c, const char *graph, const char *name, json_t *plan);

#endif
