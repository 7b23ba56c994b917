#include "solve/mip/branching.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "solve/core/params.h"
#include "solve/mip/node_lp.h"

#define FRACTIONAL 1e-5
#define MAX_TRIALS 8 /* columns tried at a node */
#define RELIABLE 2   /* after so many trials a column's pseudo-costs are trusted */

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

/* How much a column matters before it has pseudo-costs: the time (scaled) of the op that
 * runs, or of the maker of the tensor that is held, times the bytes (scaled) that the op
 * makes. */
static double column_weight(const struct rp_branch_cut *bc, uint32_t col) {
    const struct rp_formulation *f = &bc->m.formulation;
    const struct rp_instance *p = bc->instance;
    uint32_t op;
    double bytes = 0;
    if (col >= f->n_cols) {
        op = bc->m.sum_of[col - f->n_cols];
    } else if (col < f->n_run_cols) {
        op = f->col_id[col];
    } else {
        op = p->producer[f->col_id[col]];
    }
    for (uint32_t x = p->output_start[op]; x < p->output_start[op + 1]; x++)
        bytes += (double)p->bytes[x] * f->byte_scale / 512;
    return ((double)p->time_ns[op] * f->time_scale + 1e-3) * (bytes + 1e-2);
}

static void record_rise(struct pseudo_cost *c, int side, double distance, double rise) {
    c->rise[side] += fmax(rise, 0) / fmax(distance, 1e-3);
    c->n[side]++;
}

/* The rise of the bound that is expected on one side; `otherwise` without pseudo-costs. */
static double expected_rise(const struct pseudo_cost *c, int side, double distance,
                            double otherwise) {
    return c->n[side] > 0 ? c->rise[side] / c->n[side] * distance : otherwise;
}

static double product(double down, double up) {
    return fmax(down, 1e-6) * fmax(up, 1e-6);
}

static uint32_t list_candidates(const struct rp_branch_cut *bc, uint32_t from, uint32_t to,
                                struct candidate *list) {
    uint32_t n = 0;
    for (uint32_t j = from; j < to; j++) {
        double fraction = bc->m.v[j] - floor(bc->m.v[j]);
        if (fraction < FRACTIONAL || fraction > 1 - FRACTIONAL)
            continue;
        const struct pseudo_cost *c = &bc->m.pseudo_cost[j];
        double s = column_weight(bc, j) * 0.1;
        double down = expected_rise(c, 0, fraction, s * fraction);
        double up = expected_rise(c, 1, 1 - fraction, s * (1 - fraction));
        list[n++] = (struct candidate){j, fraction, product(down, up)};
    }
    qsort(list, n, sizeof *list, by_score);
    return n;
}

/* Solves one side for a few pivots and restores the column's bounds. Returns the bound
 * (scaled), HUGE_VAL if the side can be pruned. */
static double try_side(struct rp_branch_cut *bc, struct change c,
                       const struct change *restore) {
    rp_lp_set_bounds(bc->m.lp, c.col, c.low, c.high);
    enum rp_lp_status st = rp_node_lp_solve(bc, TRIAL_PIVOTS);
    bc->state.statistics.trial_solves++;
    bool pruned = st == RP_LP_INFEASIBLE ||
                  rp_node_lp_bound_ns(bc, bc->bound) >= rp_node_lp_target_ns(bc);
    rp_lp_set_bounds(bc->m.lp, c.col, restore->low, restore->high);
    return pruned ? HUGE_VAL : bc->bound;
}

struct sides {
    struct change now, down, up;
};

static struct sides sides_of(const struct rp_branch_cut *bc, uint32_t col, double value) {
    uint32_t low = (uint32_t)lround(rp_lp_low(bc->m.lp, col));
    uint32_t high = (uint32_t)lround(rp_lp_high(bc->m.lp, col));
    return (struct sides){{col, low, high},
                          {col, low, (uint32_t)floor(value)},
                          {col, (uint32_t)floor(value) + 1, high}};
}

/* Tries candidates whose pseudo-costs are not reliable, and puts the best in
 * front. */
static enum rp_branching try_candidates(struct rp_branch_cut *bc, struct candidate *list,
                                        uint32_t n, double node_bound) {
    double best = -1;
    uint32_t best_at = 0, tried = 0;
    for (uint32_t i = 0; i < n && tried < MAX_TRIALS; i++) {
        struct pseudo_cost *c = &bc->m.pseudo_cost[list[i].col];
        double f = list[i].fraction, score = list[i].score;
        if (c->n[0] < RELIABLE || c->n[1] < RELIABLE) {
            struct sides s = sides_of(bc, list[i].col, bc->m.v[list[i].col]);
            double down = try_side(bc, s.down, &s.now), up = try_side(bc, s.up, &s.now);
            tried++;
            if (down == HUGE_VAL && up == HUGE_VAL)
                return RP_BRANCHING_PRUNED;
            if (down == HUGE_VAL || up == HUGE_VAL) {
                rp_node_lp_change_bounds(bc, down == HUGE_VAL ? s.up : s.down);
                return RP_BRANCHING_TIGHTENED;
            }
            record_rise(c, 0, f, down - node_bound);
            record_rise(c, 1, 1 - f, up - node_bound);
            score = product(down - node_bound, up - node_bound);
        }
        if (score > best) {
            best = score;
            best_at = i;
        }
    }
    list[0] = list[best_at];
    return RP_BRANCHING_TWO;
}

enum rp_branching rp_branching_choose(struct rp_branch_cut *bc, struct change *first,
                                      struct change *second) {
    struct candidate *list = rp_calloc(bc->m.n_all, sizeof *list);
    double node_bound = bc->bound;
    uint32_t n = list_candidates(bc, bc->m.formulation.n_cols, bc->m.n_all, list);
    if (n == 0)
        n = list_candidates(bc, 0, bc->m.formulation.n_cols, list);
    enum rp_branching result =
        n == 0 ? RP_BRANCHING_NONE : try_candidates(bc, list, n, node_bound);
    if (result == RP_BRANCHING_TWO) {
        struct sides s = sides_of(bc, list[0].col, bc->m.v[list[0].col]);
        const struct pseudo_cost *c = &bc->m.pseudo_cost[list[0].col];
        double f = list[0].fraction;
        bool up = expected_rise(c, 1, 1 - f, 0) < expected_rise(c, 0, f, 0);
        *first = up ? s.up : s.down;
        *second = up ? s.down : s.up;
    }
    free(list);
    return result;
}
