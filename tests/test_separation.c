/* Tests of the rows that separation finds at a point: they are the ones its headers
 * promise, found again here by plain recursion over all windows and paths. */
#include "solve/lp/separation.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "gen.h"
#include "run.h"
#include "solve/lp/sep_cover.h"
#include "solve/lp/sep_memory.h"
#include "solve/lp/sep_path.h"

/* A graph, its formulation, and a point without ties. */
struct place {
    struct rp_graph g;
    struct rp_instance p;
    struct rp_formulation f;
    double *v;
};

static void place_init(struct place *c, uint64_t seed, uint32_t max_stages) {
    struct rp_rng r = {seed};
    struct rp_gen_shape shape = rp_gen_small(4 + (uint32_t)rp_rng_below(&r, 9));
    shape.training = seed % 2;
    shape.rules_percent = seed % 3 == 0 ? 20 : 0;
    rp_gen_graph(seed, &shape, &c->g);
    rp_instance_init(&c->p, &c->g, c->g.fixed_bytes + rp_rng_below(&r, 4000), false, NULL);
    rp_formulation_init(&c->f, &c->p,
                        &(struct rp_formulation_options){.max_stages = max_stages});
    c->v = rp_calloc((size_t)c->f.n_cols + 1, sizeof *c->v);
    for (uint32_t j = 0; j < c->f.n_cols; j++) { /* a little of each run, as in an LP */
        double most = j < c->f.n_run_cols ? 0.3 : 1;
        c->v[j] = rp_rng_percent(&r, 30)
                      ? 0
                      : most * (double)rp_rng_below(&r, 1u << 30) / (1u << 30);
    }
}

static void place_fini(struct place *c) {
    free(c->v);
    rp_formulation_fini(&c->f);
    rp_instance_fini(&c->p);
    rp_graph_fini(&c->g);
}

/* ---- paths ---- */

static double run_at(const struct place *c, uint32_t t, uint32_t j) {
    return rp_formulation_value(c->v, rp_formulation_run(&c->f, t, j));
}

static double held_at(const struct place *c, uint32_t t, uint32_t x) {
    return rp_formulation_value(c->v, rp_formulation_held(&c->f, t, x));
}

/* The least right side of (5) without S[a][y0], for what op j makes in the window [a, b].
 * *length: how many tensors the path has beside y0. */
static double least_supply(const struct place *c, uint32_t a, uint32_t b, uint32_t j,
                           uint32_t *length) {
    double least = 0;
    *length = 0;
    if (c->f.stage_of[j] >= a)
        return 1;
    for (uint32_t t = a; t <= b; t++)
        least += run_at(c, t, j);
    for (uint32_t k = c->p.input_start[j]; k < c->p.input_start[j + 1]; k++) {
        uint32_t y = c->p.inputs[k], more;
        double supply = least_supply(c, a, b, c->p.producer[y], &more) + held_at(c, a, y);
        if (supply < least - 1e-9) {
            least = supply;
            *length = more + 1;
        }
    }
    return least;
}

/* W of (5). */
static double wanted(const struct place *c, uint32_t b, uint32_t x) {
    double most = held_at(c, b + 1, x);
    for (uint32_t k = c->p.reader_start[x]; k < c->p.reader_start[x + 1]; k++)
        if (c->f.stage_of[c->p.readers[k]] <= b)
            most = fmax(most, run_at(c, b, c->p.readers[k]));
    return most;
}

static bool any_runs_again(const struct place *c, uint32_t t) {
    for (uint32_t j = 0; j < c->p.n_ops; j++)
        if (c->f.stage_of[j] < t && run_at(c, t, j) > 0)
            return true;
    return false;
}

/* The highest efficacy of a row (5) for x in a window that ends at b. A longer window that
 * begins with a stage without runs again is not looked at. */
static double best_efficacy(const struct place *c, uint32_t b, uint32_t x, uint32_t *from) {
    double best = 0;
    for (uint32_t a = b; a > rp_formulation_maker_stage(&c->f, x); a--) {
        uint32_t length;
        double supply = least_supply(c, a, b, c->p.producer[x], &length);
        double over = wanted(c, b, x) - supply - held_at(c, a, x);
        double efficacy = over / sqrt(2 + length + (b - a + 1));
        if ((a == b || any_runs_again(c, a)) && length > 0 && efficacy > best + 1e-9) {
            best = efficacy;
            *from = a;
        }
    }
    return best;
}

static double efficacy_of(const struct place *c, const struct rp_row_set *rows,
                          uint32_t i) {
    return best_efficacy(c, rows->name[i].t, rows->name[i].x, &(uint32_t){0});
}

/* Row number of the path cut for x whose window ends at b; rows->n if there is none. */
static uint32_t path_row(const struct rp_row_set *rows, uint32_t b, uint32_t x) {
    uint32_t i = 0;
    while (i < rows->n && !(rows->name[i].t == b && rows->name[i].x == x))
        i++;
    return i;
}

static bool best_paths_are_found(const struct place *c, const struct rp_row_set *rows) {
    uint32_t n = 0;
    for (uint32_t b = 1; b < c->f.n_stages; b++)
        for (uint32_t x = 0; x < c->p.n_tensors; x++) {
            uint32_t from = 0, i = path_row(rows, b, x);
            bool wants = best_efficacy(c, b, x, &from) >= 0.01;
            n += wants;
            if (wants != (i < rows->n) || (wants && rows->name[i].from != from))
                return false;
            if (wants && rows->detail_start[i + 1] - rows->detail_start[i] < 2)
                return false; /* the row names its path, of two tensors or more */
        }
    return n == rows->n;
}

