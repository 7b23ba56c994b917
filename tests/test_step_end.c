/* Tests of the op `end` of an instance: where it is added, that plans whose kept tensors
 * come back after the last op are schedules with it, and that no bound is above their time.
 */
#include "solve/order/step_end.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "brute_copies.h"
#include "fixture.h"
#include "gen.h"
#include "interval_runs.h"
#include "run.h"
#include "solve/bound/pdhg_bound.h"
#include "solve/core/warm_start.h"
#include "solve/exchange/solution_plan.h"
#include "solve/incremental/incremental_check.h"
#include "solve/local/moves.h"
#include "solve/local/offload_all.h"
#include "solve/moment/moment_bound.h"
#include "solve/solver.h"
#include "verify/certificate/certificate_claim.h"
#include "verify/verifier.h"

/* f makes a; g and h make the kept b and c from it, of 10 bytes each; z reads a, and has 12
 * bytes of workspace and the kept d of 1 byte. Copies take a nanosecond a byte. The kept
 * tensors take 21 bytes, and beside z's run 37. */
static const char net[] =
    "{'format':'remat-graph','version':1,'name':'net','time_source':'none',"
    "'device':{'alignment_bytes':1,'h2d_bytes_per_s':1000000000,"
    "'d2h_bytes_per_s':1000000000,'copy_latency_ns':0},'tensors':["
    "{'name':'a','bytes':4,'kind':'activation'},"
    "{'name':'b','bytes':10,'kind':'gradient'},{'name':'c','bytes':10,'kind':'gradient'},"
    "{'name':'d','bytes':1,'kind':'gradient'}],"
    "'ops':[{'name':'f','kind':'k','inputs':[],'outputs':[0],'time_ns':10},"
    "{'name':'g','kind':'k','inputs':[0],'outputs':[1],'time_ns':10},"
    "{'name':'h','kind':'k','inputs':[0],'outputs':[2],'time_ns':10},"
    "{'name':'z','kind':'k','inputs':[0],'outputs':[3],'workspace_bytes':12,"
    "'time_ns':10}],'keep':[1,2,3]}";

static void open_net(struct rp_graph *g, struct rp_instance *p, uint64_t limit_bytes) {
    struct rp_err err = {{0}};
    char *json = rp_quoted(net);
    CU_ASSERT_EQUAL_FATAL(rp_graph_parse(json, strlen(json), "g", g, &err), RP_OK);
    rp_instance_init(p, g, limit_bytes, false, NULL);
    free(json);
}

static void close_net(struct rp_graph *g, struct rp_instance *p) {
    rp_instance_fini(p);
    rp_graph_fini(g);
}

/* ---- where it is added ---- */

static bool has_end(uint64_t limit_bytes, bool swap, struct rp_step_end_options o) {
    struct rp_graph g;
    struct rp_instance p;
    open_net(&g, &p, limit_bytes);
    if (swap)
        rp_instance_allow_swap(&p, RP_MAX_QUANTITY);
    rp_instance_add_end_if_needed(&p, o);
    bool has = p.has_end;
    CU_ASSERT_EQUAL(p.n_ops, has ? 5 : 4);
    close_net(&g, &p);
    return has;
}

/* b and c come back from the host, or are made again. */
static void it_is_there_if_the_last_op_has_no_room_beside_what_is_kept(void) {
    struct rp_step_end_options copies = {0}, runs = {.may_run = true};
    CU_ASSERT(has_end(36, true, copies));
    CU_ASSERT(!has_end(37, true, copies));
    CU_ASSERT(has_end(36, false, runs));
    CU_ASSERT(!has_end(37, false, runs));
    CU_ASSERT(!has_end(36, false, copies));
}

/* g or h may be the last op too, but takes less than z. */
static void in_any_order_every_op_that_may_be_last_counts(void) {
    static const uint32_t order[] = {0, 3, 1, 2};
    struct rp_graph g;
    struct rp_instance p;
    open_net(&g, &p, 36);
    close_net(&g, &p);
    for (int any_order = 0; any_order < 2; any_order++) {
        open_net(&g, &p, 36);
        rp_instance_fini(&p);
        rp_instance_init(&p, &g, 36, false, order);
        rp_instance_allow_swap(&p, RP_MAX_QUANTITY);
        rp_instance_add_end_if_needed(&p,
                                      (struct rp_step_end_options){.any_order = any_order});
        CU_ASSERT_EQUAL(p.has_end, any_order);
        close_net(&g, &p);
    }
}

