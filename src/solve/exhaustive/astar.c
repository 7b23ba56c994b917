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
/* Of all work: a first search without windows, and windows, at most. Of what is left of
 * these: one window. */
static const double FIRST_SHARE = 0.25;
enum { FIRST_WORK = 25000000, FIRST_STATES = 150000 };
static const double WINDOWS_SHARE = 0.1, WINDOW_SHARE = 0.1;
enum { WINDOWS_WORK = 400000000 };
/* Of the search after them: the column search, at most. */
static const double COLUMN_SHARE = 0.75;

bool rp_astar_accepts(const struct rp_instance *p) {
    return p->n_tensors <= RP_ASTAR_MAX_TENSORS && rp_astar_ops(p) <= RP_ASTAR_MAX_OPS &&
           rp_astar_count_homes(p) <= RP_ASTAR_MAX_HOMES;
}

/* The smallest tensors but for sources, as long as they take SMALL_SHARE of the limit or
 * less together. */
static uint64_t small_tensors(const struct rp_instance *p) {
    uint64_t set = 0, left = (uint64_t)(SMALL_SHARE * (double)p->limit_bytes);
    for (uint32_t n = 0; n < p->n_tensors; n++) {
        uint32_t least = RP_NONE;
        for (uint32_t x = 0; x < p->n_tensors; x++)
            if (!rp_astar_has(set, x) && !rp_is_version(p, x) &&
                (least == RP_NONE || p->bytes[x] < p->bytes[least]))
                least = x;
        if (least == RP_NONE || p->bytes[least] > left)
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

static void push_homes(const struct rp_astar_problem *q, uint32_t homes,
                       struct rp_plan *plan) {
    bool stays[RP_ASTAR_MAX_TENSORS];
    for (uint32_t x = 0; x < q->p->n_homes; x++)
        stays[x] = rp_astar_has(q->homes[homes].stays, x);
    rp_append_homes(q->p, plan, stays);
}

static void write_steps(const struct rp_astar_search *f, uint32_t node,
                        struct rp_plan *plan) {
    uint32_t n = 0, *path = rp_calloc(f->k.n_nodes, sizeof *path);
    push_homes(f->q, f->k.node[node].s.homes, plan);
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

/* ---- windows ---- */

/* Finds q->rest_ns, the last ones first, as they make the others cheaper. A plan may take
 * less than o->below_ns, as far as is known. left: work. Not where sources may live on the
 * host: a window does not know which ones do. */
static void find_rest(struct rp_astar_problem *q, const struct rp_astar_options *o,
                      double left, struct rp_astar_result *r) {
    for (uint32_t t = q->n_ops; t > 0; t--) {
        struct rp_astar_search f;
        double work = q->p->n_homes > 0 ? 0 : WINDOW_SHARE * left;
        q->rest_ns[t] = q->rest_ns[t + 1];
        if (work < 1)
            continue;
        rp_astar_search_window(&f, q, o, t, (uint64_t)work, r);
        uint64_t rest_ns =
            rp_max_u64(f.bound_ns, q->remaining_ns[t - 1]) - q->remaining_ns[t - 1];
        q->rest_ns[t] = rp_max_u64(q->rest_ns[t], rest_ns);
        left -= (double)f.work;
        rp_astar_search_fini(&f);
    }
}

/* ---- all ---- */

/* First without windows, which take longer than easy proofs. EXACT: small tensors are taken
 * as they are. */
enum stage { FIRST, WITH_WINDOWS, EXACT };

struct rp_astar {
    enum stage stage;
    struct rp_astar_problem q;
    struct rp_astar_search f; /* of this stage */
    uint32_t max_states;
    double work; /* of all calls, about */
    struct rp_astar_result result;
};

struct rp_astar *rp_astar_new(const struct rp_instance *p, uint32_t max_states,
                              double work) {
    struct rp_astar *a = rp_calloc(1, sizeof *a);
    assert(rp_astar_accepts(p) && max_states > 0);
    a->max_states = max_states;
    a->work = work;
    a->result.plan_ns = UINT64_MAX;
    rp_astar_problem_init(&a->q, p, small_tensors(p));
    rp_astar_search_begin(&a->f, &a->q, (uint32_t)rp_min_u64(max_states, FIRST_STATES));
    return a;
}

void rp_astar_free(struct rp_astar *a) {
    if (a != NULL)
        rp_astar_search_fini(&a->f);
    free(a);
}

static void enter(struct rp_astar *a, enum stage stage) {
    struct rp_astar_problem exact;
    rp_astar_search_fini(&a->f);
    if (stage == EXACT) {
        rp_astar_problem_init(&exact, a->q.p, 0);
        memcpy(exact.rest_ns, a->q.rest_ns, sizeof exact.rest_ns);
        a->q = exact;
    }
    rp_astar_search_begin(&a->f, &a->q, a->max_states);
    a->stage = stage;
}

/* Goes on with the search of this stage. False if the best plan that it knows does not
 * fit. */
static bool go_on(struct rp_astar *a, const struct rp_astar_options *o, uint64_t max_work,
                  struct rp_plan *plan) {
    struct rp_astar_search *f = &a->f;
    struct rp_astar_result *r = &a->result;
    uint64_t known_ns = r->plan_ns;
    rp_astar_search_go_on(f, o, max_work, a->stage == FIRST ? 0 : COLUMN_SHARE, r);
    r->bound_ns = rp_max_u64(r->bound_ns, f->bound_ns);
    if (f->best != RP_NONE && f->k.node[f->best].min_ns < known_ns) {
        r->plan_ns = f->k.node[f->best].min_ns;
        plan->steps.n = plan->homes.n = 0;
        write_steps(f, f->best, plan);
    }
    return f->bound_ns < f->unfit_ns || f->unfit_ns >= f->below_ns;
}

const struct rp_astar_result *rp_astar_search(struct rp_astar *a,
                                              const struct rp_astar_options *o,
                                              struct rp_plan *plan) {
    struct rp_astar_result *r = &a->result;
    struct rp_astar_options rest = *o;
    uint64_t end = r->work + o->max_work;
    double all = o->any_plan ? fmin(a->work, (double)o->max_work) : a->work;
    bool fits = true;
    if (a->stage == FIRST) {
        uint64_t work = (uint64_t)fmin(FIRST_SHARE * all, FIRST_WORK);
        work -= rp_min_u64(work, r->work);
        fits = go_on(a, o, rp_min_u64(work, o->max_work), plan);
        if ((o->easy && fits) || rp_astar_is_complete(o, r) ||
            r->bound_ns >= o->enough_ns || rp_stop_hit(o->stop))
            return r;
        if (fits) {
            find_rest(&a->q, o, fmin(WINDOWS_SHARE * all, WINDOWS_WORK), r);
            enter(a, WITH_WINDOWS);
        }
    }
    if (a->stage == WITH_WINDOWS && r->work < end)
        fits = go_on(a, o, end - r->work, plan);
    if (!fits)
        enter(a, EXACT);
    rest.below_ns = rp_min_u64(o->below_ns, r->plan_ns);
    if (a->stage == EXACT && r->work < end)
        go_on(a, &rest, end - r->work, plan);
    return r;
}

bool rp_astar_is_complete(const struct rp_astar_options *o,
                          const struct rp_astar_result *r) {
    return r->bound_ns >= rp_min_u64(o->below_ns, r->plan_ns);
}
