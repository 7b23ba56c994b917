#include <glpk.h>
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "solve/engine/glpk_branching.h"
#include "solve/engine/mip_solver.h"

/* What things take in pivots of rp_mip_work. Measured on interval models of 3,000 to 13,000
 * rows and columns together: the work is 0.7 to 1.4 times the microseconds. */
#define PIVOT 1.75        /* with lazy rows */
#define PRESOLVED_PIVOT 4 /* without: GLPK's own cuts are in it, and they are dense */
#define NODE 24
#define TABLE_ROW 0.5 /* of the simplex table */
/* With lazy rows: the most that the costs of integers are raised (engine.h), of the
 * mean cost. GLPK's columns keep them to the end. */
#define RAISED 1e-6
/* GLPK prunes nodes that are nearer to its incumbent than this, relative. */
#define NEAR_INCUMBENT 1e-7

/* One solve. Without lazy rows GLPK's presolver makes a smaller program, in which neither
 * the limit nor lazy rows can be said; then the limit is a row of `whole`. */
struct glpk {
    const struct rp_milp *m;
    const struct rp_mip_options *o;
    struct rp_mip_result *r;
    glp_prob *whole, *p; /* the program; the one that is solved, which may be the same */
    double limit;        /* only points of lower cost count; HUGE_VAL: none */
    double raised;       /* what raised costs add to that of a point at most */
    bool has_limit;      /* as a row */
    int waits;           /* with lazy rows: a column of cost that is no integer; 0: none */
    bool offered, out_of_work;
    struct rp_glpk_branching branching;
    uint64_t separation_work;
    int asked_at;        /* the node whose fractional point was last separated */
    struct rp_milp rows; /* lazy ones, of the last separation */
    double *x;
    int *index;
    double *value;
};

/* ---- the program in GLPK ---- */

static int row_kind(double low, double high) {
    if (low == high)
        return GLP_FX;
    if (low > -HUGE_VAL)
        return high < HUGE_VAL ? GLP_DB : GLP_LO;
    return high < HUGE_VAL ? GLP_UP : GLP_FR;
}

static void add_rows(struct glpk *s, glp_prob *p, const struct rp_sparse_rows *rows) {
    int row = rows->n > 0 ? glp_add_rows(p, (int)rows->n) : 0;
    for (uint32_t i = 0; i < rows->n; i++, row++) {
        int n = 0;
        for (uint32_t k = rows->start[i]; k < rows->start[i + 1]; k++) {
            s->index[++n] = (int)rows->col[k] + 1;
            s->value[n] = rows->coef[k];
        }
        glp_set_mat_row(p, row, n, s->index, s->value);
        glp_set_row_bnds(p, row, row_kind(rows->low[i], rows->high[i]), rows->low[i],
                         rows->high[i]);
    }
}

static void add_limit(struct glpk *s, glp_prob *p) {
    struct rp_milp row = {0};
    rp_milp_begin_row(&row, -HUGE_VAL, s->limit - s->m->fixed);
    for (uint32_t j = 0; j < s->m->n_cols; j++)
        if (s->m->cost[j] != 0)
            rp_milp_term(&row, j, s->m->cost[j]);
    struct rp_sparse_rows view = rp_milp_rows(&row);
    add_rows(s, p, &view);
    rp_milp_fini(&row);
    s->has_limit = true;
}

static void raise_costs(struct glpk *s) {
    const struct rp_milp *m = s->m;
    double most = rp_engine_glpk_most_raised(RAISED, m->n_cols, m->cost);
    for (uint32_t j = 0; j < m->n_cols; j++) {
        double raise = most * rp_engine_glpk_raise((int)j + 1);
        if (!m->integer[j] || m->low[j] == m->high[j])
            continue;
        glp_set_obj_coef(s->whole, (int)j + 1, m->cost[j] + raise);
        s->raised += raise * fmax(fabs(m->low[j]), fabs(m->high[j]));
    }
}

static void build(struct glpk *s) {
    const struct rp_milp *m = s->m;
    struct rp_sparse_rows rows = rp_milp_rows(m);
    s->whole = glp_create_prob();
    s->index = rp_calloc((size_t)m->n_cols + 1, sizeof *s->index);
    s->value = rp_calloc((size_t)m->n_cols + 1, sizeof *s->value);
    glp_set_obj_coef(s->whole, 0, m->fixed);
    if (m->n_cols > 0)
        glp_add_cols(s->whole, (int)m->n_cols);
    for (uint32_t j = 0; j < m->n_cols; j++) {
        glp_set_col_kind(s->whole, (int)j + 1, m->integer[j] ? GLP_IV : GLP_CV);
        glp_set_col_bnds(s->whole, (int)j + 1, row_kind(m->low[j], m->high[j]), m->low[j],
                         m->high[j]);
        glp_set_obj_coef(s->whole, (int)j + 1, m->cost[j]);
    }
    add_rows(s, s->whole, &rows);
    for (uint32_t j = 0; j < m->n_cols && s->o->separate != NULL; j++)
        if (!m->integer[j] && m->cost[j] != 0)
            s->waits = (int)j + 1;
    if (s->waits > 0)
        raise_costs(s);
    else if (s->limit < HUGE_VAL)
        add_limit(s, s->whole);
}

