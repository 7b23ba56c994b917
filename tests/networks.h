/* networks: builds the zoo's graphs for tests, and looks things up in them. */
#ifndef RP_TESTS_NETWORKS_H
#define RP_TESTS_NETWORKS_H

#include <jansson.h>

#include "model/zoo/registry.h"

struct rp_zoo_options rp_net_defaults(void);
struct rp_zoo_options rp_net_tiny(void);
struct rp_graph rp_net_build(const char *name, struct rp_zoo_options o);
void rp_net_all_with(struct rp_zoo_options o, void (*check)(const struct rp_graph *g));
void rp_net_all_tiny(void (*check)(const struct rp_graph *g));
bool rp_net_is(const struct rp_op *op, const char *kind);
uint64_t rp_net_attr(const struct rp_op *op, const char *key);
uint64_t rp_net_attr_at(const struct rp_op *op, const char *key, size_t i);
uint64_t rp_net_count(const struct rp_tensor *t);
const struct rp_tensor *rp_net_input(const struct rp_graph *g, const struct rp_op *op,
                                     uint32_t k);
const struct rp_tensor *rp_net_output(const struct rp_graph *g, const struct rp_op *op,
                                      uint32_t k);
uint32_t rp_net_op(const struct rp_graph *g, const char *name);
bool rp_net_has_op(const struct rp_graph *g, const char *name);
bool rp_net_has_kind(const struct rp_graph *g, const char *kind);

#endif
