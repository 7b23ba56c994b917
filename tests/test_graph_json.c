#include <stdlib.h>
#include <string.h>

#include "model/graph.h"
#include "model/plan.h"
#include "run.h"

static const char small[] =
    "{\"format\":\"remat-graph\",\"version\":1,\"name\":\"g\",\"time_source\":\"imported:"
    "x\","
    "\"tensors\":[{\"name\":\"w\",\"bytes\":8,\"kind\":\"parameter\"},"
    "{\"name\":\"a\",\"bytes\":16,\"kind\":\"activation\",\"shape\":[2,2],\"dtype\":"
    "\"f32\"}],"
    "\"ops\":[{\"name\":\"f\",\"kind\":\"mul\",\"inputs\":[0],\"outputs\":[1],\"time_ns\":"
    "5,"
    "\"attrs\":{\"x\":1.5}}],\"keep\":[1]}";

static void a_dumped_graph_reads_back_to_the_same_bytes(void) {
    struct rp_graph g, h;
    struct rp_err err = {{0}};
    char *a, *b;
    size_t n, m;
    CU_ASSERT_EQUAL_FATAL(rp_graph_parse(small, sizeof small - 1, "g", &g, &err), RP_OK);
    CU_ASSERT_EQUAL(g.fixed_bytes, 8);
    CU_ASSERT_EQUAL(g.total_time_ns, 5);
    CU_ASSERT_EQUAL(g.tensors[1].producer, 0);
    CU_ASSERT_EQUAL(g.reader_start[1] - g.reader_start[0], 1);
    rp_graph_dump(&g, &a, &n);
    CU_ASSERT_EQUAL_FATAL(rp_graph_parse(a, n, "h", &h, &err), RP_OK);
    rp_graph_dump(&h, &b, &m);
    CU_ASSERT_STRING_EQUAL(a, b);
    free(a);
    free(b);
    rp_graph_fini(&g);
    rp_graph_fini(&h);
}

void suite_graph_json(void) {
    RP_SUITE("graph_json");
    RP_TEST(a_dumped_graph_reads_back_to_the_same_bytes);
}