static void it_reads_what_is_kept_after_all_others(void) {
    struct rp_graph g;
    struct rp_instance p;
    open_net(&g, &p, 21);
    rp_instance_allow_swap(&p, RP_MAX_QUANTITY);
    rp_instance_add_end_if_needed(&p, (struct rp_step_end_options){.may_run = true});
    uint32_t n = p.input_start[4];
    CU_ASSERT_EQUAL(p.input_start[5], n + 3);
    for (uint32_t k = 0; k < 3; k++) {
        CU_ASSERT_EQUAL(p.inputs[n + k], k + 1);
        CU_ASSERT_EQUAL(p.readers[p.reader_start[k + 2] - 1], 4);
    }
    CU_ASSERT_EQUAL(p.reader_start[1] - p.reader_start[0], 3);
    CU_ASSERT_EQUAL(p.output_start[5], p.output_start[4]);
    CU_ASSERT_EQUAL(p.last_stage[1], 5);
    CU_ASSERT_EQUAL(p.last_stage[4], 4);
    CU_ASSERT(!p.irreplaceable[1]);
    uint32_t op;
    CU_ASSERT_EQUAL(rp_instance_floor(&p, &op), 21);
    CU_ASSERT_EQUAL(op, RP_NONE);
    close_net(&g, &p);
}

/* Certificates assume that nothing runs there. */
static void without_runs_what_is_kept_cannot_be_made_again_there(void) {
    struct rp_graph g;
    struct rp_instance p;
    struct rp_schedule s;
    open_net(&g, &p, 21);
    rp_instance_allow_swap(&p, RP_MAX_QUANTITY);
    rp_instance_add_end_if_needed(&p, (struct rp_step_end_options){0});
    CU_ASSERT(p.irreplaceable[1]);
    rp_schedule_keep_all(&p, &s);
    CU_ASSERT(rp_schedule_cost(&p, &s).sound);
    rp_schedule_set(&s, 1, 2, 4, false);
    CU_ASSERT(!rp_schedule_cost(&p, &s).sound);
    rp_schedule_set_in(&s, 1, 4, true);
    CU_ASSERT(rp_schedule_cost(&p, &s).sound);
    rp_schedule_fini(&s);
    close_net(&g, &p);
}

/* ---- schedules and plans ---- */

/* f [0,10], g [10,20], b goes out [20,30], h [30,40] where b's free has waited, c goes out
 * [40,50], z [50,60]; c comes in [60,70], then b [70,80]. */
static void what_is_kept_may_wait_on_the_host_until_the_last_op_has_run(void) {
    static const struct rp_step late[] = {
        {.kind = RP_RUN, .id = 0},      {.kind = RP_RUN, .id = 1},
        {.kind = RP_SWAP_OUT, .id = 1}, {.kind = RP_FREE, .id = 1},
        {.kind = RP_RUN, .id = 2},      {.kind = RP_SWAP_OUT, .id = 2},
        {.kind = RP_FREE, .id = 2},     {.kind = RP_RUN, .id = 3},
        {.kind = RP_FREE, .id = 0},     {.kind = RP_SWAP_IN, .id = 2},
        {.kind = RP_SWAP_IN, .id = 1}};
    enum { N = sizeof late / sizeof *late };
    struct rp_graph g;
    struct rp_instance p;
    struct rp_schedule s;
    struct rp_plan plan = {0}, again = {0};
    open_net(&g, &p, 21);
    rp_instance_allow_swap(&p, RP_MAX_QUANTITY);
    rp_instance_add_end_if_needed(&p, (struct rp_step_end_options){.may_run = true});
    rp_schedule_empty(&p, &s);
    for (size_t i = 0; i < N; i++)
        rp_push(&plan.steps, late[i]);
    CU_ASSERT_FATAL(rp_schedule_from_plan(&p, &plan, NULL, &s));
    CU_ASSERT(rp_swapped_in(&s, 4, 1) && rp_swapped_in(&s, 4, 2));
    struct rp_cost c = rp_schedule_cost(&p, &s);
    CU_ASSERT(rp_cost_fits(&p, &c));
    CU_ASSERT_EQUAL(c.time_ns, 80);
    CU_ASSERT_EQUAL(c.peak_bytes, 21);
    rp_schedule_steps(&p, &s, NULL, &again);
    CU_ASSERT_EQUAL_FATAL(again.steps.n, N);
    for (size_t i = 0; i < N; i++)
        CU_ASSERT(again.steps.at[i].kind == late[i].kind &&
                  again.steps.at[i].id == late[i].id);
    rp_plan_fini(&plan);
    rp_plan_fini(&again);
    rp_schedule_fini(&s);
    close_net(&g, &p);
}

