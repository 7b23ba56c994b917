#include "solve/mip/branch_cut.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/numbers.h"
#include "solve/core/heap.h"
#include "solve/core/params.h"
#include "solve/core/prune.h"
#include "solve/mip/branching.h"
#include "solve/mip/mip_internal.h"
#include "solve/mip/node_lp.h"
#include "solve/mip/rounding.h"

#define INTEGRAL 1e-6
/* Limits of separation at the root and below it: how many separations, and how many in a
 * row that each gain less than MIN_GAIN of the distance to the target. */
#define MAX_ROOT_SEPARATIONS 60
#define MAX_ROOT_STALLED 4
#define MIN_GAIN 1e-3
#define MAX_NODE_SEPARATIONS 3
#define MAX_NODE_STALLED 1
/* The model is made anew without the fixed columns once they are this share of all. */
#define REBUILD_SHARE 0.15
/* The first cutoff is FIRST_CUTOFF above the bound, as a share of it, or farther as long as
 * CUTOFF_FIXED_SHARE of the columns stay fixed. No cutoff is farther than LAST_CUTOFF above
 * it. */
#define FIRST_CUTOFF 2e-4
#define CUTOFF_FIXED_SHARE 0.3
#define LAST_CUTOFF 0.05
/* Vertices are rounded at every ROOT_ROUNDING_INTERVAL-th separation of the root, and at
 * every NODE_ROUNDING_INTERVAL-th node below it. */
#define ROOT_ROUNDING_INTERVAL 4
#define NODE_ROUNDING_INTERVAL 8
/* What takes as long as a unit of work: terms of separation, and pairs of ops of a
 * rounding.
 */
#define TERMS_PER_UNIT 1024
#define PAIRS_PER_UNIT 8
/* An LP that goes on may exceed the work limit by one part of so many of what was done. */
#define MAX_OVERRUN 8

void rp_branch_cut_statistics_add(struct rp_branch_cut_statistics *into,
                                  const struct rp_branch_cut_statistics *from) {
    into->nodes += from->nodes;
    into->lp_solves += from->lp_solves;
    into->trial_solves += from->trial_solves;
    into->pivots += from->pivots;
    rp_separation_statistics_add(&into->cuts, &from->cuts);
    into->fixed_columns += from->fixed_columns;
    into->restarts += from->restarts;
    into->cutoffs_tried += from->cutoffs_tried;
    into->incumbents += from->incumbents;
    into->roundings += from->roundings;
    into->rounding_successes += from->rounding_successes;
    into->work += from->work;
}

uint64_t rp_branch_cut_statistics_cuts(const struct rp_branch_cut_statistics *s) {
    uint64_t sum = s->cuts.exact_covers;
    for (uint32_t k = 0; k < RP_MAX_CUT_FAMILIES; k++)
        sum += s->cuts.found[k];
    return sum;
}

/* ---- the heap of open nodes ---- */

static bool before(const void *context, const void *left, const void *right) {
    const struct node *a = left, *b = right;
    (void)context;
    return a->bound_ns != b->bound_ns ? a->bound_ns < b->bound_ns : a->serial > b->serial;
}

static void push_node(struct rp_branch_cut *bc, struct node node) {
    node.serial = bc->next_serial++;
    rp_push(&bc->open, node);
    rp_heap_push(bc->open.at, bc->open.n, sizeof node, before, NULL);
}

static struct node pop_node(struct rp_branch_cut *bc) {
    rp_heap_pop(bc->open.at, bc->open.n, sizeof *bc->open.at, before, NULL);
    return bc->open.at[--bc->open.n];
}

/* The least bound of the incumbent, what was pruned, the open nodes and the current one. */
static uint64_t global_bound(const struct rp_branch_cut *bc) {
    uint64_t bound_ns = rp_min_u64(bc->pruned_bound_ns, bc->best_ns);
    if (bc->open.n > 0)
        bound_ns = rp_min_u64(bound_ns, bc->open.at[0].bound_ns);
    if (bc->has_node)
        bound_ns = rp_min_u64(bound_ns, bc->node.bound_ns);
    return bound_ns;
}

/* ---- incumbents ---- */

