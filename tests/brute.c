#include "brute.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"

/* The graph as bit masks. */
struct masks {
    uint32_t n_ops, n_tensors;
    uint32_t in[32], out[32]; /* per op */
    uint64_t bytes[32];       /* per tensor */
    uint32_t keep, pinned;    /* at the end; from the first making to the end */
    uint32_t fixed[32]; /* per op: its outputs, if it cannot rewrite them, else none */
};

/* How often the ops with a bit in `ran` update x. */
static uint32_t updates_by(const struct rp_graph *g, uint32_t x, uint32_t ran) {
    uint32_t sum = 0;
    for (uint32_t i = 0; i < g->n_ops; i++)
        for (uint32_t k = 0; k < g->ops[i].n_updates && (ran >> i & 1); k++)
            sum += g->ops[i].updates[k] == x;
    return sum;
}

static uint32_t ops_before(uint32_t t) {
    return (uint32_t)((UINT64_C(1) << t) - 1);
}

bool rp_brute_finds_sources(const struct rp_graph *g, uint32_t ran, uint32_t j) {
    const struct rp_op *op = &g->ops[j];
    uint32_t before = ops_before(j);
    bool finds = true;
    for (uint32_t k = 0; k < op->n_inputs; k++)
        finds = finds &&
                updates_by(g, op->inputs[k], ran) == updates_by(g, op->inputs[k], before);
    for (uint32_t k = 0; k < op->n_updates; k++)
        finds = finds &&
                updates_by(g, op->updates[k], ran) == updates_by(g, op->updates[k], before);
    return finds;
}

bool rp_brute_may_run_again(const struct rp_graph *g, uint32_t ran, uint32_t j) {
    const struct rp_op *op = &g->ops[j];
    return op->recompute && op->n_updates == 0 && rp_brute_finds_sources(g, ran, j);
}

static void read_masks(const struct rp_graph *g, struct masks *m) {
    uint32_t bit[64];
    assert(g->n_ops <= 32 && g->n_tensors <= 64);
    *m = (struct masks){.n_ops = g->n_ops};
    for (uint32_t x = 0; x < g->n_tensors; x++)
        bit[x] = 0;
    for (uint32_t i = 0; i < g->n_ops; i++) {
        const struct rp_op *op = &g->ops[i];
        for (uint32_t k = 0; k < op->n_inputs; k++)
            m->in[i] |= bit[op->inputs[k]];
        for (uint32_t k = 0; k < op->n_outputs; k++) {
            assert(m->n_tensors < 32);
            m->bytes[m->n_tensors] = g->tensors[op->outputs[k]].bytes;
            bit[op->outputs[k]] = 1u << m->n_tensors++;
            m->out[i] |= bit[op->outputs[k]];
            if (g->tensors[op->outputs[k]].held)
                m->pinned |= bit[op->outputs[k]];
        }
        m->fixed[i] = op->cannot_rewrite ? m->out[i] : 0;
    }
    m->keep = m->pinned;
    for (uint32_t k = 0; k < g->n_keep; k++)
        m->keep |= bit[g->keep[k]];
}

static uint64_t bytes_of(const struct masks *m, uint32_t set) {
    uint64_t sum = 0;
    for (uint32_t x = 0; x < m->n_tensors; x++)
        sum += set >> x & 1 ? m->bytes[x] : 0;
    return sum;
}

/* The ops that must run: t, and the producers of everything that is needed but not on the
 * device. */
static uint32_t runs_of(const struct masks *m, uint32_t t, uint32_t now, uint32_t next) {
    uint32_t runs = 1u << t, missing = next & ~now;
    for (uint32_t j = t + 1; j-- > 0;) {
        if (m->out[j] & missing)
            runs |= 1u << j;
        if (runs >> j & 1)
            missing |= m->in[j] & ~now;
    }
    return runs;
}

static uint32_t made_before(const struct masks *m, uint32_t t) {
    uint32_t set = 0;
    for (uint32_t j = 0; j < t; j++)
        set |= m->out[j];
    return set;
}

static bool stage(const struct rp_graph *g, const struct masks *m, uint32_t t, uint32_t now,
                  uint32_t next, uint64_t *time_ns, uint64_t *peak_bytes) {
    uint32_t runs = runs_of(m, t, now, next), device = now;
    *time_ns = *peak_bytes = 0;
    if ((now & ~made_before(m, t)) || (next & ~made_before(m, t + 1)) ||
        (made_before(m, t) & m->pinned & ~now) ||
        (made_before(m, t + 1) & m->pinned & ~next))
        return false;
    for (uint32_t j = 0; j <= t; j++) {
        uint32_t wanted = next;
        if (!(runs >> j & 1))
            continue;
        if (j < t && !rp_brute_may_run_again(g, ops_before(t), j))
            return false;
        for (uint32_t i = j; i <= t; i++)
            if (runs >> i & 1)
                wanted |= m->in[i] | m->out[i];
        device &= wanted;
        assert((m->in[j] & ~device) == 0);
        uint64_t bytes = bytes_of(m, device | m->out[j]) +
                         bytes_of(m, device & m->fixed[j]) + g->ops[j].workspace_bytes;
        device |= m->out[j];
        *time_ns += g->ops[j].time_ns;
        *peak_bytes = bytes > *peak_bytes ? bytes : *peak_bytes;
        /* Outputs stay only if something still needs them. */
        wanted = next;
        for (uint32_t i = j + 1; i <= t; i++)
            if (runs >> i & 1)
                wanted |= m->in[i] | (m->out[i] & now);
        device &= wanted;
    }
    return true;
}

