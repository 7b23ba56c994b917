#include "solve/core/update_order.h"

#include <stdlib.h>

#include "base/mem.h"

struct edge {
    uint32_t from, to; /* all runs of `from` come before those of `to` */
};

struct edges {
    RP_VEC(struct edge);
};

/* Adds the edges of op i to the updaters next to it: updater[x] is the last one of source x
 * before op i, or, going backwards, the first one after it. Two updaters next to each other
 * get their edge on the way forwards. */
static void add_edges(const struct rp_graph *g, uint32_t i, uint32_t *updater,
                      bool forwards, struct edges *edges) {
    const struct rp_op *op = &g->ops[i];
    for (uint32_t k = 0; k < op->n_inputs + op->n_updates; k++) {
        bool read = k < op->n_inputs;
        uint32_t x = read ? op->inputs[k] : op->updates[k - op->n_inputs], u = updater[x];
        if (u == RP_NONE || (!forwards && !read))
            continue;
        struct edge e = {forwards ? u : i, forwards ? i : u};
        rp_push(edges, e);
    }
    for (uint32_t k = 0; k < op->n_updates; k++)
        updater[op->updates[k]] = i;
}

static struct edges list_edges(const struct rp_graph *g) {
    struct edges edges = {0};
    uint32_t *updater = rp_calloc(g->n_tensors, sizeof *updater);
    for (int backwards = 0; backwards < 2; backwards++) {
        for (uint32_t x = 0; x < g->n_tensors; x++)
            updater[x] = RP_NONE;
        for (uint32_t i = 0; i < g->n_ops; i++)
            add_edges(g, backwards ? g->n_ops - 1 - i : i, updater, !backwards, &edges);
    }
    free(updater);
    return edges;
}

/* Sorts the edges by one end, into compressed rows of the other end. */
static uint32_t *sort_edges(const struct edges *edges, const uint32_t *place, uint32_t n,
                            bool by_to, uint32_t **start) {
    uint32_t *other = rp_calloc(edges->n, sizeof *other);
    *start = rp_calloc((size_t)n + 2, sizeof **start);
    uint32_t *next = *start + 1; /* ends up as the next row's start */
    for (size_t k = 0; k < edges->n; k++)
        next[place[by_to ? edges->at[k].to : edges->at[k].from] + 1]++;
    for (uint32_t i = 0; i < n; i++)
        next[i + 1] += next[i];
    for (size_t k = 0; k < edges->n; k++) {
        const struct edge *e = &edges->at[k];
        other[next[place[by_to ? e->to : e->from]]++] = place[by_to ? e->from : e->to];
    }
    return other;
}

void rp_update_order_init(struct rp_update_order *u, const struct rp_graph *g,
                          const uint32_t *place, uint32_t n_ops) {
    struct edges edges = list_edges(g);
    u->before = sort_edges(&edges, place, n_ops, true, &u->before_start);
    u->after = sort_edges(&edges, place, n_ops, false, &u->after_start);
    free(edges.at);
}

void rp_update_order_fini(struct rp_update_order *u) {
    free(u->before_start);
    free(u->before);
    free(u->after_start);
    free(u->after);
    *u = (struct rp_update_order){0};
}
