/* Reads any bytes as a graph. They are refused with a message; or they are accepted, and
 * writing and reading the graph again gives the same text. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "model/graph.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct rp_graph g, again;
    struct rp_err err = {{0}};
    char *a, *b;
    size_t n, m;
    rp_rc rc = rp_graph_parse((const char *)data, size, "fuzz", &g, &err);
    assert((rc == RP_OK) == (err.msg[0] == '\0'));
    if (rc != RP_OK)
        return 0;
    rp_graph_dump(&g, &a, &n);
    rc = rp_graph_parse(a, n, "again", &again, &err);
    assert(rc == RP_OK);
    rp_graph_dump(&again, &b, &m);
    assert(n == m && memcmp(a, b, n) == 0);
    free(a);
    free(b);
    rp_graph_fini(&g);
    rp_graph_fini(&again);
    return 0;
}