/* ---- what GLPK asks while it works ---- */

static uint64_t size_of(glp_prob *p) {
    return (uint64_t)glp_get_num_rows(p) + (uint64_t)glp_get_num_cols(p);
}

static double pivot_weight(const struct glpk *s) {
    return s->o->separate != NULL ? PIVOT : PRESOLVED_PIVOT;
}

static void count_work(struct glpk *s, glp_prob *p) {
    s->r->pivots = (uint64_t)glp_get_it_cnt(p);
    double pivots = pivot_weight(s) * (double)s->r->pivots + NODE * (double)s->r->nodes +
                    TABLE_ROW * (double)s->branching.n_rows;
    s->r->work = rp_mip_work((uint64_t)pivots, size_of(p)) + s->separation_work;
    s->out_of_work = s->o->work > 0 && s->r->work >= s->o->work;
}

/* Takes the bound, and ends the search if it is as near as the absolute gap asks. */
static void look_at_gap(struct glpk *s, glp_tree *tree) {
    int best = glp_ios_best_node(tree);
    if (best == 0)
        return;
    s->r->bound = fmax(s->r->bound, glp_ios_node_bound(tree, best) - s->raised);
    if (glp_mip_status(s->p) == GLP_FEAS &&
        glp_mip_obj_val(s->p) - s->r->bound <= s->o->absolute_gap)
        glp_ios_terminate(tree);
}

/* What an incumbent costs that makes GLPK prune the nodes beyond the limit, and no others.
 */
static double cost_of_limit(const struct glpk *s) {
    double raised = s->limit + s->raised;
    return raised + 2 * NEAR_INCUMBENT * (1 + fabs(raised));
}

/* Has GLPK a point, and not just that of offer_limit? */
static bool has_point(const struct glpk *s, glp_prob *p) {
    int status = glp_mip_status(p);
    double limit = cost_of_limit(s);
    return (status == GLP_OPT || status == GLP_FEAS) &&
           !(s->offered &&
             glp_mip_obj_val(p) > limit - NEAR_INCUMBENT / 2 * (1 + fabs(limit)));
}

/* Gives GLPK an incumbent that costs as much. It is no point of the program (GLPK checks
 * the integers alone), and no solution (take_point). As a row the limit would be tight at
 * all nodes near it, and make their linear programs degenerate. */
static void offer_limit(struct glpk *s, glp_tree *tree) {
    double *x = rp_calloc((size_t)s->m->n_cols + 1, sizeof *x);
    x[s->waits] = (cost_of_limit(s) - s->m->fixed) / s->m->cost[s->waits - 1];
    glp_ios_heur_sol(tree, x);
    s->offered = true;
    free(x);
}

/* Once a node at fractional points: GLPK keeps all rows, so more rounds are slower. Points
 * that are beyond the limit though their raised costs are not meet it as a row. */
static void separate(struct glpk *s, glp_tree *tree) {
    glp_prob *p = glp_ios_get_prob(tree);
    for (uint32_t j = 0; j < s->m->n_cols; j++)
        s->x[j] = glp_get_col_prim(p, (int)j + 1);
    bool whole = rp_milp_round(s->m, s->x, RP_MIP_TOLERANCE);
    if (!whole && s->asked_at == glp_ios_curr_node(tree))
        return;
    if (whole && !s->has_limit && rp_milp_value(s->m, s->x) > s->limit)
        add_limit(s, p);
    s->asked_at = glp_ios_curr_node(tree);
    s->separation_work += rp_mip_find_rows(s->o, s->x, whole, &s->rows);
    struct rp_sparse_rows view = rp_milp_rows(&s->rows);
    add_rows(s, p, &view);
    s->r->lazy_rows += view.n;
}

static void ask(glp_tree *tree, void *info) {
    struct glpk *s = info;
    int total;
    glp_ios_tree_size(tree, NULL, NULL, &total);
    s->r->nodes = (uint64_t)total;
    count_work(s, glp_ios_get_prob(tree));
    if (s->out_of_work) {
        glp_ios_terminate(tree);
        return;
    }
    if (s->waits > 0 && s->limit < HUGE_VAL && !s->offered)
        offer_limit(s, tree);
    switch (glp_ios_reason(tree)) {
    case GLP_ISELECT:
        look_at_gap(s, tree);
        break;
    case GLP_IROWGEN:
        rp_glpk_branching_learn(&s->branching, tree);
        if (s->o->separate != NULL)
            separate(s, tree);
        break;
    case GLP_IBRANCH:
        rp_glpk_branching_choose(&s->branching, tree);
        break;
    }
}

