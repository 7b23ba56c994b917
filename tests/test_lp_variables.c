/* The variables of a certificate's rows against the rules of docs/certificate.md, applied
 * stage by stage. */
#include "verify/certificate/lp_variables.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/numbers.h"
#include "gen.h"
#include "run.h"

enum { MAX_OPS = 60, MAX_TENSORS = 4 * MAX_OPS, SCALE_LOG2 = 3 };

struct draw {
    struct rp_graph g;
    struct rp_lp_variables c;
    uint32_t order[MAX_OPS], ends[MAX_OPS], n_stages;
    uint32_t position[MAX_OPS], stage[MAX_OPS], last_run[MAX_OPS], last_hold[MAX_TENSORS];
    /* Row sums of the variables that are no constants; of S by the first stage for which
     * it is the same variable. */
    int64_t run_sum[MAX_OPS][MAX_OPS], hold_sum[MAX_OPS + 1][MAX_TENSORS], constant;
};

/* ---- the rules ---- */

static bool reads(const struct draw *d, uint32_t j, uint32_t x) {
    const struct rp_op *op = &d->g.ops[j];
    for (uint32_t k = 0; k < op->n_inputs; k++)
        if (op->inputs[k] == x)
            return true;
    return false;
}

static bool makes_bytes(const struct draw *d, uint32_t j) {
    for (uint32_t x = 0; x < d->g.n_tensors; x++)
        if (d->g.tensors[x].producer == j && d->g.tensors[x].bytes > 0)
            return true;
    return false;
}

/* The first stage of an op after j that updates what j reads. */
static uint32_t updated_in(const struct draw *d, uint32_t j) {
    for (uint32_t p = d->position[j] + 1; p < d->g.n_ops; p++) {
        const struct rp_op *op = &d->g.ops[d->order[p]];
        for (uint32_t k = 0; k < op->n_updates; k++)
            if (reads(d, j, op->updates[k]))
                return d->stage[d->order[p]];
    }
    return RP_NONE;
}

/* (A) and (B): nothing runs or is held once nothing that is still to run needs it. */
static void find_last(struct draw *d) {
    for (uint32_t p = d->g.n_ops; p-- > 0;) {
        uint32_t j = d->order[p], last = d->stage[j];
        const struct rp_op *op = &d->g.ops[j];
        for (uint32_t x = 0; x < d->g.n_tensors; x++) {
            if (d->g.tensors[x].producer != j)
                continue;
            d->last_hold[x] = d->g.kept[x] ? d->n_stages : d->stage[j];
            for (uint32_t i = 0; i < d->g.n_ops; i++)
                if (reads(d, i, x))
                    d->last_hold[x] = rp_max_u32(d->last_hold[x], d->last_run[i]);
            last = rp_max_u32(last, rp_min_u32(d->last_hold[x], d->n_stages - 1));
        }
        bool again = op->recompute && op->n_updates == 0 && makes_bytes(d, j);
        d->last_run[j] = again ? rp_min_u32(last, updated_in(d, j)) : d->stage[j];
    }
}

static bool may_run(const struct draw *d, uint32_t t, uint32_t j) {
    return d->stage[j] <= t && t <= d->last_run[j];
}

/* (E): S changes only after a stage in which the maker or a reader may run. */
static uint32_t same_since(const struct draw *d, uint32_t t, uint32_t x) {
    for (; t > 0; t--)
        for (uint32_t j = 0; j < d->g.n_ops; j++)
            if (may_run(d, t - 1, j) && (d->g.tensors[x].producer == j || reads(d, j, x)))
                return t;
    return 0;
}

/* (C) and (D): what takes no bytes is always held; what cannot be made again until the last
 * first run that reads it. */
static bool is_held(const struct draw *d, uint32_t t, uint32_t x) {
    uint32_t maker = d->g.tensors[x].producer, since = same_since(d, t, x);
    if (d->g.tensors[x].bytes == 0 || t == d->n_stages)
        return true;
    if (d->last_run[maker] > d->stage[maker])
        return false;
    bool needed = d->g.kept[x] || since <= d->stage[maker];
    for (uint32_t j = 0; j < d->g.n_ops; j++)
        needed = needed || (reads(d, j, x) && since <= d->stage[j]);
    return needed;
}

static bool can_be_held(const struct draw *d, uint32_t t, uint32_t x) {
    return d->stage[d->g.tensors[x].producer] < t && t <= d->last_hold[x];
}

/* ---- comparison ---- */

static bool same_run(const struct draw *d, uint32_t t, uint32_t j) {
    uint64_t key = rp_lp_variables_run_key(&d->c, t, j);
    return (key == RP_VARIABLE_ONE) == (t == d->stage[j]) &&
           (key == RP_VARIABLE_ZERO) == !may_run(d, t, j) &&
           rp_lp_variables_may_run(&d->c, t, j) == may_run(d, t, j);
}

static bool same_hold(const struct draw *d, uint32_t t, uint32_t x) {
    uint64_t key = rp_lp_variables_hold_key(&d->c, t, x);
    if (!can_be_held(d, t, x))
        return key == RP_VARIABLE_ZERO;
    if (is_held(d, t, x))
        return key == RP_VARIABLE_ONE;
    return key > RP_VARIABLE_ONE &&
           key == rp_lp_variables_hold_key(&d->c, same_since(d, t, x), x);
}

