/* Plans for the graphs of gen.h: keep-all, and random ones. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "gen.h"

struct held { /* a tensor's storage in the arena */
    uint64_t lo, hi;
    uint32_t tensor;
};

struct maker {
    const struct rp_graph *g;
    struct rp_plan *p;
    struct rp_rng rng;
    struct { /* live tensors, sorted by address (unsorted without addresses) */
        struct held *at;
        size_t n, cap;
    } live;
    bool *on_device;   /* sources that are not listed always are */
    bool *on_host;     /* the host copy is up to date */
    bool *arriving;    /* swapped in, and no run has read it yet */
    bool *listed;      /* a source that lives on the host */
    uint64_t *host_at; /* of its host range; RP_NO_ADDRESS without one */
    uint64_t live_bytes, fixed_bytes;
    bool fresh_addresses; /* never use an address twice */
};

static uint64_t size_of(const struct maker *m, uint64_t bytes) {
    return m->p->addressed ? rp_round_up(bytes, m->g->device.alignment_bytes) : bytes;
}

static bool is_free(const struct maker *m, uint64_t lo, uint64_t hi) {
    for (size_t k = 0; k < m->live.n; k++)
        if (lo < m->live.at[k].hi && m->live.at[k].lo < hi)
            return false;
    return true;
}

/* The lowest free address among 0 and the ends of live tensors. */
static uint64_t find_address(struct maker *m, uint64_t size) {
    if (m->fresh_addresses)
        return m->p->arena_bytes;
    uint64_t best = is_free(m, 0, size) ? 0 : UINT64_MAX;
    for (size_t k = 0; k < m->live.n; k++) {
        uint64_t lo = m->live.at[k].hi;
        if (lo < best && is_free(m, lo, lo + size))
            best = lo;
    }
    return best;
}

/* Updates the peak when `extra` bytes are live in addition. */
static void note_peak(struct maker *m, uint64_t extra) {
    struct rp_plan *p = m->p;
    uint64_t bytes = m->live_bytes + extra;
    if (!p->addressed && bytes > p->arena_bytes)
        p->arena_bytes = bytes;
    if (m->fixed_bytes + bytes > p->claims.peak_bytes)
        p->claims.peak_bytes = m->fixed_bytes + bytes;
}

static uint64_t allocate(struct maker *m, uint32_t x) {
    uint64_t size = size_of(m, m->g->tensors[x].bytes), at = RP_NO_ADDRESS;
    m->on_device[x] = true;
    m->live_bytes += size;
    if (m->p->addressed) {
        at = find_address(m, size);
        rp_push(&m->live, ((struct held){at, at + size, x}));
        if (at + size > m->p->arena_bytes)
            m->p->arena_bytes = at + size;
    } else {
        rp_push(&m->live, ((struct held){0, 0, x}));
    }
    return at;
}

static void push_step(struct maker *m, enum rp_step_kind kind, uint32_t id,
                      uint64_t address) {
    struct rp_step s = {.kind = kind, .id = id, .address = address};
    rp_push(&m->p->steps, s);
}

static void add_run(struct maker *m, uint32_t i) {
    const struct rp_op *op = &m->g->ops[i];
    struct rp_plan *p = m->p;
    struct rp_step s = {.kind = RP_RUN, .id = i, .address = RP_NO_ADDRESS};
    s.at = (uint32_t)p->at.n;
    uint64_t workspace = size_of(m, op->workspace_bytes);
    for (uint32_t k = 0; k < op->n_inputs; k++)
        m->arriving[op->inputs[k]] = false;
    for (uint32_t k = 0; k < op->n_updates; k++)
        m->arriving[op->updates[k]] = m->on_host[op->updates[k]] = false;
    for (uint32_t k = 0; k < op->n_outputs; k++) {
        uint32_t x = op->outputs[k];
        if (m->on_device[x] && op->cannot_rewrite)
            workspace += size_of(m, m->g->tensors[x].bytes);
        uint64_t at = m->on_device[x] ? RP_NO_ADDRESS : allocate(m, x);
        if (p->addressed)
            rp_push(&p->at, at);
    }
    s.has_at = p->addressed && op->n_outputs > 0;
    s.n_at = s.has_at ? op->n_outputs : 0;
    if (p->addressed && workspace > 0) {
        s.address = find_address(m, workspace);
        if (s.address + workspace > p->arena_bytes)
            p->arena_bytes = s.address + workspace;
    }
    note_peak(m, workspace);
    rp_push(&p->steps, s);
}

static void add_free(struct maker *m, uint32_t x) {
    size_t k = 0;
    while (m->live.at[k].tensor != x)
        k++;
    m->live.n--;
    memmove(&m->live.at[k], &m->live.at[k + 1], (m->live.n - k) * sizeof *m->live.at);
    m->on_device[x] = false;
    m->live_bytes -= size_of(m, m->g->tensors[x].bytes);
    push_step(m, RP_FREE, x, RP_NO_ADDRESS);
}