static void set_incumbent(struct rp_branch_cut *bc, const struct rp_schedule *s,
                          uint64_t time_ns) {
    if (s != &bc->best)
        rp_schedule_copy(&bc->best, s);
    bc->best_ns = time_ns;
    bc->state.statistics.incumbents++;
}

void rp_branch_cut_offer(struct rp_branch_cut *bc, const struct rp_schedule *s) {
    struct rp_cost c = rp_schedule_cost(bc->instance, s);
    if (rp_cost_fits(bc->instance, &c) && c.time_ns < bc->best_ns)
        set_incumbent(bc, s, c.time_ns);
}

static void round_vertex(struct rp_branch_cut *bc) {
    struct rp_branch_cut_statistics *st = &bc->state.statistics;
    uint64_t time_ns = bc->best_ns;
    bool better = rp_rounding(&bc->m.formulation, bc->m.v, &bc->best, &time_ns);
    if (better)
        set_incumbent(bc, &bc->best, time_ns);
    st->roundings++;
    st->rounding_successes += better;
    st->work += (uint64_t)bc->instance->n_ops * bc->instance->n_ops / PAIRS_PER_UNIT;
}

/* The schedule of an integral vertex. */
static void offer_vertex(struct rp_branch_cut *bc) {
    struct rp_schedule s;
    rp_schedule_empty(bc->instance, &s);
    rp_formulation_schedule(&bc->m.formulation, bc->m.v, 0.5, &s);
    if (rp_schedule_prune(bc->instance, &s))
        rp_branch_cut_offer(bc, &s);
    rp_schedule_fini(&s);
}

/* ---- one node ---- */

static void clear_node(struct rp_branch_cut *bc) {
    free(bc->node.changes.at);
    bc->node = (struct node){0};
    bc->has_node = false;
}

/* Restores the bounds that hold in the whole search tree. */
static void leave_node(struct rp_branch_cut *bc) {
    for (size_t i = 0; i < bc->node.changes.n; i++) {
        uint32_t col = bc->node.changes.at[i].col;
        rp_lp_set_bounds(bc->m.lp, col, bc->m.low[col], bc->m.high[col]);
    }
    clear_node(bc);
}

static void enter_node(struct rp_branch_cut *bc, struct node node) {
    bc->node = node;
    bc->has_node = true;
    for (size_t i = 0; i < node.changes.n; i++) {
        const struct change *c = &node.changes.at[i];
        rp_lp_set_bounds(bc->m.lp, c->col, c->low, c->high);
    }
    bc->n_separations = bc->n_stalled = 0;
    bc->last_value = -HUGE_VAL;
    bc->state.statistics.nodes++;
    rp_node_lp_drop_slack_cuts(bc);
}

/* Leaves the node for good, with the bound that it has. */
static void prune_node(struct rp_branch_cut *bc) {
    rp_node_lp_record_pruned(bc, bc->node.bound_ns);
    leave_node(bc);
}

static bool is_integral(const struct rp_branch_cut *bc) {
    for (uint32_t j = 0; j < bc->m.formulation.n_cols; j++)
        if (fabs(bc->m.v[j] - round(bc->m.v[j])) > INTEGRAL)
            return false;
    return true;
}

/* Are further cuts at this node worth their cost? */
static bool cuts_pay(struct rp_branch_cut *bc) {
    uint64_t target_ns = rp_node_lp_target_ns(bc);
    double missing = target_ns == UINT64_MAX
                         ? bc->bound * 0.01
                         : (double)target_ns * bc->m.formulation.time_scale - bc->bound;
    bool gained = bc->bound > bc->last_value + MIN_GAIN * missing;
    bc->n_stalled = gained ? 0 : bc->n_stalled + 1;
    bc->last_value = gained ? bc->bound : bc->last_value;
    if (bc->at_root)
        return bc->n_separations < MAX_ROOT_SEPARATIONS &&
               bc->n_stalled <= MAX_ROOT_STALLED;
    return bc->n_separations < MAX_NODE_SEPARATIONS && bc->n_stalled <= MAX_NODE_STALLED;
}

