/* Tests of solve/incremental/incremental_check.h: it accepts the state after any move, and
 * rejects a state in which one field is wrong. Also tests of the table of moves. */
#include "solve/incremental/incremental_check.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/random.h"
#include "gen.h"
#include "run.h"
#include "solve/incremental/incremental_internal.h"
#include "solve/incremental/incremental_timeline.h"
#include "solve/local/anneal.h"
#include "solve/local/moves.h"
#include "solve/solver.h"

struct task {
    struct rp_graph g;
    struct rp_instance p;
    struct rp_incremental s;
    uint64_t random;
};

static struct rp_gen_shape training_shape(uint64_t seed, uint32_t n_ops) {
    struct rp_gen_shape shape = rp_gen_small(n_ops);
    shape.training = true;
    shape.rules_percent = seed % 2 * 10;
    return shape;
}

static void task_begin(struct task *k, uint64_t seed, const struct rp_gen_shape *shape,
                       bool swap) {
    struct rp_schedule all;
    rp_gen_graph(seed, shape, &k->g);
    k->g.device.d2h_bytes_per_s = k->g.device.h2d_bytes_per_s = 40000000000u;
    uint64_t fixed = k->g.fixed_bytes, bytes = rp_keep_all_bytes(&k->g, false) - fixed;
    rp_instance_init_homes(&k->p, &k->g, fixed + bytes / 10 * 6, false, NULL);
    if (swap)
        rp_instance_allow_swap(&k->p, RP_MAX_QUANTITY);
    rp_incremental_init(&k->s, &k->p);
    rp_schedule_keep_all(&k->p, &all);
    rp_incremental_load(&k->s, &all);
    rp_schedule_fini(&all);
    k->random = seed;
}

static void task_init(struct task *k, uint64_t seed, uint32_t n_ops, bool swap) {
    struct rp_gen_shape shape = training_shape(seed, n_ops);
    task_begin(k, seed, &shape, swap);
}

/* Sources may live on the host, and ops update them. */
static void task_init_homes(struct task *k, uint64_t seed, uint32_t n_ops) {
    struct rp_gen_shape shape = training_shape(seed, n_ops);
    shape.version_2 = true;
    shape.rules_percent = 0;
    shape.n_sources = 6;
    task_begin(k, seed, &shape, true);
}

static void task_fini(struct task *k) {
    rp_incremental_fini(&k->s);
    rp_instance_fini(&k->p);
    rp_graph_fini(&k->g);
}

/* Tries one move of the search. The move is kept if it can be made and, in most cases, if
 * it does not cost much. */
static void make_move(struct task *k) {
    double max_rise = rp_random_below(&k->random, 2) ? 1e30 : 0;
    uint32_t row;
    if (rp_propose_move(&k->s, &k->random, &row) &&
        rp_incremental_evaluate(&k->s, 1, max_rise, rp_random_below(&k->random, 2)))
        rp_incremental_commit(&k->s);
    else
        rp_incremental_undo(&k->s);
}

static bool is_right(const struct task *k, const char **text) {
    static struct rp_incremental_fault fault;
    bool right = rp_incremental_check(&k->s, &fault);
    *text = fault.text;
    return right;
}

static void the_state_passes_the_check_after_every_move(void) {
    uint32_t n = 40;
    uint64_t n_swapped = 0, n_recomputed = 0;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++) {
        struct task k;
        const char *text = "";
        bool right = true;
        task_init(&k, seed, 8 + (uint32_t)(seed % 70), seed % 3 > 0);
        for (int i = 0; i < 200 && right && k.p.n_ops > 1 && k.p.n_tensors > 0; i++) {
            make_move(&k);
            right = is_right(&k, &text) && text[0] == '\0';
            n_swapped += k.s.swaps.n_copies;
            n_recomputed += k.s.time_ns - k.s.swaps.stall_ns > (double)k.g.total_time_ns;
        }
        if (!right) {
            rp_gen_failed(seed);
            printf("%s\n", text);
            CU_FAIL("the state is not what its schedule says");
        }
        task_fini(&k);
    }
    CU_ASSERT((n_swapped > 1000 && n_recomputed > 1000) || rp_gen_one_seed());
}

