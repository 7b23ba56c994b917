/* Tests of what runs beside the search: branch and cut, the interval MILP, the PDHG bound,
 * and narrower searches, which are played by short functions here. */
#include "solve/background.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "gen.h"
#include "run.h"
#include "solve/bound/copies_bound.h"
#include "solve/construct/construct.h"
#include "solve/core/params.h"
#include "solve/milp/interval_point.h"
#include "solve/moment/moment_bound.h"

/* A search that has not begun. */
struct scene {
    struct rp_graph g;
    struct rp_solve_options o;
    struct rp_solve_report report;
    struct rp_context w;
};

static void open_scene_of(struct scene *s, uint64_t seed, uint32_t n_ops, bool swap) {
    struct rp_gen_shape shape = rp_gen_small(n_ops);
    shape.training = true;
    shape.bandwidths = swap;
    *s = (struct scene){0};
    rp_gen_graph(seed, &shape, &s->g);
    uint64_t all = rp_keep_all_bytes(&s->g, false);
    s->o = (struct rp_solve_options){.budget_bytes = all - (all - s->g.fixed_bytes) / 4,
                                     .recompute = true,
                                     .swap = swap,
                                     .host_bytes = RP_MAX_QUANTITY,
                                     .time_limit = 0.01};
    s->w = (struct rp_context){.g = &s->g, .o = &s->o, .report = &s->report};
    s->w.end = s->w.stop.deadline = INFINITY;
    rp_context_init(&s->w);
    rp_context_begin_search(&s->w);
}

static void open_scene(struct scene *s, uint32_t n_ops, bool swap) {
    open_scene_of(s, 3, n_ops, swap);
}

static void close_scene(struct scene *s) {
    rp_context_fini(&s->w);
    CU_ASSERT_EQUAL(waitpid(-1, NULL, WNOHANG), -1); /* no process is left */
    rp_graph_fini(&s->g);
}

/* ---- branch and cut ---- */

static void the_search_goes_on_without_branch_and_cut(void) {
    struct scene s;
    int level = rp_log_level();
    open_scene(&s, 20, false);
    rp_mip_begin(&s.w);
    CU_ASSERT_PTR_NOT_NULL_FATAL(s.w.mip);
    kill(rp_mip_worker_process(s.w.mip), SIGKILL);
    rp_log_set(-1); /* it says so */
    rp_mip_submit(&s.w, 1000);
    rp_mip_wait(&s.w);
    rp_log_set(level);
    CU_ASSERT_PTR_NULL(s.w.mip);
    close_scene(&s);
}

static void branch_and_cut_ends_with_its_work_undone(void) {
    struct scene s;
    open_scene(&s, 20, false);
    rp_mip_begin(&s.w);
    rp_mip_submit(&s.w, 1000);
    CU_ASSERT(s.w.mip_pending);
    rp_mip_end(&s.w);
    CU_ASSERT(s.w.mip == NULL && !s.w.mip_pending);
    rp_mip_wait(&s.w);
    close_scene(&s);
}

/* ---- the interval MILP ---- */

static void begin_interval(struct scene *s, double work) {
    s->w.incumbent.time_ns = 2 * s->g.total_time_ns;
    rp_interval_milp_begin(&s->w, work);
    CU_ASSERT_PTR_NOT_NULL_FATAL(s->w.interval);
}

static void the_interval_milp_tells_what_it_took(void) {
    struct scene s;
    const struct rp_method_statistics *m = &s.w.statistics.method[RP_INTERVAL_MILP];
    open_scene(&s, 20, true);
    begin_interval(&s, 1e12);
    rp_interval_milp_finish(&s.w);
    CU_ASSERT(m->calls == 1 && m->work > 0 && m->work < 1e12);
    CU_ASSERT(m->seconds > 0);
    CU_ASSERT(s.w.interval == NULL && !s.report.capped);
    close_scene(&s);
}

/* The schedule that the MILP's point describes takes longer than the point, but one near it
 * does not. */
static void runs_from_the_point_of_the_interval_milp_reach_its_time(void) {
    static const struct {
        uint32_t n_ops;
        uint64_t seed;
    } graphs[] = {{9, 23}, {9, 37}, {11, 3}, {11, 24}, {11, 39}};
    for (size_t i = 0; i < sizeof graphs / sizeof *graphs; i++) {
        struct scene s;
        struct rp_interval_result r;
        struct rp_schedule point;
        open_scene_of(&s, graphs[i].seed, graphs[i].n_ops, true);
        s.o.time_limit = 1;
        begin_interval(&s, 1e12);
        while (!rp_interval_worker_wait(s.w.interval, 60, &r))
            ;
        CU_ASSERT_FATAL(r.found);
        rp_schedule_empty(&s.w.p, &point);
        rp_interval_worker_schedule(s.w.interval, &point);
        rp_interval_milp_finish(&s.w);
        CU_ASSERT(rp_schedule_cost(&s.w.p, &point).time_ns > r.bound_ns);
        CU_ASSERT(s.w.incumbent.time_ns == r.bound_ns && s.w.unplaced);
        rp_schedule_fini(&point);
        close_scene(&s);
    }
}

