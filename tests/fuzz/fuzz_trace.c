/* Reads any bytes as a trace. They are refused with a message; or they are accepted, and
 * writing and reading the trace again gives the same text. Joining the trace with a graph
 * must not crash. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "model/graph.h"
#include "profile/annotate.h"

static const char net[] =
    "{\"format\":\"remat-graph\",\"version\":1,\"name\":\"g\",\"time_source\":\"none\","
    "\"tensors\":[{\"name\":\"x\",\"bytes\":8,\"kind\":\"input\"},"
    "{\"name\":\"y\",\"bytes\":8,\"kind\":\"activation\"},"
    "{\"name\":\"z\",\"bytes\":8,\"kind\":\"activation\"}],\"ops\":["
    "{\"name\":\"a\",\"kind\":\"k\",\"inputs\":[0],\"outputs\":[1],\"time_ns\":0},"
    "{\"name\":\"b\",\"kind\":\"k\",\"inputs\":[1],\"outputs\":[2],\"time_ns\":0}],"
    "\"keep\":[2]}";

static void join(const struct rp_trace *t) {
    struct rp_graph g;
    struct rp_joined_costs c;
    struct rp_err err = {{0}};
    rp_rc rc = rp_graph_parse(net, sizeof net - 1, "net", &g, &err);
    assert(rc == RP_OK);
    rc = rp_join_traces(&g, "net", t, 1, &c, &err);
    assert((rc == RP_OK) == (err.msg[0] == '\0'));
    struct rp_link_fit link;
    const struct rp_untraced_step step = {1000, 2000};
    if (rc == RP_OK) {
        if (rp_annotate_costs(&g, &c, "net", &err) == RP_OK)
            rp_annotate_gaps(&g, &c, &step, RP_GAPS_EAGER, "net", &err);
        if (rp_link_fit_build(t, 1, &link, &err) == RP_OK)
            rp_annotate_link(&g, &link);
        rp_joined_costs_fini(&c);
    }
    rp_graph_fini(&g);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct rp_trace t, again;
    struct rp_err err = {{0}};
    char *a, *b;
    size_t n, m;
    rp_rc rc = rp_trace_parse((const char *)data, size, "fuzz", &t, &err);
    assert((rc == RP_OK) == (err.msg[0] == '\0'));
    if (rc != RP_OK)
        return 0;
    rp_trace_dump(&t, &a, &n);
    rc = rp_trace_parse(a, n, "again", &again, &err);
    assert(rc == RP_OK);
    rp_trace_dump(&again, &b, &m);
    assert(n == m && memcmp(a, b, n) == 0);
    join(&t);
    free(a);
    free(b);
    rp_trace_fini(&t);
    rp_trace_fini(&again);
    return 0;
}
