/* The replay with a thread for each queue: what only that finds, and threads that do not
 * start. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/io.h"
#include "fixture.h"
#include "gen.h"
#include "run.h"
#include "verify/hash_replay.h"

/* ---- right values ---- */

static void plans_with_copies_also_run_on_threads(void) {
    struct rp_world w;
    struct rp_replay r;
    rp_world_open(&w, rp_net, SIZES, SWAPPED);
    CU_ASSERT_EQUAL(rp_verify_replay(&w.g, &w.p, &r, &w.err), RP_OK);
    CU_ASSERT_EQUAL(r.n_orders, 3);
    CU_ASSERT_EQUAL(r.n_copies, 2);
    CU_ASSERT_EQUAL(r.n_values, 3 * (6 + 5 + 2 + 2));
    rp_world_close(&w);
}

static void thousands_of_ops_and_copies_run_on_threads(void) {
    struct rp_gen_shape shape = rp_gen_small(5000);
    struct rp_graph g;
    struct rp_plan p;
    struct rp_replay r;
    struct rp_err err = {{0}};
    shape.bandwidths = true;
    shape.reach = 50;
    rp_gen_graph(7, &shape, &g);
    rp_gen_plan(7, &g, false, &p);
    CU_ASSERT_EQUAL(rp_verify_replay(&g, &p, &r, &err), RP_OK);
    CU_ASSERT_STRING_EQUAL(err.msg, "");
    CU_ASSERT_TRUE(r.n_runs >= 5000 && r.n_copies > 100);
    CU_ASSERT_EQUAL(r.n_orders, 3);
    rp_plan_fini(&p);
    rp_graph_fini(&g);
}

/* ---- a missing wait ---- */

/* Op c uses workspace. Op k makes tensor k, which is copied out. */
static char *rounds_graph(int n_rounds) {
    char *text;
    size_t len;
    FILE *f = rp_text_open(&text, &len);
    fputs("{'format':'remat-graph','version':1,'name':'r','time_source':'none','device':"
          "{'alignment_bytes':8},'tensors':[{'name':'y','bytes':8,'kind':'activation'}",
          f);
    for (int k = 1; k <= n_rounds; k++)
        fprintf(f, ",{'name':'x%d','bytes':8,'kind':'activation'}", k);
    fputs("],'ops':[{'name':'c','kind':'k','inputs':[],'outputs':[0],'time_ns':1,"
          "'workspace_bytes':8}",
          f);
    for (int k = 1; k <= n_rounds; k++)
        fprintf(f, ",{'name':'a%d','kind':'k','inputs':[],'outputs':[%d],'time_ns':1}", k,
                k);
    fputs("],'keep':[]}", f);
    rp_text_close(f);
    return text;
}

/* Round k makes x, copies it out, spoils it n_spoils times and makes it again. The last
 * round spoils nothing. */
static char *rounds_steps(int n_rounds, int n_spoils) {
    char *text;
    size_t len;
    FILE *f = rp_text_open(&text, &len);
    fputs("{'run':0,'at':[0],'workspace_at':8}", f);
    for (int k = 1; k <= n_rounds; k++) {
        fprintf(f, ",{'run':%d,'at':[%d]},{'swap_out':%d,'host_at':%d}", k, 8 * k, k,
                8 * k);
        for (int i = 0; i < n_spoils && k < n_rounds; i++)
            fprintf(f, ",{'run':0,'at':[null],'workspace_at':%d}", 8 * k);
        fprintf(f, ",{'run':%d,'at':[null]}", k);
    }
    rp_text_close(f);
    return text;
}

/* The op that makes x again no longer waits for its copy; the next step does. So the copy
 * is right if it comes at once or as late as it may, and wrong anywhere in between. */