static uint64_t host_address(struct maker *m, uint32_t x) {
    if (m->host_at[x] == RP_NO_ADDRESS) {
        m->host_at[x] = m->p->host_bytes;
        m->p->host_bytes += size_of(m, m->g->tensors[x].bytes);
    }
    return m->p->addressed ? m->host_at[x] : RP_NO_ADDRESS;
}

static void add_swap_out(struct maker *m, uint32_t x) {
    m->on_host[x] = true;
    push_step(m, RP_SWAP_OUT, x, host_address(m, x));
}

/* Lists all sources at home on the host, and others with this probability. */
static void add_homes(struct maker *m, uint32_t percent) {
    for (uint32_t x = 0; x < m->g->n_tensors; x++) {
        const struct rp_tensor *t = &m->g->tensors[x];
        if (t->home == RP_HOME_HOST ||
            (t->home == RP_HOME_ANY && rp_rng_percent(&m->rng, percent))) {
            m->listed[x] = m->on_host[x] = true;
            rp_push(&m->p->homes, ((struct rp_plan_home){x, host_address(m, x)}));
        } else if (t->producer == RP_NONE) {
            m->on_device[x] = true;
            m->fixed_bytes += t->bytes;
        }
    }
    m->p->claims.peak_bytes = m->fixed_bytes;
}

static void add_swap_in(struct maker *m, uint32_t x) {
    m->arriving[x] = true;
    push_step(m, RP_SWAP_IN, x, allocate(m, x));
    note_peak(m, 0);
}

static bool wanted_after(const struct rp_graph *g, uint32_t x, uint32_t i) {
    for (uint32_t k = g->reader_start[x]; k < g->reader_start[x + 1]; k++)
        if (g->readers[k] > i)
            return true;
    return g->kept[x];
}

static void maker_init(struct maker *m, const struct rp_graph *g, bool addressed,
                       struct rp_plan *p) {
    *p = (struct rp_plan){.graph_name = rp_strdup(g->name),
                          .graph_sha256 = rp_strdup(g->sha256),
                          .addressed = addressed};
    *m = (struct maker){.g = g, .p = p};
    m->on_device = rp_calloc(g->n_tensors, sizeof *m->on_device);
    m->on_host = rp_calloc(g->n_tensors, sizeof *m->on_host);
    m->arriving = rp_calloc(g->n_tensors, sizeof *m->arriving);
    m->listed = rp_calloc(g->n_tensors, sizeof *m->listed);
    m->host_at = rp_calloc(g->n_tensors, sizeof *m->host_at);
    for (uint32_t x = 0; x < g->n_tensors; x++)
        m->host_at[x] = RP_NO_ADDRESS;
}

static void maker_fini(struct maker *m) {
    struct rp_plan *p = m->p;
    p->budget_bytes = m->fixed_bytes + p->arena_bytes;
    free(m->live.at);
    free(m->listed);
    free(m->host_at);
    free(m->on_device);
    free(m->on_host);
    free(m->arriving);
}

void rp_gen_keep_all(const struct rp_graph *g, bool addressed, struct rp_plan *p) {
    struct maker m;
    maker_init(&m, g, addressed, p);
    m.fresh_addresses = true;
    add_homes(&m, 0);
    for (uint32_t i = 0; i < g->n_ops; i++) {
        const struct rp_op *op = &g->ops[i];
        add_run(&m, i);
        for (uint32_t k = 0; k < op->n_inputs; k++) {
            uint32_t x = op->inputs[k];
            if (g->tensors[x].producer != RP_NONE && !wanted_after(g, x, i) &&
                !g->tensors[x].held)
                add_free(&m, x);
        }
        for (uint32_t k = 0; k < op->n_outputs; k++)
            if (!wanted_after(g, op->outputs[k], i) && !g->tensors[op->outputs[k]].held)
                add_free(&m, op->outputs[k]);
    }
    maker_fini(&m);
    struct rp_claims *c = &p->claims;
    c->time_ns = c->baseline_time_ns = c->lower_bound_ns = g->total_time_ns;
    c->proof = RP_PROOF_OPTIMAL;
}

/* ---- random plans ---- */

static void run_with_inputs(struct maker *m, uint32_t i);

/* May op i run again at any time? Not if it updates a source, or if a later op updates one
 * that it reads. */
static bool may_run_again(const struct maker *m, uint32_t i) {
    if (i == RP_NONE || !m->g->ops[i].recompute || m->g->ops[i].n_updates > 0)
        return false;
    const struct rp_op *op = &m->g->ops[i];
    for (uint32_t j = i + 1; j < m->g->n_ops; j++)
        for (uint32_t k = 0; k < m->g->ops[j].n_updates; k++)
            for (uint32_t a = 0; a < op->n_inputs; a++)
                if (op->inputs[a] == m->g->ops[j].updates[k])
                    return false;
    return true;
}

static void make_available(struct maker *m, uint32_t x) {
    uint32_t i = m->g->tensors[x].producer;
    if (m->on_device[x])
        return;
    if (m->on_host[x] && (!may_run_again(m, i) || rp_rng_percent(&m->rng, 70)))
        add_swap_in(m, x);
    else
        run_with_inputs(m, i);
}

