/* Tests of libremat: graph and plan files that it refuses, and what it says about them. */
#include "remat/remat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/sha256.h"
#include "fixture.h"
#include "gen.h"
#include "run.h"

#define GRAPH(device, tensors, ops, keep)                                                  \
    "{'format':'remat-graph','version':1,'name':'n','time_source':'none'" device           \
    ",'tensors':[" tensors "],'ops':[" ops "],'keep':[" keep "]}"
#define X "{'name':'x','bytes':8,'kind':'activation'}"
#define MAKES_X "{'name':'f','kind':'k','inputs':[],'outputs':[0],'time_ns':1}"
#define PLAN(format, header, steps, claims)                                                \
    "{'format':'" format                                                                   \
    "','version':1,'graph':{'name':'n','sha256':'%s'},'addressed':true" header             \
    ",'steps':[" steps "],'claims':" claims "}"
#define NUMBERS ",'budget_bytes':512,'arena_bytes':512,'host_bytes':0"
#define GOOD_PLAN PLAN("remat-plan", NUMBERS, "{'run':0,'at':[0]}", "{'time_ns':1}")

static char *with_quotes(char *s) {
    for (char *c = s; *c != '\0'; c++)
        if (*c == '\'')
            *c = '"';
    return s;
}

/* A %s in a plan becomes the digest of the graph. */
static void expect_parse_error(const char *graph_text, const char *plan_text,
                               const char *why) {
    struct remat_error error;
    char hex[65];
    char *graph = with_quotes(rp_strdup(graph_text));
    rp_sha256_hex(graph, strlen(graph), hex);
    const char *gap = strstr(plan_text, "%s");
    char *plan = gap == NULL ? rp_strdup(plan_text)
                             : rp_format("%.*s%s%s", (int)(gap - plan_text), plan_text, hex,
                                         gap + 2);
    with_quotes(plan);
    remat *r = remat_parse(graph, strlen(graph), plan, strlen(plan), &error);
    CU_ASSERT_EQUAL(r == NULL, why != NULL);
    CU_ASSERT_STRING_EQUAL(error.text, why != NULL ? why : "");
    if (strcmp(error.text, why != NULL ? why : "") != 0)
        printf("message: %s\n", error.text);
    remat_close(r);
    free(graph);
    free(plan);
}