/* The bound of the interval MILP for the incumbent of a scene with n_ops, and whether it is
 * that of the proof `with` windows, or without. */
static bool is_bound_of_proof(uint32_t n_ops, bool with) {
    const double work = 500000;
    struct scene s;
    struct rp_schedule scratch;
    struct rp_interval_program q;
    struct rp_interval_model m;
    struct rp_interval_result r;
    struct rp_interval_options o = {.engine = RP_ENGINE_GLPK, .work = (uint64_t)work + 1};
    open_scene_of(&s, 5, n_ops, true);
    rp_schedule_empty(&s.w.p, &scratch);
    rp_construct_incumbents(&s.w, &scratch);
    rp_schedule_fini(&scratch);
    CU_ASSERT_FATAL(s.w.incumbent.found);
    CU_ASSERT_FATAL(rp_interval_program_of_schedule(&s.w.p, &s.w.incumbent.s, &q));
    rp_interval_model_init(&m, &s.w.p, q.time_ns - 1);
    double *x = rp_calloc(m.n_cols, sizeof *x);
    struct rp_interval_proof proof = {&m, &s.w.p, q.time_ns, with ? q.d_ns : NULL};
    rp_interval_prove(&proof, &o, x, &r);
    CU_ASSERT(rp_interval_milp_begin(&s.w, work));
    rp_interval_milp_finish(&s.w);
    const struct rp_method_statistics *t = &s.w.statistics.method[RP_INTERVAL_MILP];
    bool same = t->work == r.work && t->bound_ns == r.bound_ns;
    free(x);
    rp_interval_model_fini(&m);
    rp_interval_program_fini(&q);
    close_scene(&s);
    return same;
}

static void windows_follow_the_whole_interval_milp_of_larger_graphs(void) {
    CU_ASSERT(is_bound_of_proof(MIN_WINDOWS_OPS - 1, false));
    CU_ASSERT(!is_bound_of_proof(MIN_WINDOWS_OPS - 1, true));
    CU_ASSERT(is_bound_of_proof(MIN_WINDOWS_OPS, true));
    CU_ASSERT(!is_bound_of_proof(MIN_WINDOWS_OPS, false));
}

/* It begins anew for a better plan only, with what work is left. What is told is of the
 * last one. */
static void the_interval_milp_begins_anew(void) {
    struct scene s;
    const struct rp_method_statistics *m = &s.w.statistics.method[RP_INTERVAL_MILP];
    open_scene(&s, MIN_WINDOWS_OPS - 1, true);
    begin_interval(&s, 1e12);
    CU_ASSERT_FALSE(rp_interval_milp_begin(&s.w, 1e12));
    s.w.incumbent.time_ns--;
    CU_ASSERT(rp_interval_milp_begin(&s.w, 100));
    CU_ASSERT_EQUAL(s.w.interval_horizon_ns, s.w.incumbent.time_ns - 1);
    rp_interval_milp_finish(&s.w);
    CU_ASSERT(m->calls == 2 && m->work > 0 && m->work < 1e12 && !s.report.capped);
    s.w.incumbent.time_ns = s.g.total_time_ns;
    CU_ASSERT_FALSE(rp_interval_milp_begin(&s.w, 100)); /* nothing is faster */
    CU_ASSERT_PTR_NULL(s.w.interval);
    close_scene(&s);
}

/* Its bound is taken as far as it has come. */
static void an_interval_milp_without_an_answer_is_cut_off(void) {
    struct scene s;
    const struct rp_method_statistics *m = &s.w.statistics.method[RP_INTERVAL_MILP];
    open_scene(&s, MIN_WINDOWS_OPS - 1, true);
    begin_interval(&s, 1e12);
    while (*rp_interval_worker_proved_ns(s.w.interval) < s.g.total_time_ns)
        ;
    s.w.stop.hit = true;
    rp_interval_milp_finish(&s.w);
    CU_ASSERT(s.report.capped && s.w.interval == NULL);
    CU_ASSERT(m->bound_ns >= s.g.total_time_ns && s.w.bound_ns == m->bound_ns);
    CU_ASSERT(m->bound_ns <= 2 * s.g.total_time_ns && s.w.all_sequences);
    close_scene(&s);
}

