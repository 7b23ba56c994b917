#include "solve/mip/branch_cut.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "solve/core/prune.h"
#include "solve/lp/rounding.h"
#include "solve/mip/mip_internal.h"

#define INTEGRAL 1e-6
#define ROOT_ROUNDS 60 /* of cuts at the root, */
#define ROOT_STALL 4   /* or until so many in a row bring nothing */
#define NODE_ROUNDS 3
#define STALL 1e-3 /* nothing: less than this share of what is missing */
#define REBUILD_SHARE                                                                      \
    0.15                 /* of the columns fixed: then the LP is made anew without them    \
                          */
#define GUESS_FIRST 2e-4 /* of the bound: how far above it a plan is looked for first, */
#define GUESS_SHARE 0.3  /* or farther, as long as this share of the columns is fixed */
#define GUESS_LAST 0.05  /* no guesses farther above */
#define ROUND_EVERY 8    /* nodes between two roundings of the vertex */
#define FIRST_PIVOTS                                                                       \
    100 /* the first solve of an LP may take, though the work limit came                   \
         */

/* ---- bounds ---- */

static uint64_t common_step(const struct rp_instance *p) {
    uint64_t g = 0, total = 0;
    for (uint32_t j = 0; j < p->n_ops; j++) {
        uint64_t a = p->time_ns[j], b = g;
        total += a;
        while (a != 0) {
            uint64_t rest = b % a;
            b = a;
            a = rest;
        }
        g = b;
    }
    return g == 0 || total >= (uint64_t)1 << 50 ? 1 : g;
}

uint64_t rp_branch_cut_bound_ns(const struct rp_branch_cut *tree, double bound) {
    double ns = bound / tree->m.form.time_scale, step = (double)tree->step_ns;
    if (!(ns > 0))
        return 0;
    if (ns >= 9e18)
        return UINT64_MAX;
    /* Beyond 2^52 the quotient is no whole number's neighbour any more: round down. */
    return ns < 4e15 ? (uint64_t)ceil(ns / step) * tree->step_ns
                     : (uint64_t)(ns * (1 - 1e-15));
}

/* A plan that is not below this is no longer looked for: within the gap of the best. */
static uint64_t goal_ns(const struct rp_branch_cut *tree) {
    if (tree->best_ns == UINT64_MAX)
        return UINT64_MAX;
    double within = (double)tree->best_ns / (1 + tree->options.gap);
    return tree->options.gap > 0 ? (uint64_t)ceil(within) : tree->best_ns;
}

uint64_t rp_branch_cut_target_ns(const struct rp_branch_cut *tree) {
    uint64_t goal = goal_ns(tree);
    return goal < tree->guess_ns ? goal : tree->guess_ns;
}

void rp_branch_cut_close_at(struct rp_branch_cut *tree, uint64_t bound_ns) {
    if (bound_ns < tree->closed_ns)
        tree->closed_ns = bound_ns;
}

/* ---- the heap of open nodes ---- */

static bool before(const struct node *a, const struct node *b) {
    return a->bound_ns != b->bound_ns ? a->bound_ns < b->bound_ns : a->serial > b->serial;
}

static void push_node(struct rp_branch_cut *tree, struct node node) {
    node.serial = tree->serial++;
    rp_push(&tree->open, node);
    struct node *at = tree->open.at;
    for (size_t i = tree->open.n - 1; i > 0 && before(&at[i], &at[(i - 1) / 2]);
         i = (i - 1) / 2) {
        struct node swap = at[i];
        at[i] = at[(i - 1) / 2];
        at[(i - 1) / 2] = swap;
    }
}

static struct node pop_node(struct rp_branch_cut *tree) {
    struct node *at = tree->open.at, top = at[0];
    size_t n = --tree->open.n;
    at[0] = at[n];
    for (size_t i = 0, child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && before(&at[child + 1], &at[child]))
            child++;
        if (!before(&at[child], &at[i]))
            break;
        struct node swap = at[i];
        at[i] = at[child];
        at[child] = swap;
    }
    return top;
}

static uint64_t min_bound(const struct rp_branch_cut *tree) {
    uint64_t least = tree->closed_ns < tree->best_ns ? tree->closed_ns : tree->best_ns;
    if (tree->open.n > 0 && tree->open.at[0].bound_ns < least)
        least = tree->open.at[0].bound_ns;
    if (tree->has_here && tree->here.bound_ns < least)
        least = tree->here.bound_ns;
    return least > tree->proven_ns ? least : tree->proven_ns;
}

/* ---- plans ---- */

