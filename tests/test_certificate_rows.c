/* Tests of certificates for random graphs: those of the planner, and ones with random rows.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "brute.h"
#include "gen.h"
#include "run.h"
#include "solve/bound/certificate_writer.h"
#include "solve/bound/pdhg_bound.h"
#include "solve/bound/safe_dual.h"
#include "solve/core/prune.h"
#include "solve/core/schedule.h"
#include "solve/lp/sep_memory.h"
#include "solve/lp/sep_path.h"
#include "verify/certificate/check_certificate.h"

struct instance {
    struct rp_graph g;
    struct rp_instance p;
    uint64_t budget_bytes, best_ns; /* best_ns is the optimum over schedules */
    uint64_t sequence_ns;           /* the optimum over all step sequences without swaps */
};

static void build_instance(uint64_t seed, struct instance *i) {
    struct rp_rng r = {seed * 77};
    struct rp_gen_shape shape = rp_gen_small(4 + (uint32_t)rp_rng_below(&r, 4));
    shape.training = rp_rng_percent(&r, 50);
    shape.once_percent = rp_rng_percent(&r, 30) ? 15 : 0;
    shape.max_outputs = rp_rng_percent(&r, 30) ? 2 : 1;
    shape.n_ops -= shape.max_outputs - 1;
    for (;; seed += 1000000) {
        rp_gen_graph(seed, &shape, &i->g);
        rp_instance_init(&i->p, &i->g, i->g.fixed_bytes, false, NULL);
        if (i->p.n_tensors <= 7)
            break;
        rp_instance_fini(&i->p);
        rp_graph_fini(&i->g);
    }
    i->p.limit_bytes = rp_brute_floor(&i->g) + rp_rng_below(&r, 2000);
    i->budget_bytes = i->g.fixed_bytes + i->p.limit_bytes;
    CU_ASSERT_FATAL(rp_brute_best(&i->g, i->p.limit_bytes, &i->best_ns));
    CU_ASSERT_FATAL(rp_brute_sequence_best(&i->g, i->p.limit_bytes, &i->sequence_ns));
}

static void free_instance(struct instance *i) {
    rp_instance_fini(&i->p);
    rp_graph_fini(&i->g);
}

/* Writes the planner's rows and multipliers to a file and reads them back. */
static rp_rc round_trip(const struct instance *i, const struct rp_formulation *f,
                        const struct rp_row_set *rows, const int64_t *m, unsigned log2,
                        uint64_t horizon_ns, struct rp_certificate *c, struct rp_err *err) {
    char path[] = "/tmp/remat-plan-test-XXXXXX";
    int fd = mkstemp(path);
    CU_ASSERT_FATAL(fd >= 0);
    close(fd);
    rp_rc rc = rp_certificate_save(path, &i->g, f, false, i->budget_bytes, rows, m, log2,
                                   horizon_ns, err);
    if (rc == RP_OK)
        rc = rp_certificate_load(path, c, err);
    unlink(path);
    return rc;
}

/* Adds a memory row with random terms. */
static void add_random_row(const struct instance *i, struct rp_rng *r, bool last_only,
                           struct rp_certificate *c) {
    const struct rp_graph *g = &i->g;
    uint32_t t = (uint32_t)rp_rng_below(r, g->n_ops);
    struct rp_certificate_row mem = {
        .kind = RP_CERTIFICATE_MEM, .t = t, .first_id = c->ids.n};
    mem.op = last_only ? t : (uint32_t)rp_rng_below(r, t + 1);
    for (uint32_t x = 0; x < g->n_tensors; x++) {
        uint32_t readers = g->reader_start[x + 1] - g->reader_start[x];
        uint64_t what = rp_rng_below(r, 5);
        if (g->tensors[x].producer == RP_NONE || what == 0)
            continue;
        uint32_t term = what == 1   ? RP_CERTIFICATE_NEXT
                        : what == 2 ? RP_CERTIFICATE_NOW
                        : what == 3 || readers == 0
                            ? g->tensors[x].producer
                            : g->readers[g->reader_start[x] + rp_rng_below(r, readers)];
        rp_push(&c->ids, x);
        rp_push(&c->ids, term);
    }
    mem.n_ids = c->ids.n - mem.first_id;
    rp_push(&c->rows, mem);
}

/* Removes, one by one, the pairs of a memory row that the check refuses. Returns false if
 * the row itself is refused. */
