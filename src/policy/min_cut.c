#include "policy/min_cut.h"

#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"

enum { NS_PER_ARC = 4 };

/* The residual network: arc a of the network is arc 2a here, and arc 2a + 1 leads back. */
struct flow {
    uint32_t n_vertices, source, sink;
    uint32_t *start, *leaving; /* leaving[start[v]] .. : the arcs out of vertex v */
    uint32_t *to;              /* per arc */
    uint64_t *room;            /* per arc: how much more may flow */
    uint32_t *level;           /* per vertex: arcs from the source; NONE: not reached */
    uint32_t *next;            /* per vertex: the first arc that may still lead on */
    uint32_t *queue, *path;    /* room for n_vertices each; a path lists arcs */
};
#define NONE UINT32_MAX

static void flow_init(struct flow *f, const struct rp_network *n, uint32_t source,
                      uint32_t sink) {
    size_t n_arcs = 2 * n->arcs.n;
    *f = (struct flow){.n_vertices = n->n_vertices, .source = source, .sink = sink};
    f->start = rp_calloc((size_t)n->n_vertices + 2, sizeof *f->start);
    f->leaving = rp_calloc(n_arcs, sizeof *f->leaving);
    f->to = rp_calloc(n_arcs, sizeof *f->to);
    f->room = rp_calloc(n_arcs, sizeof *f->room);
    f->level = rp_calloc(n->n_vertices, sizeof *f->level);
    f->next = rp_calloc(n->n_vertices, sizeof *f->next);
    f->queue = rp_calloc(n->n_vertices, sizeof *f->queue);
    f->path = rp_calloc(n->n_vertices, sizeof *f->path);
    for (size_t a = 0; a < n->arcs.n; a++) {
        const struct rp_arc *arc = &n->arcs.at[a];
        f->to[2 * a] = arc->to;
        f->to[2 * a + 1] = arc->from;
        f->room[2 * a] = arc->capacity;
        f->start[arc->from + 2]++;
        f->start[arc->to + 2]++;
    }
    for (uint32_t v = 2; v < n->n_vertices + 2; v++)
        f->start[v] += f->start[v - 1];
    for (uint32_t a = 0; a < n_arcs; a++)
        f->leaving[f->start[f->to[a ^ 1] + 1]++] = a;
}

static void flow_fini(struct flow *f) {
    free(f->start);
    free(f->leaving);
    free(f->to);
    free(f->room);
    free(f->level);
    free(f->next);
    free(f->queue);
    free(f->path);
}

/* Breadth first from the source. False if the sink cannot be reached. */
static bool find_levels(struct flow *f) {
    uint32_t n = 0;
    memset(f->level, 0xff, f->n_vertices * sizeof *f->level);
    f->level[f->source] = 0;
    f->queue[n++] = f->source;
    for (uint32_t i = 0; i < n && f->level[f->sink] == NONE; i++) {
        uint32_t v = f->queue[i];
        for (uint32_t k = f->start[v]; k < f->start[v + 1]; k++) {
            uint32_t a = f->leaving[k], w = f->to[a];
            if (f->room[a] == 0 || f->level[w] != NONE)
                continue;
            f->level[w] = f->level[v] + 1;
            f->queue[n++] = w;
        }
    }
    return f->level[f->sink] != NONE;
}

/* Sends as much as fits over the first n arcs of the path. */
static uint64_t send(struct flow *f, uint32_t n) {
    uint64_t amount = UINT64_MAX;
    for (uint32_t k = 0; k < n; k++)
        amount = rp_min_u64(amount, f->room[f->path[k]]);
    for (uint32_t k = 0; k < n; k++) {
        f->room[f->path[k]] -= amount;
        f->room[f->path[k] ^ 1] += amount;
    }
    return amount;
}

/* One path to the sink, level by level; what was sent over it. 0 if there is none left. */
static uint64_t augment(struct flow *f) {
    uint32_t v = f->source, n = 0;
    while (v != f->sink) {
        uint32_t *k = &f->next[v], a = NONE;
        for (; *k < f->start[v + 1] && a == NONE; ++*k)
            if (f->room[f->leaving[*k]] > 0 &&
                f->level[f->to[f->leaving[*k]]] == f->level[v] + 1)
                a = f->leaving[*k];
        if (a != NONE) {
            --*k; /* the arc may serve the next path too */
            f->path[n++] = a;
            v = f->to[a];
        } else if (n > 0) {
            v = f->to[f->path[--n] ^ 1]; /* a dead end: the arc into it is passed over */
            f->next[v]++;
        } else {
            return 0;
        }
    }
    return send(f, n);
}

static void find_sink_side(struct flow *f, bool *sink_side) {
    uint32_t n = 0;
    memset(sink_side, 0, f->n_vertices * sizeof *sink_side);
    sink_side[f->sink] = true;
    f->queue[n++] = f->sink;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t v = f->queue[i];
        for (uint32_t k = f->start[v]; k < f->start[v + 1]; k++) {
            uint32_t a = f->leaving[k], w = f->to[a];
            if (f->room[a ^ 1] == 0 || sink_side[w])
                continue;
            sink_side[w] = true;
            f->queue[n++] = w;
        }
    }
}

uint64_t rp_min_cut(const struct rp_network *network, uint32_t source, uint32_t sink,
                    struct rp_stop *stop, bool *sink_side) {
    struct flow f;
    uint64_t total = 0, sent;
    flow_init(&f, network, source, sink);
    while (!rp_stop_after(stop, NS_PER_ARC * network->arcs.n) && find_levels(&f)) {
        memcpy(f.next, f.start, f.n_vertices * sizeof *f.next);
        while (!rp_stop_after(stop, NS_PER_ARC * f.level[sink]) && (sent = augment(&f)) > 0)
            total += sent;
    }
    find_sink_side(&f, sink_side);
    flow_fini(&f);
    return total;
}