/* The model for other solvers has a point of the plan above, with its time. */
static void other_solvers_get_such_plans_too(void) {
    struct rp_graph g;
    struct rp_instance p;
    struct rp_schedule s = {0};
    struct rp_plan plan = {0};
    struct rp_whole_model m;
    struct rp_err err = {{0}};
    uint64_t cost_ns;
    open_net(&g, &p, 21);
    rp_instance_allow_swap(&p, RP_MAX_QUANTITY);
    rp_instance_add_end_if_needed(&p, (struct rp_step_end_options){.may_run = true});
    rp_schedule_offload_all(&p, false, &s);
    rp_schedule_steps(&p, &s, NULL, &plan);
    CU_ASSERT_EQUAL_FATAL(rp_whole_model_init(&m, &p, &err), RP_OK);
    double *x = rp_calloc(m.named.p.n_cols, sizeof *x);
    CU_ASSERT_EQUAL(rp_plan_point(&m, &plan, "p.json", x, &cost_ns, &err), RP_OK);
    CU_ASSERT_EQUAL(cost_ns, rp_schedule_cost(&p, &s).time_ns);
    free(x);
    rp_whole_model_fini(&m);
    rp_plan_fini(&plan);
    rp_schedule_fini(&s);
    close_net(&g, &p);
}

/* b is made again after z, from a that has stayed. */
static void what_is_kept_may_be_made_again_after_the_last_op(void) {
    static const struct rp_step late[] = {
        {.kind = RP_RUN, .id = 0}, {.kind = RP_RUN, .id = 1}, {.kind = RP_FREE, .id = 1},
        {.kind = RP_RUN, .id = 2}, {.kind = RP_RUN, .id = 3}, {.kind = RP_RUN, .id = 1},
        {.kind = RP_FREE, .id = 0}};
    struct rp_graph g;
    struct rp_instance p;
    struct rp_schedule s;
    struct rp_plan plan = {0};
    open_net(&g, &p, 27);
    rp_instance_add_end_if_needed(&p, (struct rp_step_end_options){.may_run = true});
    rp_schedule_empty(&p, &s);
    for (size_t i = 0; i < sizeof late / sizeof *late; i++)
        rp_push(&plan.steps, late[i]);
    CU_ASSERT_FATAL(rp_schedule_from_plan(&p, &plan, NULL, &s));
    struct rp_cost c = rp_schedule_cost(&p, &s);
    CU_ASSERT(rp_cost_fits(&p, &c));
    CU_ASSERT_EQUAL(c.time_ns, 50);
    CU_ASSERT_EQUAL(c.peak_bytes, 27);
    rp_plan_fini(&plan);
    rp_schedule_fini(&s);
    close_net(&g, &p);
}

/* ---- random graphs ---- */

/* A graph with many kept tensors, and a limit between its floor and what the last op takes
 * beside them. False if there is no such limit. */
