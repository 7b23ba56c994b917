/* The rules of PyTorch's partitioner, on chains of ops. */
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/mem.h"
#include "policy/partition_rules.h"
#include "run.h"

/* n forward ops in a chain; of four, the last one also reads what op 0 makes. Ops are
 * elementwise but op `at`, which has this kind. One backward op reads the end. The caller
 * ends `g`. */
static void chain(uint32_t n, uint32_t at, const char *kind, struct rp_graph *g) {
    struct rp_err err = {{0}};
    char *text;
    size_t len;
    FILE *f = rp_text_open(&text, &len);
    fputs("{\"format\":\"remat-graph\",\"version\":1,\"name\":\"g\",\"time_source\":"
          "\"imported:\",\"tensors\":[{\"name\":\"in\",\"bytes\":8,\"kind\":\"input\"}",
          f);
    for (uint32_t i = 0; i <= n; i++)
        fprintf(f, ",{\"name\":\"t%u\",\"bytes\":%u,\"kind\":\"activation\"}", i,
                i == at && strcmp(kind, "sum") == 0 ? 1 : 8);
    fputs("],\"ops\":[", f);
    for (uint32_t i = 0; i <= n; i++)
        fprintf(f,
                "%s{\"name\":\"f%u\",\"kind\":\"aten.%s\",\"inputs\":[%u%s],\"outputs\":"
                "[%u],\"time_ns\":1,\"phase\":\"%s\"}",
                i > 0 ? "," : "", i, i == at ? kind : "mul", i,
                i == 3 && n == 4 ? ",1" : "", i + 1, i < n ? "forward" : "backward");
    fprintf(f, "],\"keep\":[%u]}", n + 1);
    rp_text_close(f);
    CU_ASSERT_EQUAL_FATAL(rp_graph_parse(text, len, "g", g, &err), RP_OK);
    free(text);
}

/* The ops that are banned at this level, as bits. If the first of them is op 60 or a later
 * one, its number times 1000. */
static uint64_t banned_ops(uint32_t n, uint32_t at, const char *kind,
                           enum rp_ban_level level) {
    struct rp_graph g;
    struct rp_instance p;
    struct rp_partition s;
    uint64_t found = 0;
    chain(n, at, kind, &g);
    rp_instance_init(&p, &g, 1 << 20, false, NULL);
    rp_partition_init(&p, n, &s);
    bool *banned = rp_calloc(n, sizeof *banned);
    rp_partition_ban(&s, level, banned);
    for (uint32_t i = n; i-- > 0;)
        if (banned[i])
            found = i < 60 ? found | (uint64_t)1 << i : (uint64_t)i * 1000;
    free(banned);
    rp_partition_fini(&s);
    rp_instance_fini(&p);
    rp_graph_fini(&g);
    return found;
}

static void each_level_bans_less(void) {
    static const struct {
        const char *kind;
        uint64_t banned[4]; /* per level, where op 1 of four has this kind */
    } cases[] = {
        {"gelu", {0, 0, 0, 0}},
        {"sum", {2, 2, 2, 0}},                /* a reduction */
        {"native_layer_norm", {10, 2, 0, 0}}, /* not in the list; op 3 is used far apart */
        {"mm.default", {10, 2, 2, 0}},        /* expensive */
        {"native_dropout", {2, 2, 2, 0}},     /* random, but fused */
        {"_softmax.default", {10, 2, 0, 0}},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++)
        for (int level = RP_BAN_DEFAULT; level <= RP_BAN_IMPOSSIBLE; level++) {
            uint64_t found = banned_ops(4, 1, cases[k].kind, (enum rp_ban_level)level);
            if (found != cases[k].banned[level])
                printf("%s, level %d: %u\n", cases[k].kind, level, (unsigned)found);
            CU_ASSERT_EQUAL(found, cases[k].banned[level]);
        }
}

/* Op 0 begins the chain, and op 101 is the first that is more than 100 ops away. */
static void a_long_chain_of_fused_ops_is_interrupted(void) {
    CU_ASSERT_EQUAL(banned_ops(100, 0, "mul", RP_BAN_DEFAULT), 0);
    CU_ASSERT_EQUAL(banned_ops(150, 0, "mul", RP_BAN_DEFAULT), 101000);
    CU_ASSERT_EQUAL(banned_ops(150, 0, "mul", RP_BAN_UNLISTED), 0);
}

void suite_partition_rules(void) {
    RP_SUITE("partition_rules");
    RP_TEST(each_level_bans_less);
    RP_TEST(a_long_chain_of_fused_ops_is_interrupted);
}
