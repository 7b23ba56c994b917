/* Reads any bytes as a graph and a plan for libremat. They are refused with a message, or
 * they are walked and each step is as remat.h promises. What verify accepts is never
 * refused.
 *
 * The input is both texts with a line "---" between them. 64 zeros in the plan are replaced
 * by the digest of the graph, so that a mutation of the graph does not make the plan one
 * for another graph.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sha256.h"
#include "fuzz.h"
#include "model/graph.h"
#include "model/plan.h"
#include "remat/remat.h"
#include "verify/verifier.h"

struct text {
    char *at;
    size_t len;
};

/* Copied into an allocation of its own, so that a sanitizer sees a read past the end. */
static struct text copy_of(const uint8_t *data, size_t len) {
    struct text t = {rp_calloc(len, 1), len};
    memcpy(t.at, data, len);
    return t;
}

static void put_digest(const struct text *graph, struct text *plan) {
    static const char gap[65] =
        "0000000000000000000000000000000000000000000000000000000000000000";
    char hex[65];
    char *at = memmem(plan->at, plan->len, gap, 64);
    rp_sha256_hex(graph->at, graph->len, hex);
    if (at != NULL)
        memcpy(at, hex, 64);
}

/* ---- what remat.h promises for a plan that can be walked ---- */

struct place {
    bool on_device, on_host; /* on_host: there is a host copy that is up to date */
    uint64_t at, host_at;
};

struct walker {
    const remat *r;
    const struct remat_totals *t;
    struct place *places;
    uint32_t *runs;
    size_t (*waited)[REMAT_N_QUEUES]; /* per waiting queue and queue waited for: 1 + the
                                         latest step */
};

static void within(const struct walker *w, uint64_t at, uint64_t bytes, uint64_t capacity) {
    if (!w->t->addressed) {
        assert(at == REMAT_NOWHERE);
        return;
    }
    assert(at % w->t->alignment_bytes == 0 && at <= capacity && bytes <= capacity - at);
}

static void check_waits(struct walker *w, const struct remat_step *s) {
    for (size_t k = 0; k < s->n_waits; k++) {
        const struct remat_step *before = remat_step(w->r, s->waits[k]);
        assert(s->waits[k] < s->number && before->awaited && before->queue != s->queue);
        assert(w->waited[s->queue][before->queue] <= s->waits[k]);
        w->waited[s->queue][before->queue] = s->waits[k] + 1;
    }
}

static void check_run(struct walker *w, const struct remat_step *s) {
    assert(s->again == (w->runs[s->id] > 0) && (!s->again || s->n_updates == 0));
    w->runs[s->id]++;
    for (uint32_t k = 0; k < s->n_inputs; k++) {
        const struct place *x = &w->places[s->inputs[k].tensor];
        assert(x->on_device && x->at == s->inputs[k].at);
    }
    for (uint32_t k = 0; k < s->n_updates; k++) {
        struct place *x = &w->places[s->updates[k].tensor];
        assert(remat_tensor(w->r, s->updates[k].tensor)->source);
        assert(x->on_device && x->at == s->updates[k].at);
        x->on_host = false;
    }
    for (uint32_t k = 0; k < s->n_outputs; k++) {
        struct place *x = &w->places[s->outputs[k].tensor];
        const struct remat_tensor *tensor = remat_tensor(w->r, s->outputs[k].tensor);
        within(w, s->outputs[k].at, tensor->bytes, w->t->arena_bytes);
        if (x->on_device && x->at != s->outputs[k].at)
            continue; /* the op leaves it as it is, and makes it again elsewhere */
        assert(!tensor->source);
        x->on_device = true;
        x->at = s->outputs[k].at;
    }
    if (s->workspace_bytes > 0)
        within(w, s->workspace_at, s->workspace_bytes, w->t->arena_bytes);
}