static void so_it_does_with_sources_on_the_host(void) {
    uint32_t n = 60;
    uint64_t n_homes = 0, n_stay = 0, n_versions = 0;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++) {
        struct task k;
        const char *text = "";
        bool right = true;
        task_init_homes(&k, seed, 6 + (uint32_t)(seed % 50));
        for (int i = 0; i < 300 && right; i++) {
            make_move(&k);
            right = is_right(&k, &text) && text[0] == '\0';
            for (uint32_t x = 0; x < k.p.n_tensors; x++)
                n_versions += x >= k.p.n_homes && rp_is_version(&k.p, x);
            for (uint32_t x = 0; x < k.p.n_homes; x++)
                n_stay += rp_incremental_stays(&k.s, x);
            n_homes += k.p.n_homes;
        }
        if (!right) {
            rp_gen_failed(seed);
            printf("%s\n", text);
            CU_FAIL("the state is not what its schedule says");
        }
        task_fini(&k);
    }
    CU_ASSERT((n_versions > 1000 && n_stay > 1000 && n_stay < n_homes / 2) ||
              rp_gen_one_seed());
}

/* ---- loads ---- */

static uint64_t work_of_load(struct rp_incremental *s, const struct rp_schedule *from) {
    uint64_t before = s->work;
    rp_incremental_load(s, from);
    return s->work - before;
}

/* Searches count work, so it may not depend on what a state has been before. */
static void a_load_takes_the_same_work_whatever_was_loaded_before(void) {
    uint32_t n = 40;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++) {
        struct rp_incremental fresh;
        struct rp_schedule now;
        struct task k;
        const char *text = "";
        task_init_homes(&k, seed, 6 + (uint32_t)(seed % 50));
        rp_schedule_empty(&k.p, &now);
        for (int i = 0; i < 100; i++)
            make_move(&k);
        rp_incremental_store(&k.s, &now);
        for (int i = 0; i < 100; i++)
            make_move(&k);
        rp_incremental_init(&fresh, &k.p);
        if (work_of_load(&k.s, &now) != work_of_load(&fresh, &now) ||
            k.s.time_ns != fresh.time_ns || !is_right(&k, &text)) {
            rp_gen_failed(seed);
            printf("%s\n", text);
            CU_FAIL("a state remembers what it was before a load");
        }
        rp_incremental_fini(&fresh);
        rp_schedule_fini(&now);
        task_fini(&k);
    }
}

static void no_stage_uses_a_tensor_before_it_is_made(void) {
    struct task k;
    task_init(&k, 1, 60, true);
    for (int i = 0; i < 300; i++)
        make_move(&k);
    for (uint32_t x = 0; x < k.p.n_tensors; x++) {
        uint32_t made = k.p.producer[x];
        CU_ASSERT_EQUAL(rp_incremental_use_before(&k.s, x, made), RP_NONE);
        CU_ASSERT_EQUAL(rp_incremental_use_before(&k.s, x, made + 1), made);
    }
    task_fini(&k);
}

/* ---- one wrong field of each kind ---- */

/* A stage with at least n swap-ins. */
static uint32_t stage_with_swap_ins(const struct rp_incremental *s, uint32_t n) {
    for (uint32_t t = 0; t < s->n_stages; t++)
        if (s->swaps.swap_ins[t].n >= n)
            return t;
    return RP_NONE;
}

static uint32_t swapped_tensor(const struct rp_incremental *s) {
    uint32_t t = stage_with_swap_ins(s, 1);
    return s->swaps.swap_ins[t].at[0].x;
}

static uint32_t longest(const struct rp_id_list *lists, uint32_t n) {
    uint32_t best = 0;
    for (uint32_t t = 0; t < n; t++)
        best = lists[t].n > lists[best].n ? t : best;
    return best;
}

