/* Compares the checker with the naive checker on any plan for two small graphs, of versions
 * 1 and 2.
 *
 * The bytes encode a plan, so that every input is a well-formed one:
 *   flags      1 addressed, 2 bound too high, 4 8 16 which claim is false (0: none), 32 for
 *              the graph of version 2, 64 a plan of version 1
 *   3 bytes    budget, arena and host slab, in units of 8 bytes
 *   homes      with flag 32, 1 byte: which of the first 8 tensors live on the host, and
 *              with addresses 1 byte for each of them
 *   steps      1 byte: kind in the low 2 bits, id above; with addresses 1 byte for each
 *              of them, in units of 8 bytes, 255 for none: a run's outputs and workspace,
 *              or the address of a copy
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "../naive.h"
#include "base/mem.h"
#include "fuzz.h"
#include "verify/verifier.h"

/* An op with two outputs, a tensor without bytes, a run-once op, workspace, and copies. */
static const char graph_1[] =
    "{\"format\":\"remat-graph\",\"version\":1,\"name\":\"g\",\"time_source\":\"imported:"
    "x\","
    "\"device\":{\"h2d_bytes_per_s\":1000000000,\"d2h_bytes_per_s\":2000000000,"
    "\"copy_latency_ns\":5,\"alignment_bytes\":16},\"tensors\":["
    "{\"name\":\"w\",\"bytes\":16,\"kind\":\"parameter\"},"
    "{\"name\":\"a\",\"bytes\":32,\"kind\":\"activation\"},"
    "{\"name\":\"b\",\"bytes\":12,\"kind\":\"activation\"},"
    "{\"name\":\"c\",\"bytes\":32,\"kind\":\"activation\"},"
    "{\"name\":\"d\",\"bytes\":0,\"kind\":\"activation\"},"
    "{\"name\":\"e\",\"bytes\":16,\"kind\":\"gradient\"}],\"ops\":["
    "{\"name\":\"f\",\"kind\":\"x\",\"inputs\":[0],\"outputs\":[1,2],\"time_ns\":10,"
    "\"workspace_bytes\":16},"
    "{\"name\":\"g\",\"kind\":\"x\",\"inputs\":[1],\"outputs\":[3],\"time_ns\":20},"
    "{\"name\":\"once\",\"kind\":\"x\",\"inputs\":[2],\"outputs\":[],\"time_ns\":5,"
    "\"recompute\":false},"
    "{\"name\":\"h\",\"kind\":\"x\",\"inputs\":[2,3],\"outputs\":[4],\"time_ns\":7},"
    "{\"name\":\"k\",\"kind\":\"x\",\"inputs\":[1,3,4],\"outputs\":[5],\"time_ns\":30,"
    "\"workspace_bytes\":32}],\"keep\":[5]}";

/* Sources with all three homes, updates, an output that is held, and one that its op leaves
 * alone. */
static const char graph_2[] =
    "{\"format\":\"remat-graph\",\"version\":2,\"name\":\"g\",\"time_source\":\"imported:"
    "x\","
    "\"device\":{\"h2d_bytes_per_s\":1000000000,\"d2h_bytes_per_s\":2000000000,"
    "\"copy_latency_ns\":5,\"alignment_bytes\":16},\"tensors\":["
    "{\"name\":\"w\",\"bytes\":16,\"kind\":\"parameter\"},"
    "{\"name\":\"t\",\"bytes\":12,\"kind\":\"state\",\"home\":\"host\"},"
    "{\"name\":\"s\",\"bytes\":16,\"kind\":\"state\",\"home\":\"any\"},"
    "{\"name\":\"x\",\"bytes\":32,\"kind\":\"activation\"},"
    "{\"name\":\"y\",\"bytes\":16,\"kind\":\"activation\"},"
    "{\"name\":\"z\",\"bytes\":16,\"kind\":\"activation\",\"held\":true},"
    "{\"name\":\"v\",\"bytes\":16,\"kind\":\"gradient\"}],\"ops\":["
    "{\"name\":\"f\",\"kind\":\"k\",\"inputs\":[0],\"outputs\":[3],\"time_ns\":10},"
    "{\"name\":\"g\",\"kind\":\"k\",\"inputs\":[3],\"outputs\":[4,5],\"time_ns\":20,"
    "\"rewrites\":false},"
    "{\"name\":\"u\",\"kind\":\"k\",\"inputs\":[4],\"outputs\":[],\"updates\":[0,2],"
    "\"time_ns\":30,\"ordered\":true},"
    "{\"name\":\"h\",\"kind\":\"k\",\"inputs\":[0,3],\"outputs\":[6],\"time_ns\":40},"
    "{\"name\":\"e\",\"kind\":\"k\",\"inputs\":[],\"outputs\":[],\"updates\":[1],"
    "\"time_ns\":5,\"ordered\":true}],\"keep\":[6]}";

