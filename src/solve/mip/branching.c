#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "solve/mip/mip_internal.h"

#define FRACTIONAL 1e-5
#define TRIALS 8        /* columns tried at most at a node */
#define TRIAL_PIVOTS 60 /* for each side */
#define TRUSTED 2       /* trials or branchings after which history is taken as it is */

struct candidate {
    uint32_t col;
    double fraction, score;
};

static int by_score(const void *left, const void *right) {
    const struct candidate *a = left, *b = right;
    if (a->score != b->score)
        return a->score > b->score ? -1 : 1;
    return (a->col > b->col) - (a->col < b->col);
}

/* What a column decides about, in scaled time: an op's time, or that of the maker of what
 * is held; more if many bytes hang on it. */
static double stake(const struct rp_branch_cut *tree, uint32_t col) {
    const struct rp_formulation *f = &tree->m.form;
    const struct rp_instance *p = tree->problem;
    uint32_t op;
    double bytes = 0;
    if (col >= f->n_cols) {
        op = tree->m.sum_of[col - f->n_cols];
    } else if (col < f->n_run_cols) {
        op = f->col_id[col];
    } else {
        op = p->producer[f->col_id[col]];
    }
    for (uint32_t x = p->output_start[op]; x < p->output_start[op + 1]; x++)
        bytes += (double)p->bytes[x] * f->byte_scale / 512;
    return ((double)p->time_ns[op] * f->time_scale + 1e-3) * (bytes + 1e-2);
}

static void learn_side(struct history *h, int side, double distance, double rise) {
    h->rise[side] += fmax(rise, 0) / fmax(distance, 1e-3);
    h->n[side]++;
}

void rp_branch_cut_learn(struct rp_branch_cut *tree, const struct change *c, double value,
                         double rise) {
    int up = c->low > value;
    learn_side(&tree->m.history[c->col], up, up ? c->low - value : value - c->high, rise);
}

static double guess(const struct history *h, int side, double distance, double otherwise) {
    return h->n[side] > 0 ? h->rise[side] / h->n[side] * distance : otherwise;
}

static double product(double down, double up) {
    return fmax(down, 1e-6) * fmax(up, 1e-6);
}

static uint32_t list_candidates(const struct rp_branch_cut *tree, uint32_t from,
                                uint32_t to, struct candidate *list) {
    uint32_t n = 0;
    for (uint32_t j = from; j < to; j++) {
        double fraction = tree->m.v[j] - floor(tree->m.v[j]);
        if (fraction < FRACTIONAL || fraction > 1 - FRACTIONAL)
            continue;
        const struct history *h = &tree->m.history[j];
        double s = stake(tree, j) * 0.1;
        double down = guess(h, 0, fraction, s * fraction);
        double up = guess(h, 1, 1 - fraction, s * (1 - fraction));
        list[n++] = (struct candidate){j, fraction, product(down, up)};
    }
    qsort(list, n, sizeof *list, by_score);
    return n;
}

/* Bound of one side, scaled; HUGE_VAL if it closes. The column's bounds are put back. */
static double try_side(struct rp_branch_cut *tree, struct change c,
                       const struct change *back) {
    rp_lp_set_bounds(tree->m.lp, c.col, c.low, c.high);
    enum rp_lp_status st = rp_branch_cut_solve(tree, TRIAL_PIVOTS);
    bool closed = st == RP_LP_INFEASIBLE || rp_branch_cut_bound_ns(tree, tree->bound) >=
                                                rp_branch_cut_target_ns(tree);
    rp_lp_set_bounds(tree->m.lp, c.col, back->low, back->high);
    return closed ? HUGE_VAL : tree->bound;
}

struct sides {
    struct change now, down, up;
};

static struct sides sides_of(const struct rp_branch_cut *tree, uint32_t col, double value) {
    uint32_t low = (uint32_t)lround(rp_lp_low(tree->m.lp, col));
    uint32_t high = (uint32_t)lround(rp_lp_high(tree->m.lp, col));
    return (struct sides){{col, low, high},
                          {col, low, (uint32_t)floor(value)},
                          {col, (uint32_t)floor(value) + 1, high}};
}

/* Trial solves of the candidates without history; best first afterwards. */
static enum rp_branch try_candidates(struct rp_branch_cut *tree, struct candidate *list,
                                     uint32_t n, double here) {
    double best = -1;
    uint32_t best_at = 0, tried = 0;
    for (uint32_t i = 0; i < n && tried < TRIALS; i++) {
        struct history *h = &tree->m.history[list[i].col];
        double f = list[i].fraction, score = list[i].score;
        if (h->n[0] < TRUSTED || h->n[1] < TRUSTED) {
            struct sides s = sides_of(tree, list[i].col, tree->m.v[list[i].col]);
            double down = try_side(tree, s.down, &s.now), up = try_side(tree, s.up, &s.now);
            tried++;
            if (down == HUGE_VAL && up == HUGE_VAL)
                return RP_BRANCH_CLOSED;
            if (down == HUGE_VAL || up == HUGE_VAL) {
                rp_branch_cut_change(tree, down == HUGE_VAL ? s.up : s.down);
                return RP_BRANCH_TIGHTENED;
            }
            learn_side(h, 0, f, down - here);
            learn_side(h, 1, 1 - f, up - here);
            score = product(down - here, up - here);
        }
        if (score > best) {
            best = score;
            best_at = i;
        }
    }
    struct candidate swap = list[0];
    list[0] = list[best_at];
    list[best_at] = swap;
    return RP_BRANCH_TWO;
}

enum rp_branch rp_branch_cut_branch(struct rp_branch_cut *tree, struct change *first,
                                    struct change *second) {
    struct candidate *list = rp_calloc(tree->m.n_all, sizeof *list);
    double here = tree->bound;
    uint32_t n = list_candidates(tree, tree->m.form.n_cols, tree->m.n_all, list);
    if (n == 0)
        n = list_candidates(tree, 0, tree->m.form.n_cols, list);
    enum rp_branch result = n == 0 ? RP_BRANCH_NONE : try_candidates(tree, list, n, here);
    if (result == RP_BRANCH_TWO) {
        struct sides s = sides_of(tree, list[0].col, tree->m.v[list[0].col]);
        const struct history *h = &tree->m.history[list[0].col];
        double f = list[0].fraction;
        bool up = guess(h, 1, 1 - f, 0) < guess(h, 0, f, 0);
        *first = up ? s.up : s.down;
        *second = up ? s.down : s.up;
    }
    tree->bound = here;
    free(list);
    return result;
}
