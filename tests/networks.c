#include "networks.h"

#include <string.h>

#include "run.h"

struct rp_zoo_options rp_net_defaults(void) {
    struct rp_zoo_options o;
    rp_zoo_options_init(&o);
    return o;
}

struct rp_zoo_options rp_net_tiny(void) {
    struct rp_zoo_options o = rp_net_defaults();
    o.tiny = true;
    return o;
}

struct rp_graph rp_net_build(const char *name, struct rp_zoo_options o) {
    struct rp_graph g;
    struct rp_err err = {{0}};
    CU_ASSERT_EQUAL_FATAL(rp_zoo_build(name, &o, &g, &err), RP_OK);
    return g;
}

/* Runs `check` on every network. */
void rp_net_all_with(struct rp_zoo_options o, void (*check)(const struct rp_graph *g)) {
    for (size_t i = 0; i < rp_zoo_n_entries; i++) {
        struct rp_graph g = rp_net_build(rp_zoo_registry[i]->name, o);
        check(&g);
        rp_graph_fini(&g);
    }
}

/* The same on their smallest shapes. */
void rp_net_all_tiny(void (*check)(const struct rp_graph *g)) {
    rp_net_all_with(rp_net_tiny(), check);
}

bool rp_net_is(const struct rp_op *op, const char *kind) {
    return strcmp(op->kind, kind) == 0;
}

uint64_t rp_net_attr(const struct rp_op *op, const char *key) {
    return (uint64_t)json_integer_value(json_object_get(op->attrs, key));
}

uint64_t rp_net_attr_at(const struct rp_op *op, const char *key, size_t i) {
    return (uint64_t)json_integer_value(json_array_get(json_object_get(op->attrs, key), i));
}

uint64_t rp_net_count(const struct rp_tensor *t) {
    uint64_t n = 1;
    for (size_t i = 0; i < t->n_dims; i++)
        n *= t->shape[i];
    return n;
}

const struct rp_tensor *rp_net_input(const struct rp_graph *g, const struct rp_op *op,
                                     uint32_t k) {
    return &g->tensors[op->inputs[k]];
}

const struct rp_tensor *rp_net_output(const struct rp_graph *g, const struct rp_op *op,
                                      uint32_t k) {
    return &g->tensors[op->outputs[k]];
}

uint32_t rp_net_op(const struct rp_graph *g, const char *name) {
    for (uint32_t i = 0; i < g->n_ops; i++)
        if (strcmp(g->ops[i].name, name) == 0)
            return i;
    CU_FAIL_FATAL("no such op");
    return 0;
}

bool rp_net_has_op(const struct rp_graph *g, const char *name) {
    for (uint32_t i = 0; i < g->n_ops; i++)
        if (strcmp(g->ops[i].name, name) == 0)
            return true;
    return false;
}

bool rp_net_has_kind(const struct rp_graph *g, const char *kind) {
    for (uint32_t i = 0; i < g->n_ops; i++)
        if (rp_net_is(&g->ops[i], kind))
            return true;
    return false;
}
