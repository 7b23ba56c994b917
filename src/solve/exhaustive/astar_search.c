#include "solve/exhaustive/astar_search.h"

#include <assert.h>
#include <stdlib.h>

#include "base/numbers.h"
#include "solve/exhaustive/astar_expand.h"

enum {
    MAX_WINDOW_STATES = 1000000,
    /* Of the column search: nodes of a column that it takes at a time, and what it does at
     * least. */
    COLUMN_WIDTH = 500,
    COLUMN_WORK = 400000000
};

static bool is_end(const struct rp_astar_search *f, const struct rp_astar_state *s) {
    return s->n_first == f->q->n_ops &&
           (f->q->in[s->n_first] & ~rp_astar_there(f->q, s)) == 0 &&
           rp_astar_not_home(f->q, s) == 0;
}

/* Does the plan that leads to a node fit if small tensors take memory too? */
static bool fits(const struct rp_astar_search *f, uint32_t node) {
    const struct rp_astar_problem *q = f->q;
    const uint64_t *bytes = q->p->bytes;
    for (; f->k.node[node].by.parent != RP_NONE; node = f->k.node[node].by.parent) {
        const struct rp_astar_step *by = &f->k.node[node].by;
        const struct rp_astar_state *s = &f->k.node[by->parent].s;
        uint64_t device = s->device & ~by->freed;
        if ((by->kind == RP_RUN &&
             rp_astar_excess_to_run(q, s->homes, bytes, device, by->id) > 0) ||
            (by->kind == RP_SWAP_IN &&
             rp_astar_excess(q, s->homes, bytes, device | rp_astar_bit(by->id)) > 0))
            return false;
    }
    return true;
}

/* Is there no more room, or time? Children of the last node may be missing then. */
static bool is_over(struct rp_astar_search *f) {
    return f->k.n_nodes == f->k.max_nodes || rp_astar_open_spend(f, 1);
}

/* By another process? */
static bool is_proved(const struct rp_astar_search *f) {
    const struct rp_astar_options *o = f->o;
    return o->proved_ns != NULL &&
           __atomic_load_n(o->proved_ns, __ATOMIC_RELAXED) >= o->below_ns;
}

/* Takes the best node of a column. False if the search is to end: the node is open still,
 * as children of it may be missing. */
static bool take(struct rp_astar_search *f, uint32_t c) {
    uint32_t node = rp_astar_open_pop(f, c);
    const struct rp_astar_node *n = &f->k.node[node];
    if (n->dominated) {
        f->r->statistics.dominated++;
    } else if (n->min_ns >= f->below_ns) {
        f->r->statistics.pruned_by_bound++;
    } else if (!is_end(f, &n->s)) {
        if (rp_stop_after(f->o->stop, 0) || is_proved(f)) {
            rp_astar_open_push(f, node);
            return false;
        }
        rp_astar_expand(f, node);
        f->r->statistics.expanded++;
        if (is_over(f)) {
            rp_astar_open_push(f, node);
            return false;
        }
    } else if (fits(f, node)) {
        f->best = node;
        f->below_ns = n->min_ns;
    } else {
        f->unfit_ns = rp_min_u64(f->unfit_ns, n->min_ns);
    }
    return true;
}

/* Ends after a share of the work or of the states, and before that after COLUMN_WORK and
 * twice what the last faster plan took. False if the call is to end. */
static bool search_columns(struct rp_astar_search *f, double share) {
    double max_work = share * (double)f->max_work, max_nodes = share * f->k.max_nodes;
    for (bool any = true; any;) {
        any = false;
        for (uint32_t c = 0; c <= f->q->n_ops; c++)
            for (uint32_t k = 0; k < COLUMN_WIDTH && f->open[c].n > 0; k++) {
                uint64_t below_ns = f->below_ns;
                if (f->work >= f->column_work || (double)f->work >= max_work ||
                    f->k.n_nodes > max_nodes)
                    return true;
                if (!take(f, c))
                    return false;
                if (f->below_ns < below_ns)
                    f->column_work = rp_max_u64(f->column_work, 2 * f->work);
                any = true;
            }
    }
    return true;
}

/* A state may have a lower min_ns than the one that it follows, but the bounds of both
 * hold. Returns the column of the best node; RP_NONE if the best plan is known. */
