#include "solve/moment/moment_sources.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/numbers.h"
#include "solve/lp/copy_rate.h"
#include "solve/moment/fold.h"

enum { LARGE_WORKING_SET = 4 }; /* times that is at least the largest one */

/* How the ops around a moment use a source. */
struct use {
    bool by_c, before, after; /* after: or on the device at the end */
    bool updated, updated_after;
    bool ever;
};

/* Uses of each source, by version 0. The caller frees them. */
static struct use *find_uses(const struct rp_instance *p, uint32_t c,
                             const enum rp_side *side) {
    struct use *use = rp_calloc(p->n_homes, sizeof *use);
    for (uint32_t x = 0; x < p->n_tensors; x++) {
        if (!rp_is_version(p, x))
            continue;
        struct use *u = &use[p->version_0[x]];
        uint32_t maker = p->producer[x];
        u->updated = u->updated || rp_must_copy_out(p, x);
        u->updated_after =
            u->updated_after || (rp_must_copy_out(p, x) && side[maker] == RP_SIDE_AFTER);
        u->after = u->after || p->kept[x];
        for (uint32_t k = p->reader_start[x]; k < p->reader_start[x + 1]; k++) {
            uint32_t j = p->readers[k];
            u->by_c = u->by_c || j == c;
            u->before = u->before || j == c || side[j] == RP_SIDE_BEFORE;
            u->after = u->after || (j != c && side[j] == RP_SIDE_AFTER);
            u->ever = true;
        }
        u->ever = u->ever || p->kept[x];
    }
    return use;
}

/* ---- columns ---- */

struct builder {
    struct rp_moment *m;
    const struct rp_instance *p;
    const struct use *use;
    uint32_t *stays, *held; /* per source: r and h, a column or a constant */
    const double *again_ns; /* per column of R: time[j] for j in A, else 0; scaled */
};

static void add_columns(struct builder *b) {
    struct rp_moment *m = b->m;
    for (uint32_t w = 0; w < b->p->n_homes; w++) {
        b->stays[w] = b->p->lives_on_host[w] ? RP_COL_ZERO : rp_moment_add_column(m, w, 0);
        b->held[w] = b->use[w].by_c    ? RP_COL_ONE
                     : b->use[w].after ? rp_moment_add_column(m, w, 0)
                                       : b->stays[w];
    }
    m->extra = rp_moment_add_column(m, RP_NONE, 1);
    m->until = rp_moment_add_column(m, RP_NONE, 0);
    m->from = rp_moment_add_column(m, RP_NONE, 0);
    m->resident = rp_moment_add_column(m, RP_NONE, 0);
}

/* ---- terms of the last row ---- */

/* value (1 - col). */
static void add_unless(const struct builder *b, uint32_t col, double value) {
    rp_row_set_term(&b->m->rows, col, -value);
    rp_row_set_term(&b->m->rows, RP_COL_ONE, value);
}

/* The time of copying z. */
static void add_room(const struct builder *b, const uint64_t *copy_ns) {
    struct rp_copy_rate rate = rp_copy_rate_best(b->p, copy_ns);
    double ns = rate.bytes > 0 ? (double)rate.ns / (double)rate.bytes : 0;
    ns *= 1 - 1e-12; /* it is not exact */
    rp_row_set_term(&b->m->rows, b->m->room, ns * b->m->time_scale / b->m->byte_scale);
}

static void add_again(const struct builder *b) {
    for (uint32_t col = 0; col < b->m->n_run_cols; col++)
        rp_row_set_term(&b->m->rows, col, b->again_ns[col]);
}

static double scaled_ns(const struct builder *b, uint64_t ns) {
    return (double)ns * b->m->time_scale;
}

/* What x takes at least on the device. A source that stays there is not rounded up. */
static uint64_t least_bytes(const struct rp_instance *p, uint32_t x) {
    bool may_stay = rp_is_version(p, x) && !p->lives_on_host[p->version_0[x]];
    return may_stay ? p->graph->tensors[p->tensor_of[x]].bytes : p->bytes[x];
}

static double scaled_bytes(const struct builder *b, uint32_t w) {
    return (double)least_bytes(b->p, w) * b->m->byte_scale;
}

/* ---- rows ---- */

/* z is at most what may be on the host alone: all S that are columns. */
static void add_room_row(const struct builder *b) {
    struct rp_moment *m = b->m;
    rp_moment_begin_row(m, 0);
    rp_row_set_term(&m->rows, m->room, 1);
    for (uint32_t x = 0; x < b->p->n_tensors; x++)
        if (m->held[x] < m->n_cols)
            rp_row_set_term(&m->rows, m->held[x], -(double)b->p->bytes[x] * m->byte_scale);
}