static bool remove_refused_terms(const struct instance *i, struct rp_certificate *c,
                                 size_t row) {
    struct rp_certified_bound s;
    for (;;) {
        struct rp_certificate_row *r = &c->rows.at[row];
        uint32_t *ids = c->ids.at + r->first_id;
        size_t good = 0, all = r->n_ids;
        struct rp_err err = {{0}};
        if (rp_certificate_check(c, &i->g, &s, &err) == RP_OK)
            return true;
        for (; good < all; good += 2) { /* find the first pair that is refused */
            err.msg[0] = '\0';
            r->n_ids = good + 2;
            if (rp_certificate_check(c, &i->g, &s, &err) != RP_OK)
                break;
        }
        if (good >= all)
            return false;
        memmove(ids + good, ids + good + 2, (all - good - 2) * sizeof *ids);
        r->n_ids = all - 2;
    }
}

/* ---- single rows ---- */

/* R and S of one schedule, and its peak. */
struct point {
    const struct rp_graph *g;
    bool run[16][16], held[17][16]; /* by stage, then op or tensor of the graph */
    uint64_t peak_bytes, limit_bytes;
};

/* A random sound schedule without idle holds. */
static bool draw_point(struct instance *i, struct rp_rng *r, struct point *v) {
    struct rp_schedule s;
    struct rp_stage_work w;
    struct rp_instance *p = &i->p;
    uint32_t percent = (uint32_t)rp_rng_below(r, 40);
    *v = (struct point){.g = &i->g, .limit_bytes = p->limit_bytes};
    rp_schedule_keep_all(p, &s);
    for (uint32_t t = 1; t < p->n_ops; t++)
        for (uint32_t x = 0; x < p->n_tensors; x++)
            if (p->producer[x] < t && rp_rng_percent(r, percent))
                rp_schedule_set(&s, x, t, t, !rp_held(&s, t, x));
    bool sound = rp_schedule_cost(p, &s).sound && rp_schedule_prune(p, &s);
    rp_stage_work_init(p, &w);
    for (uint32_t t = 0; t < p->n_ops && sound; t++) {
        sound = rp_stage_eval(p, &s, t, &w);
        for (uint32_t k = 0; k < w.stage.n_runs; k++)
            v->run[t][w.stage.runs[k]] = true;
    }
    for (uint32_t t = 0; t <= p->n_ops && sound; t++)
        for (uint32_t x = 0; x < p->n_tensors; x++)
            v->held[t][p->tensor_of[x]] = rp_held(&s, t, x);
    v->peak_bytes = sound ? rp_schedule_cost(p, &s).peak_bytes : 0;
    rp_stage_work_fini(&w);
    rp_schedule_fini(&s);
    return sound;
}

/* Does the point satisfy the row? Evaluated from the definition of the row. */
static bool meets_row(const struct point *v, const struct rp_certificate_row *row,
                      const uint32_t *ids) {
    uint32_t t = row->t, x = row->kind == RP_CERTIFICATE_WINDOW ? ids[0] : row->tensor;
    const struct rp_tensor *tensors = v->g->tensors;
    uint64_t bytes = 0, right = 0;
    if (row->kind == RP_CERTIFICATE_DEP)
        return v->run[t][row->op] <= v->run[t][tensors[x].producer] + v->held[t][x];
    if (row->kind == RP_CERTIFICATE_HOLD)
        return v->held[t + 1][x] <= v->run[t][tensors[x].producer] + v->held[t][x];
    if (row->kind == RP_CERTIFICATE_COVER) {
        for (size_t k = 0; k < row->n_held + row->n_ran; k++) {
            const uint32_t *at = ids + row->first_count + 3 * k;
            right +=
                at[2] * (k < row->n_held ? v->held[at[1]][at[0]] : v->run[at[1]][at[0]]);
        }
        return right <= row->max_count || v->peak_bytes > v->limit_bytes;
    }
    if (row->kind == RP_CERTIFICATE_MEM) {
        for (size_t k = 0; k < row->n_ids; k += 2)
            bytes += tensors[ids[k]].bytes *
                     (ids[k + 1] == RP_CERTIFICATE_NEXT  ? v->held[t + 1][ids[k]]
                      : ids[k + 1] == RP_CERTIFICATE_NOW ? v->held[t][ids[k]]
                                                         : v->run[t][ids[k + 1]]);
        bytes += v->run[t][row->op] ? v->g->ops[row->op].workspace_bytes : 0;
        return bytes <= v->peak_bytes;
    }
    for (size_t k = 0; k < row->n_ids; k++)
        right += v->held[row->from][ids[k]];
    for (uint32_t s = row->from; s <= t; s++)
        right += v->run[s][tensors[ids[row->n_ids - 1]].producer];
    return (row->op == RP_NONE ? v->held[t + 1][x] : v->run[t][row->op]) <= right;
}