static bool draw(uint64_t seed, uint32_t n_ops, bool swap, struct rp_step_end_options o,
                 struct rp_graph *g, struct rp_instance *p) {
    struct rp_rng r = {seed * 41 + 3};
    struct rp_gen_shape shape = rp_gen_small(n_ops);
    uint32_t op;
    shape.keep_percent = 40;
    shape.max_outputs = 1 + (uint32_t)(seed % 2);
    shape.training = seed % 3 != 0;
    shape.once_percent = seed % 5 == 0 ? 20 : 0;
    shape.rules_percent = seed % 4 == 0 ? 15 : 0;
    shape.n_sources = seed % 3;
    rp_gen_graph(seed, &shape, g);
    g->device.h2d_bytes_per_s = 1000000000u * (1 + rp_rng_below(&r, 200));
    g->device.d2h_bytes_per_s = 1000000000u * (1 + rp_rng_below(&r, 200));
    rp_instance_init(p, g, g->fixed_bytes, false, NULL);
    if (swap)
        rp_instance_allow_swap(p, rp_rng_percent(&r, 20) ? 2000 : RP_MAX_QUANTITY);
    p->limit_bytes = rp_instance_floor(p, &op) + 500 * rp_rng_below(&r, 3);
    rp_instance_add_end_if_needed(p, o);
    return p->has_end;
}

static void the_state_of_the_search_is_right_after_every_move(void) {
    uint32_t n = 60, n_ends = 0;
    uint64_t n_late = 0;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++) {
        struct rp_graph g;
        struct rp_instance p;
        struct rp_schedule s;
        struct rp_incremental state;
        struct rp_incremental_fault fault = {""};
        struct rp_step_end_options o = {.may_run = seed % 4 > 0};
        uint64_t random = seed;
        uint32_t row;
        bool right = true, has = draw(seed, 6 + (uint32_t)(seed % 40), true, o, &g, &p);
        rp_incremental_init(&state, &p);
        rp_schedule_keep_all(&p, &s);
        if (seed % 2)
            rp_schedule_offload_all(&p, false, &s);
        rp_incremental_load(&state, &s);
        for (int k = 0; k < 150 && right && has; k++) {
            if (rp_propose_move(&state, &random, &row) &&
                rp_incremental_evaluate(&state, 1, k % 2 ? 1e30 : 0, k % 3 == 0))
                rp_incremental_commit(&state);
            else
                rp_incremental_undo(&state);
            right = rp_incremental_check(&state, &fault);
            n_late += state.swaps.swap_ins[p.n_ops - 1].n;
        }
        n_ends += has;
        if (!right) {
            rp_gen_failed(seed);
            printf("%s\n", fault.text);
            CU_FAIL("the state is not what its schedule says");
        }
        rp_schedule_fini(&s);
        rp_incremental_fini(&state);
        rp_instance_fini(&p);
        rp_graph_fini(&g);
    }
    CU_ASSERT(rp_gen_one_seed() || (n_ends > 20 && n_late > 1500));
}

/* If the link is fast enough for nothing to stall for long, all that has no use is on the
 * host, so the peak is the floor; tensors of no bytes and held ones aside. */
static void offloading_all_reaches_the_floor(void) {
    uint32_t n = 200, n_ends = 0;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++) {
        struct rp_graph g;
        struct rp_instance p;
        struct rp_schedule s = {0};
        uint32_t op;
        if (draw(seed, 4 + (uint32_t)(seed % 60), true, (struct rp_step_end_options){0}, &g,
                 &p)) {
            n_ends++;
            rp_schedule_offload_all(&p, false, &s);
            struct rp_cost c = rp_schedule_cost(&p, &s);
            CU_ASSERT(c.sound && c.peak_bytes == rp_instance_floor(&p, &op));
        }
        rp_schedule_fini(&s);
        rp_instance_fini(&p);
        rp_graph_fini(&g);
    }
    CU_ASSERT(rp_gen_one_seed() || n_ends > 50);
}

/* ---- bounds ---- */

static uint64_t pdhg_bound_ns(const struct rp_instance *p, uint64_t horizon_ns) {
    struct rp_pdhg_bound *b = rp_pdhg_bound_new(p, horizon_ns);
    rp_pdhg_bound_run(b, 600000, NULL);
    uint64_t bound_ns = rp_pdhg_bound_ns(b);
    rp_pdhg_bound_free(b);
    return bound_ns;
}

static uint64_t certified_bound_ns(const struct rp_graph *g, const struct rp_instance *p,
                                   uint64_t horizon_ns) {
    struct rp_instance certified;
    rp_instance_init(&certified, g, g->fixed_bytes + p->limit_bytes, false, NULL);
    rp_instance_allow_swap(&certified, p->host_limit_bytes);
    rp_instance_for_certificate(&certified);
    uint64_t bound_ns = pdhg_bound_ns(&certified, horizon_ns);
    rp_instance_fini(&certified);
    return bound_ns;
}

