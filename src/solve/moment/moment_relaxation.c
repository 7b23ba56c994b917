#include "solve/moment/moment_relaxation.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/numbers.h"
#include "solve/lp/copy_rate.h"

/* ---- sides ---- */

void rp_first_runs_init(struct rp_first_runs *f, const struct rp_instance *p) {
    const struct rp_update_order *u = &p->updates;
    uint32_t n = 0, last_ordered = RP_NONE;
    size_t room = (size_t)p->input_start[p->n_ops] + u->before_start[p->n_ops] + p->n_ops;
    f->start = rp_calloc((size_t)p->n_ops + 1, sizeof *f->start);
    f->before = rp_calloc(room, sizeof *f->before);
    for (uint32_t j = 0; j < p->n_ops; j++) {
        f->start[j] = n;
        for (uint32_t k = p->input_start[j]; k < p->input_start[j + 1]; k++)
            f->before[n++] = p->producer[p->inputs[k]];
        for (uint32_t k = u->before_start[j]; k < u->before_start[j + 1]; k++)
            f->before[n++] = u->before[k];
        if (!rp_is_graph_op(p, j) || !p->graph->ops[p->op_of[j]].ordered)
            continue;
        if (last_ordered != RP_NONE)
            f->before[n++] = last_ordered;
        last_ordered = j;
    }
    f->start[p->n_ops] = n;
}

void rp_first_runs_fini(struct rp_first_runs *f) {
    free(f->start);
    free(f->before);
    *f = (struct rp_first_runs){0};
}

/* The instance's order respects `f`, so descendants come after c and ancestors before. */
static void find_comparable(const struct rp_instance *p, const struct rp_first_runs *f,
                            uint32_t c, enum rp_side *side) {
    for (uint32_t j = 0; j < p->n_ops; j++)
        side[j] = RP_SIDE_EITHER;
    side[c] = RP_SIDE_AFTER;
    if (p->n_homes > 0)
        side[0] = RP_SIDE_BEFORE;
    if (p->has_end)
        side[p->n_ops - 1] = RP_SIDE_AFTER;
    for (uint32_t j = c + 1; j < p->n_ops; j++)
        for (uint32_t k = f->start[j]; k < f->start[j + 1]; k++)
            if (side[f->before[k]] == RP_SIDE_AFTER)
                side[j] = RP_SIDE_AFTER;
    for (uint32_t j = c + 1; j-- > 0;)
        for (uint32_t k = f->start[j]; k < f->start[j + 1]; k++)
            if (j == c || side[j] == RP_SIDE_BEFORE)
                side[f->before[k]] = RP_SIDE_BEFORE;
}

void rp_find_sides(const struct rp_instance *p, const struct rp_first_runs *f, uint32_t c,
                   enum rp_side *side) {
    if (f != NULL)
        find_comparable(p, f, c, side);
    for (uint32_t j = 0; j < p->n_ops && f == NULL; j++)
        side[j] = j < c ? RP_SIDE_BEFORE : RP_SIDE_AFTER;
}

/* ---- what must be there ---- */

/* What is left for S in (10). False if c alone needs more. */
static bool room_at(const struct rp_instance *p, uint32_t c, uint64_t *bytes) {
    uint64_t used = p->workspace_bytes[c] - p->overwritten_bytes[c];
    for (uint32_t x = p->output_start[c]; x < p->output_start[c + 1]; x++)
        used += p->bytes[x];
    *bytes = p->limit_bytes - rp_min_u64(used, p->limit_bytes);
    return used <= p->limit_bytes;
}

/* Does a run that surely comes at the moment or later read x, or the end of the step? */
static bool is_wanted(const struct rp_instance *p, const enum rp_side *side, uint32_t x) {
    bool wanted = p->kept[x];
    for (uint32_t k = p->reader_start[x]; k < p->reader_start[x + 1] && !wanted; k++)
        wanted = side[p->readers[k]] == RP_SIDE_AFTER;
    return wanted;
}

uint64_t rp_moment_excess(const struct rp_instance *p, uint32_t c,
                          const enum rp_side *side) {
    uint64_t wanted = 0, room;
    if (!room_at(p, c, &room))
        return 0;
    for (uint32_t x = 0; x < p->n_tensors; x++)
        if (side[p->producer[x]] != RP_SIDE_AFTER && is_wanted(p, side, x))
            wanted += p->bytes[x];
    return wanted > room ? wanted - room : 0;
}

