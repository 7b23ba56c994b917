/* Reads any bytes as a certificate, and checks it for a small graph. It is refused with a
 * message, or what it proves is no more than what the fastest of all plans takes, which is
 * found by trying every step sequence.
 *
 * The names of its graph and its budgets are replaced by those of the case: the small host
 * if it allows less than HOST bytes, else the large one. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "../brute.h"
#include "../brute_copies.h"
#include "base/mem.h"
#include "fuzz.h"
#include "verify/certificate/check_certificate.h"

/* a is read at once and at the end, and c once more after the largest tensor is there. */
static const char graph[] =
    "{\"format\":\"remat-graph\",\"version\":1,\"name\":\"g\",\"time_source\":\"none\","
    "\"device\":{\"h2d_bytes_per_s\":2000000000,\"d2h_bytes_per_s\":1500000000,"
    "\"copy_latency_ns\":0,\"alignment_bytes\":1},\"tensors\":["
    "{\"name\":\"a\",\"bytes\":20,\"kind\":\"activation\"},"
    "{\"name\":\"b\",\"bytes\":10,\"kind\":\"activation\"},"
    "{\"name\":\"c\",\"bytes\":12,\"kind\":\"activation\"},"
    "{\"name\":\"d\",\"bytes\":16,\"kind\":\"activation\"},"
    "{\"name\":\"e\",\"bytes\":10,\"kind\":\"gradient\"},"
    "{\"name\":\"f\",\"bytes\":4,\"kind\":\"gradient\"}],\"ops\":["
    "{\"name\":\"p\",\"kind\":\"k\",\"inputs\":[],\"outputs\":[0],\"time_ns\":30},"
    "{\"name\":\"q\",\"kind\":\"k\",\"inputs\":[0],\"outputs\":[1],\"time_ns\":7},"
    "{\"name\":\"r\",\"kind\":\"k\",\"inputs\":[1],\"outputs\":[2],\"time_ns\":9},"
    "{\"name\":\"s\",\"kind\":\"k\",\"inputs\":[2],\"outputs\":[3],\"time_ns\":11,"
    "\"workspace_bytes\":2},"
    "{\"name\":\"t\",\"kind\":\"k\",\"inputs\":[2,3],\"outputs\":[4],\"time_ns\":8},"
    "{\"name\":\"u\",\"kind\":\"k\",\"inputs\":[0,4],\"outputs\":[5],\"time_ns\":6}],"
    "\"keep\":[5]}";
enum { BUDGET = 38, HOST = 30, SMALL_HOST = 15, LARGE_HOST = 1000 };

static struct rp_graph g;
/* What the fastest plan takes: without swaps, with them by host, and without swaps where
 * the runs between two first runs are in order, none twice. */
static uint64_t best_ns, best_swap_ns[2], best_in_order_ns;

static uint64_t try_all(uint64_t host_bytes, bool swap) {
    struct rp_brute_copies o = {.limit_bytes = BUDGET,
                                .host_limit_bytes = host_bytes,
                                .recompute = true,
                                .swap = swap,
                                .max_states = 2000000};
    uint64_t ns = 0;
    assert(rp_brute_copies_best(&g, &o, &ns) == RP_BRUTE_FOUND);
    return ns;
}

static void prepare(void) {
    struct rp_err err = {{0}};
    if (best_ns > 0)
        return;
    assert(rp_graph_parse(graph, strlen(graph), "graph", &g, &err) == RP_OK);
    best_ns = try_all(0, false);
    best_swap_ns[0] = try_all(SMALL_HOST, true);
    best_swap_ns[1] = try_all(LARGE_HOST, true);
    assert(rp_brute_best(&g, BUDGET, &best_in_order_ns));
}

static bool keeps_the_order(const struct rp_certificate *c) {
    for (uint32_t i = 0; c->has_order && i < c->order.n; i++)
        if (c->order.at[i] != i)
            return false;
    return true;
}

/* Is what is proved above the fastest plan that it is about? */
static bool proves_too_much(const struct rp_certificate *c,
                            const struct rp_certified_bound *b) {
    if (!keeps_the_order(c))
        return false;
    if (!c->swaps)
        return b->bound_ns > (b->in_order ? best_in_order_ns : best_ns);
    uint64_t best = best_swap_ns[c->host_budget_bytes == LARGE_HOST];
    return !b->in_order && best <= c->swap_max_ns && b->bound_ns > best;
}

static void set(char **name, const char *value) {
    free(*name);
    *name = rp_strdup(value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct rp_certificate c;
    struct rp_certified_bound bound;
    struct rp_err err = {{0}};
    prepare();
    rp_rc rc = rp_certificate_parse((const char *)data, size, "fuzz", &c, &err);
    assert((rc == RP_OK) == (err.msg[0] == '\0'));
    if (rc != RP_OK)
        return 0;
    set(&c.graph_name, g.name);
    set(&c.graph_sha256, g.sha256);
    c.budget_bytes = BUDGET;
    c.host_budget_bytes = c.host_budget_bytes < HOST ? SMALL_HOST : LARGE_HOST;
    rc = rp_certificate_check(&c, &g, &bound, &err);
    assert((rc == RP_OK) == (err.msg[0] == '\0'));
    assert(rc != RP_OK || !proves_too_much(&c, &bound));
    rp_certificate_fini(&c);
    return 0;
}
