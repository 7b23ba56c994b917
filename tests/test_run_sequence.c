/* Tests of solve/order/run_sequence.h. All totals and queries are compared with values
 * computed from the plain list of ops. */
#include "solve/order/run_sequence.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/mem.h"
#include "gen.h"
#include "run.h"
#include "solve/core/plan_claims.h"
#include "verify/verifier.h"

enum { MAX_OPS = 24, MAX_RUNS = 3 * MAX_OPS + 16 };

/* The ops of a sequence. */
struct plain {
    const struct rp_instance *p;
    uint32_t n, op[MAX_RUNS];
};

static struct plain list_ops(const struct rp_run_sequence *s) {
    struct plain o = {.p = s->p};
    o.n = rp_run_sequence_ops(s, o.op);
    return o;
}

static uint32_t maker_before(const struct plain *o, uint32_t x, uint32_t q) {
    while (q-- > 0)
        if (o->op[q] == o->p->producer[x])
            return q;
    return RP_NONE;
}

static bool reads(const struct rp_instance *p, uint32_t j, uint32_t x) {
    for (uint32_t k = p->input_start[j]; k < p->input_start[j + 1]; k++)
        if (p->inputs[k] == x)
            return true;
    return false;
}

static uint32_t runs_before(const struct plain *o, uint32_t j, uint32_t q) {
    uint32_t n = 0;
    while (q-- > 0)
        n += o->op[q] == j;
    return n;
}

static const struct rp_op *op_at(const struct plain *o, uint32_t q) {
    return &o->p->graph->ops[o->p->op_of[o->op[q]]];
}

static bool updates(const struct rp_op *op, uint32_t x) {
    for (uint32_t k = 0; k < op->n_updates; k++)
        if (op->updates[k] == x)
            return true;
    return false;
}

/* Does the run at position q find source x after as many updates as in the graph? */
static bool finds_version(const struct plain *o, uint32_t q, uint32_t x) {
    const struct rp_graph *g = o->p->graph;
    uint32_t wanted = 0, found = 0;
    for (uint32_t i = 0; i < o->p->op_of[o->op[q]]; i++)
        wanted += updates(&g->ops[i], x);
    for (uint32_t k = 0; k < q; k++)
        found += updates(op_at(o, k), x);
    return found == wanted;
}

static bool finds_versions(const struct plain *o, uint32_t q) {
    const struct rp_op *op = op_at(o, q);
    bool ok = true;
    for (uint32_t k = 0; k < op->n_inputs; k++)
        ok = ok && finds_version(o, q, op->inputs[k]);
    for (uint32_t k = 0; k < op->n_updates; k++)
        ok = ok && finds_version(o, q, op->updates[k]);
    return ok;
}

/* Have all inputs been made and updated before each run, and are the first runs of run-once
 * and ordered ops in order? */
static bool is_legal(const struct plain *o) {
    uint32_t last = 0;
    for (uint32_t q = 0; q < o->n; q++) {
        uint32_t j = o->op[q];
        for (uint32_t x = 0; x < o->p->n_tensors; x++)
            if (reads(o->p, j, x) && maker_before(o, x, q) == RP_NONE)
                return false;
        if (!finds_versions(o, q))
            return false;
        if ((op_at(o, q)->recompute && !op_at(o, q)->ordered) || runs_before(o, j, q) > 0)
            continue;
        if (j < last)
            return false;
        last = j;
    }
    return true;
}

/* ---- totals ---- */

/* The live bytes before each position, from when each value is made and last read. */
static void find_live(const struct plain *o, int64_t *live) {
    memset(live, 0, (o->n + 1) * sizeof *live);
    for (uint32_t x = 0; x < o->p->n_tensors; x++)
        for (uint32_t m = 0; m < o->n; m++) {
            uint32_t last = m;
            if (o->op[m] != o->p->producer[x])
                continue;
            for (uint32_t q = m; q < o->n; q++)
                if (reads(o->p, o->op[q], x) && maker_before(o, x, q) == m)
                    last = q;
            if (o->p->pinned[x])
                last = maker_before(o, x, m) == RP_NONE ? o->n : m;
            else if (o->p->kept[x] && maker_before(o, x, o->n) == m)
                last = o->n;
            for (uint32_t q = m + 1; q <= last; q++)
                live[q] += (int64_t)o->p->bytes[x];
        }
}