/* How far bounds and fastest programs are above the sum of op times, of all graphs. */
struct tally {
    uint32_t n;
    uint64_t best_ns, pdhg_ns, interval_ns, moment_ns, once_ns, certified_ns;
};

static bool bounds_hold(struct tally *t, const struct rp_graph *g,
                        const struct rp_instance *p, uint64_t best_ns) {
    uint64_t all_ns = g->total_time_ns;
    struct rp_interval_model m;
    struct rp_moment_statistics statistics = {0};
    struct rp_moment_bound_options mo = {
        .horizon_ns = best_ns, .goal_ns = UINT64_MAX, .work = 100000};
    uint64_t pdhg_ns = pdhg_bound_ns(p, p->out_ns != NULL ? best_ns : 0);
    rp_interval_model_init(&m, p, best_ns);
    uint64_t interval_ns = rp_solve_and_free(&m, 20000).bound_ns;
    uint64_t moment_ns = rp_moment_bound(p, &mo, &statistics).bound_ns;
    t->n++;
    t->best_ns += best_ns - all_ns;
    t->pdhg_ns += pdhg_ns - all_ns;
    t->interval_ns += interval_ns - all_ns;
    t->moment_ns += moment_ns - all_ns;
    return interval_ns <= best_ns && moment_ns <= best_ns;
}

/* A bound for certificates is one for programs that run nothing after the last first run,
 * so it holds for all that run nothing twice. */
static bool certified_holds(struct tally *t, const struct rp_graph *g,
                            const struct rp_instance *p, struct rp_brute_copies o) {
    uint64_t once_ns;
    o.recompute = false;
    if (!o.swap || rp_brute_copies_best(g, &o, &once_ns) != RP_BRUTE_FOUND)
        return true;
    uint64_t bound_ns = certified_bound_ns(g, p, once_ns);
    t->once_ns += once_ns - g->total_time_ns;
    t->certified_ns += bound_ns - g->total_time_ns;
    return bound_ns <= once_ns;
}

/* Of solve's plan and its bound, against the fastest of all programs. */
static bool solve_agrees(const struct rp_graph *g, const struct rp_brute_copies *b,
                         uint64_t best_ns, bool addressed) {
    struct rp_plan plan;
    struct rp_solve_report report;
    struct rp_err err = {{0}};
    struct rp_solve_options o = {.budget_bytes = g->fixed_bytes + b->limit_bytes,
                                 .addressed = addressed,
                                 .recompute = b->recompute,
                                 .swap = b->swap,
                                 .host_bytes = b->host_limit_bytes,
                                 .time_limit = 0.05,
                                 .ignore_clock = true,
                                 .seed = 1};
    bool good = rp_solve(g, &o, &plan, &report, &err) == RP_OK &&
                plan.claims.time_ns == best_ns && plan.claims.lower_bound_ns <= best_ns;
    rp_plan_fini(&plan);
    return good;
}

static bool agrees_with_brute_force(uint64_t seed, struct tally *t) {
    struct rp_graph g;
    struct rp_instance p;
    bool swap = seed % 4 > 0, good = true;
    uint64_t best_ns;
    if (draw(seed, 3 + (uint32_t)(seed % 4), swap,
             (struct rp_step_end_options){.may_run = true}, &g, &p)) {
        struct rp_brute_copies o = {.limit_bytes = p.limit_bytes,
                                    .host_limit_bytes = swap ? p.host_limit_bytes : 0,
                                    .recompute = true,
                                    .swap = swap,
                                    .max_states = 100000};
        if (p.n_tensors <= RP_BRUTE_COPIED &&
            rp_brute_copies_best(&g, &o, &best_ns) == RP_BRUTE_FOUND)
            good = bounds_hold(t, &g, &p, best_ns) && certified_holds(t, &g, &p, o) &&
                   solve_agrees(&g, &o, best_ns, false);
    }
    rp_instance_fini(&p);
    rp_graph_fini(&g);
    return good;
}