static uint32_t raise_bound(struct rp_astar_search *f) {
    uint32_t c = rp_astar_open_best(f);
    uint64_t known_ns = rp_min_u64(f->below_ns, f->unfit_ns);
    uint64_t min_ns = c != RP_NONE ? f->k.node[f->open[c].at[0]].min_ns : known_ns;
    f->bound_ns = rp_max_u64(f->bound_ns, rp_min_u64(min_ns, known_ns));
    return min_ns < known_ns ? c : RP_NONE;
}

static void search_best_first(struct rp_astar_search *f) {
    uint32_t c;
    while ((c = raise_bound(f)) != RP_NONE && f->bound_ns < f->enough_ns && take(f, c))
        continue;
}

static void init(struct rp_astar_search *f, const struct rp_astar_problem *q,
                 uint64_t host_limit_bytes, uint32_t max_states) {
    uint64_t all_bytes = rp_astar_bytes(q->p->bytes, q->made[q->n_ops]);
    *f = (struct rp_astar_search){.q = q,
                                  .host_limit_bytes = host_limit_bytes,
                                  .column_work = COLUMN_WORK,
                                  .below_ns = UINT64_MAX,
                                  .best = RP_NONE,
                                  .enough_ns = UINT64_MAX,
                                  .unfit_ns = UINT64_MAX};
    rp_astar_states_init(&f->k, max_states, all_bytes <= host_limit_bytes);
}

static void begin_call(struct rp_astar_search *f, const struct rp_astar_options *o,
                       uint64_t below_ns, uint64_t max_work, struct rp_astar_result *r) {
    f->o = o;
    f->r = r;
    f->below_ns = rp_min_u64(f->below_ns, below_ns);
    f->max_work = f->work + max_work;
    rp_stop_now(o->stop);
}

static void add_first(struct rp_astar_search *f, const struct rp_astar_state *s) {
    static const struct rp_astar_ends none;
    rp_astar_open_add(f, s, &none, (struct rp_astar_step){.parent = RP_NONE});
}

/* One state for each choice of homes: what lives on the host is there. */
static void add_all_first(struct rp_astar_search *f) {
    const struct rp_astar_problem *q = f->q;
    uint32_t n_first = q->p->n_homes > 0; /* `begin` */
    for (uint32_t k = 0; k < q->n_homes; k++)
        add_first(f,
                  &(struct rp_astar_state){.n_first = n_first,
                                           .homes = k,
                                           .host = q->made[n_first] & ~q->homes[k].stays});
}

void rp_astar_search_begin(struct rp_astar_search *f, const struct rp_astar_problem *q,
                           uint32_t max_states) {
    init(f, q, q->p->host_limit_bytes, max_states);
}

void rp_astar_search_go_on(struct rp_astar_search *f, const struct rp_astar_options *o,
                           uint64_t max_work, double column_share,
                           struct rp_astar_result *r) {
    begin_call(f, o, o->below_ns, max_work, r);
    f->enough_ns = o->enough_ns;
    if (f->k.n_nodes == 0)
        add_all_first(f);
    if (search_columns(f, column_share))
        search_best_first(f);
    else
        raise_bound(f);
}

void rp_astar_search_window(struct rp_astar_search *f, const struct rp_astar_problem *q,
                            const struct rp_astar_options *o, uint32_t t, uint64_t max_work,
                            struct rp_astar_result *r) {
    uint64_t before_ns = q->remaining_ns[0] - q->remaining_ns[t - 1];
    uint64_t made = q->made[t - 1] & q->wanted[t - 1];
    uint64_t max_states = 1 + max_work / (RP_ASTAR_WORK_PER_TRY + RP_ASTAR_WORK_PER_STATE);
    assert(o->below_ns > before_ns);
    init(f, q, UINT64_MAX, (uint32_t)rp_min_u64(max_states, MAX_WINDOW_STATES));
    begin_call(f, o, o->below_ns - before_ns, max_work, r);
    add_first(
        f, &(struct rp_astar_state){.n_first = t - 1,
                                    .device = made,
                                    .host = q->p->out_ns != NULL ? made & ~q->small : 0});
    if (f->open[t - 1].n > 0)
        rp_astar_expand_by_run(f, rp_astar_open_pop(f, t - 1), t - 1);
    if (!is_over(f))
        search_best_first(f);
}

void rp_astar_search_fini(struct rp_astar_search *f) {
    rp_astar_states_fini(&f->k);
    for (uint32_t c = 0; c <= RP_ASTAR_MAX_OPS; c++)
        free(f->open[c].at);
    *f = (struct rp_astar_search){0};
}