static bool totals_hold(const struct rp_run_sequence *s) {
    const struct rp_instance *p = s->p;
    struct plain o = list_ops(s);
    int64_t live[MAX_RUNS + 1];
    double overflow = 0, all_ns = 0;
    find_live(&o, live);
    for (uint32_t q = 0; q < o.n; q++) {
        uint32_t j = o.op[q];
        int64_t over = live[q] + (int64_t)(p->workspace_bytes[j] - p->limit_bytes);
        for (uint32_t x = p->output_start[j]; x < p->output_start[j + 1]; x++)
            over += p->pinned[x] && maker_before(&o, x, q) != RP_NONE
                        ? (int64_t)p->shadow_bytes[x]
                        : (int64_t)p->bytes[x];
        over = over > 0 ? over : 0;
        overflow += (double)over;
        all_ns += (double)p->time_ns[j];
        if (s->over_bytes[q] != (double)over || s->live_bytes[q] != live[q])
            return false;
    }
    return s->live_bytes[o.n] == live[o.n] && s->overflow_bytes == overflow &&
           s->recompute_ns == all_ns - (double)p->graph->total_time_ns;
}

/* ---- runs and positions ---- */

static bool lists_hold(const struct rp_run_sequence *s) {
    uint32_t n_extra = 0;
    for (uint32_t q = 0; q < s->n; q++) {
        uint32_t r = s->at[q];
        if (s->place[r] != q || (r < s->p->n_ops && s->op[r] != r))
            return false;
        if (r >= s->p->n_ops && (s->repeat_index[r] >= s->n - s->p->n_ops ||
                                 s->repeats[s->repeat_index[r]] != r))
            return false;
        n_extra += r >= s->p->n_ops;
    }
    return n_extra == s->n - s->p->n_ops;
}

/* The sequence after the run at position `from` has moved to position `to`. */
static struct plain after_move(const struct plain *o, uint32_t from, uint32_t to) {
    struct plain m = {.p = o->p};
    for (uint32_t q = 0; q < o->n; q++)
        if (q != from)
            m.op[m.n++] = o->op[q];
    memmove(m.op + to + 1, m.op + to, (m.n - to) * sizeof *m.op);
    m.op[to] = o->op[from];
    m.n++;
    return m;
}

static bool queries_hold(const struct rp_run_sequence *s) {
    struct plain o = list_ops(s);
    for (uint32_t from = 0; from < o.n; from++) {
        uint32_t low, high, r = s->at[from];
        rp_run_sequence_range(s, r, &low, &high);
        for (uint32_t to = 0; to < o.n; to++) {
            struct plain m = after_move(&o, from, to);
            if ((low <= to && to <= high) != is_legal(&m))
                return false;
        }
        if (r >= s->p->n_ops) {
            struct plain m = after_move(&o, from, o.n - 1);
            m.n--;
            if (rp_run_sequence_may_remove(s, r) != is_legal(&m))
                return false;
        }
    }
    for (uint32_t x = 0; x < s->p->n_tensors; x++)
        for (uint32_t q = 0; q <= o.n; q++) {
            uint32_t maker = maker_before(&o, x, q);
            if (rp_run_sequence_maker(s, x, q) != (maker == RP_NONE ? maker : s->at[maker]))
                return false;
        }
    return true;
}

/* Are the steps a plan that verify accepts, with the peak and the rerun time of the totals?
 */
static bool steps_hold(const struct rp_run_sequence *s) {
    const struct rp_instance *p = s->p;
    struct rp_plan plan = {.graph_name = rp_strdup(p->graph->name),
                           .graph_sha256 = rp_strdup(p->graph->sha256),
                           .budget_bytes = RP_MAX_QUANTITY};
    struct plain o = list_ops(s);
    struct rp_verdict v;
    struct rp_err err = {{0}};
    int64_t peak = s->live_bytes[s->n];
    for (uint32_t q = 0; q < o.n; q++) {
        int64_t now = s->live_bytes[q] + s->alloc_bytes[s->at[q]] +
                      (int64_t)p->workspace_bytes[o.op[q]];
        peak = now > peak ? now : peak;
    }
    rp_run_sequence_steps(s, &plan);
    bool ok = rp_plan_fill_claims(p->graph, &plan, &err) == RP_OK &&
              rp_verify(p->graph, &plan, &v, &err) == RP_OK &&
              (int64_t)plan.claims.peak_bytes == (int64_t)p->graph->fixed_bytes + peak &&
              (double)plan.claims.recompute_ns == s->recompute_ns;
    rp_plan_fini(&plan);
    return ok;
}