/* Adds rows that the vertex violates, while that is worth its cost. An integral vertex that
 * exceeds the limit must be cut off in any case. True if rows were added. */
static bool separate(struct rp_branch_cut *bc, bool integral) {
    struct rp_branch_cut_statistics *st = &bc->state.statistics;
    struct rp_row_set rows = {0};
    if (!cuts_pay(bc) && !integral)
        return false;
    uint64_t terms_before = st->cuts.terms;
    uint32_t n = rp_separation_find(&bc->m.separation, bc->m.v, &rows, &st->cuts);
    st->work += (st->cuts.terms - terms_before) / TERMS_PER_UNIT;
    if (n == 0 && integral)
        n = rp_separation_exact(&bc->m.separation, bc->m.v, &rows, &st->cuts);
    rp_node_lp_add_cuts(bc, &rows);
    bc->n_separations++;
    rp_row_set_fini(&rows);
    return n > 0;
}

static struct node make_child(const struct rp_branch_cut *bc, struct change c) {
    struct node child = {.bound_ns = bc->node.bound_ns};
    size_t n = bc->node.changes.n;
    child.changes.at = rp_calloc(n + 1, sizeof c);
    if (n > 0)
        memcpy(child.changes.at, bc->node.changes.at, n * sizeof c);
    child.changes.at[n] = c;
    child.changes.n = child.changes.cap = n + 1;
    return child;
}

/* After the cuts: enters one child and leaves the other one open. */
static void branch(struct rp_branch_cut *bc) {
    struct change first, second;
    enum rp_branching b = rp_branching_choose(bc, &first, &second);
    if (b == RP_BRANCHING_TIGHTENED) {
        bc->n_separations = MAX_NODE_SEPARATIONS; /* no more cuts at this node */
        return;
    }
    if (b != RP_BRANCHING_TWO) { /* pruned, or integral with no row left to cut it off */
        if (b == RP_BRANCHING_PRUNED)
            bc->node.bound_ns = rp_node_lp_target_ns(bc);
        prune_node(bc);
        return;
    }
    struct node child = make_child(bc, first);
    push_node(bc, make_child(bc, second));
    leave_node(bc);
    enter_node(bc, child);
}

static void discard_open_nodes(struct rp_branch_cut *bc) {
    for (size_t i = 0; i < bc->open.n; i++)
        free(bc->open.at[i].changes.at);
    bc->open.n = 0;
}

/* Starts a new search tree over bc->m. All open nodes lie below its root, so nothing is
 * lost. */
static void restart(struct rp_branch_cut *bc, uint64_t bound_ns) {
    discard_open_nodes(bc);
    clear_node(bc);
    bc->state.statistics.restarts++;
    if (bc->m.formulation.empty)
        return;
    bc->at_root = true;
    enter_node(bc, (struct node){.bound_ns = bound_ns});
}

/* ---- cutoffs that are tried ---- */

static uint64_t above(uint64_t bound_ns, double share) {
    return bound_ns + (uint64_t)((double)bound_ns * share) + 1;
}

/* Sets the cutoff `share` above the bound, or farther as long as enough columns stay fixed.
 * No cutoff if that would be too far. */
static void choose_cutoff(struct rp_branch_cut *bc, uint64_t bound_ns, double share) {
    uint32_t min_fixed = (uint32_t)(CUTOFF_FIXED_SHARE * bc->m.formulation.n_cols);
    for (;; share *= 2) {
        bc->cutoff_ns = share > LAST_CUTOFF ? UINT64_MAX : above(bound_ns, share);
        if (bc->cutoff_ns >= rp_node_lp_goal_ns(bc) ||
            rp_node_lp_count_fixed(bc, above(bound_ns, share * 2)) < min_fixed)
            break;
    }
}

/* At the end of the root: restricts the model to a cutoff, if that fixes enough columns to
 * be worth it. */
