/* Compares the checker with the naive checker on any plan for one small graph.
 *
 * The bytes encode a plan, so that every input is a well-formed one:
 *   flags      1 addressed, 2 bound too high, 4 8 16 which claim is false (0: none)
 *   3 bytes    budget, arena and host slab, in units of 8 bytes
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
static const char graph_text[] =
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
        if (g->ops[s.id].workspace_bytes > 0)
            s.address = next_address(b);
    } else if (p->addressed && (s.kind == RP_SWAP_OUT || s.kind == RP_SWAP_IN)) {
        s.address = next_address(b);
    }
    rp_push(&p->steps, s);
}

static void falsify(struct rp_claims *c, unsigned which) {
    uint64_t *const claims[] = {NULL,         &c->time_ns,    &c->baseline_time_ns,
                                &c->stall_ns, &c->peak_bytes, &c->recompute_ns};
    if (which > 0 && which < sizeof claims / sizeof claims[0])
        ++*claims[which];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct rp_graph g;
    struct bytes b = {data, size};
    struct rp_err err = {{0}};
    struct rp_verdict v;
    if (g.n_ops == 0 &&
        rp_graph_parse(graph_text, sizeof graph_text - 1, "g", &g, &err) != RP_OK)
        abort();
    uint8_t flags = next(&b);
    struct rp_plan p = {.graph_name = g.name,
                        .graph_sha256 = g.sha256,
                        .addressed = flags & 1,
                        .budget_bytes = 8 * (uint64_t)next(&b),
                        .arena_bytes = 8 * (uint64_t)next(&b),
                        .host_bytes = 8 * (uint64_t)next(&b)};
    while (b.n > 0 && p.steps.n < 64)
        add_step(&g, &p, &b);
    rp_naive_steps(&g, &p, &p.claims);
    p.claims.lower_bound_ns = p.claims.time_ns + (flags >> 1 & 1);
    falsify(&p.claims, flags >> 2 & 7);
    rp_rc rc = rp_verify(&g, &p, &v, &err);
    assert(rc == RP_OK || (rc == RP_NO && err.msg[0] != '\0'));
    assert((rc == RP_OK) == rp_naive_valid(&g, &p));
    free(p.steps.at);
    free(p.at.at);
    return 0;
}