static void wrong_held(struct rp_incremental *s) {
    uint32_t t = longest(s->opens, s->n_stages), x = s->opens[t].at[0];
    s->held[(size_t)x * s->words + (t + 1) / 64] ^= rp_bit(t + 1);
}
static void wrong_opens(struct rp_incremental *s) {
    s->opens[longest(s->opens, s->n_stages)].n--;
}
static void wrong_closes(struct rp_incremental *s) {
    s->closes[longest(s->closes, s->n_stages)].at[0]++;
}
static void closed_twice(struct rp_incremental *s) {
    struct rp_id_list *l = &s->closes[longest(s->closes, s->n_stages)];
    l->at[1] = l->at[0];
}
static void wrong_base(struct rp_incremental *s) {
    s->base_bytes[s->n_stages / 2]++;
}
static void wrong_last_base(struct rp_incremental *s) {
    s->base_bytes[s->n_stages]--;
}
static void wrong_over(struct rp_incremental *s) {
    s->over_bytes[s->n_stages / 2] += 1;
}
static void wrong_stage_ns(struct rp_incremental *s) {
    s->stage_ns[s->n_stages - 1] -= 1;
}
static void wrong_runs(struct rp_incremental *s) {
    s->stage_runs[longest(s->stage_runs, s->n_stages)].at[0]++;
}
static void run_lost(struct rp_incremental *s) {
    s->stage_runs[longest(s->stage_runs, s->n_stages)].n--;
}
static void run_bit_lost(struct rp_incremental *s) {
    uint32_t t = s->n_stages / 2;
    s->runs[(size_t)s->stage_runs[t].at[0] * s->words + t / 64] ^= rp_bit(t);
}
static void run_bit_set(struct rp_incremental *s) {
    s->runs[(size_t)(s->n_stages - 1) * s->words] |= 1;
}
static void wrong_time(struct rp_incremental *s) {
    s->time_ns += 1;
}
static void wrong_overflow(struct rp_incremental *s) {
    s->overflow_bytes += 1;
}
static void swap_in_bit_lost(struct rp_incremental *s) {
    uint32_t t = stage_with_swap_ins(s, 1), x = swapped_tensor(s);
    s->swaps.swapped_in[(size_t)x * s->words + t / 64] ^= rp_bit(t);
}
static void swap_in_bit_set(struct rp_incremental *s) {
    s->swaps.swapped_in[0] |= 1;
}
static void swap_ins_exchanged(struct rp_incremental *s) {
    struct rp_swap_in *at = s->swaps.swap_ins[stage_with_swap_ins(s, 2)].at;
    struct rp_swap_in first = at[0];
    at[0] = at[1];
    at[1] = first;
}
static void wrong_n_swap_ins(struct rp_incremental *s) {
    s->swaps.n_swap_ins[swapped_tensor(s)]++;
}
static void wrong_n_swap_outs(struct rp_incremental *s) {
    s->swaps.n_swap_outs[s->p->producer[swapped_tensor(s)]]--;
}
static void wrong_n_copies(struct rp_incremental *s) {
    s->swaps.n_copies++;
}
static void wrong_host_bytes(struct rp_incremental *s) {
    s->swaps.host_bytes++;
}
static void wrong_swap_out_end(struct rp_incremental *s) {
    s->swaps.swap_out_end_ns[swapped_tensor(s)] += 1;
}
static void wrong_swap_in_end(struct rp_incremental *s) {
    s->swaps.swap_ins[stage_with_swap_ins(s, 1)].at[0].end_ns -= 1;
}
static void wrong_stage_stall(struct rp_incremental *s) {
    s->swaps.stage_stall_ns[s->n_stages / 2] += 1;
}
static void wrong_d2h_backlog(struct rp_incremental *s) {
    s->swaps.d2h_backlog_ns[s->n_stages / 2] += 1;
}
static void wrong_h2d_backlog(struct rp_incremental *s) {
    s->swaps.h2d_backlog_ns[s->n_stages] += 1;
}
static void wrong_stall(struct rp_incremental *s) {
    s->swaps.stall_ns += 1;
    s->time_ns += 1;
}
static void stage_left_dirty(struct rp_incremental *s) {
    s->move->dirty_of[s->n_stages / 2] = 1;
}
static void op_left_marked(struct rp_incremental *s) {
    s->move->op_bits[0] = 1;
}