bool rp_brute_stage(const struct rp_graph *g, uint32_t t, uint32_t now, uint32_t next,
                    uint64_t *time_ns, uint64_t *peak_bytes) {
    struct masks m;
    read_masks(g, &m);
    return stage(g, &m, t, now, next, time_ns, peak_bytes);
}

/* Finds a shortest path over the sets of tensors held between stages. The length of a path
 * is its time, or with `min_peak` its largest peak. UINT64_MAX: there is no path. */
static uint64_t search(const struct rp_graph *g, uint64_t limit_bytes, bool min_peak) {
    struct masks m;
    read_masks(g, &m);
    assert(m.n_tensors <= RP_BRUTE_TENSORS);
    size_t n_sets = (size_t)1 << m.n_tensors;
    uint64_t *best = rp_calloc(n_sets, sizeof *best), *to = rp_calloc(n_sets, sizeof *to);
    for (size_t s = 1; s < n_sets; s++)
        best[s] = UINT64_MAX;
    for (uint32_t t = 0; t < m.n_ops; t++) {
        for (size_t s = 0; s < n_sets; s++)
            to[s] = UINT64_MAX;
        for (uint32_t now = 0; now < n_sets; now++)
            for (uint32_t next = 0; next < n_sets && best[now] != UINT64_MAX; next++) {
                uint64_t time_ns, peak;
                if (!stage(g, &m, t, now, next, &time_ns, &peak) || peak > limit_bytes)
                    continue;
                uint64_t length =
                    min_peak ? (peak > best[now] ? peak : best[now]) : best[now] + time_ns;
                to[next] = length < to[next] ? length : to[next];
            }
        uint64_t *swap = best;
        best = to;
        to = swap;
    }
    uint64_t found = UINT64_MAX;
    for (size_t s = 0; s < n_sets; s++)
        if ((s & m.keep) == m.keep && best[s] < found)
            found = best[s];
    free(best);
    free(to);
    return found;
}

bool rp_brute_best(const struct rp_graph *g, uint64_t limit_bytes, uint64_t *time_ns) {
    *time_ns = search(g, limit_bytes, false);
    return *time_ns != UINT64_MAX;
}

uint64_t rp_brute_floor(const struct rp_graph *g) {
    return search(g, UINT64_MAX, true);
}

/* Updates the lengths to all sets that are reachable by runs of ops before t and by frees.
 * Bellman and Ford: repeat until no length changes. */
static void update_lengths(const struct rp_graph *g, const struct masks *m, uint32_t t,
                           uint64_t limit_bytes, uint64_t *best) {
    size_t n_sets = (size_t)1 << m->n_tensors;
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t s = n_sets; s-- > 0;) {
            if (best[s] == UINT64_MAX)
                continue;
            for (uint32_t x = 0; x < m->n_tensors; x++)
                if ((s & ~m->pinned) >> x & 1 && best[s & ~((size_t)1 << x)] > best[s]) {
                    best[s & ~((size_t)1 << x)] = best[s];
                    changed = true;
                }
            for (uint32_t j = 0; j < t; j++) {
                uint32_t to = (uint32_t)s | m->out[j];
                uint64_t bytes = bytes_of(m, to) + g->ops[j].workspace_bytes +
                                 bytes_of(m, (uint32_t)s & m->fixed[j]);
                if (rp_brute_may_run_again(g, ops_before(t), j) && (m->in[j] & ~s) == 0 &&
                    bytes <= limit_bytes && best[s] + g->ops[j].time_ns < best[to]) {
                    best[to] = best[s] + g->ops[j].time_ns;
                    changed = true;
                }
            }
        }
    }
}

bool rp_brute_sequence_best(const struct rp_graph *g, uint64_t limit_bytes,
                            uint64_t *time_ns) {
    struct masks m;
    read_masks(g, &m);
    assert(m.n_tensors <= RP_BRUTE_TENSORS);
    size_t n_sets = (size_t)1 << m.n_tensors;
    uint64_t *best = rp_calloc(n_sets, sizeof *best), *to = rp_calloc(n_sets, sizeof *to);
    for (size_t s = 1; s < n_sets; s++)
        best[s] = UINT64_MAX;
    for (uint32_t t = 0; t < m.n_ops; t++) {
        update_lengths(g, &m, t, limit_bytes, best);
        for (size_t s = 0; s < n_sets; s++)
            to[s] = UINT64_MAX;
        for (uint32_t s = 0; s < n_sets; s++) {
            uint32_t next = s | m.out[t];
            if (best[s] != UINT64_MAX && (m.in[t] & ~s) == 0 &&
                bytes_of(&m, next) + g->ops[t].workspace_bytes <= limit_bytes &&
                best[s] + g->ops[t].time_ns < to[next])
                to[next] = best[s] + g->ops[t].time_ns;
        }
        uint64_t *swap = best;
        best = to;
        to = swap;
    }
    *time_ns = UINT64_MAX;
    for (size_t s = 0; s < n_sets; s++)
        if ((s & m.keep) == m.keep && best[s] < *time_ns)
            *time_ns = best[s];
    free(best);
    free(to);
    return *time_ns != UINT64_MAX;
}