/* (12), (13) and (19). The last row so far is (10). */
static void add_memory_rows(const struct builder *b) {
    struct rp_moment *m = b->m;
    for (uint32_t w = 0; w < b->p->n_homes; w++)
        rp_row_set_term(&m->rows, b->held[w], scaled_bytes(b, w));
    add_room_row(b);
    for (uint32_t w = 0; w < b->p->n_homes; w++) {
        if (b->stays[w] == RP_COL_ZERO || b->stays[w] == b->held[w] ||
            b->held[w] == RP_COL_ONE)
            continue;
        rp_moment_begin_row(m, 0);
        rp_row_set_term(&m->rows, b->stays[w], 1);
        rp_row_set_term(&m->rows, b->held[w], -1);
    }
    rp_moment_begin_row(m, (double)b->p->host_limit_bytes * m->byte_scale);
    rp_row_set_term(&m->rows, m->room, 1);
    for (uint32_t w = 0; w < b->p->n_homes; w++)
        add_unless(b, b->stays[w], scaled_bytes(b, w));
}

/* What op k needs to have on the device, sources included. */
static uint64_t working_set(const struct rp_instance *p, uint32_t k) {
    uint64_t bytes = p->workspace_bytes[k] - p->overwritten_bytes[k];
    for (uint32_t x = p->output_start[k]; x < p->output_start[k + 1]; x++)
        bytes += p->bytes[x];
    for (uint32_t e = p->input_start[k]; e < p->input_start[k + 1]; e++)
        bytes += least_bytes(p, p->inputs[e]);
    return bytes;
}

/* What op k needs beside sources that stay: (20). */
static void add_working_set_row(const struct builder *b, uint32_t k) {
    const struct rp_instance *p = b->p;
    uint64_t bytes = rp_min_u64(working_set(p, k), p->limit_bytes);
    rp_moment_begin_row(b->m, (double)(p->limit_bytes - bytes) * b->m->byte_scale);
    rp_row_set_term(&b->m->rows, b->m->resident, 1);
    for (uint32_t e = p->input_start[k]; e < p->input_start[k + 1]; e++)
        if (rp_is_version(p, p->inputs[e])) {
            uint32_t w = p->version_0[p->inputs[e]];
            rp_row_set_term(&b->m->rows, b->stays[w], -scaled_bytes(b, w));
        }
}

/* (20) of the ops with large working sets. */
static void add_working_set_rows(const struct builder *b) {
    const struct rp_instance *p = b->p;
    uint64_t most = 0;
    for (uint32_t k = 1; k < p->n_ops; k++)
        most = rp_max_u64(most, working_set(p, k));
    rp_moment_begin_row(b->m, 0);
    rp_row_set_term(&b->m->rows, b->m->resident, -1);
    for (uint32_t w = 0; w < p->n_homes; w++)
        rp_row_set_term(&b->m->rows, b->stays[w], scaled_bytes(b, w));
    for (uint32_t k = 1; k < p->n_ops; k++)
        if (working_set(p, k) >= most / LARGE_WORKING_SET)
            add_working_set_row(b, k);
}

/* (14) and (15). */
static void add_queue_rows(const struct builder *b, uint64_t total_ns) {
    const struct rp_instance *p = b->p;
    rp_moment_begin_row(b->m, scaled_ns(b, total_ns));
    rp_row_set_term(&b->m->rows, b->m->extra, -1);
    add_room(b, p->in_ns);
    for (uint32_t w = 0; w < p->n_homes; w++) {
        if (b->use[w].ever)
            add_unless(b, b->stays[w], scaled_ns(b, p->in_ns[w]));
        if (b->use[w].before && b->use[w].after)
            add_unless(b, b->held[w], scaled_ns(b, p->in_ns[w]));
    }
    rp_moment_begin_row(b->m, scaled_ns(b, total_ns));
    rp_row_set_term(&b->m->rows, b->m->extra, -1);
    add_room(b, p->out_ns);
    for (uint32_t w = 0; w < p->n_homes; w++)
        if (b->use[w].updated)
            add_unless(b, b->stays[w], scaled_ns(b, p->out_ns[w]));
}

/* Begins one of the rows of (17) or (18): what follows, and `ns`, take at most `col`. */
static void begin_part(const struct builder *b, uint32_t col, uint64_t ns) {
    rp_moment_begin_row(b->m, -scaled_ns(b, ns));
    rp_row_set_term(&b->m->rows, col, -1);
}

/* (17). */
static void add_rows_until(const struct builder *b, uint64_t c_ns) {
    const struct rp_instance *p = b->p;
    begin_part(b, b->m->until, b->m->before_ns);
    begin_part(b, b->m->until, c_ns);
    for (uint32_t w = 0; w < p->n_homes; w++)
        if (b->use[w].before)
            add_unless(b, b->stays[w], scaled_ns(b, p->in_ns[w]));
    begin_part(b, b->m->until, c_ns);
    add_room(b, p->out_ns);
}