struct bytes {
    const uint8_t *at;
    size_t n;
};

static uint8_t next(struct bytes *b) {
    if (b->n == 0)
        return 0;
    b->n--;
    return *b->at++;
}

static uint64_t next_address(struct bytes *b) {
    uint8_t x = next(b);
    return x == 255 ? RP_NO_ADDRESS : 8 * (uint64_t)x;
}

static void add_step(const struct rp_graph *g, struct rp_plan *p, struct bytes *b) {
    uint8_t x = next(b);
    struct rp_step s = {.kind = (enum rp_step_kind)(x & 3),
                        .id = x >> 2,
                        .address = RP_NO_ADDRESS,
                        .at = (uint32_t)p->at.n};
    if (p->addressed && s.kind == RP_RUN && s.id < g->n_ops) {
        s.has_at = true;
        s.n_at = g->ops[s.id].n_outputs;
        for (uint32_t k = 0; k < s.n_at; k++)
            rp_push(&p->at, next_address(b));
        if (g->ops[s.id].workspace_bytes > 0 || g->ops[s.id].cannot_rewrite)
            s.address = next_address(b);
    } else if (p->addressed && (s.kind == RP_SWAP_OUT || s.kind == RP_SWAP_IN)) {
        s.address = next_address(b);
    }
    rp_push(&p->steps, s);
}

static void add_homes(const struct rp_graph *g, struct rp_plan *p, struct bytes *b) {
    uint8_t homes = next(b);
    for (uint32_t x = 0; x < g->n_tensors && x < 8; x++)
        if (homes >> x & 1)
            rp_push(&p->homes, ((struct rp_plan_home){x, p->addressed ? next_address(b)
                                                                      : RP_NO_ADDRESS}));
}

static void falsify(struct rp_claims *c, unsigned which) {
    uint64_t *const claims[] = {NULL,         &c->time_ns,    &c->baseline_time_ns,
                                &c->stall_ns, &c->peak_bytes, &c->recompute_ns};
    if (which > 0 && which < sizeof claims / sizeof claims[0])
        ++*claims[which];
}

static const struct rp_graph *graph_of_version(unsigned version) {
    static const char *const texts[] = {graph_1, graph_2};
    static struct rp_graph graphs[2];
    struct rp_graph *g = &graphs[version - 1];
    const char *text = texts[version - 1];
    struct rp_err err = {{0}};
    if (g->n_ops == 0 && rp_graph_parse(text, strlen(text), "g", g, &err) != RP_OK)
        abort();
    return g;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct bytes b = {data, size};
    struct rp_err err = {{0}};
    struct rp_verdict v;
    uint8_t flags = next(&b);
    const struct rp_graph *g = graph_of_version(flags & 32 ? 2 : 1);
    struct rp_plan p = {.graph_name = g->name,
                        .graph_sha256 = (char *)g->sha256,
                        .version_1 = flags & 64,
                        .addressed = flags & 1,
                        .budget_bytes = 8 * (uint64_t)next(&b),
                        .arena_bytes = 8 * (uint64_t)next(&b),
                        .host_bytes = 8 * (uint64_t)next(&b)};
    if (flags & 32)
        add_homes(g, &p, &b);
    while (b.n > 0 && p.steps.n < 64)
        add_step(g, &p, &b);
    rp_naive_steps(g, &p, &p.claims);
    p.claims.lower_bound_ns = p.claims.time_ns + (flags >> 1 & 1);
    p.claims.proof = RP_PROOF_OPTIMAL;
    falsify(&p.claims, flags >> 2 & 7);
    rp_rc rc = rp_verify(g, &p, &v, &err);
    assert(rc == RP_OK || (rc == RP_NO && err.msg[0] != '\0'));
    assert((rc == RP_OK) == rp_naive_valid(g, &p));
    free(p.homes.at);
    free(p.steps.at);
    free(p.at.at);
    return 0;
}