static const struct {
    void (*corrupt)(struct rp_incremental *s);
    const char *expected; /* part of the check's message */
} faults[] = {
    {wrong_held, "opens"},
    {wrong_opens, "opens"},
    {wrong_closes, "wrongly listed in closes"},
    {closed_twice, "wrongly listed in closes"},
    {wrong_base, "base_bytes"},
    {wrong_last_base, "('the end'): base_bytes"},
    {wrong_over, "over_bytes"},
    {wrong_stage_ns, "stage_ns"},
    {wrong_runs, "should be op"},
    {run_lost, "the number of runs"},
    {run_bit_lost, "no bit for the run"},
    {run_bit_set, "the number of bits of runs"},
    {wrong_time, "time_ns"},
    {wrong_overflow, "overflow_bytes"},
    {swap_in_bit_lost, "without its bit"},
    {swap_in_bit_set, "the number of swap-ins"},
    {swap_ins_exchanged, "out of order"},
    {wrong_n_swap_ins, "n_swap_ins"},
    {wrong_n_swap_outs, "n_swap_outs"},
    {wrong_n_copies, "n_copies"},
    {wrong_host_bytes, "host_bytes"},
    {wrong_swap_out_end, "swap_out_end_ns"},
    {wrong_swap_in_end, "the end of its swap-in"},
    {wrong_stage_stall, "stage_stall_ns"},
    {wrong_d2h_backlog, "d2h_backlog_ns"},
    {wrong_h2d_backlog, "h2d_backlog_ns"},
    {wrong_stall, "stall_ns"},
    {stage_left_dirty, "still dirty"},
    {op_left_marked, "op_bits"},
};

/* A state with recomputation, stalls, and a stage that swaps two tensors in. */
static void make_rich_state(struct task *k) {
    task_init(k, 1, 60, true);
    for (int i = 0; i < 20000 && (stage_with_swap_ins(&k->s, 2) == RP_NONE ||
                                  k->s.swaps.stall_ns == 0 || i < 300);
         i++)
        make_move(k);
    CU_ASSERT_FATAL(stage_with_swap_ins(&k->s, 2) != RP_NONE);
    CU_ASSERT(k->s.swaps.stall_ns > 0);
    CU_ASSERT(k->s.stage_runs[longest(k->s.stage_runs, k->s.n_stages)].n > 1);
}

static void a_load_that_was_stopped_can_begin_again(void) {
    struct rp_schedule now;
    struct rp_stop late = {.deadline = 0, .work = RP_STOP_WORK - 1};
    struct rp_stop early = {.deadline = INFINITY, .work = RP_STOP_WORK - 1};
    struct task k;
    const char *text;
    make_rich_state(&k);
    double time_ns = k.s.time_ns;
    rp_schedule_empty(&k.p, &now);
    rp_incremental_store(&k.s, &now);
    rp_incremental_fini(&k.s);
    rp_incremental_init(&k.s, &k.p);
    CU_ASSERT_FALSE(rp_incremental_load_until(&k.s, &now, &late));
    CU_ASSERT(rp_incremental_load_until(&k.s, &now, &early));
    CU_ASSERT_EQUAL(early.questions, 1);
    CU_ASSERT(is_right(&k, &text));
    CU_ASSERT_EQUAL(k.s.time_ns, time_ns);
    rp_schedule_fini(&now);
    task_fini(&k);
}

static void the_check_names_each_kind_of_wrong_field(void) {
    struct rp_schedule now;
    struct task k;
    const char *text;
    make_rich_state(&k);
    rp_schedule_empty(&k.p, &now);
    rp_incremental_store(&k.s, &now);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        rp_incremental_load(&k.s, &now);
        CU_ASSERT(is_right(&k, &text) && text[0] == '\0');
        faults[i].corrupt(&k.s);
        CU_ASSERT(!is_right(&k, &text));
        if (strstr(text, faults[i].expected) == NULL) {
            printf("instead of '%s': %s\n", faults[i].expected, text);
            CU_FAIL("another field is named");
        }
        /* Fields that loading a schedule does not set. */
        k.s.move->dirty_of[k.s.n_stages / 2] = 0;
        k.s.move->op_bits[0] = 0;
    }
    rp_schedule_fini(&now);
    task_fini(&k);
}