static void take_plan(struct rp_branch_cut *tree, const struct rp_schedule *s,
                      uint64_t time_ns) {
    if (s != &tree->best)
        rp_schedule_copy(&tree->best, s);
    tree->best_ns = time_ns;
    tree->state.incumbents++;
}

void rp_branch_cut_offer(struct rp_branch_cut *tree, const struct rp_schedule *s) {
    struct rp_cost c = rp_schedule_cost(tree->problem, s);
    if (c.sound && c.peak_bytes <= tree->problem->limit_bytes && c.time_ns < tree->best_ns)
        take_plan(tree, s, c.time_ns);
}

static void round_vertex(struct rp_branch_cut *tree) {
    uint64_t time_ns = tree->best_ns;
    if (rp_rounding(&tree->m.form, tree->m.v, &tree->best, &time_ns))
        take_plan(tree, &tree->best, time_ns);
    tree->state.work += (uint64_t)tree->problem->n_ops * tree->problem->n_ops;
}

/* ---- one node ---- */

/* Puts the bounds back that hold in the whole tree. */
static void leave_node(struct rp_branch_cut *tree) {
    for (size_t i = 0; i < tree->here.changes.n; i++) {
        uint32_t col = tree->here.changes.at[i].col;
        rp_lp_set_bounds(tree->m.lp, col, tree->m.low[col], tree->m.high[col]);
    }
    free(tree->here.changes.at);
    tree->here = (struct node){0};
    tree->has_here = false;
}

static void enter_node(struct rp_branch_cut *tree, struct node node) {
    tree->here = node;
    tree->has_here = true;
    for (size_t i = 0; i < node.changes.n; i++) {
        const struct change *c = &node.changes.at[i];
        rp_lp_set_bounds(tree->m.lp, c->col, c->low, c->high);
    }
    tree->round = tree->stalled = 0;
    tree->last_value = -HUGE_VAL;
    tree->state.nodes++;
    rp_branch_cut_drop_slack_cuts(tree);
}

/* Closes this node at the bound it has. */
static void close_node(struct rp_branch_cut *tree) {
    rp_branch_cut_close_at(tree, tree->here.bound_ns);
    leave_node(tree);
}

static bool is_integral(const struct rp_branch_cut *tree) {
    for (uint32_t j = 0; j < tree->m.form.n_cols; j++)
        if (fabs(tree->m.v[j] - round(tree->m.v[j])) > INTEGRAL)
            return false;
    return true;
}

/* Adds rows that the vertex violates, as long as that pays. True if it did. */
static bool add_cuts(struct rp_branch_cut *tree, bool integral) {
    uint64_t target_ns = rp_branch_cut_target_ns(tree);
    double missing = target_ns == UINT64_MAX
                         ? tree->bound * 0.01
                         : (double)target_ns * tree->m.form.time_scale - tree->bound;
    bool gained = tree->bound > tree->last_value + STALL * missing;
    tree->stalled = gained ? 0 : tree->stalled + 1;
    tree->last_value = gained ? tree->bound : tree->last_value;
    uint32_t rounds = tree->at_root ? ROOT_ROUNDS : NODE_ROUNDS;
    uint32_t stall = tree->at_root ? ROOT_STALL : 1;
    if (!integral && (tree->round >= rounds || tree->stalled > stall))
        return false;
    struct rp_row_set rows = {0};
    uint32_t n = rp_separation_find(&tree->m.cuts, tree->m.v, &rows);
    tree->state.work += (uint64_t)tree->problem->n_ops * tree->problem->n_ops *
                        (1 + tree->m.cuts.window.n_active) / 64;
    if (n == 0 && integral) {
        for (uint32_t j = 0; j < tree->m.form.n_cols; j++)
            tree->m.v[j] = round(tree->m.v[j]);
        n = rp_separation_exact(&tree->m.cuts, tree->m.v, &rows);
    }
    rp_branch_cut_add_cuts(tree, &rows);
    tree->state.cuts += n;
    tree->round++;
    rp_row_set_fini(&rows);
    return n > 0;
}

static struct node child_of(const struct rp_branch_cut *tree, struct change c) {
    struct node child = {.bound_ns = tree->here.bound_ns};
    size_t n = tree->here.changes.n;
    child.changes.at = rp_calloc(n + 1, sizeof c);
    if (n > 0)
        memcpy(child.changes.at, tree->here.changes.at, n * sizeof c);
    child.changes.at[n] = c;
    child.changes.n = child.changes.cap = n + 1;
    return child;
}

