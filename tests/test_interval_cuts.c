/* Tests of the rows that the interval model gets on demand, at random points: those of
 * interval_model.h and interval_cuts.h written out once more, with all sets that are
 * weighed as rows of their own. */
#include "solve/milp_cuts/interval_cuts.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "gen.h"
#include "row_check.h"
#include "run.h"
#include "solve/lp/sep_cover.h"

/* ---- (M10) and (M11) ---- */

static void expect_out(struct rp_row_check *c) {
    for (uint32_t b = 0; b <= c->p->n_ops; b++) {
        struct rp_check_best best = {0};
        for (uint32_t a = b; a-- > 0;) {
            struct rp_dense_row r = rp_dense_row_new(c->m, rp_check_ops_time(c, a + 1, b));
            for (uint32_t x = c->p->output_start[a]; x < c->p->output_start[b]; x++)
                rp_dense_row_add(&r, rp_check_copy_time(c, O, x), O, b, x);
            rp_dense_row_wait(&r, a + 1, b);
            rp_check_weigh(c, &best, r, true);
        }
        rp_check_expect(c, best);
    }
}

static struct rp_dense_row in_row(const struct rp_row_check *c, uint32_t s, uint32_t t) {
    struct rp_dense_row r = rp_dense_row_new(c->m, rp_check_ops_time(c, s, t));
    for (uint32_t x = 0; x < c->p->n_tensors; x++) {
        double copies = -rp_check_at(c, F, s, x);
        for (uint32_t u = s; u <= t; u++)
            copies += rp_check_at(c, U, u, x);
        for (uint32_t u = s; u <= t && copies > 0; u++)
            rp_dense_row_add(&r, rp_check_copy_time(c, U, x), U, u, x);
        if (copies > 0)
            rp_dense_row_add(&r, -rp_check_copy_time(c, U, x), F, s, x);
    }
    rp_dense_row_wait(&r, s, t);
    return r;
}

static void expect_in(struct rp_row_check *c) {
    for (uint32_t s = 0; s <= c->p->n_ops; s++) {
        struct rp_check_best best = {0};
        for (uint32_t t = s; t <= c->p->n_ops; t++)
            rp_check_weigh(c, &best, in_row(c, s, t), true);
        rp_check_expect(c, best);
    }
}

/* ---- (M13a) ---- */

/* Covers have tests of their own (test_separation.c). Here they get the right rows. */
static void expect_covers_of(struct rp_row_check *c, int number) {
    struct rp_row_set covers = {0};
    for (uint32_t t = 0; t < c->p->n_ops; t++) {
        struct rp_row_set memory = {0};
        for (uint32_t i = 0, n = 0; i < c->m->rows.n; i++)
            if (c->m->row_number[i] == number && n++ == t)
                rp_row_set_copy(&memory, &c->m->rows, i);
        if (memory.n == 1)
            rp_sep_cover_find(&memory, 0, c->v, 0.01, &covers);
        rp_row_set_fini(&memory);
    }
    for (uint32_t i = 0; i < covers.n; i++) {
        struct rp_check_best b = {rp_dense_row_new(c->m, covers.rhs[i]), 0};
        for (uint32_t k = covers.start[i]; k < covers.start[i + 1]; k++)
            b.row.coef[covers.col[k]] = covers.coef[k];
        rp_check_expect(c, b);
    }
    rp_row_set_fini(&covers);
}

static void expect_cover(struct rp_row_check *c) {
    expect_covers_of(c, 8);
}

static void expect_room(struct rp_row_check *c) {
    expect_covers_of(c, 16);
}

/* ---- (M13f) ---- */

enum { MAX_PATH = 8 };

/* A path for the stages a to b: its tensors, and what its row sums up. */
struct path {
    uint32_t n, tensor[MAX_PATH];
    double right; /* beside what the first tensor adds */
};

static bool takes_v(const struct rp_row_check *c, uint32_t x, uint32_t a, uint32_t b) {
    return c->use_v && rp_check_at(c, V, a, x) <
                           rp_check_readable(c, a, x) + rp_check_sum(c, U, x, a, b);
}

/* T[x] */
static double there(const struct rp_row_check *c, uint32_t x, uint32_t a, uint32_t b) {
    return takes_v(c, x, a, b) ? rp_check_at(c, V, a, x)
                               : rp_check_readable(c, a, x) + rp_check_sum(c, U, x, a, b);
}