/* (18). */
static void add_rows_from(const struct builder *b, uint64_t c_ns) {
    const struct rp_instance *p = b->p;
    begin_part(b, b->m->from, b->m->after_ns - c_ns);
    add_again(b);
    begin_part(b, b->m->from, 0);
    add_room(b, p->in_ns);
    for (uint32_t w = 0; w < p->n_homes; w++)
        if (b->use[w].after)
            add_unless(b, b->held[w], scaled_ns(b, p->in_ns[w]));
    begin_part(b, b->m->from, 0);
    for (uint32_t w = 0; w < p->n_homes; w++)
        if (b->use[w].updated_after)
            add_unless(b, b->stays[w], scaled_ns(b, p->out_ns[w]));
}

/* (16). */
static void add_time_rows(const struct builder *b, uint64_t total_ns) {
    rp_moment_begin_row(b->m, 0);
    rp_row_set_term(&b->m->rows, b->m->extra, -1);
    add_again(b);
    rp_moment_begin_row(b->m, scaled_ns(b, total_ns));
    rp_row_set_term(&b->m->rows, b->m->until, 1);
    rp_row_set_term(&b->m->rows, b->m->from, 1);
    rp_row_set_term(&b->m->rows, b->m->extra, -1);
}

/* Most sources are like others, such as the states of layers. A class of several is no 0/1
 * column. */
static void fold_sources(struct rp_moment *m, uint32_t first_source_col) {
    uint32_t *const named[] = {&m->room, &m->extra, &m->until, &m->from, &m->resident};
    bool *alone = rp_calloc(m->n_cols, sizeof *alone);
    struct rp_fold f;
    for (uint32_t col = 0; col < m->n_cols; col++)
        alone[col] = col < first_source_col || m->col_id[col] == RP_NONE;
    rp_fold_init(&f, m->n_cols, m->cost, alone, &m->rows);
    for (uint32_t col = 0; col < m->n_cols; col++) {
        uint32_t c = f.class_of[col];
        m->col_id[c] = f.size[c] == 1 ? m->col_id[col] : RP_NONE;
        m->cost[c] = f.cost[c];
    }
    for (size_t k = 0; k < sizeof named / sizeof *named; k++)
        *named[k] = f.class_of[*named[k]];
    rp_row_set_fini(&m->rows);
    m->rows = f.rows;
    m->n_cols = f.n_cols;
    f.rows = (struct rp_row_set){0};
    rp_fold_fini(&f);
    free(alone);
}

void rp_moment_add_sources(struct rp_moment *m, const struct rp_instance *p, uint32_t c,
                           const enum rp_side *side, bool fold) {
    struct use *use = find_uses(p, c, side);
    double *again_ns = rp_calloc(m->n_run_cols, sizeof *again_ns);
    struct builder b = {.m = m, .p = p, .use = use, .again_ns = again_ns};
    b.stays = rp_calloc(p->n_homes, sizeof *b.stays);
    b.held = rp_calloc(p->n_homes, sizeof *b.held);
    uint32_t first_source_col = m->n_cols;
    for (uint32_t col = 0; col < m->n_run_cols; col++) {
        again_ns[col] = m->cost[col];
        m->cost[col] = 0;
    }
    add_columns(&b);
    add_memory_rows(&b);
    add_working_set_rows(&b);
    add_queue_rows(&b, p->graph->total_time_ns);
    add_rows_until(&b, p->time_ns[c]);
    add_rows_from(&b, p->time_ns[c]);
    add_time_rows(&b, p->graph->total_time_ns);
    if (fold)
        fold_sources(m, first_source_col);
    free(b.stays);
    free(b.held);
    free(again_ns);
    free(use);
}

/* ---- which moments ---- */

uint64_t rp_moment_copies_ns(const struct rp_instance *p, uint32_t c,
                             const enum rp_side *side) {
    struct use *use = find_uses(p, c, side);
    uint64_t op_ns[3] = {0}, in_all = 0, in_before = 0, out_after = 0;
    uint64_t both_ns = 0, both_bytes = 0;
    for (uint32_t j = 0; j < p->n_ops; j++)
        op_ns[side[j]] += p->time_ns[j];
    for (uint32_t w = 0; w < p->n_homes; w++) {
        in_all += use[w].ever ? p->in_ns[w] : 0;
        in_before += use[w].before ? p->in_ns[w] : 0;
        out_after += use[w].updated_after ? p->out_ns[w] : 0;
        both_ns += use[w].before && use[w].after ? p->in_ns[w] : 0;
        both_bytes += use[w].before && use[w].after ? p->bytes[w] : 0;
    }
    free(use);
    if (both_bytes > p->limit_bytes / 2)
        in_all += (uint64_t)((double)both_ns *
                             (1 - (double)(p->limit_bytes / 2) / (double)both_bytes));
    uint64_t in_turn = rp_max_u64(op_ns[RP_SIDE_BEFORE], in_before) +
                       rp_max_u64(op_ns[RP_SIDE_AFTER], out_after);
    return rp_max_u64(in_all, in_turn);
}
