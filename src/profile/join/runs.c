#include "profile/join/runs.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/numbers.h"
#include "profile/join/quartiles.h"

/* One run of an op. */
struct run {
    uint32_t op, n_pieces;
    uint64_t busy_ns;
    bool no_stamp, held_up;
};

struct builder {
    const struct rp_graph *g;
    const uint64_t *process_ids;
    RP_VEC(struct run) runs;
    struct rp_err *err;
};

static int by_run(const void *a, const void *b) {
    const struct rp_piece *x = a, *y = b;
    const uint64_t p[] = {x->op, x->process, x->key, x->start_ns, x->end_ns};
    const uint64_t q[] = {y->op, y->process, y->key, y->start_ns, y->end_ns};
    for (size_t i = 0; i < sizeof p / sizeof p[0]; i++)
        if (p[i] != q[i])
            return p[i] < q[i] ? -1 : 1;
    return 0;
}

static rp_rc fail_twice(const struct builder *b, const struct rp_piece *p,
                        const char *what) {
    return rp_fail(b->err, RP_INPUT,
                   "process %" PRIu64 ": op '%.80s' %s in step %" PRIu64
                   ", so its runs cannot be told apart",
                   b->process_ids[p->process], b->g->ops[p->op].name, what, p->key);
}

/* Adds what [start, end) has behind *end_ns. Pieces come by start. */
static void add_busy(uint64_t *busy_ns, uint64_t *end_ns, const struct rp_piece *p) {
    uint64_t start = rp_max_u64(p->start_ns, *end_ns);
    if (p->no_stamp || p->end_ns <= start)
        return;
    rp_add_capped(busy_ns, p->end_ns - start);
    *end_ns = p->end_ns;
}

/* The n pieces are one run. They are sorted by start, marks first. */
static rp_rc close_run(struct builder *b, const struct rp_piece *pieces, size_t n) {
    struct run r = {.op = pieces[0].op};
    uint64_t end_ns = 0, launch = 0;
    bool marked = false, launched = false;
    for (size_t i = 0; i < n; i++) {
        const struct rp_piece *p = &pieces[i];
        if (p->what == RP_PIECE_MARK) {
            if (marked)
                return fail_twice(b, p, "has two ranges");
            marked = true;
            continue;
        }
        if (p->what == RP_PIECE_OF_GRAPH) {
            if (launched && p->correlation != launch)
                return fail_twice(b, p, "has two CUDA graph launches");
            launched = true;
            launch = p->correlation;
        }
        r.n_pieces++;
        r.no_stamp |= p->no_stamp;
        r.held_up |= p->held_up;
        add_busy(&r.busy_ns, &end_ns, p);
    }
    rp_push(&b->runs, r);
    return RP_OK;
}

static bool same_run(const struct rp_piece *a, const struct rp_piece *b) {
    return a->op == b->op && a->process == b->process && a->key == b->key;
}

static rp_rc close_runs(struct builder *b, struct rp_piece *pieces, size_t n) {
    rp_rc rc = RP_OK;
    if (n > 0)
        qsort(pieces, n, sizeof *pieces, by_run);
    for (size_t from = 0, to; from < n && rc == RP_OK; from = to) {
        for (to = from + 1; to < n && same_run(&pieces[from], &pieces[to]);)
            to++;
        rc = close_run(b, pieces + from, to - from);
    }
    return rc;
}

static void set_quartiles(struct rp_op_cost *cost, uint64_t *values, size_t n) {
    struct rp_quartiles s = rp_quartiles_of(values, n);
    cost->n_samples = (uint32_t)n;
    cost->min_ns = s.min;
    cost->q1_ns = s.q1;
    cost->median_ns = s.median;
    cost->q3_ns = s.q3;
    cost->max_ns = s.max;
}

/* The n runs are those of one op. */
static rp_rc summarize_op(struct builder *b, const struct run *runs, size_t n,
                          struct rp_op_cost *cost, struct rp_run_counts *counts) {
    uint64_t *values = rp_calloc(2 * n, sizeof *values), *held = values + n;
    for (size_t i = 0; i < n; i++)
        values[i] = runs[i].n_pieces;
    cost->n_pieces = (uint32_t)rp_quartiles_of(values, n).median;
    size_t n_free = 0, n_held = 0, n_unstamped = 0, n_lost = 0;
    for (size_t i = 0; i < n; i++) {
        if (runs[i].no_stamp)
            n_unstamped++;
        else if (runs[i].n_pieces < cost->n_pieces)
            n_lost++;
        else if (runs[i].held_up)
            held[n_held++] = runs[i].busy_ns;
        else
            values[n_free++] = runs[i].busy_ns;
    }
    counts->no_stamp += (uint32_t)n_unstamped;
    counts->lost += (uint32_t)n_lost;
    *(n_free > 0 ? &counts->held_up : &counts->held_but_used) += (uint32_t)n_held;
    if (n_free > 0)
        set_quartiles(cost, values, n_free);
    else if (n_held > 0)
        set_quartiles(cost, held, n_held);
    free(values);
    if (n_free + n_held > 0)
        return RP_OK;
    return rp_fail(b->err, RP_ENV,
                   "op '%.80s': none of its %zu runs can be used: %zu without time stamps, "
                   "%zu with work missing; run more steps",
                   b->g->ops[runs[0].op].name, n, n_unstamped, n_lost);
}

rp_rc rp_op_costs_build(const struct rp_graph *g, struct rp_piece *pieces, size_t n,
                        const uint64_t *process_ids, struct rp_op_cost *ops,
                        struct rp_run_counts *counts, struct rp_err *err) {
    struct builder b = {.g = g, .process_ids = process_ids, .err = err};
    rp_rc rc = close_runs(&b, pieces, n);
    for (size_t from = 0, to; from < b.runs.n && rc == RP_OK; from = to) {
        const struct run *r = b.runs.at;
        for (to = from + 1; to < b.runs.n && r[to].op == r[from].op;)
            to++;
        rc = summarize_op(&b, r + from, to - from, &ops[r[from].op], counts);
    }
    free(b.runs.at);
    return rc;
}