/* ---- solving ---- */

/* The root's relaxation, from an all-slack basis. False if there is nothing to search. */
static bool solve_root(struct glpk *s) {
    glp_smcp o;
    glp_init_smcp(&o);
    o.msg_lev = rp_engine_glpk_log();
    o.meth = GLP_DUALP;
    if (s->o->work > 0) {
        double pivots = (double)s->o->work / (double)rp_mip_work(64, size_of(s->p)) * 64;
        o.it_lim = (int)fmin(pivots / pivot_weight(s) + 2, 2e9);
    }
    int rc = glp_simplex(s->p, &o);
    count_work(s, s->p);
    if (rc == GLP_EITLIM)
        s->out_of_work = true;
    bool optimal = rc == 0 && glp_get_status(s->p) == GLP_OPT;
    bool infeasible = rc == 0 && glp_get_status(s->p) == GLP_NOFEAS;
    if (optimal || infeasible)
        s->r->bound = optimal ? glp_get_obj_val(s->p) - s->raised : HUGE_VAL;
    s->r->status = s->out_of_work ? RP_MIP_LIMIT
                   : infeasible   ? RP_MIP_OPTIMAL
                                  : RP_MIP_FAILED;
    return optimal && !s->out_of_work;
}

/* Branch and cut. Leaves the point in s->p, if one was found. */
static void search(struct glpk *s) {
    glp_iocp o;
    glp_init_iocp(&o);
    o.msg_lev = rp_engine_glpk_log();
    if (s->o->separate == NULL)
        o.mir_cuts = o.gmi_cuts = o.cov_cuts = o.clq_cuts = GLP_ON;
    rp_glpk_branching_init(&s->branching, glp_get_num_cols(s->p));
    o.cb_size = RP_GLPK_BRANCHING_NODE_BYTES;
    o.mip_gap = s->o->relative_gap;
    o.cb_func = ask;
    o.cb_info = s;
    /* Its rounding would make points that break lazy rows. */
    o.sr_heur = s->o->separate != NULL ? GLP_OFF : GLP_ON;
    int rc = glp_intopt(s->p, &o);
    if (rc == 0 && s->raised > 0 && has_point(s, s->p))
        s->r->bound = fmax(s->r->bound, glp_mip_obj_val(s->p) - s->raised);
    else if (rc == 0)
        s->r->bound = HUGE_VAL;
    s->r->status = s->out_of_work                                    ? RP_MIP_LIMIT
                   : rc == 0 || rc == GLP_EMIPGAP || rc == GLP_ESTOP ? RP_MIP_OPTIMAL
                                                                     : RP_MIP_FAILED;
}

static void take_point(struct glpk *s, double *x) {
    if (!has_point(s, s->whole))
        return;
    for (uint32_t j = 0; j < s->m->n_cols; j++)
        x[j] = glp_mip_col_val(s->whole, (int)j + 1);
    s->r->found = true;
}

/* With the presolver between the two programs. */
static void solve_presolved(struct glpk *s) {
    glp_prep *prep = glp_npp_alloc_wksp();
    glp_npp_load_prob(prep, s->whole, GLP_MIP, GLP_OFF);
    int rc = glp_npp_preprocess1(prep, 0);
    s->r->status = rc == GLP_ENOPFS || rc == GLP_ENODFS ? RP_MIP_OPTIMAL : RP_MIP_FAILED;
    if (s->r->status == RP_MIP_OPTIMAL)
        s->r->bound = HUGE_VAL;
    if (rc == 0) {
        s->p = glp_create_prob();
        glp_npp_build_prob(prep, s->p);
        if (solve_root(s))
            search(s);
        if (glp_mip_status(s->p) == GLP_OPT || glp_mip_status(s->p) == GLP_FEAS) {
            glp_npp_postprocess(prep, s->p);
            glp_npp_obtain_sol(prep, s->whole);
        }
        glp_delete_prob(s->p);
    }
    glp_npp_free_wksp(prep);
}

void rp_mip_solver_glpk(const struct rp_milp *m, const struct rp_mip_options *o, double *x,
                        struct rp_mip_result *r) {
    struct glpk s = {.m = m, .o = o, .r = r, .limit = rp_mip_limit(m, o)};
    rp_engine_glpk_log();
    s.x = rp_calloc(m->n_cols, sizeof *s.x);
    build(&s);
    s.p = s.whole;
    if (o->separate == NULL) {
        solve_presolved(&s);
    } else {
        glp_scale_prob(s.p, GLP_SF_AUTO);
        if (solve_root(&s))
            search(&s);
    }
    take_point(&s, x);
    glp_delete_prob(s.whole);
    rp_milp_fini(&s.rows);
    rp_glpk_branching_fini(&s.branching);
    free(s.x);
    free(s.index);
    free(s.value);
}