static void a_context_ends_its_interval_milp(void) {
    struct scene s;
    open_scene(&s, MIN_WINDOWS_OPS - 1, true);
    begin_interval(&s, 1e12);
    close_scene(&s);
}

/* ---- the PDHG bound ---- */

static void the_bound_works_in_slices(void) {
    struct scene s;
    const struct rp_method_statistics *m = &s.w.statistics.method[RP_PDHG];
    open_scene(&s, 40, false);
    rp_bound_begin(&s.w);
    double laid_out = m->seconds;
    for (uint64_t k = 1; k <= 2; k++) {
        rp_bound_submit(&s.w, 1e5);
        CU_ASSERT(s.w.bound_pending);
        rp_bound_wait(&s.w);
        CU_ASSERT(!s.w.bound_pending && m->calls == k);
        CU_ASSERT(m->seconds > laid_out && s.w.bound_seconds > 0);
        CU_ASSERT(m->work == s.w.statistics.pdhg.work && m->work > 0);
    }
    close_scene(&s);
}

/* ---- a narrower search ---- */

/* What narrower searches may do, as in background.c. */
enum { SWAP = 1, RECOMPUTE = 2, REORDER = 4, N_TOLD = 10 };

/* Tells the parent in its budget what the child was asked for. */
static rp_rc tell_options(const struct rp_graph *g, const struct rp_solve_options *o,
                          struct rp_plan *plan, struct rp_solve_report *report,
                          struct rp_err *err) {
    bool told[N_TOLD] = {o->plan_only,
                         o->narrower,
                         o->certificate == NULL,
                         o->statistics == NULL,
                         o->stop == NULL,
                         o->spent >= 5,
                         rp_log_level() == -1,
                         !rp_shows_progress(),
                         getpriority(PRIO_PROCESS, 0) >= 10,
                         err != NULL};
    rp_gen_keep_all(g, false, plan);
    plan->budget_bytes =
        o->swap * SWAP + o->recompute * RECOMPUTE + o->reorder * REORDER + 8;
    for (unsigned k = 0; k < N_TOLD; k++)
        plan->budget_bytes += told[k] ? 0 : (uint64_t)16 << k;
    *report = (struct rp_solve_report){.capped = true};
    return RP_OK;
}

/* What search k was asked for; 0: there is none. */
static uint64_t told_by(struct scene *s, unsigned k) {
    struct rp_plan plan = {0};
    struct rp_narrower *n = s->w.narrower[k];
    if (n == NULL)
        return 0;
    while (!rp_narrower_wait(n, 1))
        ;
    CU_ASSERT_FATAL(rp_narrower_plan(n, &plan));
    CU_ASSERT(rp_narrower_capped(n));
    uint64_t told = plan.budget_bytes;
    rp_plan_fini(&plan);
    return told;
}

/* Of all that allow less, but for keep-all. */
static void each_is_asked_for_nothing_but_a_plan(void) {
    for (unsigned all = 0; all < 8; all++) {
        struct scene s;
        volatile sig_atomic_t stop = 0;
        uint64_t n = 0;
        open_scene(&s, 12, all & SWAP);
        s.o.reorder = all & REORDER;
        s.o.recompute = all & RECOMPUTE;
        s.o.stop = &stop;
        s.o.certificate = "c.json";
        s.o.statistics = &s.w.statistics;
        s.w.begin = rp_seconds() - 5;
        rp_narrower_begin(&s.w, tell_options);
        for (unsigned k = 0; k < RP_MAX_NARROWER; k++) {
            bool less = k > 0 && k != all && (k & ~all) == 0;
            CU_ASSERT_EQUAL(told_by(&s, k), less ? 8 + k : 0);
            n += less;
        }
        CU_ASSERT_EQUAL(s.w.statistics.method[RP_NARROWER].calls, n);
        close_scene(&s);
    }
}

static void a_narrower_search_has_none_itself(void) {
    struct scene s;
    open_scene(&s, 12, true);
    s.o.narrower = true;
    rp_narrower_begin(&s.w, tell_options);
    CU_ASSERT_EQUAL(s.w.statistics.method[RP_NARROWER].calls, 0);
    close_scene(&s);
}

/* Where some sources must live on the host, or all do not fit, no plan does without copies.
 */