static void check_move(struct walker *w, const struct remat_step *s) {
    struct place *x = &w->places[s->id];
    const struct remat_tensor *tensor = remat_tensor(w->r, s->id);
    assert((!tensor->source || tensor->on_host) && s->bytes == tensor->bytes);
    assert(s->what != REMAT_FREE || !tensor->source || x->on_host);
    assert(x->on_device == (s->what != REMAT_SWAP_IN));
    assert(x->on_host || s->what != REMAT_SWAP_IN);
    assert(!x->on_host || s->what != REMAT_SWAP_OUT);
    if (s->what != REMAT_FREE)
        within(w, s->host_at, s->bytes, w->t->host_bytes);
    if (s->what == REMAT_SWAP_IN) {
        within(w, s->at, s->bytes, w->t->arena_bytes);
        assert(s->host_at == x->host_at);
        x->at = s->at;
    }
    assert(s->at == x->at);
    x->on_device = s->what != REMAT_FREE;
    x->on_host |= s->what == REMAT_SWAP_OUT;
    x->host_at = s->what == REMAT_FREE ? x->host_at : s->host_at;
}

static void check_walk(const remat *r) {
    size_t waited[REMAT_N_QUEUES][REMAT_N_QUEUES] = {{0}};
    struct walker w = {.r = r, .t = remat_totals(r), .waited = waited};
    w.places = rp_calloc(w.t->n_tensors, sizeof *w.places);
    w.runs = rp_calloc(w.t->n_ops, sizeof *w.runs);
    for (uint32_t x = 0; x < w.t->n_tensors; x++) {
        const struct remat_tensor *tensor = remat_tensor(r, x);
        assert(tensor->source || !tensor->on_host);
        if (tensor->on_host)
            within(&w, tensor->host_at, tensor->bytes, w.t->host_bytes);
        w.places[x] = (struct place){.on_device = tensor->source && !tensor->on_host,
                                     .on_host = tensor->on_host,
                                     .at = REMAT_NOWHERE,
                                     .host_at = tensor->host_at};
    }
    for (size_t k = 0; k < w.t->n_steps; k++) {
        const struct remat_step *s = remat_step(r, k);
        assert(s->number == k);
        check_waits(&w, s);
        (s->what == REMAT_RUN ? check_run : check_move)(&w, s);
    }
    for (uint32_t j = 0; j < w.t->n_ops; j++)
        assert(w.runs[j] > 0);
    for (uint32_t k = 0; k < w.t->n_keep; k++) {
        const struct place *x = &w.places[remat_keep(r)[k]];
        const struct remat_tensor *tensor = remat_tensor(r, remat_keep(r)[k]);
        assert(x->on_device && tensor->kept && tensor->last == x->at);
    }
    for (uint32_t x = 0; x < w.t->n_tensors; x++)
        assert(!remat_tensor(r, x)->on_host || w.places[x].on_host);
    free(w.places);
    free(w.runs);
}

/* ---- comparison with verify ---- */

static void check_run_once(const struct rp_graph *g, const remat *r) {
    for (size_t k = 0; k < remat_totals(r)->n_steps; k++) {
        const struct remat_step *s = remat_step(r, k);
        assert(s->what != REMAT_RUN || !s->again || g->ops[s->id].recompute);
    }
}

static void compare(const struct text *graph, const struct text *plan, const remat *r) {
    struct rp_graph g = {0};
    struct rp_plan p = {0};
    struct rp_verdict v;
    struct rp_err err = {{0}};
    if (rp_graph_parse(graph->at, graph->len, "g", &g, &err) == RP_OK &&
        rp_plan_parse(plan->at, plan->len, "p", &p, &err) == RP_OK) {
        assert(r != NULL || rp_verify(&g, &p, &v, &err) != RP_OK);
        if (r != NULL)
            check_run_once(&g, r);
    }
    rp_plan_fini(&p);
    rp_graph_fini(&g);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char line[] = "\n---\n";
    const uint8_t *gap = memmem(data, size, line, sizeof line - 1);
    if (gap == NULL)
        return 0;
    struct text graph = copy_of(data, (size_t)(gap - data));
    const uint8_t *rest = gap + sizeof line - 1;
    struct text plan = copy_of(rest, size - (size_t)(rest - data));
    struct remat_error error;
    put_digest(&graph, &plan);
    remat *r = remat_parse(graph.at, graph.len, plan.at, plan.len, &error);
    assert((r == NULL) == (error.text[0] != '\0'));
    if (r != NULL)
        check_walk(r);
    compare(&graph, &plan, r);
    remat_close(r);
    free(graph.at);
    free(plan.at);
    return 0;
}