static bool try_cutoff(struct rp_branch_cut *bc, uint64_t bound_ns, double share) {
    if (bc->options.no_fixing)
        return false;
    choose_cutoff(bc, bound_ns, share);
    uint64_t target_ns = rp_node_lp_target_ns(bc);
    if (target_ns == UINT64_MAX ||
        rp_node_lp_count_fixed(bc, target_ns) < REBUILD_SHARE * bc->m.formulation.n_cols) {
        bc->cutoff_ns = UINT64_MAX;
        return false;
    }
    bc->trying_cutoff = true;
    bc->state.statistics.cutoffs_tried++;
    rp_node_lp_rebuild(bc, true);
    restart(bc, bound_ns);
    return true;
}

/* No schedule is below the cutoff: returns to the full model and tries a larger cutoff, or
 * goes on without one. */
static void relax_cutoff(struct rp_branch_cut *bc) {
    uint64_t start_ns = bc->state.root_bound_ns, proven_bound_ns = global_bound(bc);
    double share = ((double)bc->cutoff_ns / (double)start_ns - 1) * 2;
    bc->pruned_bound_ns = bc->cutoff_ns = UINT64_MAX;
    bc->trying_cutoff = false;
    rp_node_lp_restore_full(bc);
    rp_node_lp_fix_columns(bc);
    if (try_cutoff(bc, proven_bound_ns, share))
        return;
    restart(bc, proven_bound_ns);
    bc->at_root = false; /* its cuts are in the model already */
}

static void finish_cuts(struct rp_branch_cut *bc) {
    if (bc->at_root && !bc->trying_cutoff) {
        bc->state.root_bound_ns = bc->node.bound_ns;
        if (try_cutoff(bc, global_bound(bc), FIRST_CUTOFF))
            return;
    }
    bc->at_root = false;
    branch(bc);
}

/* ---- the search ---- */

static bool should_round(const struct rp_branch_cut *bc) {
    if (bc->at_root)
        return bc->n_separations % ROOT_ROUNDING_INTERVAL == 0;
    return bc->n_separations == 0 &&
           bc->state.statistics.nodes % NODE_ROUNDING_INTERVAL == 0;
}

/* The vertex of an LP that was solved to the end. */
static void process_vertex(struct rp_branch_cut *bc) {
    rp_lp_point(bc->m.lp, bc->m.v);
    bool integral = is_integral(bc);
    if (integral)
        offer_vertex(bc);
    else if (should_round(bc))
        round_vertex(bc);
    if (bc->at_root)
        rp_node_lp_record_root(bc);
    rp_node_lp_fix_columns(bc);
    if (bc->node.bound_ns >= rp_node_lp_target_ns(bc))
        return; /* it is pruned next */
    if (bc->m.n_fixed > 0 && bc->m.n_fixed >= REBUILD_SHARE * bc->m.formulation.n_cols) {
        rp_node_lp_rebuild(bc, false);
        restart(bc, global_bound(bc));
    } else if (!separate(bc, integral)) {
        finish_cuts(bc);
    }
}

/* If the LP of a node is interrupted again and again, the simplex method may cycle, so each
 * further try gets twice as many pivots. */
static uint64_t min_pivots(const struct rp_branch_cut *bc) {
    return (uint64_t)FIRST_PIVOTS << bc->n_interrupted;
}

/* Would going on with an interrupted LP take much more than is left? Then it waits for more
 * work: what it takes at least can be as much as all that has been done. */
static bool waits_for_work(const struct rp_branch_cut *bc, uint64_t left) {
    uint64_t work = min_pivots(bc) * rp_lp_pivot_work(bc->m.lp) / 64;
    return bc->n_interrupted > 0 && work > left + bc->state.statistics.work / MAX_OVERRUN;
}

/* Solves the LP of the current node. */
static enum rp_lp_status solve_node(struct rp_branch_cut *bc, uint64_t work) {
    uint64_t pivots = work * 64 / rp_lp_pivot_work(bc->m.lp);
    enum rp_lp_status st = rp_node_lp_solve(bc, rp_max_u64(pivots, min_pivots(bc)));
    bc->n_interrupted =
        st == RP_LP_LIMIT && bc->n_interrupted < 30 ? bc->n_interrupted + 1 : 0;
    uint64_t bound_ns = rp_node_lp_bound_ns(bc, bc->bound);
    bc->node.bound_ns = rp_max_u64(bc->node.bound_ns, bound_ns);
    return st;
}

