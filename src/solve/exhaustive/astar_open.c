#include "solve/exhaustive/astar_open.h"

#include "base/numbers.h"
#include "solve/core/heap.h"

enum { NS_PER_WORK = 4 }; /* about */

/* The smallest min_ns first, then the most first runs; of two equal nodes, the newer
 * one. */
static bool before(const void *context, const void *left, const void *right) {
    const struct rp_astar_search *f = context;
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    const struct rp_astar_node *m = &f->k.node[a], *n = &f->k.node[b];
    if (m->min_ns != n->min_ns)
        return m->min_ns < n->min_ns;
    if (m->s.n_first != n->s.n_first)
        return m->s.n_first > n->s.n_first;
    return a > b;
}

void rp_astar_open_push(struct rp_astar_search *f, uint32_t node) {
    uint32_t c = f->k.node[node].s.n_first;
    rp_push(&f->open[c], node);
    rp_heap_push(f->open[c].at, f->open[c].n, sizeof node, before, f);
}

uint32_t rp_astar_open_pop(struct rp_astar_search *f, uint32_t column) {
    uint32_t *at = f->open[column].at;
    rp_heap_pop(at, f->open[column].n, sizeof *at, before, f);
    return at[--f->open[column].n];
}

uint32_t rp_astar_open_best(const struct rp_astar_search *f) {
    uint32_t best = RP_NONE;
    for (uint32_t c = 0; c <= f->q->n_ops; c++)
        if (f->open[c].n > 0 &&
            (best == RP_NONE || before(f, f->open[c].at, f->open[best].at)))
            best = c;
    return best;
}

bool rp_astar_open_spend(struct rp_astar_search *f, uint64_t work) {
    f->work += work;
    f->r->work += work;
    return f->work > f->max_work || rp_stop_after(f->o->stop, NS_PER_WORK * work);
}

void rp_astar_open_add(struct rp_astar_search *f, const struct rp_astar_state *s,
                       const struct rp_astar_ends *ends, struct rp_astar_step by) {
    uint64_t min_ns = rp_astar_min_time(f->q, s, ends), compared = f->k.compared;
    rp_astar_open_spend(f, RP_ASTAR_WORK_PER_TRY);
    if (min_ns >= f->below_ns) {
        f->r->statistics.pruned_by_bound++;
        return;
    }
    if (f->k.n_nodes == f->k.max_nodes)
        return;
    if (rp_astar_states_add(&f->k, s, ends, min_ns, by)) {
        rp_astar_open_push(f, f->k.n_nodes - 1);
        f->r->statistics.states_added++;
        rp_astar_open_spend(f, RP_ASTAR_WORK_PER_STATE);
    } else {
        f->r->statistics.dominated++;
    }
    rp_astar_open_spend(f, f->k.compared - compared);
}