static bool same_variables(const struct draw *d) {
    bool same = true;
    for (uint32_t t = 0; t <= d->n_stages && same; t++) {
        for (uint32_t j = 0; j < d->g.n_ops && t < d->n_stages && same; j++)
            same = same_run(d, t, j);
        for (uint32_t x = 0; x < d->g.n_tensors && same; x++)
            same = d->g.tensors[x].producer == RP_NONE || same_hold(d, t, x);
    }
    return same;
}

/* ---- sums ---- */

static void add_run(struct draw *d, uint32_t t, uint32_t j, int64_t amount) {
    CU_ASSERT(rp_lp_variables_add_run(&d->c, t, j, amount));
    if (t == d->stage[j])
        d->constant += amount;
    else if (may_run(d, t, j))
        d->run_sum[t][j] += amount;
}

static void add_hold(struct draw *d, uint32_t t, uint32_t x, int64_t amount) {
    CU_ASSERT(rp_lp_variables_add_hold(&d->c, t, x, amount));
    if (!can_be_held(d, t, x))
        return;
    if (is_held(d, t, x))
        d->constant += amount;
    else
        d->hold_sum[same_since(d, t, x)][x] += amount;
}

/* Twice an amount for each variable, in the same order. */
static void add_all(struct draw *d, struct rp_rng *r) {
    for (int round = 0; round < 2; round++)
        for (uint32_t t = 0; t <= d->n_stages; t++) {
            for (uint32_t j = 0; j < d->g.n_ops && t < d->n_stages; j++)
                add_run(d, t, j, (int64_t)rp_rng_below(r, 20000) - 15000);
            for (uint32_t x = 0; x < d->g.n_tensors; x++)
                if (d->g.tensors[x].producer != RP_NONE)
                    add_hold(d, t, x, (int64_t)rp_rng_below(r, 2000) - 1000);
        }
}

static int64_t least_cost(const struct draw *d) {
    int64_t sum = d->constant + ((int64_t)d->g.total_time_ns << SCALE_LOG2);
    for (uint32_t t = 0; t <= d->n_stages; t++) {
        for (uint32_t j = 0; j < d->g.n_ops && t < d->n_stages; j++) {
            int64_t time = (int64_t)d->g.ops[j].time_ns << SCALE_LOG2;
            if (may_run(d, t, j) && t != d->stage[j] && d->run_sum[t][j] + time < 0)
                sum += d->run_sum[t][j] + time;
        }
        for (uint32_t x = 0; x < d->g.n_tensors; x++)
            if (d->hold_sum[t][x] < 0)
                sum += d->hold_sum[t][x];
    }
    return sum;
}

/* ---- random graphs ---- */

/* True if an op that is in no position yet makes what op j reads. */
static bool waits(const struct draw *d, uint32_t n_placed, uint32_t j) {
    for (uint32_t i = 0; i < d->g.n_ops; i++) {
        bool placed = false;
        for (uint32_t p = 0; p < n_placed; p++)
            placed = placed || d->order[p] == i;
        for (uint32_t k = 0; k < d->g.ops[i].n_outputs && !placed; k++)
            if (reads(d, j, d->g.ops[i].outputs[k]))
                return true;
        if (placed && i == j)
            return true;
    }
    return false;
}

/* The graph's order for half of the seeds, else any order of first runs. */
static void draw_order(struct draw *d, struct rp_rng *r) {
    bool any = rp_rng_percent(r, 50) && d->g.n_ops < MAX_OPS;
    for (uint32_t i = 0; i < d->g.n_ops; i++) {
        uint32_t j = i;
        while (any && waits(d, i, j = (uint32_t)rp_rng_below(r, d->g.n_ops)))
            ;
        d->order[i] = j;
        d->position[j] = i;
        d->stage[j] = d->n_stages;
        if (i + 1 == d->g.n_ops || rp_rng_percent(r, 70))
            d->ends[d->n_stages++] = i;
    }
}

static void open_draw(uint64_t seed, struct draw *d) {
    struct rp_rng r = {seed * 31};
    uint32_t n_ops = seed % 20 == 0 ? MAX_OPS : 3 + (uint32_t)rp_rng_below(&r, 10);
    struct rp_gen_shape shape = rp_gen_small(n_ops);
    shape.training = rp_rng_percent(&r, 60);
    shape.version_2 = rp_rng_percent(&r, 50);
    shape.rules_percent = shape.version_2 ? 0 : 30;
    memset(d, 0, sizeof *d);
    rp_gen_graph(seed, &shape, &d->g);
    CU_ASSERT_FATAL(d->g.n_tensors <= MAX_TENSORS);
    draw_order(d, &r);
    find_last(d);
    rp_lp_variables_init(&d->c, &d->g, d->order, d->ends, d->n_stages);
}

static bool agree(uint64_t seed) {
    struct draw *d = rp_calloc(1, sizeof *d);
    struct rp_rng r = {seed};
    __int128 cost = 0;
    open_draw(seed, d);
    bool same = same_variables(d);
    add_all(d, &r);
    same =
        same && rp_lp_variables_min_cost(&d->c, SCALE_LOG2, &cost) && cost == least_cost(d);
    rp_lp_variables_fini(&d->c);
    rp_graph_fini(&d->g);
    free(d);
    return same;
}

static void variables_and_their_least_cost_follow_from_the_rules(void) {
    uint32_t n = 200;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++)
        if (!agree(seed)) {
            rp_gen_failed(seed);
            CU_FAIL("other variables or another cost");
        }
}

void suite_lp_variables(void) {
    RP_SUITE("lp_variables");
    RP_TEST(variables_and_their_least_cost_follow_from_the_rules);
}