/* A new sequence built from the same ops has the same totals. */
static bool new_one_holds(const struct rp_run_sequence *s) {
    struct rp_run_sequence fresh;
    struct plain o = list_ops(s);
    rp_run_sequence_init(&fresh, s->p, o.op, o.n);
    bool ok = fresh.n == s->n && totals_hold(&fresh) && lists_hold(&fresh);
    rp_run_sequence_fini(&fresh);
    rp_run_sequence_fini(&fresh);
    return ok;
}

static bool all_holds(const struct rp_run_sequence *s) {
    return totals_hold(s) && lists_hold(s) && queries_hold(s) && steps_hold(s) &&
           new_one_holds(s);
}

/* ---- edits ---- */

static void random_move(struct rp_run_sequence *s, struct rp_rng *rng) {
    uint32_t low, high, q = (uint32_t)rp_rng_below(rng, s->n);
    rp_run_sequence_range(s, s->at[q], &low, &high);
    rp_run_sequence_move(s, q, low + (uint32_t)rp_rng_below(rng, high - low + 1));
}

static void random_insert(struct rp_run_sequence *s, struct rp_rng *rng, uint32_t j,
                          uint32_t q) {
    uint32_t to = q + 1 + (uint32_t)rp_rng_below(rng, s->n - q);
    if (to <= rp_run_sequence_last_place(s, j))
        rp_run_sequence_insert(s, j, to);
}

static void random_edit(struct rp_run_sequence *s, struct rp_rng *rng) {
    uint32_t q = (uint32_t)rp_rng_below(rng, s->n), r = s->at[q], j = s->op[r];
    uint64_t die = rp_rng_below(rng, 3);
    if (die == 0)
        random_move(s, rng);
    else if (die == 1 && s->p->last_stage[j] > j)
        random_insert(s, rng, j, q);
    else if (die == 2 && r >= s->p->n_ops && rp_run_sequence_may_remove(s, r))
        rp_run_sequence_remove(s, r);
}

static void open_case(uint64_t seed, uint32_t n_ops, struct rp_graph *g,
                      struct rp_instance *p) {
    struct rp_gen_shape shape = rp_gen_small(n_ops);
    shape.once_percent = seed % 3 * 10;
    shape.training = seed % 2;
    shape.rules_percent = seed % 5 > 2 ? 25 : 0;
    shape.n_sources = seed % 4; /* without sources the lists end exactly, so a sanitizer
                                   sees reads beyond them */
    rp_gen_graph(seed, &shape, g);
    rp_instance_init(p, g, g->fixed_bytes + 1000 * (1 + seed % 4), false, NULL);
}

static bool edits_are_sound(uint64_t seed) {
    struct rp_graph g;
    struct rp_instance p;
    struct rp_run_sequence s;
    struct rp_rng rng = {seed};
    open_case(seed, 3 + (uint32_t)(seed % 12), &g, &p);
    rp_run_sequence_init(&s, &p, NULL, p.n_ops);
    bool ok = all_holds(&s);
    for (int k = 0; k < 40 && ok; k++) {
        random_edit(&s, &rng);
        ok = all_holds(&s);
    }
    rp_run_sequence_fini(&s);
    rp_instance_fini(&p);
    rp_graph_fini(&g);
    return ok;
}

static void after_random_edits_all_totals_and_queries_are_right(void) {
    uint32_t n = 60;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++)
        if (!edits_are_sound(seed)) {
            rp_gen_failed(seed);
            CU_FAIL("a total or an answer is not what the ops say");
        }
}