/* The path from x on with the least right side; of equal ones the one that ends early, or
 * takes the first input. */
static struct path best_path(const struct rp_row_check *c, uint32_t x, uint32_t a,
                             uint32_t b) {
    uint32_t j = c->p->producer[x];
    struct path best = {.n = 1, .tensor = {x}, .right = rp_check_sum(c, R, j, a, b)};
    for (uint32_t k = c->p->input_start[j]; k < c->p->input_start[j + 1]; k++) {
        struct path next = best_path(c, c->p->inputs[k], a, b);
        next.right += there(c, c->p->inputs[k], a, b);
        if (next.right >= best.right)
            continue;
        best = (struct path){.n = next.n + 1, .tensor = {x}, .right = next.right};
        for (uint32_t i = 0; i < next.n; i++)
            best.tensor[i + 1] = next.tensor[i];
    }
    return best;
}

/* One row of a path, and what orders such rows. */
struct path_row {
    double efficacy;
    uint32_t x, b;
    struct rp_dense_row row;
};

static void add_readable(struct rp_dense_row *r, double coef, uint32_t t, uint32_t x) {
    rp_dense_row_add(r, coef, S, t, x);
    rp_dense_row_add(r, -coef, F, t, x);
}

/* The row without W. always_v: T[x] of the first tensor is V. */
static struct rp_dense_row path_row(const struct rp_row_check *c, const struct path *path,
                                    uint32_t a, uint32_t b, bool always_v) {
    struct rp_dense_row r = rp_dense_row_new(c->m, 0);
    for (uint32_t i = 0; i < path->n; i++) {
        uint32_t x = path->tensor[i];
        bool v = (always_v && i == 0) || takes_v(c, x, a, b);
        if (v)
            rp_dense_row_add(&r, -1, V, a, x);
        else
            add_readable(&r, -1, a, x);
        for (uint32_t t = a; t <= b && !v; t++)
            rp_dense_row_add(&r, -1, U, t, x);
    }
    for (uint32_t t = a; t <= b; t++)
        rp_dense_row_add(&r, -1, R, t, c->p->producer[path->tensor[path->n - 1]]);
    return r;
}

/* The largest W of x but V[b+1], which it adds to a row. */
static double want(const struct rp_row_check *c, uint32_t x, uint32_t b,
                   struct rp_dense_row *r) {
    bool stays = c->p->bytes[x] == 0 || c->p->pinned[x];
    double best =
        fmax(b == c->p->n_ops && c->p->kept[x], stays ? 0 : rp_check_readable(c, b + 1, x));
    uint32_t reader = RP_NONE;
    for (uint32_t k = c->p->reader_start[x]; k < c->p->reader_start[x + 1]; k++)
        if (rp_check_at(c, R, b, c->p->readers[k]) > best) {
            reader = c->p->readers[k];
            best = rp_check_at(c, R, b, reader);
        }
    if (r == NULL || best <= 0)
        return fmax(best, 0);
    if (reader != RP_NONE)
        rp_dense_row_add(r, 1, R, b, reader);
    else if (b == c->p->n_ops && c->p->kept[x])
        r->right -= 1;
    else
        add_readable(r, 1, b + 1, x);
    return best;
}

static bool something_happens(const struct rp_row_check *c, uint32_t t) {
    double sum = 0;
    for (uint32_t j = 0; j < t && j < c->p->n_ops; j++)
        sum += rp_check_at(c, R, t, j);
    for (uint32_t x = 0; x < c->p->output_start[t]; x++)
        sum += rp_check_at(c, U, t, x);
    return sum > 0;
}

/* The row of highest efficacy for x and b; of equal ones the one of the latest a. */
static struct path_row best_row(const struct rp_row_check *c, uint32_t x, uint32_t b) {
    struct path_row best = {.efficacy = 0, .x = x, .b = b};
    for (uint32_t a = b; a > c->p->producer[x]; a--) {
        struct path path = best_path(c, x, a, b);
        if (path.n == 1 || (a < b && !something_happens(c, a)))
            continue;
        double norm = sqrt(path.n + 1 + b - a + 1);
        double over = want(c, x, b, NULL) - there(c, x, a, b) - path.right;
        double over_v =
            c->use_v ? rp_check_at(c, V, b + 1, x) - rp_check_at(c, V, a, x) - path.right
                     : 0;
        if (fmax(over, over_v) / norm <= best.efficacy + 1e-9)
            continue;
        rp_dense_row_free(&best.row);
        best.efficacy = fmax(over, over_v) / norm;
        best.row = path_row(c, &path, a, b, over_v > over);
        if (over_v > over)
            rp_dense_row_add(&best.row, 1, V, b + 1, x);
        else
            want(c, x, b, &best.row);
    }
    return best;
}