static void wrong_graphs_are_refused(void) {
    expect_parse_error(GRAPH("", X, MAKES_X, "0"), GOOD_PLAN, NULL);
    expect_parse_error("[", GOOD_PLAN,
                       "graph: line 1 column 1: ']' expected near end of file");
    expect_parse_error("{'format':'remat-graph','version':3}", GOOD_PLAN,
                       "graph: version: is not 1 or 2");
    expect_parse_error("[]", GOOD_PLAN, "graph: format: is not 'remat-graph'");
    expect_parse_error(GRAPH(",'colour':1", X, MAKES_X, "0"), GOOD_PLAN,
                       "graph: colour: is not a key of the format");
    expect_parse_error(GRAPH(",'device':{'alignment_bytes':0}", X, MAKES_X, "0"), GOOD_PLAN,
                       "graph: alignment_bytes: is 0");
    expect_parse_error(GRAPH(",'device':3", X, MAKES_X, "0"), GOOD_PLAN,
                       "graph: device: is not an object");
    expect_parse_error(GRAPH("", "3", MAKES_X, "0"), GOOD_PLAN,
                       "graph: tensors[0]: value: is not an object");
    expect_parse_error(GRAPH("", "{'name':7,'bytes':8}", MAKES_X, "0"), GOOD_PLAN,
                       "graph: tensors[0]: name: is not a string");
    expect_parse_error(GRAPH("", "{'name':'x','bytes':-1}", MAKES_X, "0"), GOOD_PLAN,
                       "graph: tensors[0]: bytes: is not an integer from 0 to 2^63-1");
    expect_parse_error(GRAPH("", "{'name':'x'}", MAKES_X, "0"), GOOD_PLAN,
                       "graph: tensors[0]: bytes: is missing");
    expect_parse_error(GRAPH("", "{'name':'x','bytes':9223372036854775807}", MAKES_X, "0"),
                       GOOD_PLAN, "graph: tensors: their bytes pass 2^63-1");
    expect_parse_error(GRAPH("",
                             X ",{'name':'y','bytes':9223372036854775295,'kind':'input'}",
                             MAKES_X, "0"),
                       GOOD_PLAN, "graph: tensors: their bytes pass 2^63-1");
    expect_parse_error(GRAPH("", "{'name':'x','bytes':9223372036854775296}", MAKES_X, "0"),
                       GOOD_PLAN, "graph: tensors: their bytes pass 2^63-1");
    expect_parse_error(GRAPH("", "{'name':'x','bytes':9223372036854775295}", MAKES_X, "0"),
                       GOOD_PLAN,
                       "plan: steps[0] \"f\": an address beyond the end of its memory");
    expect_parse_error(
        GRAPH("", X, "{'name':'f','kind':'k','inputs':[1],'outputs':[0],'time_ns':1}", "0"),
        GOOD_PLAN, "graph: ops[0]: inputs: is not an index into the graph's array");
    expect_parse_error(GRAPH("", X, MAKES_X "," MAKES_X, "0"), GOOD_PLAN,
                       "graph: ops[1]: outputs: a tensor that another op makes");
    expect_parse_error(GRAPH("", X,
                             "{'name':'f','kind':'k','inputs':[],'outputs':[0],'time_ns':1,"
                             "'workspace_bytes':9223372036854775807}",
                             "0"),
                       GOOD_PLAN,
                       "graph: ops[0]: workspace_bytes: with the alignment passes 2^63-1");
    expect_parse_error(GRAPH("", X,
                             "{'name':'f','kind':'k','inputs':[],'outputs':[0],'time_ns':1,"
                             "'recompute':0}",
                             "0"),
                       GOOD_PLAN, "graph: ops[0]: recompute: is not true or false");
    expect_parse_error(GRAPH("", X, MAKES_X, "1"), GOOD_PLAN,
                       "graph: keep: is not an index into the graph's array");
    expect_parse_error("{'format':'remat-graph','version':1,'tensors':[],'ops':{}}",
                       GOOD_PLAN, "graph: ops: is not an array");
}

static void wrong_plans_are_refused(void) {
    static const char graph[] = GRAPH("", X, MAKES_X, "0");
    expect_parse_error(graph, "",
                       "plan: line 1 column 0: '[' or '{' expected near end of file");
    expect_parse_error(graph, PLAN("remat-graph", NUMBERS, "", "{'time_ns':1}"),
                       "plan: format: is not 'remat-plan'");
    expect_parse_error(graph, PLAN("remat-plan", "", "", "{'time_ns':1}"),
                       "plan: budget_bytes: is missing");
    expect_parse_error(graph, PLAN("remat-plan", NUMBERS ",'x\\n':1", "", "{'time_ns':1}"),
                       "plan: x?: is not a key of the format");
    expect_parse_error(graph, PLAN("remat-plan", NUMBERS, "", "[]"),
                       "plan: time_ns: is missing");
    expect_parse_error(graph, PLAN("remat-plan", NUMBERS, "7", "{'time_ns':1}"),
                       "plan: steps[0]: step: is not one of run, free, swap_out, swap_in");
    expect_parse_error(graph,
                       PLAN("remat-plan", NUMBERS, "{'run':0,'free':0}", "{'time_ns':1}"),
                       "plan: steps[0]: step: is not one of run, free, swap_out, swap_in");
    expect_parse_error(graph,
                       PLAN("remat-plan", NUMBERS, "{'free':0,'at':0}", "{'time_ns':1}"),
                       "plan: steps[0]: at: is not a key of the format");
    expect_parse_error(graph,
                       PLAN("remat-plan", NUMBERS, "{'run':0,'at':0}", "{'time_ns':1}"),
                       "plan: steps[0]: at: is not an array");
    expect_parse_error(graph,
                       PLAN("remat-plan", NUMBERS, "{'run':0,'at':[-1]}", "{'time_ns':1}"),
                       "plan: steps[0]: at: holds what is no address and not null");
    expect_parse_error(graph,
                       PLAN("remat-plan", NUMBERS, "{'run':0.5,'at':[0]}", "{'time_ns':1}"),
                       "plan: steps[0]: run: is not an index into the graph's array");
    expect_parse_error(
        graph,
        "{'format':'remat-plan','version':1,'graph':{'name':'n','sha256':'00'},"
        "'addressed':true" NUMBERS ",'steps':[],'claims':{'time_ns':1}}",
        "plan: graph: the plan is for another graph");
    expect_parse_error(
        graph,
        "{'format':'remat-plan','version':1,'graph':7,'addressed':true" NUMBERS
        ",'steps':[],'claims':{'time_ns':1}}",
        "plan: name: is missing");
    expect_parse_error(
        graph,
        "{'format':'remat-plan','version':1,'graph':{'name':'n','sha256':'%s'},"
        "'addressed':1" NUMBERS ",'steps':[],'claims':{'time_ns':1}}",
        "plan: addressed: is not true or false");
}

