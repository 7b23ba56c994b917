#include "solve/lns/neighborhood.h"

#include <stdlib.h>

#include "base/mem.h"

/* The op during which most bytes are in use if everything is kept; the last of several. */
static uint32_t find_turn(const struct rp_instance *p) {
    int64_t *used = rp_instance_bytes_in_use(p);
    uint32_t turn = 0;
    for (uint32_t j = 0; j < p->n_ops; j++)
        turn = used[j] >= used[turn] ? j : turn;
    free(used);
    return turn;
}

void rp_neighborhood_init(struct rp_neighborhood *n, const struct rp_instance *p) {
    *n = (struct rp_neighborhood){.turn = find_turn(p)};
    rp_formulation_init(&n->base, p, &(struct rp_formulation_options){0});
    n->point = rp_calloc(n->base.n_cols, sizeof *n->point);
    n->known = rp_calloc(n->base.n_cols, sizeof *n->known);
    n->chosen = rp_calloc(p->n_ops, sizeof *n->chosen);
    n->distance = rp_calloc(p->n_ops, sizeof *n->distance);
    n->queue = rp_calloc(p->n_ops, sizeof *n->queue);
    for (uint32_t j = 0; j < p->n_ops; j++)
        n->distance[j] = RP_NONE;
}

void rp_neighborhood_fini(struct rp_neighborhood *n) {
    rp_formulation_fini(&n->base);
    free(n->point);
    free(n->known);
    free(n->chosen);
    free(n->distance);
    free(n->queue);
    *n = (struct rp_neighborhood){0};
}

/* Queues the makers of what op j reads, unless they have been met. */
static uint32_t queue_makers(struct rp_neighborhood *n, uint32_t j, uint32_t n_queued) {
    const struct rp_instance *p = n->base.instance;
    for (uint32_t k = p->input_start[j]; k < p->input_start[j + 1]; k++) {
        uint32_t maker = p->producer[p->inputs[k]];
        if (n->distance[maker] != RP_NONE)
            continue;
        n->distance[maker] = n->distance[j] + 1;
        n->queue[n_queued++] = maker;
    }
    return n_queued;
}

/* Opens the runs of stage t: a breadth-first search back from op t. */
static void open_stage(struct rp_neighborhood *n, uint32_t t, uint32_t depth) {
    uint32_t n_queued = 0;
    n->distance[t] = 0;
    n->queue[n_queued++] = t;
    for (uint32_t i = 0; i < n_queued; i++) {
        uint32_t j = n->queue[i], col = rp_formulation_run(&n->base, t, j);
        if (j < n->turn && n->chosen[j] && col < n->base.n_cols)
            n->known[col] = RP_UNDECIDED;
        if (n->distance[j] < depth)
            n_queued = queue_makers(n, j, n_queued);
    }
    for (uint32_t i = 0; i < n_queued; i++)
        n->distance[n->queue[i]] = RP_NONE;
}

bool rp_neighborhood_open(struct rp_neighborhood *n, const struct rp_schedule *s,
                          uint32_t depth) {
    const struct rp_formulation *f = &n->base;
    if (!rp_formulation_point(f, s, n->point))
        return false;
    for (uint32_t col = 0; col < f->n_cols; col++)
        n->known[col] = col >= f->n_run_cols || n->point[col] > 0.5 ? RP_UNDECIDED : 0;
    for (uint32_t t = n->turn; t < f->n_stages; t++)
        open_stage(n, t, depth);
    return true;
}