static int by_efficacy(const void *left, const void *right) {
    const struct path_row *a = left, *b = right;
    if (a->efficacy != b->efficacy)
        return a->efficacy > b->efficacy ? -1 : 1;
    return a->x != b->x ? (a->x > b->x) - (a->x < b->x) : (a->b > b->b) - (a->b < b->b);
}

static void expect_path(struct rp_row_check *c) {
    struct path_row *rows =
        rp_calloc(((size_t)c->p->n_ops + 1) * c->p->n_tensors, sizeof *rows);
    size_t n = 0;
    for (uint32_t b = 1; b <= c->p->n_ops; b++)
        for (uint32_t x = 0; x < c->p->n_tensors; x++)
            rows[n++] = best_row(c, x, b);
    qsort(rows, n, sizeof *rows, by_efficacy);
    for (size_t i = 0; i < n; i++) {
        if (i < c->p->n_ops && rows[i].efficacy >= 0.01)
            rp_check_expect(c, (struct rp_check_best){rows[i].row, 0});
        else
            rp_dense_row_free(&rows[i].row);
    }
    free(rows);
}

/* ---- (M13b) ---- */

enum { MAX_SET = 200 };

struct copy {
    enum rp_interval_kind kind;
    uint32_t t, x;
    double time, y;
};

struct set {
    uint32_t n;
    struct copy at[MAX_SET];
};

static bool goes_before(const struct copy *a, const struct copy *b) {
    if (a->y != b->y)
        return a->y > b->y;
    return a->x != b->x ? a->x < b->x : a->t < b->t;
}

/* Keeps the likeliest first. */
static void put(struct set *set, struct copy copy) {
    uint32_t i = set->n++;
    CU_ASSERT_FATAL(set->n < MAX_SET);
    for (; i > 0 && goes_before(&copy, &set->at[i - 1]); i--)
        set->at[i] = set->at[i - 1];
    set->at[i] = copy;
}

static bool put_copy(const struct rp_row_check *c, struct set *set,
                     enum rp_interval_kind kind, uint32_t t, uint32_t x) {
    double y = rp_check_at(c, kind, t, x);
    if (y > 0)
        put(set, (struct copy){kind, t, x, rp_check_copy_time(c, kind, x), y});
    return y > 0;
}

/* Weighs the rows of the likeliest 1, 2, .. of a set, in the interval from stage s to t. */
static void weigh_set(const struct rp_row_check *c, const struct set *set, uint32_t s,
                      uint32_t t, struct rp_check_best *best) {
    double lambda = -rp_check_ops_time(c, s, t);
    for (uint32_t n = 1; n <= set->n; n++) {
        lambda += set->at[n - 1].time;
        if (lambda <= 0)
            continue;
        struct rp_dense_row r = rp_dense_row_new(c->m, -lambda);
        for (uint32_t k = 0; k < n; k++) {
            double coef = fmin(set->at[k].time, lambda);
            r.right += coef;
            rp_dense_row_add(&r, coef, set->at[k].kind, set->at[k].t, set->at[k].x);
            if (set->at[k].kind == U)
                rp_dense_row_add(&r, -coef, F, s, set->at[k].x);
        }
        rp_dense_row_wait(&r, s, t);
        rp_check_weigh(c, best, r, false);
    }
}

static void expect_wait_out(struct rp_row_check *c) {
    for (uint32_t b = 0; b <= c->p->n_ops; b++) {
        struct rp_check_best best = {0};
        struct set set = {0};
        for (uint32_t a = b; a-- > 0;) {
            bool more = false;
            for (uint32_t x = c->p->output_start[a]; x < c->p->output_start[a + 1]; x++)
                more |= put_copy(c, &set, O, b, x);
            if (more)
                weigh_set(c, &set, a + 1, b, &best);
        }
        rp_check_expect(c, best);
    }
}

