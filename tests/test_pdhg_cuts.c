/* Tests of the rows that PDHG gets while it runs. */
#include "solve/bound/pdhg_cuts.h"

#include <math.h>
#include <stdlib.h>

#include "gen.h"
#include "run.h"
#include "solve/lp/formulation.h"

enum { PLENTY = 1u << 30 }; /* of work before the rows are sought */

/* A training graph at its floor, and a random point. */
struct place {
    struct rp_graph g;
    struct rp_instance p;
    struct rp_formulation f;
    struct rp_pdhg_cuts cuts;
    float *x;
};

static void open_place(struct place *c, uint64_t seed) {
    struct rp_rng r = {seed};
    struct rp_gen_shape shape = rp_gen_small(16);
    shape.training = true;
    rp_gen_graph(seed, &shape, &c->g);
    rp_instance_init(&c->p, &c->g, c->g.fixed_bytes, false, NULL);
    c->p.limit_bytes = rp_instance_floor(&c->p, &(uint32_t){0});
    rp_formulation_init(&c->f, &c->p, &(struct rp_formulation_options){0});
    c->cuts = (struct rp_pdhg_cuts){0};
    rp_pdhg_cuts_init(&c->cuts, &c->f);
    c->x = rp_calloc((size_t)c->f.n_cols + 1, sizeof *c->x);
    for (uint32_t j = 0; j < c->f.n_cols; j++)
        c->x[j] = (float)rp_rng_below(&r, 1024) / (j < c->f.n_run_cols ? 8192 : 1024);
}

static void close_place(struct place *c) {
    free(c->x);
    rp_pdhg_cuts_fini(&c->cuts);
    rp_formulation_fini(&c->f);
    rp_instance_fini(&c->p);
    rp_graph_fini(&c->g);
}

/* Rows are counted by kind, and each has a place for how long it has been idle. */
static void rows_of_all_kinds_are_added_and_dropped(void) {
    uint64_t memory = 0, paths = 0, covers = 0;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct place c;
        open_place(&c, seed);
        uint32_t n = c.cuts.rows.n;
        for (int k = 0; k < 12; k++) {
            n += rp_pdhg_cuts_add(&c.cuts, c.x, PLENTY, NULL);
            CU_ASSERT(c.cuts.rows.n == n && c.cuts.idle.n == n);
        }
        memory += c.cuts.memory_rows;
        paths += c.cuts.path_rows;
        covers += c.cuts.cover_rows;
        float *y = rp_calloc(n, sizeof *y);
        n -= rp_pdhg_cuts_drop_covers(&c.cuts, y);
        CU_ASSERT(c.cuts.rows.n == n && c.cuts.idle.n == n);
        free(y);
        close_place(&c);
    }
    CU_ASSERT(memory > 0 && paths > 0 && covers > 0);
}

static uint64_t count_paths(struct rp_stop *stop) {
    uint64_t n = 0;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct place c;
        open_place(&c, seed);
        for (int k = 0; k < 12; k++)
            rp_pdhg_cuts_add(&c.cuts, c.x, PLENTY, stop);
        n += c.cuts.path_rows;
        close_place(&c);
    }
    return n;
}

/* Looking for paths is long work. */
static void a_stop_leaves_paths_out(void) {
    struct rp_stop stop = {.deadline = INFINITY};
    CU_ASSERT(count_paths(&stop) > 0);
    stop.hit = true;
    CU_ASSERT_EQUAL(count_paths(&stop), 0);
}

void suite_pdhg_cuts(void) {
    RP_SUITE("pdhg_cuts");
    RP_TEST(rows_of_all_kinds_are_added_and_dropped);
    RP_TEST(a_stop_leaves_paths_out);
}