/* After the cuts: one child goes to the heap, the other is entered. */
static void branch(struct rp_branch_cut *tree) {
    struct change first, second;
    enum rp_branch b = rp_branch_cut_branch(tree, &first, &second);
    if (b == RP_BRANCH_TIGHTENED) {
        tree->round = NODE_ROUNDS; /* no more cuts at this node */
        return;
    }
    if (b != RP_BRANCH_TWO) { /* closed, or a point that no row or column can improve */
        if (b == RP_BRANCH_CLOSED)
            tree->here.bound_ns = rp_branch_cut_target_ns(tree);
        close_node(tree);
        return;
    }
    struct node child = child_of(tree, first);
    push_node(tree, child_of(tree, second));
    leave_node(tree);
    enter_node(tree, child);
}

static void drop_open(struct rp_branch_cut *tree) {
    for (size_t i = 0; i < tree->open.n; i++)
        free(tree->open.at[i].changes.at);
    tree->open.n = 0;
}

/* Starts over with what tree->m is now. Nothing open is lost: it is all below the new root.
 */
static void restart(struct rp_branch_cut *tree, uint64_t bound_ns) {
    drop_open(tree);
    free(tree->here.changes.at);
    tree->here = (struct node){0};
    tree->has_here = false;
    tree->state.restarts++;
    if (tree->m.form.empty)
        return;
    tree->at_root = true;
    enter_node(tree, (struct node){.bound_ns = bound_ns});
}

/* ---- guesses ---- */

/* Sets the guess `share` above the bound, or as far as enough columns stay fixed. */
static void set_guess(struct rp_branch_cut *tree, uint64_t bound_ns, double share) {
    uint32_t enough = (uint32_t)(GUESS_SHARE * tree->m.form.n_cols);
    for (;; share *= 2) {
        tree->guess_ns = share > GUESS_LAST
                             ? UINT64_MAX
                             : bound_ns + (uint64_t)((double)bound_ns * share) + 1;
        uint64_t next = bound_ns + (uint64_t)((double)bound_ns * share * 2) + 1;
        if (tree->guess_ns >= goal_ns(tree) ||
            rp_branch_cut_count_fixed(tree, next) < enough)
            break;
    }
}

/* At the end of the root: what a guess allows to fix makes a smaller model. False if it is
 * not worth it. */
static bool guess(struct rp_branch_cut *tree, uint64_t bound_ns, double share) {
    if (tree->options.no_fixing)
        return false;
    set_guess(tree, bound_ns, share);
    uint64_t target_ns = rp_branch_cut_target_ns(tree);
    if (target_ns == UINT64_MAX ||
        rp_branch_cut_count_fixed(tree, target_ns) < REBUILD_SHARE * tree->m.form.n_cols) {
        tree->guess_ns = UINT64_MAX;
        return false;
    }
    tree->guessing = true;
    rp_branch_cut_rebuild(tree, true);
    restart(tree, bound_ns);
    return true;
}

/* There is no plan below the guess: back to the whole model, for a guess farther up. */
static void guess_again(struct rp_branch_cut *tree) {
    uint64_t start_ns = tree->state.root_bound_ns, proven_ns = min_bound(tree);
    double share = ((double)tree->guess_ns / (double)start_ns - 1) * 2;
    tree->proven_ns = proven_ns;
    tree->closed_ns = tree->guess_ns = UINT64_MAX;
    tree->guessing = false;
    rp_branch_cut_back_to_whole(tree);
    rp_branch_cut_fix_columns(tree);
    if (guess(tree, proven_ns, share))
        return;
    restart(tree, proven_ns);
    tree->at_root = false; /* its cuts are done */
}

static void end_of_cuts(struct rp_branch_cut *tree) {
    if (tree->at_root && !tree->guessing) {
        tree->state.root_bound_ns = tree->here.bound_ns;
        if (guess(tree, min_bound(tree), GUESS_FIRST))
            return;
    }
    tree->at_root = false;
    branch(tree);
}

/* The vertex of a finished LP. */
static void look_at_vertex(struct rp_branch_cut *tree) {
    rp_lp_point(tree->m.lp, tree->m.v);
    bool integral = is_integral(tree);
    if (integral) {
        struct rp_schedule s;
        rp_schedule_empty(tree->problem, &s);
        rp_formulation_schedule(&tree->m.form, tree->m.v, 0.5, &s);
        if (rp_schedule_prune(tree->problem, &s))
            rp_branch_cut_offer(tree, &s);
        rp_schedule_fini(&s);
    } else if (tree->at_root ? tree->round % 4 == 0
                             : tree->round == 0 && tree->state.nodes % ROUND_EVERY == 0) {
        round_vertex(tree);
    }
    if (tree->at_root)
        rp_branch_cut_note_root(tree);
    rp_branch_cut_fix_columns(tree);
    if (tree->here.bound_ns >= rp_branch_cut_target_ns(tree))
        close_node(tree);
    else if (tree->m.n_fixed >= REBUILD_SHARE * tree->m.form.n_cols) {
        rp_branch_cut_rebuild(tree, false);
        restart(tree, min_bound(tree));
    } else if (!add_cuts(tree, integral)) {
        end_of_cuts(tree);
    }
}

