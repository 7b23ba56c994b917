#include "solve/exhaustive/astar.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/numbers.h"
#include "solve/core/schedule.h"
#include "solve/exhaustive/astar_problem.h"
#include "solve/exhaustive/astar_search.h"

/* Of the limit: what the small tensors take together, at most. */
static const double SMALL_SHARE = 1.0 / 16;
/* Of all states: those of a first search without windows, at most, and those of windows. Of
 * what is left of these: those of one window. */
static const double FIRST_SHARE = 0.25;
enum { FIRST_STATES = 40000 };
static const double WINDOWS_SHARE = 0.2;
static const double WINDOW_SHARE = 0.1;

void rp_astar_statistics_add(struct rp_astar_statistics *into,
                             const struct rp_astar_statistics *from) {
    into->states_added += from->states_added;
    into->expanded += from->expanded;
    into->dominated += from->dominated;
    into->pruned_by_bound += from->pruned_by_bound;
}

bool rp_astar_accepts(const struct rp_instance *p) {
    return p->n_tensors <= RP_ASTAR_MAX_TENSORS && p->n_ops <= RP_ASTAR_MAX_OPS;
}

/* The smallest tensors, as long as they take SMALL_SHARE of the limit or less together. */
static uint64_t small_tensors(const struct rp_instance *p) {
    uint64_t set = 0, left = (uint64_t)(SMALL_SHARE * (double)p->limit_bytes);
    for (uint32_t n = 0; n < p->n_tensors; n++) {
        uint32_t least = RP_NONE;
        for (uint32_t x = 0; x < p->n_tensors; x++)
            if (!rp_astar_has(set, x) &&
                (least == RP_NONE || p->bytes[x] < p->bytes[least]))
                least = x;
        if (p->bytes[least] > left)
            break;
        left -= p->bytes[least];
        set |= rp_astar_bit(least);
    }
    return set;
}

/* ---- the plan ---- */

static void push_frees(const struct rp_instance *p, struct rp_plan *plan, uint64_t set) {
    while (set != 0)
        rp_append_step(p, plan, RP_FREE, rp_astar_take(&set));
}

static void write_steps(const struct rp_astar_search *f, uint32_t node,
                        struct rp_plan *plan) {
    uint32_t n = 0, *path = rp_calloc(f->k.n_nodes, sizeof *path);
    for (; f->k.node[node].by.parent != RP_NONE; node = f->k.node[node].by.parent)
        path[n++] = node;
    while (n-- > 0) {
        const struct rp_astar_step *by = &f->k.node[path[n]].by;
        push_frees(f->q->p, plan, by->freed);
        rp_append_step(f->q->p, plan, by->kind, by->id);
        push_frees(f->q->p, plan, by->dropped);
    }
    free(path);
}

/* Does the plan that leads to a node fit if small tensors take memory too? */
static bool fits(const struct rp_astar_search *f, uint32_t node) {
    const struct rp_astar_problem *q = f->q;
    const uint64_t *bytes = q->p->bytes;
    for (; f->k.node[node].by.parent != RP_NONE; node = f->k.node[node].by.parent) {
        const struct rp_astar_step *by = &f->k.node[node].by;
        uint64_t device = f->k.node[by->parent].s.device & ~by->freed;
        if ((by->kind == RP_RUN && rp_astar_excess_to_run(q, bytes, device, by->id) > 0) ||
            (by->kind == RP_SWAP_IN &&
             rp_astar_excess(q, bytes, device | rp_astar_bit(by->id)) > 0))
            return false;
    }
    return true;
}

/* ---- windows ---- */

/* Finds q->rest_ns, the last ones first, as they make the others cheaper. A plan may take
 * less than o->below_ns, as far as is known. */
static void find_rest(struct rp_astar_problem *q, const struct rp_astar_options *o,
                      struct rp_astar_result *r) {
    double left = WINDOWS_SHARE * o->max_states;
    for (uint32_t t = q->p->n_ops; t > 0; t--) {
        struct rp_astar_search f;
        double states = WINDOW_SHARE * left;
        q->rest_ns[t] = q->rest_ns[t + 1];
        if (states < 1)
            continue;
        rp_astar_search_window(&f, q, o, t, (uint32_t)states);
        uint64_t rest_ns =
            rp_max_u64(f.bound_ns, q->remaining_ns[t - 1]) - q->remaining_ns[t - 1];
        q->rest_ns[t] = rp_max_u64(q->rest_ns[t], rest_ns);
        left -= (double)f.statistics.states_added;
        rp_astar_statistics_add(&r->statistics, &f.statistics);
        rp_astar_search_fini(&f);
    }
}

/* ---- all ---- */

static uint32_t states_left(const struct rp_astar_options *o,
                            const struct rp_astar_result *r) {
    return o->max_states - (uint32_t)r->statistics.states_added;
}

/* Searches the whole step. False if what it found does not fit. */
static bool attempt(const struct rp_astar_problem *q, const struct rp_astar_options *o,
                    uint32_t max_states, struct rp_astar_result *r, struct rp_plan *plan) {
    struct rp_astar_search f;
    uint32_t node = rp_astar_search_run(&f, q, o, max_states);
    bool sound = node == RP_NONE || fits(&f, node);
    r->found = node != RP_NONE && sound;
    r->bound_ns = rp_max_u64(r->bound_ns, f.bound_ns);
    if (r->found)
        write_steps(&f, node, plan);
    rp_astar_statistics_add(&r->statistics, &f.statistics);
    rp_astar_search_fini(&f);
    return sound;
}

static bool is_over(const struct rp_astar_options *o, const struct rp_astar_result *r) {
    return r->found || r->bound_ns >= o->below_ns || rp_stop_hit(o->stop);
}

/* First without windows, which take longer than easy proofs. */
static bool attempt_twice(struct rp_astar_problem *q, const struct rp_astar_options *o,
                          struct rp_astar_result *r, struct rp_plan *plan) {
    double first = fmin(FIRST_SHARE * o->max_states, FIRST_STATES);
    bool sound = first < 1 || attempt(q, o, (uint32_t)first, r, plan);
    if (!sound || is_over(o, r))
        return sound;
    find_rest(q, o, r);
    return attempt(q, o, states_left(o, r), r, plan);
}

void rp_astar_search(const struct rp_instance *p, const struct rp_astar_options *o,
                     struct rp_astar_result *result, struct rp_plan *plan) {
    struct rp_astar_problem q, exact;
    assert(rp_astar_accepts(p) && o->max_states > 0);
    *result = (struct rp_astar_result){0};
    rp_astar_problem_init(&q, p, small_tensors(p));
    if (attempt_twice(&q, o, result, plan) || states_left(o, result) == 0)
        return;
    rp_astar_problem_init(&exact, p, 0);
    memcpy(exact.rest_ns, q.rest_ns, sizeof exact.rest_ns);
    attempt(&exact, o, states_left(o, result), result, plan);
}