/* ---- columns ---- */

/* (11): false if op j cannot run at the moment or later. */
static bool may_run_after(const struct rp_instance *p, const enum rp_side *side, uint32_t c,
                          uint32_t j) {
    const struct rp_update_order *u = &p->updates;
    bool may = side[j] != RP_SIDE_BEFORE || p->last_stage[j] != j;
    for (uint32_t k = u->after_start[j]; k < u->after_start[j + 1] && may; k++)
        may = u->after[k] != c && side[u->after[k]] != RP_SIDE_BEFORE;
    return may;
}

uint32_t rp_moment_add_column(struct rp_moment *m, uint32_t id, double cost) {
    m->col_id[m->n_cols] = id;
    m->cost[m->n_cols] = cost;
    return m->n_cols++;
}

/* Is S[x] of use: may x be wanted after the moment, by an op that may run then? */
static bool may_be_wanted(const struct rp_instance *p, const struct rp_moment *m,
                          uint32_t x) {
    bool wanted = p->kept[x];
    for (uint32_t k = p->reader_start[x]; k < p->reader_start[x + 1] && !wanted; k++)
        wanted = m->run[p->readers[k]] != RP_COL_ZERO;
    return wanted;
}

/* R, from late to early: only of ops whose outputs may be wanted. */
static void add_runs(struct rp_moment *m, const struct rp_instance *p, uint32_t c,
                     const enum rp_side *side) {
    for (uint32_t j = p->n_ops; j-- > 0;) {
        bool wanted = false;
        if (side[j] == RP_SIDE_AFTER) {
            m->run[j] = RP_COL_ONE;
            continue;
        }
        m->run[j] = RP_COL_ZERO;
        for (uint32_t x = p->output_start[j]; x < p->output_start[j + 1]; x++)
            wanted = wanted || may_be_wanted(p, m, x);
        if (!wanted || !may_run_after(p, side, c, j))
            continue;
        double ns = side[j] == RP_SIDE_BEFORE ? (double)p->time_ns[j] : 0;
        m->run[j] = rp_moment_add_column(m, j, ns * m->time_scale);
    }
    m->n_run_cols = m->n_cols;
}

/* S, with (9). What takes no memory is there. */
static void add_holds(struct rp_moment *m, const struct rp_instance *p, uint32_t c,
                      const enum rp_side *side) {
    for (uint32_t k = p->input_start[c]; k < p->input_start[c + 1]; k++)
        m->held[p->inputs[k]] = RP_COL_ONE;
    for (uint32_t x = 0; x < p->n_tensors; x++) {
        enum rp_side made = side[p->producer[x]];
        if (made == RP_SIDE_AFTER || rp_is_version(p, x))
            m->held[x] = RP_COL_ZERO;
        else if (p->bytes[x] == 0 || (p->pinned[x] && made == RP_SIDE_BEFORE))
            m->held[x] = RP_COL_ONE;
        else if (m->held[x] != RP_COL_ONE)
            m->held[x] =
                may_be_wanted(p, m, x) ? rp_moment_add_column(m, x, 0) : RP_COL_ZERO;
    }
}

/* ---- rows ---- */

void rp_moment_begin_row(struct rp_moment *m, double rhs) {
    static const struct rp_row_name name = {
        .kind = RP_ROW_OTHER, .op = RP_NONE, .x = RP_NONE};
    rp_row_set_begin(&m->rows, name, rhs);
}

/* (8): `run`, the run of a reader or the end, finds x. */
static void add_find_row(struct rp_moment *m, const struct rp_instance *p, uint32_t run,
                         uint32_t x) {
    rp_moment_begin_row(m, 0);
    rp_row_set_term(&m->rows, run, 1);
    rp_row_set_term(&m->rows, m->run[p->producer[x]], -1);
    rp_row_set_term(&m->rows, m->held[x], -1);
}

