#include "solve/engine/glpk_branching.h"

#include <assert.h>
#include <glpk.h>
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

enum { DOWN, UP, MAX_ROWS = 30 }; /* rows of the simplex table that a node looks at again */
#define LEAST 1e-6                /* factor of a score for a side that adds nothing, */
#define MOST 1e6                  /* and for one that has no point */
#define ZERO 1e-9

struct rp_glpk_candidate {
    int col;
    double x, score, gain[2];
};

/* What GLPK keeps with a node. */
struct node {
    double bound, x; /* when it was branched on; of the column */
    int col;         /* 0: it was not */
    bool seen;
};
static_assert(sizeof(struct node) <= RP_GLPK_BRANCHING_NODE_BYTES, "GLPK keeps less");

void rp_glpk_branching_init(struct rp_glpk_branching *b, int n_cols) {
    *b = (struct rp_glpk_branching){.n_cols = n_cols};
    for (int side = DOWN; side <= UP; side++)
        b->cost[side] = rp_calloc((size_t)n_cols + 1, sizeof *b->cost[side]);
    b->candidate = rp_calloc((size_t)n_cols, sizeof *b->candidate);
    b->index = rp_calloc((size_t)n_cols + 1, sizeof *b->index);
    b->value = rp_calloc((size_t)n_cols + 1, sizeof *b->value);
}

void rp_glpk_branching_fini(struct rp_glpk_branching *b) {
    for (int side = DOWN; side <= UP; side++)
        free(b->cost[side]);
    free(b->candidate);
    free(b->index);
    free(b->value);
    *b = (struct rp_glpk_branching){0};
}

/* How far x moves on this side. */
static double distance(int side, double x) {
    return side == UP ? ceil(x) - x : x - floor(x);
}

static void set_score(struct rp_glpk_candidate *c) {
    c->score = 1;
    for (int side = DOWN; side <= UP; side++)
        c->score *= fmin(fmax(c->gain[side], LEAST), MOST);
}

/* ---- pseudocosts ---- */

void rp_glpk_branching_learn(struct rp_glpk_branching *b, glp_tree *tree) {
    int here = glp_ios_curr_node(tree), parent = glp_ios_up_node(tree, here);
    struct node *n = glp_ios_node_data(tree, here);
    const struct node *from = parent > 0 ? glp_ios_node_data(tree, parent) : NULL;
    bool learn = !n->seen && from != NULL && from->col > 0;
    n->seen = true;
    if (!learn)
        return;
    glp_prob *p = glp_ios_get_prob(tree);
    int side = glp_get_col_lb(p, from->col) > from->x ? UP : DOWN;
    struct rp_pseudocost *cost = &b->cost[side][from->col];
    cost->sum += fmax(glp_get_obj_val(p) - from->bound, 0) / distance(side, from->x);
    cost->n++;
}

static void expect(const struct rp_glpk_branching *b, struct rp_glpk_candidate *c) {
    for (int side = DOWN; side <= UP; side++) {
        const struct rp_pseudocost *cost = &b->cost[side][c->col];
        double rate = cost->n > 0 ? cost->sum / cost->n : cost->ahead;
        c->gain[side] = rate * distance(side, c->x);
    }
    set_score(c);
}

static bool is_known(const struct rp_glpk_branching *b, int col) {
    return b->cost[DOWN][col].n > 0 && b->cost[UP][col].n > 0;
}

/* ---- the first pivot ---- */

/* What the objective gains at least where nonbasic variable k enters the basis, for each
 * unit of the column. *raises: where the column rises. */
static double rate_of(glp_prob *p, int k, double coef, bool *raises) {
    int m = glp_get_num_rows(p);
    int status = k <= m ? glp_get_row_stat(p, k) : glp_get_col_stat(p, k - m);
    double dual = k <= m ? glp_get_row_dual(p, k) : glp_get_col_dual(p, k - m);
    *raises = (status == GLP_NU) != (coef > 0);
    return status == GLP_NS || fabs(coef) < ZERO ? HUGE_VAL : fabs(dual / coef);
}

static void look_ahead(struct rp_glpk_branching *b, glp_prob *p,
                       struct rp_glpk_candidate *c) {
    double least[2] = {MOST, MOST};
    int n = glp_eval_tab_row(p, glp_get_num_rows(p) + c->col, b->index, b->value);
    for (int i = 1; i <= n; i++) {
        bool raises;
        double rate = rate_of(p, b->index[i], b->value[i], &raises);
        least[raises] = fmin(least[raises], rate);
    }
    for (int side = DOWN; side <= UP; side++) {
        b->cost[side][c->col].ahead = least[side];
        b->cost[side][c->col].looked = true;
        c->gain[side] = least[side] * distance(side, c->x);
    }
    set_score(c);
    b->n_rows++;
}

/* ---- choosing ---- */

static int by_score(const void *left, const void *right) {
    const struct rp_glpk_candidate *a = left, *b = right;
    if (a->score != b->score)
        return a->score > b->score ? -1 : 1;
    return (a->col > b->col) - (a->col < b->col);
}

static int list_candidates(struct rp_glpk_branching *b, glp_tree *tree) {
    glp_prob *p = glp_ios_get_prob(tree);
    int n = 0;
    for (int j = 1; j <= b->n_cols; j++) {
        if (!glp_ios_can_branch(tree, j))
            continue;
        b->candidate[n] = (struct rp_glpk_candidate){.col = j, .x = glp_get_col_prim(p, j)};
        if (!b->cost[DOWN][j].looked)
            look_ahead(b, p, &b->candidate[n++]);
        else
            expect(b, &b->candidate[n++]);
    }
    qsort(b->candidate, (size_t)n, sizeof *b->candidate, by_score);
    return n;
}

void rp_glpk_branching_choose(struct rp_glpk_branching *b, glp_tree *tree) {
    glp_prob *p = glp_ios_get_prob(tree);
    const struct rp_glpk_candidate *best = NULL;
    int n = list_candidates(b, tree);
    for (int i = 0, n_rows = 0; i < n; i++) {
        struct rp_glpk_candidate *c = &b->candidate[i];
        bool known = is_known(b, c->col);
        if (!known && n_rows++ < MAX_ROWS)
            look_ahead(b, p, c);
        if (best == NULL || c->score > best->score)
            best = c;
    }
    if (best == NULL)
        return;
    struct node *here = glp_ios_node_data(tree, glp_ios_curr_node(tree));
    here->col = best->col;
    here->x = best->x;
    here->bound = glp_get_obj_val(p);
    glp_ios_branch_upon(tree, best->col, GLP_NO_BRNCH);
}
