/* dtr against the rules at the top of its file, carried out in the plainest way: sets of
 * evicted tensors are labels, and every question looks at the whole graph. */
#include <stdlib.h>
#include <string.h>

#include "drawn.h"
#include "gen.h"
#include "policies.h"
#include "run.h"

enum { MAX_OPS = 12, MAX_TENSORS = 40, MAX_SETS = 2000, RUNS_PER_OP = 30 };

struct naive {
    const struct rp_graph *g;
    uint64_t limit_bytes, live_bytes, now_ns;
    uint32_t now, runs_left;
    bool on_device[MAX_TENSORS], ran[MAX_OPS];
    uint32_t locks[MAX_TENSORS];
    uint64_t used_ns[MAX_TENSORS];
    uint32_t set_of[MAX_TENSORS]; /* of an evicted tensor */
    double cost[MAX_SETS];        /* of a set */
    uint32_t n_sets;
    struct rp_plan plan; /* steps only */
};

static bool is_in(const uint32_t *list, uint32_t n, uint32_t x) {
    for (uint32_t k = 0; k < n; k++)
        if (list[k] == x)
            return true;
    return false;
}

static bool reads(const struct naive *d, uint32_t op, uint32_t x) {
    return is_in(d->g->ops[op].inputs, d->g->ops[op].n_inputs, x) &&
           d->g->tensors[x].producer != RP_NONE;
}

static bool makes(const struct naive *d, uint32_t op, uint32_t x) {
    return d->g->tensors[x].producer == op;
}

static bool is_kept(const struct naive *d, uint32_t x) {
    return is_in(d->g->keep, d->g->n_keep, x);
}

static bool has_reader_from(const struct naive *d, uint32_t x, uint32_t op) {
    for (; op < d->g->n_ops; op++)
        if (reads(d, op, x))
            return true;
    return false;
}

static bool may_be_evicted(const struct naive *d, uint32_t x) {
    return d->g->ops[d->g->tensors[x].producer].recompute ||
           (!has_reader_from(d, x, 0) && !is_kept(d, x));
}

static bool is_evicted(const struct naive *d, uint32_t x) {
    uint32_t op = d->g->tensors[x].producer;
    return op != RP_NONE && d->ran[op] && !d->on_device[x];
}

static bool are_neighbours(const struct naive *d, uint32_t x, uint32_t y) {
    return reads(d, d->g->tensors[x].producer, y) || reads(d, d->g->tensors[y].producer, x);
}

static double score(const struct naive *d, uint32_t x) {
    const struct rp_tensor *t = &d->g->tensors[x];
    double cost = (double)d->g->ops[t->producer].time_ns;
    bool counted[MAX_SETS] = {false};
    for (uint32_t y = 0; y < d->g->n_tensors; y++)
        if (is_evicted(d, y) && are_neighbours(d, x, y) && !counted[d->set_of[y]]) {
            counted[d->set_of[y]] = true;
            cost += d->cost[d->set_of[y]];
        }
    return cost / ((double)t->bytes * ((double)(d->now_ns - d->used_ns[x]) + 1));
}

static void evict(struct naive *d, uint32_t x) {
    uint32_t set = d->n_sets++;
    rp_push(&d->plan.steps, ((struct rp_step){.kind = RP_FREE, .id = x}));
    d->on_device[x] = false;
    d->live_bytes -= d->g->tensors[x].bytes;
    d->set_of[x] = set;
    d->cost[set] = (double)d->g->ops[d->g->tensors[x].producer].time_ns;
    for (uint32_t y = 0; y < d->g->n_tensors; y++) {
        if (!is_evicted(d, y) || !are_neighbours(d, x, y) || d->set_of[y] == set)
            continue;
        uint32_t joined = d->set_of[y];
        d->cost[set] += d->cost[joined];
        for (uint32_t z = 0; z < d->g->n_tensors; z++)
            d->set_of[z] = d->set_of[z] == joined ? set : d->set_of[z];
    }
}

static void make_room(struct naive *d, uint64_t bytes) {
    while (d->live_bytes + bytes > d->limit_bytes) {
        uint32_t best = RP_NONE;
        for (uint32_t x = 0; x < d->g->n_tensors; x++)
            if (d->on_device[x] && d->locks[x] == 0 && !is_kept(d, x) &&
                d->g->tensors[x].bytes > 0 && may_be_evicted(d, x) &&
                (best == RP_NONE || score(d, x) < score(d, best)))
                best = x;
        if (best == RP_NONE)
            return;
        evict(d, best);
    }
}