static void only_threads_find_a_copy_that_comes_neither_at_once_nor_last(void) {
    enum { N_ROUNDS = 100, N_SPOILS = 200 };
    char *graph = rounds_graph(N_ROUNDS), *steps = rounds_steps(N_ROUNDS, N_SPOILS);
    struct rp_world w;
    struct rp_task_graph prog;
    struct rp_replay r;
    rp_world_open(&w, graph,
                  "'budget_bytes':808,'addressed':true,'arena_bytes':808,'host_bytes':808",
                  steps);
    CU_ASSERT_EQUAL_FATAL(rp_task_graph_build(&w.g, &w.p, &prog, &w.err), RP_OK);
    for (size_t round = 1; round < N_ROUNDS; round++) {
        struct rp_task *again = &prog.tasks.at[round * (N_SPOILS + 3)], *next = again + 1;
        CU_ASSERT_EQUAL_FATAL(again->n_waits, 1);
        CU_ASSERT_EQUAL_FATAL(next->n_waits, 0);
        next->first_wait = again->first_wait;
        next->n_waits = 1;
        again->n_waits = 0;
    }
    CU_ASSERT_EQUAL(rp_hash_replay(&w.g, &prog, &r, &w.err), RP_NO);
    CU_ASSERT_EQUAL(r.n_orders, 3);
    CU_ASSERT_PTR_NOT_NULL(
        strstr(w.err.msg, "replay, copies on threads of their own: steps["));
    CU_ASSERT_PTR_NOT_NULL(strstr(w.err.msg, "it finds some op's workspace"));
    rp_task_graph_fini(&prog);
    rp_world_close(&w);
    free(graph);
    free(steps);
}

/* ---- too many threads ---- */

/* The address space of this process, in bytes. */
static rlim_t address_space(void) {
    unsigned long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    CU_ASSERT_EQUAL(fscanf(f, "%lu", &pages), 1);
    fclose(f);
    return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

/* The replay needs two threads more. With room for the stacks of n_fit of them, it ends
 * those that it could start. */
static void without_room_for_threads(rlim_t n_fit) {
    const size_t stack = (size_t)512 << 20;
    struct rlimit old, less;
    pthread_attr_t old_attributes, attributes;
    struct rp_world w;
    struct rp_replay r;
    rp_world_open(&w, rp_net, SIZES, SWAPPED);
    CU_ASSERT_EQUAL_FATAL(getrlimit(RLIMIT_AS, &old), 0);
    CU_ASSERT_EQUAL_FATAL(pthread_getattr_default_np(&old_attributes), 0);
    CU_ASSERT_EQUAL_FATAL(pthread_attr_init(&attributes), 0);
    CU_ASSERT_EQUAL_FATAL(pthread_attr_setstacksize(&attributes, stack), 0);
    CU_ASSERT_EQUAL_FATAL(pthread_setattr_default_np(&attributes), 0);
    less = (struct rlimit){address_space() + n_fit * stack + stack / 2, old.rlim_max};
    CU_ASSERT_EQUAL_FATAL(setrlimit(RLIMIT_AS, &less), 0);
    rp_rc rc = rp_verify_replay(&w.g, &w.p, &r, &w.err);
    CU_ASSERT_EQUAL(setrlimit(RLIMIT_AS, &old), 0);
    CU_ASSERT_EQUAL(pthread_setattr_default_np(&old_attributes), 0);
    CU_ASSERT_EQUAL(rc, RP_ENV);
    CU_ASSERT_EQUAL(strncmp(w.err.msg, "replay: no thread: ", 19), 0);
    pthread_attr_destroy(&attributes);
    pthread_attr_destroy(&old_attributes);
    rp_world_close(&w);
}

static void threads_that_cannot_be_started_are_an_error(void) {
    without_room_for_threads(0);
    without_room_for_threads(1);
}

void suite_replay_threads(void) {
    RP_SUITE("replay_threads");
    RP_TEST(plans_with_copies_also_run_on_threads);
    RP_TEST(thousands_of_ops_and_copies_run_on_threads);
    RP_TEST(only_threads_find_a_copy_that_comes_neither_at_once_nor_last);
    RP_TEST(threads_that_cannot_be_started_are_an_error);
}