/* All rows (8) of x. That of a run which surely comes implies those of all others. */
static void add_find_rows(struct rp_moment *m, const struct rp_instance *p,
                          const enum rp_side *side, uint32_t x) {
    if (m->run[p->producer[x]] == RP_COL_ONE || m->held[x] == RP_COL_ONE ||
        rp_is_version(p, x))
        return;
    if (is_wanted(p, side, x)) {
        add_find_row(m, p, RP_COL_ONE, x);
        return;
    }
    for (uint32_t k = p->reader_start[x]; k < p->reader_start[x + 1]; k++)
        if (m->run[p->readers[k]] != RP_COL_ZERO)
            add_find_row(m, p, m->run[p->readers[k]], x);
}

/* (10). */
static void add_memory_row(struct rp_moment *m, const struct rp_instance *p, uint32_t c) {
    uint64_t room;
    double used = 0;
    m->fits = room_at(p, c, &room);
    rp_moment_begin_row(m, (double)room * m->byte_scale);
    for (uint32_t x = 0; x < p->n_tensors; x++) {
        rp_row_set_term(&m->rows, m->held[x], (double)p->bytes[x] * m->byte_scale);
        used += m->held[x] == RP_COL_ONE ? (double)p->bytes[x] : 0;
    }
    if (m->room != RP_COL_ZERO)
        rp_row_set_term(&m->rows, m->room, -1);
    else
        m->fits = m->fits && used <= (double)room;
}

/* The power of two that brings `largest` below 2^top_exponent, but not far. */
static double scale_to(uint64_t largest, int top_exponent) {
    int exponent = 0;
    frexp((double)largest, &exponent);
    return largest == 0 ? 1 : ldexp(1, top_exponent - exponent);
}

void rp_moment_init(struct rp_moment *m, const struct rp_instance *p, uint32_t c,
                    const enum rp_side *side) {
    uint64_t longest = 0;
    size_t n = (size_t)p->n_ops + p->n_tensors + 2 * (size_t)p->n_homes + 5;
    *m = (struct rp_moment){.room = RP_COL_ZERO,
                            .extra = RP_COL_ZERO,
                            .until = RP_COL_ZERO,
                            .from = RP_COL_ZERO,
                            .resident = RP_COL_ZERO};
    m->col_id = rp_calloc(n, sizeof *m->col_id);
    m->cost = rp_calloc(n, sizeof *m->cost);
    m->run = rp_calloc(p->n_ops, sizeof *m->run);
    m->held = rp_calloc(p->n_tensors, sizeof *m->held);
    for (uint32_t j = 0; j < p->n_ops; j++) {
        longest = rp_max_u64(longest, p->time_ns[j]);
        m->before_ns += side[j] == RP_SIDE_BEFORE || j == c ? p->time_ns[j] : 0;
        m->after_ns += side[j] == RP_SIDE_AFTER ? p->time_ns[j] : 0;
    }
    m->time_scale = scale_to(longest, 1);
    m->byte_scale = scale_to(p->limit_bytes, 10);
    add_runs(m, p, c, side);
    add_holds(m, p, c, side);
    if (p->out_ns != NULL)
        m->room = rp_moment_add_column(m, RP_NONE, 0);
    for (uint32_t x = 0; x < p->n_tensors; x++)
        add_find_rows(m, p, side, x);
    add_memory_row(m, p, c);
}

void rp_moment_fini(struct rp_moment *m) {
    free(m->col_id);
    free(m->cost);
    free(m->run);
    free(m->held);
    rp_row_set_fini(&m->rows);
    *m = (struct rp_moment){0};
}

double rp_moment_room(const struct rp_moment *m, const struct rp_instance *p,
                      uint64_t horizon_ns) {
    struct rp_copy_rate out = rp_copy_rate_best(p, p->out_ns);
    struct rp_copy_rate in = rp_copy_rate_best(p, p->in_ns);
    uint64_t cap = 0;
    for (uint32_t x = 0; x < p->n_tensors; x++)
        cap += p->bytes[x];
    cap = rp_min_u64(cap, p->host_limit_bytes);
    uint64_t by_out = rp_copy_rate_bytes(out, horizon_ns, m->after_ns, cap);
    uint64_t by_in = rp_copy_rate_bytes(in, horizon_ns, m->before_ns, cap);
    return (double)rp_min_u64(by_out, by_in) * m->byte_scale;
}
