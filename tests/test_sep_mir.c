/* Tests of mixed-integer rounding cuts: some known ones, and many of random rows, which all
 * points of these rows must meet. */
#include "solve/milp_cuts/sep_mir.h"

#include <math.h>

#include "gen.h"
#include "run.h"

#define EPS 1e-7
#define MOST 100.0 /* how far d and e are looked at */
enum { N_INTEGER = 6, N_CONTINUOUS = 2, N_COLS = N_INTEGER + N_CONTINUOUS, MAX_ROWS = 5 };

/* The columns are x[0 .. 5], which are 0 or 1, and d and e, 0 or more. */
struct rows {
    double low[N_INTEGER], high[N_INTEGER], v[N_COLS];
    struct rp_row_set base, cuts;
};

static void add_row(struct rows *r, const double *coef, double rhs) {
    rp_row_set_begin(&r->base, (struct rp_row_name){.kind = RP_ROW_OTHER}, rhs);
    for (uint32_t j = 0; j < N_COLS; j++)
        if (coef[j] != 0)
            rp_row_set_term(&r->base, j, coef[j]);
}

static void open_columns(struct rows *r) {
    *r = (struct rows){0};
    for (uint32_t j = 0; j < N_INTEGER; j++)
        r->high[j] = 1;
}

static void find_into(struct rows *r, double min_efficacy, struct rp_row_set *cuts) {
    uint32_t n_terms = r->base.n_terms;
    struct rp_mir *m = rp_mir_new((struct rp_mir_columns){
        .n = N_COLS, .n_integer = N_INTEGER, .low = r->low, .high = r->high});
    CU_ASSERT(rp_mir_find(m, &r->base, r->v, min_efficacy, cuts) >= n_terms);
    rp_mir_free(m);
}

static void find(struct rows *r) {
    find_into(r, 1e-3, &r->cuts);
}

static void fini(struct rows *r) {
    rp_row_set_fini(&r->base);
    rp_row_set_fini(&r->cuts);
}

static bool is_cut(const struct rows *r, uint32_t i, const double *coef, double rhs) {
    double seen[N_COLS] = {0};
    bool is = i < r->cuts.n && fabs(r->cuts.rhs[i] - rhs) <= EPS;
    for (uint32_t k = is ? r->cuts.start[i] : 0; is && k < r->cuts.start[i + 1]; k++)
        seen[r->cuts.col[k]] = r->cuts.coef[k];
    for (uint32_t j = 0; j < N_COLS; j++)
        is = is && fabs(seen[j] - coef[j]) <= EPS;
    return is;
}

/* ---- known cuts ---- */

/* Three copies of 2 within 3, and d more. */
static void copies_are_whole(void) {
    struct rows r;
    open_columns(&r);
    r.v[0] = r.v[1] = r.v[2] = 0.5;
    for (int times = 1; times <= 2; times++) { /* a row that comes twice gives one cut */
        add_row(&r, (double[N_COLS]){2, 2, 2, [6] = -1}, 3);
        r.cuts.n = r.cuts.n_terms = 0;
        find(&r);
        CU_ASSERT_EQUAL(r.cuts.n, 1);
        CU_ASSERT(is_cut(&r, 0, (double[N_COLS]){1, 1, 1, [6] = -1}, 1));
    }
    fini(&r);
}

/* One of 1.7 beside them: 0.85 of 2, of which 0.35 is more than the half that fits. */
static void smaller_ones_count_in_part(void) {
    struct rows r;
    open_columns(&r);
    r.v[0] = 0.5;
    r.v[1] = 0.7;
    r.v[2] = 0.2;
    add_row(&r, (double[N_COLS]){2, 2, 1.7, [6] = -1}, 3);
    find(&r);
    CU_ASSERT_EQUAL(r.cuts.n, 1);
    CU_ASSERT(is_cut(&r, 0, (double[N_COLS]){1, 1, 0.7, [6] = -1}, 1));
    fini(&r);
}