static void a_fault_names_its_stage_and_tensor(void) {
    struct task k;
    const char *text;
    char stage[40];
    make_rich_state(&k);
    uint32_t t = stage_with_swap_ins(&k.s, 1), x = swapped_tensor(&k.s);
    wrong_swap_in_end(&k.s);
    CU_ASSERT(!is_right(&k, &text));
    snprintf(stage, sizeof stage, "stage %u ", t);
    CU_ASSERT(strstr(text, stage) != NULL);
    CU_ASSERT(strstr(text, k.g.ops[k.p.op_of[t]].name) != NULL);
    CU_ASSERT(strstr(text, k.g.tensors[k.p.tensor_of[x]].name) != NULL);
    task_fini(&k);
}

/* ---- moves ---- */

static bool never(void *arg, double best_ns) {
    (void)arg;
    (void)best_ns;
    return false;
}

/* Anneals from keep-all and checks that the statistics are consistent. */
static void anneal_and_count(struct task *k, uint64_t seed,
                             struct rp_anneal_statistics *all) {
    struct rp_anneal_options o = {
        .seed = seed, .work = 300000, .initial_temperature = 1, .stop = never};
    struct rp_anneal_result r;
    struct rp_schedule s;
    uint64_t proposed = 0, accepted = 0, improving = 0;
    rp_schedule_keep_all(&k->p, &s);
    rp_anneal(&k->p, &o, &s, &r);
    for (uint32_t i = 0; i < RP_MAX_MOVES; i++) {
        const struct rp_move_statistics *m = &r.statistics.moves[i];
        CU_ASSERT(m->infeasible + m->accepted <= m->proposed);
        CU_ASSERT(m->improving <= m->accepted);
        CU_ASSERT(rp_move_name(i) != NULL || m->proposed == 0);
        proposed += m->proposed;
        accepted += m->accepted;
        improving += m->improving;
    }
    CU_ASSERT(proposed == r.moves && accepted == r.accepted);
    CU_ASSERT(improving + r.statistics.uphill <= accepted);
    CU_ASSERT(r.statistics.uphill > 0 && r.statistics.incumbents > 0);
    CU_ASSERT(r.statistics.runs == 1 && r.statistics.work >= o.work);
    rp_anneal_statistics_add(all, &r.statistics);
    rp_schedule_fini(&s);
    task_fini(k);
}

static void every_kind_of_move_is_proposed_and_accepted(void) {
    struct rp_anneal_statistics all = {0};
    for (uint64_t seed = 1; seed <= 9; seed++) {
        struct task k;
        if (seed > 6)
            task_init_homes(&k, seed, 60);
        else
            task_init(&k, seed, 60, seed % 2);
        anneal_and_count(&k, seed, &all);
    }
    CU_ASSERT_EQUAL(all.runs, 9);
    for (uint32_t i = 0; rp_move_name(i) != NULL; i++) {
        CU_ASSERT(all.moves[i].proposed > 0);
        CU_ASSERT(all.moves[i].accepted > 0);
        CU_ASSERT(all.moves[i].improving > 0);
        CU_ASSERT(all.moves[i].infeasible > 0);
        for (uint32_t k = 0; k < i; k++)
            CU_ASSERT(strcmp(rp_move_name(i), rp_move_name(k)) != 0);
    }
}

static void the_shares_of_each_group_of_moves_add_up(void) {
    CU_ASSERT(rp_moves_are_complete());
}

void suite_incremental(void) {
    RP_SUITE("incremental");
    RP_TEST(the_state_passes_the_check_after_every_move);
    RP_TEST(so_it_does_with_sources_on_the_host);
    RP_TEST(a_load_takes_the_same_work_whatever_was_loaded_before);
    RP_TEST(no_stage_uses_a_tensor_before_it_is_made);
    RP_TEST(a_load_that_was_stopped_can_begin_again);
    RP_TEST(the_check_names_each_kind_of_wrong_field);
    RP_TEST(a_fault_names_its_stage_and_tensor);
    RP_TEST(every_kind_of_move_is_proposed_and_accepted);
    RP_TEST(the_shares_of_each_group_of_moves_add_up);
}