/* Draws one row of any kind with random indices, most of them invalid. */
static void draw_row(const struct instance *i, struct rp_rng *r, struct rp_certificate *c) {
    const struct rp_graph *g = &i->g;
    struct rp_certificate_row row = {.kind =
                                         (enum rp_certificate_row_kind)rp_rng_below(r, 4)};
    c->rows.n = c->ids.n = 0;
    row.t = (uint32_t)rp_rng_below(r, g->n_ops);
    row.from = (uint32_t)rp_rng_below(r, g->n_ops);
    row.op = (uint32_t)rp_rng_below(r, g->n_ops);
    row.tensor = (uint32_t)rp_rng_below(r, g->n_tensors);
    row.n_ids = 1 + rp_rng_below(r, 3);
    for (size_t k = 0; k < row.n_ids && row.kind == RP_CERTIFICATE_WINDOW; k++)
        rp_push(&c->ids, (uint32_t)rp_rng_below(r, g->n_tensors));
    if (row.kind == RP_CERTIFICATE_WINDOW && rp_rng_percent(r, 50))
        row.op = RP_NONE;
    if (row.kind == RP_CERTIFICATE_MEM)
        add_random_row(i, r, false, c);
    else
        rp_push(&c->rows, row);
}

/* Turns a memory row into a cover of some of its terms. */
static void turn_into_cover(struct rp_rng *r, struct rp_certificate *c) {
    struct rp_certificate_row *row = &c->rows.at[0];
    uint32_t n = 0;
    row->kind = RP_CERTIFICATE_COVER;
    row->first_count = c->ids.n;
    for (int ran = 0; ran < 2; ran++)
        for (size_t k = 0; k < row->n_ids; k += 2) {
            uint32_t x = c->ids.at[row->first_id + k],
                     term = c->ids.at[row->first_id + k + 1];
            bool next = term == RP_CERTIFICATE_NEXT;
            if (ran == (next || term == RP_CERTIFICATE_NOW) || rp_rng_percent(r, 30))
                continue;
            rp_push(&c->ids, ran ? term : x);
            rp_push(&c->ids, row->t + next);
            rp_push(&c->ids, 1 + (uint32_t)rp_rng_below(r, 2));
            *(ran ? &row->n_ran : &row->n_held) += 1;
            n++;
        }
    row->max_count = rp_rng_below(r, n + 1);
}

static uint32_t n_accepted[5], n_refused[5];

static bool rows_of_one_graph(uint64_t seed) {
    struct rp_rng r = {seed};
    struct instance i;
    struct point v[8];
    uint32_t n = 0;
    bool good = true;
    build_instance(seed, &i);
    struct rp_certificate c = {
        .graph_name = i.g.name, .graph_sha256 = i.g.sha256, .budget_bytes = i.budget_bytes};
    for (int k = 0; k < 16 && n < 8; k++)
        n += draw_point(&i, &r, &v[n]);
    for (int k = 0; k < 400 && good; k++) {
        struct rp_certified_bound s;
        struct rp_err err = {{0}};
        draw_row(&i, &r, &c);
        enum rp_certificate_row_kind kind = c.rows.at[0].kind;
        bool accepted = rp_certificate_check(&c, &i.g, &s, &err) == RP_OK;
        n_refused[kind] += !accepted;
        if (!accepted && kind == RP_CERTIFICATE_MEM)
            accepted = remove_refused_terms(&i, &c, 0);
        if (accepted && kind == RP_CERTIFICATE_MEM && rp_rng_percent(&r, 60)) {
            turn_into_cover(&r, &c);
            kind = RP_CERTIFICATE_COVER;
            accepted = rp_certificate_check(&c, &i.g, &s, &err) == RP_OK;
            n_refused[kind] += !accepted;
        }
        n_accepted[kind] += accepted;
        for (uint32_t q = 0; q < n && accepted && good; q++)
            good = meets_row(&v[q], &c.rows.at[0], c.ids.at);
    }
    free(c.rows.at);
    free(c.ids.at);
    free_instance(&i);
    return good;
}