static void the_best_path_of_each_tensor_and_stage_is_found(void) {
    uint32_t n = 150, n_rows = 0;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++) {
        struct place c;
        struct rp_sep_path paths;
        struct rp_row_set rows = {0}, first = {0};
        place_init(&c, seed, seed % 4 == 0 ? 5 : 0);
        rp_sep_path_init(&paths, &c.f);
        rp_sep_path_find(&paths, c.v, 0.01, UINT32_MAX, &rows);
        bool ok = best_paths_are_found(&c, &rows);
        for (uint32_t i = 1; i < rows.n; i++)
            ok = ok && efficacy_of(&c, &rows, i) <= efficacy_of(&c, &rows, i - 1) + 1e-9;
        rp_sep_path_find(&paths, c.v, 0.01, 2, &first); /* a second call on one state */
        for (uint32_t i = 0; i < first.n; i++)
            ok = ok && first.name[i].t == rows.name[i].t &&
                 first.name[i].x == rows.name[i].x;
        n_rows += rows.n;
        rp_row_set_fini(&rows);
        rp_row_set_fini(&first);
        rp_sep_path_fini(&paths);
        place_fini(&c);
        if (!ok || first.n > 2) {
            rp_gen_failed(seed);
            CU_FAIL("not the best path cuts, or not in order");
        }
    }
    CU_ASSERT(rp_gen_one_seed() || n_rows > 200);
}

/* ---- memory rows and covers ---- */

/* At any point, in stages of one op or of several, the sweep and the row agree. */
static void each_memory_row_is_violated_by_what_the_sweep_says(void) {
    uint32_t n = 100;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++) {
        struct place c;
        struct rp_sep_memory m;
        double over[16];
        bool ok = true;
        place_init(&c, seed, seed % 2 ? 4 : 0);
        rp_sep_memory_init(&m, &c.f, true);
        for (uint32_t t = 0; t < c.f.n_stages; t++) {
            uint32_t last = c.f.last_op[t], worst = last;
            rp_sep_memory_sweep(&m, t, c.v, over);
            for (uint32_t k = rp_formulation_first_row(&c.f, t); k <= last; k++) {
                struct rp_row_set row = {0};
                rp_sep_memory_row(&m, t, k, c.v, &row);
                double by = rp_row_set_left(&row, 0, c.v) - row.rhs[0];
                ok = ok && fabs(by - over[k]) < 1e-6;
                worst = over[k] > over[worst] + 1e-6 ? k : worst;
                rp_row_set_fini(&row);
            }
            ok = ok && over[rp_sep_memory_worst(&c.f, t, over)] >= over[worst] - 1e-6;
        }
        rp_sep_memory_fini(&m);
        place_fini(&c);
        if (!ok) {
            rp_gen_failed(seed);
            CU_FAIL("a sweep and a row disagree");
        }
    }
}

/* At a 0/1 point every stage that exceeds the limit, by however little, gets a cover,
 * unless constants alone exceed it. An LP leaves values a little off. */
static bool exact_covers_are_complete(const struct place *c, uint64_t *n_rows) {
    struct rp_separation s;
    struct rp_row_set rows = {0}, memory = {0};
    struct rp_separation_statistics stats = {0};
    double over[16], *near = rp_calloc((size_t)c->f.n_cols + 1, sizeof *near);
    uint32_t expected = 0;
    rp_separation_init(&s, &c->f, 0);
    for (uint32_t t = 0; t < c->f.n_stages; t++) {
        rp_sep_memory_sweep(&s.memory, t, c->v, over);
        uint32_t k = rp_sep_memory_worst(&c->f, t, over);
        rp_sep_memory_row(&s.memory, t, k, c->v, &memory);
        expected += over[k] > 0 && memory.rhs[t] >= 0;
    }
    for (uint32_t j = 0; j < c->f.n_cols; j++)
        near[j] = fabs(c->v[j] - 1e-7);
    uint32_t n = rp_separation_exact(&s, near, &rows, &stats);
    bool ok = n == rows.n && n == expected;
    for (uint32_t j = 0; j < c->f.n_cols; j++)
        ok = ok && near[j] == c->v[j];
    ok = ok && stats.exact_covers == n;
    for (uint32_t i = 0; i < rows.n; i++)
        ok = ok && rp_row_set_left(&rows, i, c->v) > rows.rhs[i];
    *n_rows += n;
    free(near);
    rp_row_set_fini(&rows);
    rp_row_set_fini(&memory);
    rp_separation_fini(&s);
    return ok;
}

static void a_whole_point_that_does_not_fit_is_cut_off(void) {
    uint32_t n = 100;
    uint64_t n_rows = 0;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++) {
        struct place c;
        struct rp_rng r = {seed};
        place_init(&c, seed, 0);
        for (uint32_t j = 0; j < c.f.n_cols; j++)
            c.v[j] = rp_rng_percent(&r, (uint32_t)(seed % 5) * 20);
        if (!exact_covers_are_complete(&c, &n_rows)) {
            rp_gen_failed(seed);
            CU_FAIL("a point beyond the limit is not cut off");
        }
        place_fini(&c);
    }
    CU_ASSERT(rp_gen_one_seed() || n_rows > 100);
}

void suite_separation(void) {
    RP_SUITE("separation");
    RP_TEST(the_best_path_of_each_tensor_and_stage_is_found);
    RP_TEST(each_memory_row_is_violated_by_what_the_sweep_says);
    RP_TEST(a_whole_point_that_does_not_fit_is_cut_off);
}
