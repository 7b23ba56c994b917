#include "layers.h"

#include <stdio.h>

#include "run.h"

void rp_layers_parse(uint32_t n, uint32_t state, struct rp_graph *g) {
    static const char *const kinds[] = {"parameter",  "state",    "activation",
                                        "activation", "gradient", "gradient"};
    static char text[30000];
    struct rp_err err = {{0}};
    size_t k = 0;
#define ADD(...) (k += (size_t)snprintf(text + k, sizeof text - k, __VA_ARGS__))
    ADD("{\"format\":\"remat-graph\",\"version\":2,\"name\":\"chain\","
        "\"time_source\":\"imported:x\",\"device\":{\"name\":\"d\","
        "\"alignment_bytes\":1,\"h2d_bytes_per_s\":1000000000,"
        "\"d2h_bytes_per_s\":1000000000},\"keep\":[%u],\"tensors\":[",
        5 * n);
    for (uint32_t x = 0; x < 6 * n; x++)
        ADD("%s{\"name\":\"%c%u\",\"bytes\":%u,\"kind\":\"%s\"%s}", x > 0 ? "," : "",
            "wmxegd"[x / n], x % n, x / n == 1 ? state : 10, kinds[x / n],
            x < 2 * n ? ",\"home\":\"any\"" : "");
    ADD("],\"ops\":[");
    for (uint32_t i = 0; i < n; i++) {
        ADD("{\"name\":\"f%u\",\"kind\":\"k\",\"inputs\":[%u", i, i);
        if (i > 0)
            ADD(",%u", 2 * n + i - 1);
        ADD("],\"outputs\":[%u],\"time_ns\":10},", 2 * n + i);
    }
    for (uint32_t i = n; i-- > 0;) {
        ADD("{\"name\":\"q%u\",\"kind\":\"k\",\"inputs\":[%u", i, 2 * n + i);
        if (i + 1 < n)
            ADD(",%u", 5 * n + i + 1);
        ADD("],\"outputs\":[%u],\"time_ns\":10},", 3 * n + i);
        ADD("{\"name\":\"b%u\",\"kind\":\"k\",\"inputs\":[%u],\"outputs\":[%u],"
            "\"time_ns\":0},",
            i, 3 * n + i, 4 * n + i);
        ADD("{\"name\":\"u%u\",\"kind\":\"k\",\"inputs\":[%u],\"outputs\":[],"
            "\"updates\":[%u,%u],\"time_ns\":0},",
            i, 4 * n + i, i, n + i);
        ADD("{\"name\":\"c%u\",\"kind\":\"k\",\"inputs\":[%u],\"outputs\":[%u],"
            "\"time_ns\":10}%s",
            i, 3 * n + i, 5 * n + i, i > 0 ? "," : "");
    }
    ADD("]}");
#undef ADD
    CU_ASSERT_FATAL(k < sizeof text);
    CU_ASSERT_FATAL(rp_graph_parse(text, k, "g", g, &err) == RP_OK);
}
