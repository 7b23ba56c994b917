/* Tests of the two file formats: what is refused, and with which line, and that everything
 * that is read is written again. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/mem.h"
#include "model/graph.h"
#include "model/plan.h"
#include "run.h"

/* Reads what is to be refused, and leaves nothing behind. */
typedef rp_rc reader(const char *text, size_t len, const char *file, struct rp_err *err);

static rp_rc read_graph(const char *text, size_t len, const char *file,
                        struct rp_err *err) {
    struct rp_graph g;
    rp_rc rc = rp_graph_parse(text, len, file, &g, err);
    CU_ASSERT_TRUE(g.tensors == NULL && g.ops == NULL && g.name == NULL);
    rp_graph_fini(&g);
    return rc;
}

static rp_rc read_plan(const char *text, size_t len, const char *file, struct rp_err *err) {
    struct rp_plan p;
    rp_rc rc = rp_plan_parse(text, len, file, &p, err);
    CU_ASSERT_TRUE(p.graph_name == NULL && p.steps.n == 0);
    rp_plan_fini(&p);
    return rc;
}

static char *load(const char *folder, const char *name, const char *ending, size_t *len) {
    char *path = rp_format("%s/%s%s", folder, name, ending), *text = NULL;
    struct rp_err err = {{0}};
    CU_ASSERT_EQUAL_FATAL(rp_read_file(path, &text, len, &err), RP_OK);
    free(path);
    return text;
}

static void is_refused(const char *folder, const char *name, reader *read) {
    size_t len, want_len;
    struct rp_err err = {{0}};
    char *text = load(folder, name, ".json", &len);
    char *want = load(folder, name, ".err", &want_len);
    char *file = rp_format("%s.json", name);
    CU_ASSERT_EQUAL(read(text, len, file, &err), RP_INPUT);
    char *line = rp_format("remat-plan: %s\n", err.msg);
    CU_ASSERT_STRING_EQUAL(line, want);
    if (strcmp(line, want) != 0)
        printf("%s/%s: %s", folder, name, line);
    free(line);
    free(file);
    free(want);
    free(text);
}

/* Each NAME.json in the folder, with the line in NAME.err. tools/check-bad.sh tries the
 * same files from the command line. */
static void all_are_refused(const char *folder, reader *read) {
    DIR *dir = opendir(folder);
    int n = 0;
    CU_ASSERT_PTR_NOT_NULL_FATAL(dir);
    for (const struct dirent *e; (e = readdir(dir)) != NULL;) {
        const char *ending = strrchr(e->d_name, '.');
        if (strcmp(ending, ".json") != 0)
            continue;
        char *name = rp_format("%.*s", (int)(ending - e->d_name), e->d_name);
        is_refused(folder, name, read);
        free(name);
        n++;
    }
    closedir(dir);
    CU_ASSERT_TRUE(n > 50);
}

static void bad_graphs_are_refused(void) {
    all_are_refused("tests/data/graph/bad", read_graph);
}

static void bad_plans_are_refused(void) {
    all_are_refused("tests/data/plan/bad", read_plan);
}

/* ---- what is accepted ---- */

/* Everything that a graph can say, as it is written. */
static const char graph[] =
    "{\"format\":\"remat-graph\",\"version\":2,\n\"name\":\"all\",\n"
    "\"time_source\":\"none\",\n\"order\":\"free\",\n"
    "\"device\":{\"alignment_bytes\":4,\"name\":\"toy\",\"memory_bytes\":99,"
    "\"h2d_bytes_per_s\":2,\"d2h_bytes_per_s\":3,\"copy_latency_ns\":5},\n"
    "\"attrs\":{\"a\":1},\n\"notes\":{\"b\":[2]},\n\"tensors\":[\n"
    "{\"name\":\"w\",\"bytes\":8,\"kind\":\"state\",\"home\":\"any\",\"dtype\":\"f32\","
    "\"shape\":[2,0],\"attrs\":{\"c\":3}},\n"
    "{\"name\":\"x\",\"bytes\":4,\"kind\":\"activation\",\"held\":true,\"shape\":[]}],\n"
    "\"ops\":[\n"
    "{\"name\":\"f\",\"kind\":\"k\",\"inputs\":[],\"outputs\":[1],\"updates\":[0],"
    "\"time_ns\":7,\"workspace_bytes\":6,\"phase\":\"update\",\"recompute\":false,"
    "\"ordered\":true,\"rewrites\":false,\"attrs\":{\"d\":4}}],\n\"keep\":[1]}\n";