static void without_room_for_sources_all_may_swap(void) {
    struct scene s;
    open_scene(&s, 12, true);
    uint64_t budget_bytes = s.o.budget_bytes;
    s.o.budget_bytes = s.g.fixed_bytes - 1;
    rp_narrower_begin(&s.w, tell_options);
    CU_ASSERT_PTR_NULL(s.w.narrower[RECOMPUTE]);
    CU_ASSERT_PTR_NOT_NULL(s.w.narrower[SWAP]);
    s.o.budget_bytes = budget_bytes;
    close_scene(&s);
}

static void the_largest_graph_has_some(void) {
    for (uint32_t more = 0; more < 2; more++) {
        struct scene s;
        open_scene(&s, 12, true);
        uint32_t n_ops = s.w.p.n_ops;
        s.w.p.n_ops = MAX_NARROWER_OPS + more;
        rp_narrower_begin(&s.w, tell_options);
        s.w.p.n_ops = n_ops;
        CU_ASSERT_EQUAL(s.w.narrower[RECOMPUTE] == NULL, more);
        close_scene(&s);
    }
}

static int begun[2]; /* a pipe */

/* Its bound has been sent before it begins. */
static rp_rc tell_begin(const struct rp_graph *g, const struct rp_solve_options *o,
                        struct rp_plan *plan, struct rp_solve_report *report,
                        struct rp_err *err) {
    rp_rc rc = tell_options(g, o, plan, report, err);
    return write(begun[1], "b", 1) == 1 ? rc : RP_ENV;
}