static void accepted_rows_hold_for_every_schedule(void) {
    uint32_t n = 200;
    uint64_t seed = rp_gen_seed(1, &n);
    for (int k = 0; k < 5; k++)
        n_accepted[k] = n_refused[k] = 0;
    for (; n > 0; n--, seed++)
        if (!rows_of_one_graph(seed)) {
            rp_gen_failed(seed);
            CU_FAIL("a row is not true");
            return;
        }
    for (int k = 0; k < 5; k++) {
        CU_ASSERT(rp_gen_one_seed() || n_accepted[k] > 300);
        CU_ASSERT(rp_gen_one_seed() || n_refused[k] > 300);
    }
}

/* Local search that raises the bound by changing one multiplier at a time. */
static uint64_t raise_bound(const struct instance *i, struct rp_rng *r,
                            struct rp_certificate *c) {
    struct rp_certified_bound s;
    struct rp_err err = {{0}};
    c->lower_bound_ns = 0;
    CU_ASSERT_EQUAL(rp_certificate_check(c, &i->g, &s, &err), RP_OK);
    uint64_t best = s.bound_ns;
    for (int k = 0; k < 400 && c->rows.n > 0; k++) {
        struct rp_certificate_row *row = &c->rows.at[rp_rng_below(r, c->rows.n)];
        uint64_t old = row->multiplier, unit = (uint64_t)1 << c->scale_log2;
        bool bytes = row->kind == RP_CERTIFICATE_MEM;
        uint64_t change =
            bytes ? unit / (1 + rp_rng_below(r, 500)) : unit * rp_rng_below(r, 100);
        row->multiplier = rp_rng_percent(r, 50) ? old + change
                          : old > change        ? old - change
                                                : 0;
        if (rp_certificate_check(c, &i->g, &s, &err) == RP_OK && s.bound_ns >= best)
            best = s.bound_ns;
        else
            row->multiplier = old;
    }
    return best;
}

static uint32_t n_proved; /* graphs whose bound is above the sum of op times */

static bool check_one_graph(uint64_t seed) {
    struct rp_rng r = {seed};
    struct instance i;
    struct rp_certificate c;
    struct rp_certified_bound s;
    struct rp_err err = {{0}};
    unsigned log2;
    build_instance(seed, &i);
    uint32_t stages =
        rp_rng_percent(&r, 40) ? 1 + (uint32_t)rp_rng_below(&r, i.p.n_ops) : 0;
    struct rp_formulation_options o = {.max_stages = stages};
    struct rp_pdhg_bound *b = rp_pdhg_bound_new_with(&i.p, &o);
    rp_pdhg_bound_run(b, 300000, NULL);
    const int64_t *m = rp_pdhg_bound_multipliers(b, &log2);
    uint64_t bound = rp_pdhg_bound_ns(b);
    bool good = round_trip(&i, rp_pdhg_bound_formulation(b), rp_pdhg_bound_rows(b), m, log2,
                           0, &c, &err) == RP_OK &&
                rp_certificate_check(&c, &i.g, &s, &err) == RP_OK && s.bound_ns == bound &&
                c.lower_bound_ns == bound;
    bool last_only = rp_rng_percent(&r, 50);
    size_t n = 0;
    for (size_t k = 0; k < c.rows.n && good;
         k++) /* rows of other ops are valid only if stages are in order */
        if (!last_only || c.rows.at[k].kind != RP_CERTIFICATE_MEM ||
            c.rows.at[k].op == c.rows.at[k].t)
            c.rows.at[n++] = c.rows.at[k];
    c.rows.n = n;
    c.lower_bound_ns = 0;
    for (int k = 0; k < 12 && good; k++) {
        add_random_row(&i, &r, last_only, &c);
        if (!remove_refused_terms(&i, &c, c.rows.n - 1))
            c.rows.n--;
    }
    if (good) {
        uint64_t climbed = raise_bound(&i, &r, &c);
        n_proved += climbed > i.g.total_time_ns;
        good = climbed <= i.best_ns && (!last_only || climbed <= i.sequence_ns);
    }
    rp_certificate_fini(&c);
    rp_pdhg_bound_free(b);
    free_instance(&i);
    return good;
}