/* And a plan. */
static const char plan[] =
    "{\"format\":\"remat-plan\",\"version\":2,\n\"graph\":{\"name\":\"all\",\"sha256\":"
    "\"00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff\"},\n"
    "\"budget_bytes\":1,\"addressed\":true,\"arena_bytes\":2,\"host_bytes\":3,\n"
    "\"claims\":{\"time_ns\":4,\"baseline_time_ns\":5,\"recompute_ns\":6,\"stall_ns\":7,"
    "\"peak_bytes\":8,\"lower_bound_ns\":9,\"proof\":\"optimal\",\n"
    "\"bound_for\":{\"recompute\":true,\"swap\":false,\"host_budget_bytes\":0,"
    "\"order\":\"any\",\"programs\":\"all\"}},\n"
    "\"homes\":[{\"tensor\":1,\"host_at\":0},{\"tensor\":2}],\n\"notes\":{\"a\":\"b\"},\n"
    "\"steps\":[\n{\"run\":4,\"at\":[0,null,16],\"workspace_at\":5},\n{\"run\":5},\n"
    "{\"run\":6,\"at\":[]},\n{\"free\":3},\n{\"swap_out\":2,\"host_at\":0},\n"
    "{\"swap_in\":2,\"at\":8}]}\n";

static void everything_a_graph_can_say_is_read_and_written(void) {
    struct rp_graph g;
    struct rp_err err = {{0}};
    char *text;
    size_t len;
    memset(&g, 0xff, sizeof g);
    CU_ASSERT_EQUAL_FATAL(rp_graph_parse(graph, strlen(graph), "g", &g, &err), RP_OK);
    rp_graph_dump(&g, &text, &len);
    CU_ASSERT_STRING_EQUAL(text, graph);
    CU_ASSERT_EQUAL(len, strlen(graph));
    CU_ASSERT_TRUE(!g.kept[0] && g.kept[1]);
    free(text);
    rp_graph_fini(&g);
}

static void everything_a_plan_can_say_is_read_and_written(void) {
    struct rp_plan p;
    struct rp_err err = {{0}};
    char *text;
    size_t len;
    memset(&p, 0xff, sizeof p);
    CU_ASSERT_EQUAL_FATAL(rp_plan_parse(plan, strlen(plan), "p", &p, &err), RP_OK);
    rp_plan_dump(&p, &text, &len);
    CU_ASSERT_STRING_EQUAL(text, plan);
    CU_ASSERT_EQUAL(len, strlen(plan));
    CU_ASSERT_FALSE(p.version_1);
    free(text);
    rp_plan_fini(&p);
}

/* One of these is enough for version 2. */
static void what_version_1_cannot_say_is_written_as_version_2(void) {
    static const char *const parts[][3] = {
        {",\n\"order\":\"free\"", "", ""},
        {"", ",\"held\":true", ""},
        {"", "", ",\"ordered\":true"},
        {"", "", ",\"rewrites\":false"},
        {"", "", ""},
    };
    for (int k = 0; k < 5; k++) {
        struct rp_graph g;
        struct rp_err err = {{0}};
        size_t len;
        char *back,
            *text =
                rp_format("{\"format\":\"remat-graph\",\"version\":%d,\n\"name\":\"g\",\n"
                          "\"time_source\":\"none\"%s,\n\"tensors\":[\n{\"name\":\"x\","
                          "\"bytes\":4,\"kind\":\"activation\"%s}],\n\"ops\":[\n"
                          "{\"name\":\"f\",\"kind\":\"k\",\"inputs\":[],\"outputs\":[0],"
                          "\"time_ns\":7%s}],\n\"keep\":[]}\n",
                          k < 4 ? 2 : 1, parts[k][0], parts[k][1], parts[k][2]);
        CU_ASSERT_EQUAL_FATAL(rp_graph_parse(text, strlen(text), "g", &g, &err), RP_OK);
        rp_graph_dump(&g, &back, &len);
        CU_ASSERT_STRING_EQUAL(back, text);
        free(text);
        free(back);
        rp_graph_fini(&g);
    }
}