static void lock(struct naive *d, uint32_t op, int by) {
    for (uint32_t x = 0; x < d->g->n_tensors; x++)
        if (reads(d, op, x))
            d->locks[x] += (uint32_t)by;
}

static void run_op(struct naive *d, uint32_t op) {
    const struct rp_op *o = &d->g->ops[op];
    uint64_t bytes = o->workspace_bytes;
    lock(d, op, 1);
    for (uint32_t x = 0; x < d->g->n_tensors; x++)
        if (reads(d, op, x) && !d->on_device[x])
            run_op(d, d->g->tensors[x].producer);
    for (uint32_t x = 0; x < d->g->n_tensors; x++) {
        if (!makes(d, op, x))
            continue;
        d->locks[x]++;
        bytes += d->on_device[x] ? 0 : d->g->tensors[x].bytes;
        double *cost = &d->cost[d->set_of[x]];
        if (is_evicted(d, x))
            *cost = *cost > (double)o->time_ns ? *cost - (double)o->time_ns : 0;
    }
    if (d->runs_left > 0) {
        d->runs_left--;
        make_room(d, bytes);
    }
    rp_push(&d->plan.steps, ((struct rp_step){.kind = RP_RUN, .id = op}));
    d->now_ns += o->time_ns;
    d->ran[op] = true;
    lock(d, op, -1);
    for (uint32_t x = 0; x < d->g->n_tensors; x++) {
        if (!makes(d, op, x) && !reads(d, op, x))
            continue;
        d->used_ns[x] = d->now_ns;
        if (!makes(d, op, x))
            continue;
        d->locks[x]--;
        d->live_bytes += d->on_device[x] ? 0 : d->g->tensors[x].bytes;
        d->on_device[x] = true;
    }
}

/* What op i was the last to need goes: first what it read, then what it made. */
static void evict_done(struct naive *d, uint32_t i) {
    for (int made = 0; made < 2; made++)
        for (uint32_t x = 0; x < d->g->n_tensors; x++)
            if ((made ? makes(d, i, x) : reads(d, i, x)) && d->on_device[x] &&
                !is_kept(d, x) && !has_reader_from(d, x, i + 1) && may_be_evicted(d, x))
                evict(d, x);
}

/* The plan for a share of what keep-all needs. */
static bool is_as_by_the_rules(const struct rp_graph *g, uint64_t percent) {
    const struct rp_policy *dtr = rp_policy_find("dtr");
    struct rp_policy_options o = rp_drawn_options(UINT64_MAX / 2);
    struct rp_policy_report report;
    struct rp_plan plan;
    struct rp_err err = {{0}};
    CU_ASSERT_EQUAL_FATAL(rp_policy_record_plan(g, dtr, &o, &plan, &report, &err), RP_OK);
    o.budget_bytes =
        g->fixed_bytes + (plan.claims.peak_bytes - g->fixed_bytes) * percent / 100;
    rp_plan_fini(&plan);
    CU_ASSERT_EQUAL_FATAL(rp_policy_record_plan(g, dtr, &o, &plan, &report, &err), RP_OK);
    struct naive d = {.g = g,
                      .limit_bytes = o.budget_bytes - g->fixed_bytes,
                      .runs_left = RUNS_PER_OP * g->n_ops};
    for (; d.now < g->n_ops; d.now++) {
        run_op(&d, d.now);
        evict_done(&d, d.now);
    }
    bool same = rp_same_steps(&plan, &d.plan);
    rp_plan_fini(&plan);
    rp_plan_fini(&d.plan);
    return same;
}

static void dtr_follows_its_rules(void) {
    uint32_t n = 300;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++) {
        struct rp_gen_shape shape = rp_gen_small(4 + (uint32_t)seed % (MAX_OPS - 3));
        struct rp_graph g;
        shape.training = seed % 4 != 0;
        shape.max_outputs = 1 + seed % 2;
        rp_gen_graph(seed, &shape, &g);
        if (!is_as_by_the_rules(&g, 40 + seed * 7 % 61)) {
            rp_gen_failed(seed);
            CU_FAIL("the plan of dtr is another one");
        }
        rp_graph_fini(&g);
    }
}

void suite_dtr(void) {
    RP_SUITE("dtr");
    RP_TEST(dtr_follows_its_rules);
}