#define V2(graph_more, tensor_more, op_more)                                               \
    "{'format':'remat-graph','version':2,'name':'n','time_source':'none'" graph_more       \
    ",'tensors':[{'name':'x','bytes':8,'kind':'activation'" tensor_more                    \
    "},{'name':'w','bytes':8,'kind':'state'}],'ops':[{'name':'f','kind':'k','inputs':[],"  \
    "'outputs':[0],'time_ns':1" op_more "}],'keep':[0]}"

static void files_of_version_2_are_walked_or_refused(void) {
    static const char plan[] =
        "{'format':'remat-plan','version':2,'graph':{'name':'n','sha256':'%s'},"
        "'addressed':true" NUMBERS ",'steps':[{'run':0,'at':[0]}],'claims':{'time_ns':1}}";
    static const char again[] =
        "{'format':'remat-plan','version':2,'graph':{'name':'n','sha256':'%s'},"
        "'addressed':true" NUMBERS
        ",'steps':[{'run':0,'at':[0]},{'run':0,'at':[null]}],'claims':{'time_ns':1}}";
    static const char homes[] =
        "{'format':'remat-plan','version':2,'graph':{'name':'n','sha256':'%s'},"
        "'addressed':true" NUMBERS
        ",'homes':[{'tensor':1,'host_at':0}],'steps':[],'claims':{'time_ns':1}}";
    const char *all = V2(",'order':'free'", ",'held':true",
                         ",'updates':[],'ordered':true,'rewrites':false");
    expect_parse_error(all, plan, NULL);
    expect_parse_error(all, GOOD_PLAN, NULL);
    expect_parse_error(V2("", "", ""), again, NULL);
    expect_parse_error(all, again, "plan: steps[1] \"f\": an address is missing");
    expect_parse_error(
        all, homes, "plan: homes[0]: tensor: is not a source whose home may be the host");
    expect_parse_error(V2("", "", ",'updates':[1]"), plan, NULL);
    expect_parse_error(V2("", "", ",'updates':[0]"), plan,
                       "graph: tensors[0]: updates: an op updates it, but another makes "
                       "it");
    expect_parse_error(V2("", "", ",'updates':[2]"), plan,
                       "graph: ops[0]: updates: is not an index into the graph's array");
    expect_parse_error(V2("", "", ",'updates':1"), plan,
                       "graph: ops[0]: updates: is not an array");
    expect_parse_error(V2("", ",'home':'device'", ""), plan, NULL);
    expect_parse_error(V2("", ",'home':'any'", ""), plan,
                       "graph: tensors[0]: home: an op makes it, so it has no home");
    expect_parse_error(V2("", ",'home':'disk'", ""), plan,
                       "graph: tensors[0]: home: is not one of device, host, any");
    expect_parse_error(GRAPH(",'order':'free'", X, MAKES_X, "0"), GOOD_PLAN,
                       "graph: order: is not a key of the format");
    expect_parse_error(GRAPH("", X, MAKES_X, "0"),
                       PLAN("remat-plan", NUMBERS ",'homes':[]", "", "{'time_ns':1}"),
                       "plan: homes: is not a key of the format");
}

static void errors_may_be_ignored(void) {
    CU_ASSERT_PTR_NULL(remat_load("/nonexistent/g", "/nonexistent/p", NULL));
}

static void expect_load_error(const char *graph, const char *plan, const char *why) {
    struct remat_error error = {"something said before"};
    CU_ASSERT_PTR_NULL(remat_load(graph, plan, &error));
    CU_ASSERT_STRING_EQUAL(error.text, why);
    if (strcmp(error.text, why) != 0)
        printf("message: %s\n", error.text);
}

