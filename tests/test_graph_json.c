#include <stdlib.h>
#include <string.h>

#include "gen.h"
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

static bool same_list(const uint32_t *a, uint32_t n, const uint32_t *b, uint32_t m) {
    return n == m && (n == 0 || memcmp(a, b, n * sizeof *a) == 0);
}

static bool same_text(const char *a, const char *b) {
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static bool same_tensor(const struct rp_tensor *a, const struct rp_tensor *b) {
    return same_text(a->name, b->name) && a->bytes == b->bytes && a->kind == b->kind &&
           same_text(a->dtype, b->dtype) && a->n_dims == b->n_dims && a->held == b->held &&
           a->home == b->home && a->producer == b->producer;
}

static bool same_op(const struct rp_op *a, const struct rp_op *b) {
    return same_text(a->name, b->name) && same_text(a->kind, b->kind) &&
           same_list(a->inputs, a->n_inputs, b->inputs, b->n_inputs) &&
           same_list(a->outputs, a->n_outputs, b->outputs, b->n_outputs) &&
           same_list(a->updates, a->n_updates, b->updates, b->n_updates) &&
           a->time_ns == b->time_ns && a->workspace_bytes == b->workspace_bytes &&
           a->phase == b->phase && a->recompute == b->recompute &&
           a->ordered == b->ordered && a->cannot_rewrite == b->cannot_rewrite;
}

static bool same_device(const struct rp_device *a, const struct rp_device *b) {
    return same_text(a->name, b->name) && a->memory_bytes == b->memory_bytes &&
           a->h2d_bytes_per_s == b->h2d_bytes_per_s &&
           a->d2h_bytes_per_s == b->d2h_bytes_per_s &&
           a->copy_latency_ns == b->copy_latency_ns &&
           a->alignment_bytes == b->alignment_bytes;
}

static bool same_graph(const struct rp_graph *a, const struct rp_graph *b) {
    bool same = same_text(a->name, b->name) && same_text(a->time_source, b->time_source) &&
                same_device(&a->device, &b->device) && a->n_ops == b->n_ops &&
                a->n_tensors == b->n_tensors &&
                same_list(a->keep, a->n_keep, b->keep, b->n_keep);
    for (uint32_t x = 0; same && x < a->n_tensors; x++)
        same = same_tensor(&a->tensors[x], &b->tensors[x]);
    for (uint32_t i = 0; same && i < a->n_ops; i++)
        same = same_op(&a->ops[i], &b->ops[i]);
    return same;
}

/* Random graphs have all that version 2 can say. */
static void a_dumped_graph_reads_back_to_the_same_graph(void) {
    uint32_t n = 100;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++) {
        struct rp_gen_shape shape = rp_gen_small(4 + (uint32_t)seed % 12);
        struct rp_graph g, h;
        struct rp_err err = {{0}};
        char *text;
        size_t len;
        shape.version_2 = seed % 2 != 0;
        shape.training = seed % 3 != 0;
        shape.rules_percent = shape.version_2 ? 0 : seed % 4 * 10;
        rp_gen_graph(seed, &shape, &g);
        g.device.copy_latency_ns = seed % 7;
        g.device.memory_bytes = seed % 5;
        rp_graph_dump(&g, &text, &len);
        CU_ASSERT_EQUAL_FATAL(rp_graph_parse(text, len, "g", &h, &err), RP_OK);
        if (!same_graph(&g, &h)) {
            rp_gen_failed(seed);
            CU_FAIL("another graph");
        }
        free(text);
        rp_graph_fini(&g);
        rp_graph_fini(&h);
    }
}

void suite_graph_json(void) {
    RP_SUITE("graph_json");
    RP_TEST(a_dumped_graph_reads_back_to_the_same_bytes);
    RP_TEST(a_dumped_graph_reads_back_to_the_same_graph);
}