static void run_with_inputs(struct maker *m, uint32_t i) {
    const struct rp_op *op = &m->g->ops[i];
    for (uint32_t k = 0; k < op->n_inputs; k++)
        make_available(m, op->inputs[k]);
    for (uint32_t k = 0; k < op->n_updates; k++)
        make_available(m, op->updates[k]);
    add_run(m, i);
}

static bool may_swap(const struct maker *m, uint32_t x) {
    const struct rp_device *d = &m->g->device;
    return d->h2d_bytes_per_s > 0 && d->d2h_bytes_per_s > 0 &&
           (m->listed[x] || m->g->ops[m->g->tensors[x].producer].n_outputs == 1);
}

/* Adds random frees and copies after the first run of op i. */
static void drop_at_random(struct maker *m, uint32_t i) {
    struct rp_rng *r = &m->rng;
    for (uint32_t x = 0; x < m->g->n_tensors; x++) {
        uint32_t maker = m->g->tensors[x].producer;
        if (maker == RP_NONE ? !m->listed[x] : maker > i)
            continue;
        bool wanted = m->listed[x] || wanted_after(m->g, x, i);
        if (!m->on_device[x]) {
            if (wanted && m->on_host[x] && rp_rng_percent(r, 10))
                add_swap_in(m, x);
            continue;
        }
        if (!m->on_host[x] && may_swap(m, x) && rp_rng_percent(r, wanted ? 15 : 1))
            add_swap_out(m, x);
        /* A tensor that can be neither recomputed nor swapped in must stay, since a rerun
         * of its reader may need it. */
        bool spare = !m->g->tensors[x].held && (m->on_host[x] || may_run_again(m, maker));
        if (spare && !m->arriving[x] && rp_rng_percent(r, wanted ? 15 : 80))
            add_free(m, x);
    }
}

void rp_gen_plan(uint64_t seed, const struct rp_graph *g, bool addressed,
                 struct rp_plan *p) {
    struct maker m;
    maker_init(&m, g, addressed, p);
    m.rng.state = seed;
    add_homes(&m, 50);
    for (uint32_t i = 0; i < g->n_ops; i++) {
        run_with_inputs(&m, i);
        drop_at_random(&m, i);
    }
    for (uint32_t k = 0; k < g->n_keep; k++)
        make_available(&m, g->keep[k]);
    for (uint32_t x = 0; x < g->n_tensors; x++)
        if (m.listed[x] && !m.on_host[x])
            add_swap_out(&m, x);
    maker_fini(&m);
    p->claims = (struct rp_claims){0};
}

/* ---- changed plans ---- */

void rp_gen_change(struct rp_rng *r, const struct rp_graph *g, struct rp_plan *p) {
    size_t i = rp_rng_below(r, p->steps.n), j = rp_rng_below(r, p->steps.n);
    struct rp_step *s = &p->steps.at[i], held = *s;
    uint64_t unit = g->device.alignment_bytes;
    switch (rp_rng_below(r, p->homes.n > 0 ? 14 : 12)) {
    case 0: /* drop a step */
        p->steps.n--;
        memmove(s, s + 1, (p->steps.n - i) * sizeof *s);
        break;
    case 1: /* repeat a step */
        rp_push(&p->steps, held);
        break;
    case 2: /* exchange two steps */
        *s = p->steps.at[j];
        p->steps.at[j] = held;
        break;
    case 3: /* move a step */
        memmove(s, s + 1, (p->steps.n - 1 - i) * sizeof *s);
        memmove(&p->steps.at[j + 1], &p->steps.at[j], (p->steps.n - 1 - j) * sizeof *s);
        p->steps.at[j] = held;
        break;
    case 4: /* another op or tensor */
        s->id = (uint32_t)rp_rng_below(r, g->n_tensors + 1);
        break;
    case 5: /* another address */
        if (p->at.n > 0)
            p->at.at[rp_rng_below(r, p->at.n)] = unit * rp_rng_below(r, 20);
        break;
    case 6:
        if (p->at.n > 0)
            p->at.at[rp_rng_below(r, p->at.n)] = RP_NO_ADDRESS;
        break;
    case 7:
        if (s->address != RP_NO_ADDRESS)
            s->address =
                rp_rng_percent(r, 50) ? unit * rp_rng_below(r, 20) : rp_rng_next(r);
        break;
    case 8: /* less memory */
        p->arena_bytes -= p->arena_bytes > 0 ? 1 : 0;
        break;
    case 9:
        p->budget_bytes -= p->budget_bytes > 0 ? 1 : 0;
        break;
    case 10:
        p->host_bytes -= p->host_bytes > 0 ? 1 : 0;
        break;
    case 12: /* another home */
        p->homes.at[rp_rng_below(r, p->homes.n)].tensor =
            (uint32_t)rp_rng_below(r, g->n_tensors + 1);
        break;
    case 13:
        p->homes.n--;
        break;
    default: /* another kind of step */
        if (s->kind != RP_RUN && s->address == RP_NO_ADDRESS)
            s->kind = (enum rp_step_kind)(1 + rp_rng_below(r, 3));
    }
}