static void errors_name_the_file(void) {
    static const char net[] = "tests/data/verify/net.json";
    static const char swap[] = "tests/data/verify/swap.json";
    static const char other[] = "tests/data/graph/good/small.json";
    int before = dup(STDERR_FILENO);
    close(before);
    expect_load_error("/nonexistent/g", "/nonexistent/p",
                      "/nonexistent/g: No such file or directory");
    expect_load_error(net, "/nonexistent/p", "/nonexistent/p: No such file or directory");
    expect_load_error("tests", swap, "tests: Is a directory");
    expect_load_error(swap, swap,
                      "tests/data/verify/swap.json: format: is not 'remat-graph'");
    expect_load_error(net, net, "tests/data/verify/net.json: format: is not 'remat-plan'");
    expect_load_error(other, swap,
                      "tests/data/verify/swap.json: graph: the plan is for another graph");
    CU_ASSERT_PTR_NULL(remat_load(other, swap, NULL));
    int after = dup(STDERR_FILENO);
    close(after);
    CU_ASSERT_EQUAL(after, before); /* no file stays open */
}

static char *write_text(const char *folder, const char *name, const char *text) {
    char *path = rp_format("%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    fputs(text, f);
    fclose(f);
    return path;
}

/* A path as long as the message must not push the reason out of it, and a path whose name
 * contains the other file's name must not be mistaken for it. */
static void errors_name_files_with_odd_paths(void) {
    struct remat_error error;
    char folder[] = "/tmp/remat-XXXXXX", cwd[4096];
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    CU_ASSERT_PTR_NOT_NULL_FATAL(getcwd(cwd, sizeof cwd));
    char *name = rp_format("%0200d", 7);
    char *path = write_text(folder, name, "[]"), *plan = write_text(folder, "plan", "[]");
    CU_ASSERT_PTR_NULL(remat_load(path, path, &error));
    CU_ASSERT_EQUAL(strncmp(error.text, name, 200), 0);
    CU_ASSERT_STRING_EQUAL(error.text + 200, ": format: is not 'remat-graph'");
    CU_ASSERT_EQUAL_FATAL(chdir(folder), 0);
    expect_load_error("plan", path, "plan: format: is not 'remat-graph'");
    CU_ASSERT_EQUAL_FATAL(chdir(cwd), 0);
    unlink(plan);
    unlink(path);
    rmdir(folder);
    free(plan);
    free(path);
    free(name);
}

/* Corrupted files are accepted or refused. Sanitizers check that nothing else happens. */
static void corrupted_files_are_refused_or_harmless(void) {
    struct rp_world w;
    char *graph, *plan;
    size_t graph_len, plan_len;
    rp_world_open(&w, rp_net, SIZES, SWAPPED);
    rp_graph_dump(&w.g, &graph, &graph_len);
    rp_sha256_hex(graph, graph_len, w.p.graph_sha256);
    rp_plan_dump(&w.p, &plan, &plan_len);
    struct rp_rng rng = {1};
    size_t accepted = 0;
    for (int k = 0; k < 3000; k++) {
        static const char bytes[] = "0123456789,:[]{}\"-truenl";
        const size_t at = rp_rng_below(&rng, plan_len);
        const char was = plan[at];
        struct remat_error error;
        plan[at] = bytes[rp_rng_below(&rng, sizeof bytes - 1)];
        remat *r = remat_parse(graph, graph_len, plan, plan_len, &error);
        CU_ASSERT_EQUAL(r == NULL, error.text[0] != '\0');
        accepted += r != NULL;
        remat_close(r);
        plan[at] = was;
    }
    CU_ASSERT_TRUE(accepted > 0 && accepted < 3000);
    free(graph);
    free(plan);
    rp_world_close(&w);
}

void suite_remat_files(void) {
    RP_SUITE("remat_files");
    RP_TEST(wrong_graphs_are_refused);
    RP_TEST(wrong_plans_are_refused);
    RP_TEST(files_of_version_2_are_walked_or_refused);
    RP_TEST(errors_may_be_ignored);
    RP_TEST(errors_name_the_file);
    RP_TEST(errors_name_files_with_odd_paths);
    RP_TEST(corrupted_files_are_refused_or_harmless);
}