static void process_node(struct rp_branch_cut *bc, uint64_t work) {
    if (!bc->has_node)
        enter_node(bc, pop_node(bc));
    if (bc->node.bound_ns >= rp_node_lp_target_ns(bc)) {
        prune_node(bc);
        return;
    }
    enum rp_lp_status st = solve_node(bc, work);
    if (st == RP_LP_INFEASIBLE)
        leave_node(bc);
    else if (bc->node.bound_ns >= rp_node_lp_target_ns(bc) || st == RP_LP_FAILED)
        prune_node(bc);
    else if (st == RP_LP_OPTIMAL)
        process_vertex(bc);
}

enum rp_branch_cut_status rp_branch_cut_run(struct rp_branch_cut *bc, uint64_t work,
                                            struct rp_branch_cut_state *state) {
    const uint64_t *done_work = &bc->state.statistics.work;
    bool done = false;
    bc->allotted_work += work;
    uint64_t end = bc->allotted_work;
    while (!done && *done_work < end && !waits_for_work(bc, end - *done_work)) {
        if (bc->has_node || bc->open.n > 0)
            process_node(bc, end - *done_work);
        else if (bc->trying_cutoff && bc->cutoff_ns < rp_node_lp_goal_ns(bc))
            relax_cutoff(bc);
        else
            done = true;
    }
    bc->state.bound_ns = global_bound(bc);
    bc->state.found = bc->best_ns != UINT64_MAX;
    bc->state.time_ns = bc->best_ns;
    bc->state.n_rows = rp_lp_n_rows(bc->m.lp);
    bc->state.n_cols = rp_lp_n_cols(bc->m.lp);
    bc->state.status = !done                              ? RP_BRANCH_CUT_PAUSED
                       : bc->state.bound_ns == UINT64_MAX ? RP_BRANCH_CUT_INFEASIBLE
                       : bc->state.bound_ns >= rp_node_lp_goal_ns(bc)
                           ? RP_BRANCH_CUT_OPTIMAL
                           : RP_BRANCH_CUT_FAILED;
    *state = bc->state;
    return state->status;
}

const struct rp_schedule *rp_branch_cut_best(const struct rp_branch_cut *bc) {
    return &bc->best;
}

/* ---- construction ---- */

/* The greatest common divisor of all op times, and so of all schedules' times. 1 if sums
 * are too large for exact arithmetic in doubles. */
static uint64_t common_divisor_ns(const struct rp_instance *p) {
    uint64_t g = 0, total = 0;
    for (uint32_t j = 0; j < p->n_ops; j++) {
        total += p->time_ns[j];
        g = rp_gcd_u64(g, p->time_ns[j]);
    }
    return g == 0 || total >= (uint64_t)1 << 50 ? 1 : g;
}

/* The first incumbent: keep everything, then drop what does not fit. */
static void construct_incumbent(struct rp_branch_cut *bc) {
    struct rp_schedule s;
    rp_schedule_keep_all(bc->instance, &s);
    if (rp_rounding_repair(bc->instance, &bc->m.formulation, NULL, &s)) {
        rp_rounding_fill(bc->instance, &s);
        rp_branch_cut_offer(bc, &s);
    }
    rp_schedule_fini(&s);
}

struct rp_branch_cut *rp_branch_cut_new(const struct rp_instance *p,
                                        const struct rp_branch_cut_options *o) {
    struct rp_branch_cut *bc = rp_calloc(1, sizeof *bc);
    bc->instance = p;
    bc->options = *o;
    bc->best_ns = bc->pruned_bound_ns = bc->cutoff_ns = UINT64_MAX;
    bc->divisor_ns = common_divisor_ns(p);
    rp_node_lp_init(bc);
    construct_incumbent(bc);
    bc->at_root = true;
    enter_node(bc, (struct node){0});
    return bc;
}

void rp_branch_cut_free(struct rp_branch_cut *bc) {
    if (bc == NULL)
        return;
    discard_open_nodes(bc);
    free(bc->open.at);
    free(bc->node.changes.at);
    rp_node_lp_fini(bc);
    rp_schedule_fini(&bc->best);
    free(bc);
}