/* Inserts as many runs as the sequence can hold, and then removes those that may go. */
static bool filled_and_emptied(uint64_t seed) {
    struct rp_graph g;
    struct rp_instance p;
    struct rp_run_sequence s;
    struct rp_rng rng = {seed};
    open_case(seed, 3, &g, &p);
    rp_run_sequence_init(&s, &p, NULL, p.n_ops);
    bool ok = true;
    for (uint64_t k = 0; s.n < s.capacity && ok; k++) {
        uint32_t q = (uint32_t)rp_rng_below(&rng, s.n), j = s.op[s.at[q]];
        q = k % 4 == 0 ? s.n : q + 1;
        ok = p.last_stage[j] == j || q > rp_run_sequence_last_place(&s, j) ||
             rp_run_sequence_insert(&s, j, q);
    }
    for (int k = 0; k < 40 && ok; k++)
        random_move(&s, &rng);
    ok = ok && all_holds(&s) && !rp_run_sequence_insert(&s, s.op[s.at[0]], 1) &&
         all_holds(&s);
    /* A rerun that was moved before the op's first run may be needed. */
    for (int k = 0; k < 300 && s.n > p.n_ops && ok; k++) {
        uint32_t r = s.repeats[rp_rng_below(&rng, s.n - p.n_ops)];
        if (rp_run_sequence_may_remove(&s, r))
            rp_run_sequence_remove(&s, r);
        ok = all_holds(&s);
    }
    rp_run_sequence_fini(&s);
    rp_instance_fini(&p);
    rp_graph_fini(&g);
    return ok;
}

static void a_sequence_can_be_filled_with_runs_and_emptied_again(void) {
    uint32_t n = 6;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++)
        if (!filled_and_emptied(seed)) {
            rp_gen_failed(seed);
            CU_FAIL("a full sequence is not right, or one after it");
        }
}

/* ---- work ---- */

/* Ops 1 .. 11 read what op 0 makes. Ops 12 .. 23 are unconnected. */
static void star(struct rp_graph *g) {
    char *text;
    size_t len;
    struct rp_err err = {{0}};
    FILE *f = rp_text_open(&text, &len);
    fputs("{\"format\":\"remat-graph\",\"version\":1,\"name\":\"star\","
          "\"time_source\":\"imported:x\",\"keep\":[],\"tensors\":[",
          f);
    for (int x = 0; x < MAX_OPS; x++)
        fprintf(f, "%s{\"name\":\"x\",\"bytes\":1,\"kind\":\"activation\"}",
                x > 0 ? "," : "");
    fputs("],\"ops\":[", f);
    for (int j = 0; j < MAX_OPS; j++)
        fprintf(f,
                "%s{\"name\":\"f\",\"kind\":\"k\",\"inputs\":[%s],\"outputs\":[%d],"
                "\"time_ns\":1}",
                j > 0 ? "," : "", j > 0 && j < MAX_OPS / 2 ? "0" : "", j);
    fputs("]}", f);
    rp_text_close(f);
    CU_ASSERT_EQUAL_FATAL(rp_graph_parse(text, len, "star", g, &err), RP_OK);
    free(text);
}

static uint64_t work_of_move(struct rp_run_sequence *s, uint32_t from, uint32_t to) {
    uint64_t before = s->work;
    rp_run_sequence_move(s, from, to);
    uint64_t work = s->work - before;
    rp_run_sequence_move(s, to, from);
    return work;
}

static uint64_t work_of_insert(struct rp_run_sequence *s, uint32_t j, uint32_t q) {
    uint64_t before = s->work;
    CU_ASSERT(rp_run_sequence_insert(s, j, q));
    uint64_t work = s->work - before;
    rp_run_sequence_remove(s, s->at[q]);
    return work;
}

/* A search is limited by this count of work, so it must grow with the time that an edit
 * takes. */
static void work_grows_with_the_size_of_an_edit(void) {
    struct rp_graph g;
    struct rp_instance p;
    struct rp_run_sequence s;
    star(&g);
    rp_instance_init(&p, &g, RP_MAX_QUANTITY / 2, false, NULL);
    rp_run_sequence_init(&s, &p, NULL, p.n_ops);
    CU_ASSERT(work_of_move(&s, 23, 23) > 0);
    CU_ASSERT(work_of_move(&s, 23, 13) >=
              work_of_move(&s, 23, 22) + 5); /* positions passed */
    CU_ASSERT(work_of_insert(&s, 12, 13) >=
              work_of_insert(&s, 23, 24) + 2); /* runs moved */
    CU_ASSERT(work_of_insert(&s, 0, 1) >=
              work_of_insert(&s, 12, 13) + 11); /* readers updated */
    rp_run_sequence_fini(&s);
    rp_instance_fini(&p);
    rp_graph_fini(&g);
}

void suite_run_sequence(void) {
    RP_SUITE("run_sequence");
    RP_TEST(after_random_edits_all_totals_and_queries_are_right);
    RP_TEST(a_sequence_can_be_filled_with_runs_and_emptied_again);
    RP_TEST(work_grows_with_the_size_of_an_edit);
}