static void expect_wait_in(struct rp_row_check *c) {
    for (uint32_t t = 0; t <= c->p->n_ops; t++) {
        struct rp_check_best best = {0};
        struct set set = {0};
        for (uint32_t s = t + 1; s-- > 0;) {
            bool more = false;
            for (uint32_t x = 0; x < c->p->n_tensors; x++)
                more |= put_copy(c, &set, U, s, x);
            if (more)
                weigh_set(c, &set, s, t, &best);
        }
        rp_check_expect(c, best);
    }
}

/* ---- (M13c) and (M13d) ---- */

static void expect_early_free(struct rp_row_check *c) {
    for (uint32_t b = 0; b <= c->p->n_ops; b++) {
        struct rp_check_best best = {0};
        for (uint32_t first = b; first >= 1; first--) {
            struct rp_dense_row r = rp_dense_row_new(c->m, 0);
            for (uint32_t x = 0; x < c->p->n_tensors; x++)
                for (uint32_t p = c->p->producer[x], u = p + 1; p + 1 >= first && u <= b;
                     u++) {
                    double lost = fmax(0, rp_check_copy_time(c, O, x) -
                                              rp_check_ops_time(c, p + 1, u));
                    rp_dense_row_add(&r, lost, O, u, x);
                    rp_dense_row_add(&r, -lost, O, u - 1, x);
                }
            rp_dense_row_wait(&r, first, b);
            rp_check_weigh(c, &best, r, true);
        }
        rp_check_expect(c, best);
    }
}

static void expect_round_trip(struct rp_row_check *c) {
    for (uint32_t x = 0; x < c->p->n_tensors; x++)
        for (uint32_t first = c->p->producer[x] + 1, t = first; t <= c->p->n_ops; t++) {
            struct rp_check_best best = {0};
            double lost = rp_check_copy_time(c, O, x) + rp_check_copy_time(c, U, x) -
                          rp_check_ops_time(c, first, t);
            struct rp_dense_row r = rp_dense_row_new(c->m, 0);
            rp_dense_row_add(&r, lost, U, t, x);
            rp_dense_row_wait(&r, first, t);
            if (lost > 0)
                rp_check_weigh(c, &best, r, true);
            else
                rp_dense_row_free(&r);
            rp_check_expect(c, best);
        }
}

/* ---- all ---- */

/* In sixteenths. Waits are mostly short, and what is in flight has storage. At some points
 * all that can run runs again, and nothing is read after a copy. */
static void draw_point(struct rp_rng *r, const struct rp_small_model *w, double *v) {
    uint64_t longest = rp_rng_below(r, 100) + 1;
    uint32_t some = 20 + (uint32_t)rp_rng_below(r, 80);
    bool all_run = rp_rng_percent(r, 50);
    for (uint32_t j = 0; j < w->m.n_integer; j++)
        v[j] = !rp_rng_percent(r, some) ? 0
               : rp_rng_percent(r, 50)  ? 1
                                        : (double)rp_rng_below(r, 17) / 16;
    for (uint32_t j = w->m.n_integer; j < w->m.n_cols; j++)
        v[j] =
            rp_rng_percent(r, 50)
                ? 0
                : fmin((double)rp_rng_below(r, longest) * w->m.time_scale / 4, w->m.span);
    for (uint32_t j = 0; j < w->m.n_integer && all_run; j++)
        if (w->m.col[j].kind == R || w->m.col[j].kind == U)
            v[j] = w->m.col[j].kind == R;
    for (uint32_t j = 0; j < w->m.n_integer; j++)
        if (w->m.col[j].kind == F) {
            uint32_t s = rp_interval_at(&w->m, S, w->m.col[j].t, w->m.col[j].id);
            v[j] = fmin(v[j], s < w->m.n_cols ? v[s] : s == RP_COL_ONE);
        }
}