static void bounds_and_plans_agree_with_brute_force(void) {
    uint32_t n = 250;
    struct tally t = {0};
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++)
        if (!agrees_with_brute_force(seed, &t)) {
            rp_gen_failed(seed);
            CU_FAIL("not the optimum, or a bound above it");
        }
    if (rp_gen_one_seed())
        return;
    CU_ASSERT(100 * t.interval_ns >= 90 * t.best_ns && 100 * t.pdhg_ns >= 50 * t.best_ns);
    CU_ASSERT(100 * t.moment_ns >= 20 * t.best_ns &&
              100 * t.certified_ns >= 25 * t.once_ns);
    CU_ASSERT(t.n > 25);
}

/* ---- a search that A* is no part of ---- */

/* LAYERS layers: op i makes activation i from the one before; then, from the last layer on,
 * one op makes the layer's kept gradient, of 3 bytes, and one its error. Activations and
 * errors have 10 bytes. Beside all that is kept, the last op has no room for its 20. */
enum { LAYERS = 30, KEPT_BYTES = 3 * LAYERS };

static void put_tensors(FILE *f, const char *name, const char *kind, int bytes) {
    for (int i = 0; i < LAYERS; i++)
        fprintf(f, "{'name':'%s%d','bytes':%d,'kind':'%s'},", name, i, bytes, kind);
}

static void put_op(FILE *f, const char *name, int i, int a, int b, int out) {
    fprintf(f, "{'name':'%s%d','kind':'k','inputs':[", name, i);
    if (a >= 0)
        fprintf(f, "%d", a);
    if (b >= 0)
        fprintf(f, ",%d", b);
    fprintf(f, "],'outputs':[%d],'time_ns':10},", out);
}

static void make_layers(struct rp_graph *g) {
    struct rp_err err = {{0}};
    char *text;
    size_t len;
    FILE *f = open_memstream(&text, &len);
    fputs("{'format':'remat-graph','version':1,'name':'layers','time_source':'none',"
          "'device':{'alignment_bytes':1,'h2d_bytes_per_s':200000000,"
          "'d2h_bytes_per_s':200000000,'copy_latency_ns':0},'tensors':[",
          f);
    put_tensors(f, "a", "activation", 10);
    put_tensors(f, "w", "gradient", 3);
    put_tensors(f, "e", "gradient", 10);
    fputs("{'name':'loss','bytes':0,'kind':'gradient'}],'ops':[", f);
    for (int i = 0; i < LAYERS; i++)
        put_op(f, "forward", i, i - 1, -1, i);
    for (int i = LAYERS; i-- > 0;) {
        int error = i + 1 < LAYERS ? 2 * LAYERS + i + 1 : -1;
        put_op(f, "weight", i, i, error, LAYERS + i);
        put_op(f, "error", i, i, error, 2 * LAYERS + i);
    }
    fputs(
        "{'name':'last','kind':'k','inputs':[0,60],'outputs':[90],'time_ns':10}],'keep':[",
        f);
    for (int i = 0; i < LAYERS; i++)
        fprintf(f, "%s%d", i > 0 ? "," : "", LAYERS + i);
    fputs("]}", f);
    fclose(f);
    char *json = rp_quoted(text);
    CU_ASSERT_EQUAL_FATAL(rp_graph_parse(json, strlen(json), "layers", g, &err), RP_OK);
    free(json);
    free(text);
}