/* 5 x + 5 y <= 8: one of them. */
static void columns_near_1_are_complemented(void) {
    struct rows r;
    open_columns(&r);
    r.v[0] = r.v[1] = 0.8;
    add_row(&r, (double[N_COLS]){5, 5}, 8);
    find(&r);
    CU_ASSERT_EQUAL(r.cuts.n, 1);
    for (uint32_t k = 0; k < r.cuts.n_terms; k++) /* x + y <= 1, scaled */
        CU_ASSERT_DOUBLE_EQUAL(r.cuts.coef[k], r.cuts.rhs[0], EPS);
    fini(&r);
}

/* As the first, but d takes off what the cut says, and it is as large because of x[3]. Both
 * rows lead to the same cut. */
static void a_continuous_column_is_eliminated(void) {
    struct rows r;
    open_columns(&r);
    r.v[0] = r.v[1] = r.v[2] = r.v[6] = 0.5;
    r.v[3] = 0.25;
    add_row(&r, (double[N_COLS]){2, 2, 2, [6] = -1}, 3);
    find(&r);
    CU_ASSERT_EQUAL(r.cuts.n, 0);
    add_row(&r, (double[N_COLS]){[3] = 2, [6] = -1}, 0);
    find(&r);
    CU_ASSERT(r.cuts.n >= 1);
    for (uint32_t i = 0; i < r.cuts.n; i++)
        CU_ASSERT(is_cut(&r, i, (double[N_COLS]){1, 1, 1, 1, [6] = -1}, 1));
    fini(&r);
}

static void a_known_column_is_a_constant(void) {
    for (int known = 0; known <= 1; known++) {
        struct rows r;
        open_columns(&r);
        r.v[0] = r.v[1] = 0.75;
        r.v[2] = 1;
        r.low[2] = known;
        add_row(&r, (double[N_COLS]){2, 2, 1, [6] = -1}, 4);
        find(&r);
        CU_ASSERT_EQUAL(r.cuts.n, 1);
        CU_ASSERT(
            is_cut(&r, 0, (double[N_COLS]){1, 1, known ? 0 : 1, [6] = -1}, known ? 1 : 2));
        fini(&r);
    }
}

/* ---- random rows ---- */

struct line {
    double d, e, rhs; /* of the coefficients of two columns */
};

/* The most that the left side of a cut is above its right side where the other lines are
 * met. They bound both columns, so that is at a vertex. */
static double most_over(const struct line *lines, uint32_t n, const struct line *cut) {
    double most = -HUGE_VAL;
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t b = 0; b < a; b++) {
            double det = lines[a].d * lines[b].e - lines[b].d * lines[a].e;
            if (fabs(det) < EPS)
                continue;
            double d = (lines[a].rhs * lines[b].e - lines[b].rhs * lines[a].e) / det;
            double e = (lines[a].d * lines[b].rhs - lines[b].d * lines[a].rhs) / det;
            bool meets = true;
            for (uint32_t k = 0; k < n; k++)
                meets = meets && lines[k].d * d + lines[k].e * e <= lines[k].rhs + EPS;
            if (meets)
                most = fmax(most, cut->d * d + cut->e * e - cut->rhs);
        }
    return most;
}

/* A row at a 0/1 point: what is left of it for d and e. */
static struct line line_of(const struct rp_row_set *rows, uint32_t i, uint32_t point) {
    struct line l = {.rhs = rows->rhs[i]};
    for (uint32_t k = rows->start[i]; k < rows->start[i + 1]; k++) {
        uint32_t j = rows->col[k];
        if (j < N_INTEGER)
            l.rhs -= (point >> j & 1) != 0 ? rows->coef[k] : 0;
        else if (j == N_INTEGER)
            l.d += rows->coef[k];
        else
            l.e += rows->coef[k];
    }
    return l;
}

static bool agrees_with_bounds(const struct rows *r, uint32_t point) {
    for (uint32_t j = 0; j < N_INTEGER; j++) {
        double x = point >> j & 1;
        if (x < r->low[j] || x > r->high[j])
            return false;
    }
    return true;
}