static void (*const expect_of[RP_CUT_FAMILIES])(struct rp_row_check *) = {
    [RP_CUT_MEMORY_K] = rp_check_expect_memory,
    [RP_CUT_MEMORY_TWO] = rp_check_expect_memory_two,
    [RP_CUT_OUT] = expect_out,
    [RP_CUT_IN] = expect_in,
    [RP_CUT_COVER] = expect_cover,
    [RP_CUT_WAIT_OUT] = expect_wait_out,
    [RP_CUT_WAIT_IN] = expect_wait_in,
    [RP_CUT_EARLY_FREE] = expect_early_free,
    [RP_CUT_ROUND_TRIP] = expect_round_trip,
    [RP_CUT_CHAIN] = rp_check_expect_chains,
    [RP_CUT_PATH] = expect_path,
    [RP_CUT_ROOM] = expect_room};

/* The families that are there where nothing is swapped. */
static bool is_about_runs(uint32_t k) {
    return k == RP_CUT_MEMORY_K || k == RP_CUT_MEMORY_TWO || k == RP_CUT_COVER ||
           k == RP_CUT_PATH;
}

/* Paths have columns V with the family of rows about V only. */
static void expect_with_v(struct rp_interval_cuts *cuts, struct rp_row_check *c,
                          uint32_t *n) {
    uint32_t skip = UINT32_MAX - (1u << RP_CUT_PATH) - (1u << RP_CUT_ROOM);
    rp_interval_cuts_find(cuts, c->v, c->least, skip, &c->found);
    c->n = 0;
    c->use_v = c->m->room_bytes != NULL;
    if (c->use_v)
        expect_room(c);
    expect_path(c);
    c->good = c->good && c->n == c->found.n;
    *n = c->n;
    c->use_v = false;
    rp_row_set_fini(&c->found);
}

/* Compares what each family finds, alone, and then what all find. n: rows so far. */
static bool finds_the_right_rows(const struct rp_small_model *w,
                                 struct rp_interval_cuts *cuts, struct rp_row_check *c,
                                 uint32_t *n) {
    uint32_t all = 0;
    c->good = true;
    for (uint32_t k = 0; k < RP_CUT_FAMILIES && c->good; k++) {
        uint64_t before = cuts->n[k];
        uint32_t skip = UINT32_MAX - (1u << k);
        c->n = rp_interval_cuts_find(cuts, c->v, c->least, skip, &c->found);
        c->good = c->n == c->found.n && c->n == cuts->n[k] - before;
        c->n = 0;
        if (w->p.out_ns != NULL || is_about_runs(k))
            expect_of[k](c);
        c->good = c->good && c->n == c->found.n;
        n[k] += c->n;
        all += k == RP_CUT_PATH || k == RP_CUT_ROOM ? 0 : c->n;
        rp_row_set_fini(&c->found);
    }
    uint32_t with_v = 0;
    if (c->good)
        expect_with_v(cuts, c, &with_v);
    c->good = c->good &&
              rp_interval_cuts_find(cuts, c->v, c->least, 0, &c->found) == all + with_v;
    rp_row_set_fini(&c->found);
    return c->good;
}

static void each_family_finds_the_rows_that_are_violated_most(void) {
    uint32_t n = 600, n_found[RP_CUT_FAMILIES] = {0};
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++) {
        struct rp_rng r = {seed};
        struct rp_small_model w;
        struct rp_interval_cuts cuts;
        rp_small_model_init(&w, seed);
        rp_interval_cuts_init(&cuts, &w.m);
        double *v = rp_calloc(w.m.n_cols, sizeof *v);
        for (uint32_t k = 0; k < 4; k++) {
            double unit = rp_rng_percent(&r, 50) ? w.m.time_scale : w.m.byte_scale;
            struct rp_row_check c = {.m = &w.m, .p = &w.p, .v = v};
            c.least = k == 0 ? 1e-6 : (double)(1 + rp_rng_below(&r, 8)) * unit;
            draw_point(&r, &w, v);
            if (!finds_the_right_rows(&w, &cuts, &c, n_found)) {
                rp_gen_failed(seed);
                CU_FAIL("another row");
                break;
            }
        }
        free(v);
        rp_interval_cuts_fini(&cuts);
        rp_small_model_fini(&w);
    }
    for (uint32_t k = 0; k < RP_CUT_FAMILIES; k++)
        CU_ASSERT(rp_gen_one_seed() || n_found[k] > 50);
}

void suite_interval_cuts(void) {
    RP_SUITE("interval_cuts");
    RP_TEST(each_family_finds_the_rows_that_are_violated_most);
}