static void accepted_rows_never_prove_more_than_the_optimum(void) {
    uint32_t n = 200;
    uint64_t seed = rp_gen_seed(1, &n);
    n_proved = 0;
    for (; n > 0; n--, seed++)
        if (!check_one_graph(seed)) {
            rp_gen_failed(seed);
            CU_FAIL("a certificate is wrong");
            return;
        }

    CU_ASSERT(rp_gen_one_seed() || n_proved > 30);
}

/* For any rows of the planner with any multipliers, planner and checker compute the same
 * bound. */
static bool check_one_bound(uint64_t seed, uint32_t *n_rows) {
    struct rp_rng r = {seed};
    struct instance i;
    struct rp_formulation f;
    struct rp_sep_memory memory;
    struct rp_sep_path paths;
    struct rp_row_set rows = {0};
    struct rp_certificate c;
    struct rp_certified_bound s = {0};
    struct rp_err err = {{0}};
    uint64_t bound = 0;
    build_instance(seed, &i);
    i.p.limit_bytes = rp_rng_below(&r, i.p.limit_bytes / 2 +
                                           1); /* an infeasible limit makes large bounds */
    i.budget_bytes = i.g.fixed_bytes + i.p.limit_bytes;
    uint32_t stages =
        rp_rng_percent(&r, 40) ? 1 + (uint32_t)rp_rng_below(&r, i.p.n_ops) : 0;
    rp_formulation_init(&f, &i.p, &(struct rp_formulation_options){.max_stages = stages});
    rp_sep_memory_init(&memory, &f, false);
    rp_sep_path_init(&paths, &f);
    double *v = calloc(f.n_cols + 1, sizeof *v);
    for (uint32_t k = 0; k < f.n_cols; k++)
        v[k] = (double)rp_rng_below(&r, 5) / 4;
    rp_formulation_rows(&f, &rows);
    for (uint32_t t = 0; t < f.n_stages; t++)
        for (uint32_t n = 0; n < 3; n++) {
            uint32_t first = rp_formulation_first_row(&f, t), last = f.last_op[t];
            uint32_t k = first + (uint32_t)rp_rng_below(&r, last - first + 1);
            rp_sep_memory_row(&memory, t, k, n ? v : NULL, &rows);
        }
    rp_sep_path_find(&paths, v, 0.01, 20, &rows);
    int64_t *m = calloc(rows.n + 1, sizeof *m);
    for (uint32_t k = 0; k < rows.n; k++)
        m[k] = rp_rng_percent(&r, 90)            ? 0
               : rows.name[k].kind == RP_ROW_MEM ? (int64_t)rp_rng_below(&r, 20)
                                                 : (int64_t)rp_rng_below(&r, 100000);
    bool good = rp_safe_dual_bound(&f, &rows, m, 10, &bound);
    bound = bound > i.g.total_time_ns ? bound : i.g.total_time_ns;
    good = good && round_trip(&i, &f, &rows, m, 10, 0, &c, &err) == RP_OK &&
           rp_certificate_check(&c, &i.g, &s, &err) == RP_OK && s.bound_ns == bound;
    *n_rows += bound > i.g.total_time_ns;
    if (!good)
        printf("%s: %" PRIu64 ", %" PRIu64 "\n", err.msg, bound, s.bound_ns);
    free(v);
    free(m);
    rp_certificate_fini(&c);
    rp_sep_path_fini(&paths);
    rp_sep_memory_fini(&memory);
    rp_row_set_fini(&rows);
    rp_formulation_fini(&f);
    free_instance(&i);
    return good;
}

static void planner_and_checker_compute_the_same_bound(void) {
    uint32_t n = 300, n_above = 0;
    uint64_t seed = rp_gen_seed(1, &n);
    for (; n > 0; n--, seed++)
        if (!check_one_bound(seed, &n_above)) {
            rp_gen_failed(seed);
            CU_FAIL("planner and checker disagree");
            return;
        }
    CU_ASSERT(rp_gen_one_seed() || n_above > 50);
}

void suite_certificate_rows(void) {
    RP_SUITE("certificate_rows");
    RP_TEST(accepted_rows_hold_for_every_schedule);
    RP_TEST(accepted_rows_never_prove_more_than_the_optimum);
    RP_TEST(planner_and_checker_compute_the_same_bound);
}