static void every_search_finds_a_plan_at_the_floor(void) {
    static const struct {
        bool addressed, recompute, reorder;
        uint64_t host_bytes;
    } cases[] = {{false, true, false, RP_MAX_QUANTITY},
                 {true, true, false, RP_MAX_QUANTITY},
                 {false, false, false, RP_MAX_QUANTITY},
                 {false, true, true, RP_MAX_QUANTITY},
                 {false, true, false, KEPT_BYTES + 5 * LAYERS}};
    struct rp_graph g;
    make_layers(&g);
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        struct rp_plan plan;
        struct rp_solve_report report;
        struct rp_verdict v;
        struct rp_err err = {{0}};
        struct rp_solve_options o = {.budget_bytes = KEPT_BYTES,
                                     .addressed = cases[k].addressed,
                                     .recompute = cases[k].recompute,
                                     .reorder = cases[k].reorder,
                                     .swap = true,
                                     .host_bytes = cases[k].host_bytes,
                                     .time_limit = 0.05,
                                     .ignore_clock = true,
                                     .seed = 1};
        CU_ASSERT_EQUAL_FATAL(rp_solve(&g, &o, &plan, &report, &err), RP_OK);
        CU_ASSERT_EQUAL(report.floor_bytes, KEPT_BYTES);
        CU_ASSERT_EQUAL(rp_verify(&g, &plan, &v, &err), RP_OK);
        CU_ASSERT(plan.steps.n > 0 && plan.host_bytes <= cases[k].host_bytes);
        rp_plan_fini(&plan);
    }
    rp_graph_fini(&g);
}

/* The certificate is one for plans that copy after the last first run. A faster plan than
 * its rows allow is refused, so the check takes this one for one of those. */
static void its_certificate_is_accepted_and_too_high_a_claim_is_not(void) {
    char path[] = "/tmp/remat-plan-test-XXXXXX";
    struct rp_graph g;
    struct rp_plan plan;
    struct rp_solve_report report;
    struct rp_certificate c;
    struct rp_certified_bound bound;
    struct rp_err err = {{0}};
    int fd = mkstemp(path);
    CU_ASSERT_FATAL(fd >= 0);
    close(fd);
    make_layers(&g);
    struct rp_solve_options o = {.budget_bytes = KEPT_BYTES,
                                 .recompute = true,
                                 .swap = true,
                                 .host_bytes = RP_MAX_QUANTITY,
                                 .certificate = path,
                                 .time_limit = 0.2,
                                 .ignore_clock = true,
                                 .seed = 1};
    CU_ASSERT_EQUAL_FATAL(rp_solve(&g, &o, &plan, &report, &err), RP_OK);
    CU_ASSERT_EQUAL(plan.steps.at[plan.steps.n - 1].kind, RP_SWAP_IN);
    CU_ASSERT_EQUAL_FATAL(rp_certificate_load(path, &c, &err), RP_OK);
    unlink(path);
    CU_ASSERT_EQUAL_FATAL(rp_certificate_check(&c, &g, &bound, &err), RP_OK);
    CU_ASSERT(bound.bound_ns > g.total_time_ns && bound.bound_ns <= plan.claims.time_ns);
    plan.claims.lower_bound_ns = bound.bound_ns;
    CU_ASSERT_EQUAL(rp_certificate_check_plan(&c, &g, &plan, &bound, &err), RP_OK);
    plan.claims.lower_bound_ns = bound.bound_ns + 1;
    CU_ASSERT_EQUAL(rp_certificate_check_plan(&c, &g, &plan, &bound, &err), RP_NO);
    plan.claims.time_ns = bound.bound_ns - 1;
    err = (struct rp_err){{0}};
    CU_ASSERT_EQUAL(rp_certificate_check_plan(&c, &g, &plan, &bound, &err), RP_NO);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.msg, "its rows give a bound of"));
    rp_certificate_fini(&c);
    rp_plan_fini(&plan);
    rp_graph_fini(&g);
}

void suite_step_end(void) {
    RP_SUITE("step_end");
    RP_TEST(it_is_there_if_the_last_op_has_no_room_beside_what_is_kept);
    RP_TEST(in_any_order_every_op_that_may_be_last_counts);
    RP_TEST(it_reads_what_is_kept_after_all_others);
    RP_TEST(without_runs_what_is_kept_cannot_be_made_again_there);
    RP_TEST(what_is_kept_may_wait_on_the_host_until_the_last_op_has_run);
    RP_TEST(other_solvers_get_such_plans_too);
    RP_TEST(what_is_kept_may_be_made_again_after_the_last_op);
    RP_TEST(the_state_of_the_search_is_right_after_every_move);
    RP_TEST(offloading_all_reaches_the_floor);
    RP_TEST(bounds_and_plans_agree_with_brute_force);
    RP_TEST(every_search_finds_a_plan_at_the_floor);
    RP_TEST(its_certificate_is_accepted_and_too_high_a_claim_is_not);
}