static bool holds(const struct rows *r, uint32_t cut) {
    for (uint32_t point = 0; point < 1u << N_INTEGER; point++) {
        struct line lines[MAX_ROWS + 4] = {
            {-1, 0, 0}, {0, -1, 0}, {1, 0, MOST}, {0, 1, MOST}};
        struct line l = line_of(&r->cuts, cut, point);
        for (uint32_t i = 0; i < r->base.n; i++)
            lines[i + 4] = line_of(&r->base, i, point);
        if (agrees_with_bounds(r, point) && most_over(lines, r->base.n + 4, &l) > EPS)
            return false;
    }
    return true;
}

static double random_coef(struct rp_rng *r, uint64_t seed) {
    double whole = (double)rp_rng_below(r, 13) - 6;
    return seed % 3 == 0 ? whole + (double)rp_rng_below(r, 1000) / 1000 : whole;
}

static void draw(struct rows *r, uint64_t seed) {
    struct rp_rng rng = {seed};
    open_columns(r);
    for (uint32_t j = 0; j < N_COLS; j++)
        r->v[j] = (double)rp_rng_below(&rng, 5) / 4;
    for (uint32_t j = 0; j < N_INTEGER; j++)
        if (rp_rng_percent(&rng, 10))
            r->low[j] = r->high[j] = r->v[j] = (double)rp_rng_below(&rng, 2);
    for (uint64_t n = 1 + rp_rng_below(&rng, MAX_ROWS); n > 0; n--) {
        double coef[N_COLS] = {0};
        for (uint32_t j = 0; j < N_INTEGER; j++)
            coef[j] = rp_rng_percent(&rng, 60) ? random_coef(&rng, seed) : 0;
        for (uint32_t j = N_INTEGER; j < N_COLS; j++)
            coef[j] = rp_rng_percent(&rng, 60) ? 1 - (double)rp_rng_below(&rng, 5) : 0;
        add_row(r, coef, random_coef(&rng, seed) / 2);
    }
}

static void no_point_of_the_rows_is_cut_off(void) {
    uint32_t n = 4000, n_cuts = 0, n_of_sums = 0;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++) {
        struct rows r;
        draw(&r, seed);
        find(&r);
        for (uint32_t i = 0; i < r.cuts.n; i++) {
            if (!holds(&r, i) ||
                rp_row_set_left(&r.cuts, i, r.v) < r.cuts.rhs[i] + 1e-3 / 2) {
                rp_gen_failed(seed);
                CU_FAIL("a cut that does not hold, or that the point meets");
            }
        }
        n_cuts += r.cuts.n;
        n_of_sums += r.base.n > 1 ? r.cuts.n : 0;
        fini(&r);
    }
    CU_ASSERT(rp_gen_one_seed() || (n_cuts > 4000 && n_of_sums > 3000));
}

/* The rows may be the set that the cuts are appended to. */
static void cuts_are_appended_to_their_rows(void) {
    struct rows r;
    open_columns(&r);
    r.v[0] = r.v[1] = r.v[2] = 0.5;
    add_row(&r, (double[N_COLS]){2, 2, 2, [6] = -1}, 3);
    find_into(&r, 1e-3, &r.base);
    CU_ASSERT_EQUAL(r.base.n, 2);
    CU_ASSERT_EQUAL(r.base.rhs[0], 3);
    CU_ASSERT_DOUBLE_EQUAL(r.base.rhs[1], 1, EPS);
    find_into(&r, 10, &r.base); /* none is as deep */
    CU_ASSERT_EQUAL(r.base.n, 2);
    rp_mir_free(NULL);
    fini(&r);
}

void suite_sep_mir(void) {
    RP_SUITE("sep_mir");
    RP_TEST(copies_are_whole);
    RP_TEST(smaller_ones_count_in_part);
    RP_TEST(columns_near_1_are_complemented);
    RP_TEST(a_continuous_column_is_eliminated);
    RP_TEST(a_known_column_is_a_constant);
    RP_TEST(no_point_of_the_rows_is_cut_off);
    RP_TEST(cuts_are_appended_to_their_rows);
}