/* Starts both, and waits for their bounds. */
static void open_begun(struct scene *s) {
    char c;
    open_scene(s, 12, true);
    CU_ASSERT_EQUAL_FATAL(pipe(begun), 0);
    rp_narrower_begin(&s->w, tell_begin);
    for (int k = 0; k < 2; k++)
        CU_ASSERT_EQUAL(read(begun[0], &c, 1), 1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(s->w.narrower[RECOMPUTE]);
    CU_ASSERT_PTR_NOT_NULL_FATAL(s->w.narrower[SWAP]);
}

static void close_begun(struct scene *s) {
    close(begun[0]);
    close(begun[1]);
    close_scene(s);
}

/* A plan of one nanosecond cannot be beaten: none need be waited for. */
static void they_end_once_they_cannot_win(void) {
    for (int offer = 0; offer < 2; offer++) {
        struct scene s;
        struct rp_plan plan = {.claims.time_ns = 1};
        open_begun(&s);
        rp_narrower_poll(&s.w);
        CU_ASSERT_PTR_NOT_NULL(s.w.narrower[RECOMPUTE]);
        s.w.placed_ns = 1;
        if (offer)
            CU_ASSERT_EQUAL(rp_narrower_offer(&s.w, RP_OK, &plan), RP_OK)
        else
            rp_narrower_poll(&s.w);
        CU_ASSERT_PTR_NULL(s.w.narrower[RECOMPUTE]);
        CU_ASSERT_PTR_NULL(s.w.narrower[SWAP]);
        CU_ASSERT_EQUAL(plan.claims.time_ns, 1);
        close_begun(&s);
    }
}

static void their_first_messages_are_bounds(void) {
    struct scene s;
    open_begun(&s);
    struct rp_instance p;
    struct rp_moment_statistics ignored = {0};
    struct rp_moment_bound_options o = {.goal_ns = UINT64_MAX, .work = 1201};
    rp_instance_init(&p, &s.g, s.o.budget_bytes, false, NULL);
    uint64_t bound_ns = rp_moment_bound(&p, &o, &ignored).bound_ns;
    rp_narrower_wait(s.w.narrower[RECOMPUTE], 0);
    CU_ASSERT_EQUAL(rp_narrower_bound_ns(s.w.narrower[RECOMPUTE]), bound_ns);
    CU_ASSERT(bound_ns > s.g.total_time_ns);
    rp_instance_allow_swap(&p, RP_MAX_QUANTITY);
    bound_ns = rp_copies_bound_ns(&p);
    rp_narrower_wait(s.w.narrower[SWAP], 0);
    CU_ASSERT_EQUAL(rp_narrower_bound_ns(s.w.narrower[SWAP]), bound_ns);
    CU_ASSERT(bound_ns > s.g.total_time_ns);
    rp_instance_fini(&p);
    close_begun(&s);
}

static rp_rc find_none(const struct rp_graph *g, const struct rp_solve_options *o,
                       struct rp_plan *plan, struct rp_solve_report *report,
                       struct rp_err *err) {
    (void)g, (void)o, (void)plan, (void)err;
    *report = (struct rp_solve_report){0};
    return RP_LIMIT;
}

static rp_rc vanish(const struct rp_graph *g, const struct rp_solve_options *o,
                    struct rp_plan *plan, struct rp_solve_report *report,
                    struct rp_err *err) {
    (void)g, (void)o, (void)plan, (void)report, (void)err;
    _exit(1);
}

static void they_may_end_without_plans(void) {
    rp_solve_function *const ends[] = {find_none, vanish};
    for (size_t k = 0; k < sizeof ends / sizeof *ends; k++) {
        struct scene s;
        struct rp_plan plan = {0};
        open_scene(&s, 12, true);
        rp_narrower_begin(&s.w, ends[k]);
        CU_ASSERT_PTR_NOT_NULL_FATAL(s.w.narrower[SWAP]);
        CU_ASSERT_EQUAL(rp_narrower_offer(&s.w, RP_LIMIT, &plan), RP_LIMIT);
        CU_ASSERT_STRING_EQUAL(s.w.doing, rp_method_name[RP_NARROWER]);
        CU_ASSERT(plan.steps.n == 0 && !s.report.capped);
        CU_ASSERT_PTR_NULL(s.w.narrower[SWAP]);
        close_scene(&s);
    }
}

/* ---- processes and files of a narrower search ---- */

static int lowest_free_file(void) {
    int file = dup(STDERR_FILENO);
    close(file);
    return file;
}

static void it_leaves_no_file_open(void) {
    struct scene s;
    open_scene(&s, 12, true);
    int free_file = lowest_free_file();
    rp_narrower_end(rp_narrower_start(&s.g, &s.o, find_none));
    CU_ASSERT_EQUAL(lowest_free_file(), free_file);
    close_scene(&s);
}

static struct rp_narrower *start_with_files(const struct scene *s, int n_more) {
    struct rlimit all, few;
    getrlimit(RLIMIT_NOFILE, &all);
    few = all;
    few.rlim_cur = (rlim_t)(lowest_free_file() + n_more);
    setrlimit(RLIMIT_NOFILE, &few);
    struct rp_narrower *n = rp_narrower_start(&s->g, &s->o, find_none);
    setrlimit(RLIMIT_NOFILE, &all);
    return n;
}

/* Of its files the memory of the plan is the first, then come both ends of a socket. */
static void there_is_none_at_the_limit_of_open_files(void) {
    struct scene s;
    open_scene(&s, 12, true);
    int free_file = lowest_free_file();
    for (int more = 0; more < 3; more++)
        CU_ASSERT_PTR_NULL(start_with_files(&s, more));
    CU_ASSERT_EQUAL(lowest_free_file(), free_file);
    close_scene(&s);
}

static void it_needs_no_standard_input(void) {
    struct scene s;
    struct rp_plan plan = {0};
    open_scene(&s, 12, true);
    int input = dup(STDIN_FILENO);
    close(STDIN_FILENO);
    CU_ASSERT_PTR_NULL(start_with_files(&s, 1));
    CU_ASSERT_EQUAL(lowest_free_file(), STDIN_FILENO);
    struct rp_narrower *n = rp_narrower_start(&s.g, &s.o, tell_options);
    CU_ASSERT_PTR_NOT_NULL_FATAL(n);
    while (!rp_narrower_wait(n, 1))
        ;
    CU_ASSERT(rp_narrower_plan(n, &plan) && rp_narrower_capped(n));
    rp_narrower_end(n);
    dup2(input, STDIN_FILENO);
    close(input);
    rp_plan_fini(&plan);
    close_scene(&s);
}

void suite_background(void) {
    RP_SUITE("background");
    RP_TEST(the_search_goes_on_without_branch_and_cut);
    RP_TEST(branch_and_cut_ends_with_its_work_undone);
    RP_TEST(the_interval_milp_tells_what_it_took);
    RP_TEST(runs_from_the_point_of_the_interval_milp_reach_its_time);
    RP_TEST(windows_follow_the_whole_interval_milp_of_larger_graphs);
    RP_TEST(the_interval_milp_begins_anew);
    RP_TEST(an_interval_milp_without_an_answer_is_cut_off);
    RP_TEST(a_context_ends_its_interval_milp);
    RP_TEST(the_bound_works_in_slices);
    RP_TEST(each_is_asked_for_nothing_but_a_plan);
    RP_TEST(a_narrower_search_has_none_itself);
    RP_TEST(without_room_for_sources_all_may_swap);
    RP_TEST(the_largest_graph_has_some);
    RP_TEST(they_end_once_they_cannot_win);
    RP_TEST(their_first_messages_are_bounds);
    RP_TEST(they_may_end_without_plans);
    RP_TEST(it_leaves_no_file_open);
    RP_TEST(there_is_none_at_the_limit_of_open_files);
    RP_TEST(it_needs_no_standard_input);
}