/* Version 1 says what a bound is about in the notes, or not at all. */
static void plans_of_version_1_may_say_what_their_bound_is_about(void) {
    static const char *const notes[] = {"{}", "{\"bound_for\":\"schedules\"}",
                                        "{\"bound_for\":\"another\"}"};
    for (int k = 0; k < 3; k++) {
        struct rp_plan p;
        struct rp_err err = {{0}};
        char *text = rp_format(
            "{\"format\":\"remat-plan\",\"version\":1,\"graph\":{\"name\":\"g\","
            "\"sha256\":\"%064d\"},\"budget_bytes\":1,\"addressed\":false,"
            "\"arena_bytes\":0,\"host_bytes\":0,\"claims\":{\"time_ns\":4,"
            "\"baseline_time_ns\":5,\"recompute_ns\":6,\"stall_ns\":7,\"peak_bytes\":8,"
            "\"lower_bound_ns\":9,\"proof\":\"none\"},\"notes\":%s,\"steps\":[]}",
            0, notes[k]);
        CU_ASSERT_EQUAL_FATAL(rp_plan_parse(text, strlen(text), "p", &p, &err), RP_OK);
        CU_ASSERT_TRUE(p.version_1 && p.claims.bound_for.swap);
        CU_ASSERT_FALSE(p.claims.bound_for.any_order);
        CU_ASSERT_EQUAL(p.claims.bound_for.all_programs, k != 1);
        free(text);
        rp_plan_fini(&p);
    }
}

/* ---- files ---- */

static void a_file_is_saved_and_loaded_with_its_digest(void) {
    char path[] = "/tmp/remat-plan-test-XXXXXX";
    struct rp_graph g, h;
    struct rp_plan p, q;
    struct rp_err err = {{0}};
    int fd = mkstemp(path);
    CU_ASSERT_FATAL(fd >= 0 && close(fd) == 0);
    CU_ASSERT_EQUAL_FATAL(rp_graph_parse(graph, strlen(graph), "g", &g, &err), RP_OK);
    memset(g.sha256, 'x', 64);
    CU_ASSERT_EQUAL(rp_graph_save(&g, path, &err), RP_OK);
    CU_ASSERT_EQUAL_FATAL(rp_graph_load(path, &h, &err), RP_OK);
    CU_ASSERT_STRING_EQUAL(g.sha256, h.sha256);
    CU_ASSERT_EQUAL(h.n_ops, 1);
    CU_ASSERT_EQUAL_FATAL(rp_plan_parse(plan, strlen(plan), "p", &p, &err), RP_OK);
    CU_ASSERT_EQUAL(rp_plan_save(&p, path, &err), RP_OK);
    CU_ASSERT_EQUAL_FATAL(rp_plan_load(path, &q, &err), RP_OK);
    CU_ASSERT_EQUAL(q.steps.n, 6);
    unlink(path);
    rp_graph_fini(&g);
    rp_graph_fini(&h);
    rp_plan_fini(&p);
    rp_plan_fini(&q);
}

static void what_cannot_be_loaded_is_empty(void) {
    struct rp_graph g;
    struct rp_plan p;
    struct rp_err err = {{0}};
    memset(&g, 0xff, sizeof g);
    memset(&p, 0xff, sizeof p);
    CU_ASSERT_EQUAL(rp_graph_load("/nonexistent/g", &g, &err), RP_ENV);
    CU_ASSERT_EQUAL(rp_plan_load("/nonexistent/p", &p, &err), RP_ENV);
    CU_ASSERT_TRUE(g.tensors == NULL && g.n_tensors == 0 && g.n_ops == 0);
    CU_ASSERT_TRUE(p.notes == NULL && p.steps.at == NULL && p.steps.n == 0);
    rp_graph_fini(&g);
    rp_plan_fini(&p);
}

void suite_file_formats(void) {
    RP_SUITE("file_formats");
    RP_TEST(bad_graphs_are_refused);
    RP_TEST(bad_plans_are_refused);
    RP_TEST(everything_a_graph_can_say_is_read_and_written);
    RP_TEST(everything_a_plan_can_say_is_read_and_written);
    RP_TEST(what_version_1_cannot_say_is_written_as_version_2);
    RP_TEST(plans_of_version_1_may_say_what_their_bound_is_about);
    RP_TEST(a_file_is_saved_and_loaded_with_its_digest);
    RP_TEST(what_cannot_be_loaded_is_empty);
}