static void step(struct rp_branch_cut *tree, uint64_t work) {
    if (!tree->has_here)
        enter_node(tree, pop_node(tree));
    if (tree->here.bound_ns >= rp_branch_cut_target_ns(tree)) {
        close_node(tree);
        return;
    }
    /* The simplex method may cycle if it is stopped again and again: ever longer tries. */
    uint64_t size = rp_lp_n_rows(tree->m.lp) + rp_lp_n_cols(tree->m.lp);
    uint64_t pivots = work * 64 / (size + 1),
             least = (uint64_t)FIRST_PIVOTS << tree->unfinished;
    enum rp_lp_status st = rp_branch_cut_solve(tree, pivots > least ? pivots : least);
    tree->unfinished =
        st == RP_LP_LIMIT && tree->unfinished < 30 ? tree->unfinished + 1 : 0;
    uint64_t bound_ns = rp_branch_cut_bound_ns(tree, tree->bound);
    if (bound_ns > tree->here.bound_ns)
        tree->here.bound_ns = bound_ns;
    if (st == RP_LP_INFEASIBLE)
        leave_node(tree);
    else if (tree->here.bound_ns >= rp_branch_cut_target_ns(tree) || st == RP_LP_FAILED)
        close_node(tree);
    else if (st == RP_LP_OPTIMAL)
        look_at_vertex(tree);
}

enum rp_branch_cut_status rp_branch_cut_run(struct rp_branch_cut *tree, uint64_t work,
                                            struct rp_branch_cut_state *state) {
    uint64_t end = tree->state.work + work;
    bool done = false;
    while (!done && tree->state.work < end) {
        if (tree->has_here || tree->open.n > 0)
            step(tree, end - tree->state.work);
        else if (tree->guessing && min_bound(tree) < goal_ns(tree))
            guess_again(tree);
        else
            done = true;
    }
    tree->state.bound_ns = min_bound(tree);
    tree->state.found = tree->best_ns != UINT64_MAX;
    tree->state.time_ns = tree->best_ns;
    tree->state.n_rows = rp_lp_n_rows(tree->m.lp);
    tree->state.n_cols = rp_lp_n_cols(tree->m.lp);
    tree->state.status = !done                                   ? RP_BRANCH_CUT_PAUSED
                         : tree->state.bound_ns == UINT64_MAX    ? RP_BRANCH_CUT_INFEASIBLE
                         : tree->state.bound_ns >= goal_ns(tree) ? RP_BRANCH_CUT_OPTIMAL
                                                                 : RP_BRANCH_CUT_FAILED;
    *state = tree->state;
    return state->status;
}

const struct rp_schedule *rp_branch_cut_best(const struct rp_branch_cut *tree) {
    return &tree->best;
}

/* A first plan: keep everything, then drop what does not fit. */
static void first_plan(struct rp_branch_cut *tree) {
    struct rp_schedule s;
    rp_schedule_keep_all(tree->problem, &s);
    if (rp_rounding_repair(tree->problem, &tree->m.form, NULL, &s)) {
        rp_rounding_fill(tree->problem, &s);
        rp_branch_cut_offer(tree, &s);
    }
    rp_schedule_fini(&s);
}

struct rp_branch_cut *rp_branch_cut_new(const struct rp_instance *p,
                                        const struct rp_branch_cut_options *o) {
    struct rp_branch_cut *tree = rp_calloc(1, sizeof *tree);
    tree->problem = p;
    tree->options = *o;
    tree->best_ns = tree->closed_ns = tree->guess_ns = UINT64_MAX;
    tree->step_ns = common_step(p);
    rp_schedule_empty(p, &tree->best);
    rp_branch_cut_lp_init(tree);
    first_plan(tree);
    tree->at_root = true;
    enter_node(tree, (struct node){0});
    return tree;
}

void rp_branch_cut_free(struct rp_branch_cut *tree) {
    if (tree == NULL)
        return;
    drop_open(tree);
    free(tree->open.at);
    free(tree->here.changes.at);
    rp_branch_cut_lp_fini(tree);
    rp_schedule_fini(&tree->best);
    free(tree);
}
