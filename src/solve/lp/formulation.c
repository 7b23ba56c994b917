#include "solve/lp/formulation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/numbers.h"
#include "solve/core/prune.h"
#include "solve/lp/propagate.h"
#include "solve/lp/swap_relaxation.h"

/* Does op j make anything of more than 0 bytes? */
static bool makes_bytes(const struct rp_instance *p, uint32_t j) {
    for (uint32_t x = p->output_start[j]; x < p->output_start[j + 1]; x++)
        if (p->bytes[x] > 0)
            return true;
    return false;
}

/* Makes stages of one op each, or max_stages of about as many ops each. A stage of several
 * ops ends with the one during which most memory is in use. */
static void choose_stages(struct rp_formulation *f, uint32_t max_stages) {
    const struct rp_instance *p = f->instance;
    bool one_op_each = max_stages == 0 || max_stages >= p->n_ops;
    uint64_t n_wanted = one_op_each ? p->n_ops : max_stages;
    int64_t *used = rp_instance_bytes_in_use(p);
    f->stage_of = rp_calloc(p->n_ops, sizeof *f->stage_of);
    f->last_op = rp_calloc(p->n_ops, sizeof *f->last_op);
    for (uint32_t first = 0; first < p->n_ops; f->n_stages++) {
        uint32_t end = (uint32_t)((f->n_stages + 1) * (uint64_t)p->n_ops / n_wanted);
        uint32_t last = first;
        for (uint32_t j = first; j < end; j++)
            last = used[j] >= used[last] ? j : last;
        last = end >= p->n_ops ? p->n_ops - 1 : last;
        for (; first <= last; first++)
            f->stage_of[first] = f->n_stages;
        f->last_op[f->n_stages] = last;
    }
    free(used);
}

/* Finds r_last and s_last. Readers come after the op that they read from, so those of the
 * readers are known when ops are taken from late to early. */
static void find_last_runs(struct rp_formulation *f) {
    const struct rp_instance *p = f->instance;
    for (uint32_t j = p->n_ops; j-- > 0;) {
        uint32_t own = f->stage_of[j], last = own;
        for (uint32_t x = p->output_start[j]; x < p->output_start[j + 1]; x++) {
            f->s_last[x] = p->kept[x] ? f->n_stages : own;
            for (uint32_t k = p->reader_start[x]; k < p->reader_start[x + 1]; k++)
                f->s_last[x] = rp_max_u32(f->s_last[x], f->r_last[p->readers[k]]);
            uint32_t want = p->kept[x] ? f->n_stages - 1 : f->s_last[x];
            last = rp_max_u32(last, want);
        }
        uint32_t limit = p->last_stage[j];
        if (!makes_bytes(p, j))
            last = own;
        f->r_last[j] = limit < p->n_ops ? rp_min_u32(last, f->stage_of[limit]) : last;
    }
}

/* Makes the tables r_col and s_col: an open entry for every R up to r_last and every S up
 * to s_last. */
static void open_columns(struct rp_formulation *f) {
    const struct rp_instance *p = f->instance;
    uint32_t runs = 0, holds = 0;
    for (uint32_t j = 0; j < p->n_ops; j++) {
        f->r_start[j] = runs;
        runs += f->r_last[j] - f->stage_of[j];
    }
    for (uint32_t x = 0; x < p->n_tensors; x++) {
        f->s_start[x] = holds;
        holds += f->s_last[x] - rp_formulation_maker_stage(f, x);
    }
    f->r_col = rp_calloc((size_t)runs + 1, sizeof *f->r_col);
    f->s_col = rp_calloc((size_t)holds + 1, sizeof *f->s_col);
    for (uint32_t i = 0; i < runs; i++)
        f->r_col[i] = RP_COL_OPEN;
    for (uint32_t i = 0; i < holds; i++)
        f->s_col[i] = RP_COL_OPEN;
}

/* S[t][x] = 1 in some optimal schedule, whatever else that schedule does. (x has been made
 * before stage t.) */
static bool is_always_held(const struct rp_formulation *f, uint32_t t, uint32_t x) {
    const struct rp_instance *p = f->instance;
    uint32_t need = rp_instance_last_need(p, x);
    uint32_t last = need < p->n_ops ? f->stage_of[need] : f->n_stages;
    bool lost = t > f->r_last[p->producer[x]]; /* if it is not held now */
    return p->bytes[x] == 0 || p->pinned[x] || t == f->n_stages || (lost && t <= last);
}

static void set_constants(struct rp_formulation *f) {
    const struct rp_instance *p = f->instance;
    for (uint32_t x = 0; x < p->n_tensors; x++)
        for (uint32_t first = rp_formulation_maker_stage(f, x), t = first + 1;
             t <= f->s_last[x]; t++)
            if (is_always_held(f, t, x))
                f->s_col[f->s_start[x] + (t - first - 1)] = RP_COL_ONE;
}

static uint32_t known_entry(const struct rp_formulation_options *o, uint32_t col) {
    if (col == RP_COL_ZERO || col == RP_COL_ONE)
        return col;
    return o->known[col] == RP_UNDECIDED ? RP_COL_OPEN
           : o->known[col] == 1          ? RP_COL_ONE
                                         : RP_COL_ZERO;
}

static void set_known(struct rp_formulation *f, const struct rp_formulation_options *o) {
    const struct rp_instance *p = f->instance;
    for (uint32_t j = 0; j < p->n_ops; j++)
        for (uint32_t own = f->stage_of[j], t = own + 1; t <= f->r_last[j]; t++)
            f->r_col[f->r_start[j] + (t - own - 1)] =
                known_entry(o, rp_formulation_run(o->base, t, j));
    for (uint32_t x = 0; x < p->n_tensors; x++)
        for (uint32_t first = rp_formulation_maker_stage(f, x), t = first + 1;
             t <= f->s_last[x]; t++)
            f->s_col[f->s_start[x] + (t - first - 1)] =
                known_entry(o, rp_formulation_held(o->base, t, x));
    rp_formulation_propagate(f);
}

/* May x be made or read in stage t? */
static bool touched(const struct rp_formulation *f, uint32_t t, uint32_t x) {
    const struct rp_instance *p = f->instance;
    bool may = rp_formulation_may_run(f, t, p->producer[x]);
    for (uint32_t k = p->reader_start[x]; k < p->reader_start[x + 1] && !may; k++)
        may = rp_formulation_may_run(f, t, p->readers[k]);
    return may;
}

/* Gives each open entry a column, or that of the stage before if both are merged. */
static void number_columns(struct rp_formulation *f, bool merge) {
    const struct rp_instance *p = f->instance;
    for (uint32_t j = 0; j < p->n_ops; j++)
        for (uint32_t i = 0; i < f->r_last[j] - f->stage_of[j]; i++)
            if (f->r_col[f->r_start[j] + i] == RP_COL_OPEN)
                f->r_col[f->r_start[j] + i] = f->n_cols++;
    f->n_run_cols = f->n_cols;
    for (uint32_t x = 0; x < p->n_tensors; x++)
        for (uint32_t first = rp_formulation_maker_stage(f, x), t = first + 1;
             t <= f->s_last[x]; t++) {
            uint32_t *col = &f->s_col[f->s_start[x] + (t - first - 1)];
            if (*col == RP_COL_OPEN)
                *col = merge && !touched(f, t - 1, x) ? col[-1] : f->n_cols++;
        }
}

void rp_formulation_set_slack(struct rp_formulation *f, uint64_t horizon_ns) {
    uint64_t all_ns = f->instance->graph->total_time_ns;
    f->slack_ns = horizon_ns > all_ns ? horizon_ns - all_ns : 1;
    for (uint32_t t = 0; t < f->n_stages; t++)
        f->cost[rp_formulation_wait(f, t)] = rp_formulation_slack(f);
}

static void name_copy_times(struct rp_formulation *f) {
    for (uint32_t t = 0; t < f->n_stages; t++) {
        uint32_t extra = rp_formulation_extra(f, t), wait = rp_formulation_wait(f, t);
        f->col_id[extra] = f->col_id[wait] = RP_NONE;
        f->col_t[extra] = f->col_t[wait] = t;
    }
}

/* Fills what the columns stand for and what they cost. */
static void name_columns(struct rp_formulation *f) {
    const struct rp_instance *p = f->instance;
    f->col_id = rp_calloc(f->n_cols, sizeof *f->col_id);
    f->col_t = rp_calloc(f->n_cols, sizeof *f->col_t);
    f->cost = rp_calloc(f->n_cols, sizeof *f->cost);
    for (uint32_t j = 0; j < p->n_ops; j++) {
        f->fixed_cost += (double)p->time_ns[j] * f->time_scale;
        for (uint32_t t = f->stage_of[j] + 1; t <= f->r_last[j]; t++) {
            uint32_t col = rp_formulation_run(f, t, j);
            double cost = (double)p->time_ns[j] * f->time_scale;
            if (col == RP_COL_ONE)
                f->fixed_cost += cost;
            if (col == RP_COL_ONE || col == RP_COL_ZERO)
                continue;
            f->col_id[col] = j;
            f->col_t[col] = t;
            f->cost[col] = cost;
        }
    }
    for (uint32_t x = 0; x < p->n_tensors; x++)
        for (uint32_t t = f->s_last[x]; t > rp_formulation_maker_stage(f, x);
             t--) { /* downwards, so that a merged column gets its first stage */
            uint32_t col = rp_formulation_held(f, t, x);
            if (col == RP_COL_ONE || col == RP_COL_ZERO)
                continue;
            f->col_id[col] = x;
            f->col_t[col] = t;
        }
}

/* The power of two that brings `largest` into [top / 2, top). */
static double scale_to(uint64_t largest, int top_exponent) {
    int exponent = 0;
    frexp((double)largest, &exponent);
    return largest == 0 ? 1 : ldexp(1, top_exponent - exponent);
}

void rp_formulation_swap_limits(const struct rp_formulation *f, uint64_t horizon_ns,
                                uint64_t *limit_bytes) {
    const struct rp_instance *p = f->instance;
    uint32_t *last_use = rp_calloc(p->n_tensors, sizeof *last_use);
    for (uint32_t x = 0; x < p->n_tensors; x++)
        last_use[x] = f->s_last[x] < f->n_stages ? f->last_op[f->s_last[x]] : p->n_ops;
    rp_swap_relaxation_limits(p, last_use, horizon_ns, limit_bytes);
    free(last_use);
}

/* Sets limit_bytes and returns the largest. */
static uint64_t set_limits(struct rp_formulation *f, uint64_t horizon_ns) {
    const struct rp_instance *p = f->instance;
    uint64_t largest = p->limit_bytes;
    for (uint32_t i = 0; i < 2 * p->n_ops; i++)
        f->limit_bytes[i] = p->limit_bytes;
    if (horizon_ns > 0)
        rp_formulation_swap_limits(f, horizon_ns, f->limit_bytes);
    for (uint32_t i = 0; i < 2 * p->n_ops; i++)
        largest = rp_max_u64(largest, f->limit_bytes[i]);
    return largest;
}

void rp_formulation_init(struct rp_formulation *f, const struct rp_instance *p,
                         const struct rp_formulation_options *o) {
    uint64_t longest = 0;
    *f = (struct rp_formulation){.instance = p};
    f->r_last = rp_calloc(p->n_ops, sizeof *f->r_last);
    f->r_start = rp_calloc(p->n_ops, sizeof *f->r_start);
    f->s_last = rp_calloc(p->n_tensors, sizeof *f->s_last);
    f->s_start = rp_calloc(p->n_tensors, sizeof *f->s_start);
    for (uint32_t j = 0; j < p->n_ops; j++)
        longest = rp_max_u64(longest, p->time_ns[j]);
    f->time_scale = scale_to(longest, 1);
    choose_stages(f, o->max_stages);
    find_last_runs(f);
    f->limit_bytes = rp_calloc(2 * (size_t)p->n_ops, sizeof *f->limit_bytes);
    f->byte_scale = scale_to(set_limits(f, o->horizon_ns), 10);
    open_columns(f);
    if (o->base != NULL)
        set_known(f, o);
    else
        set_constants(f);
    number_columns(f, !o->no_merge);
    f->copy_time_col = f->n_cols;
    f->n_cols += o->copy_times ? 2 * f->n_stages : 0;
    name_columns(f);
    if (o->copy_times) {
        name_copy_times(f);
        rp_formulation_set_slack(f, o->horizon_ns);
    }
}

void rp_formulation_fini(struct rp_formulation *f) {
    free(f->stage_of);
    free(f->last_op);
    free(f->r_last);
    free(f->r_start);
    free(f->s_last);
    free(f->s_start);
    free(f->r_col);
    free(f->s_col);
    free(f->col_id);
    free(f->col_t);
    free(f->cost);
    free(f->limit_bytes);
    *f = (struct rp_formulation){0};
}

/* Appends the row left <= a + b of columns or constants, unless every 0/1 point meets
 * it. */
static void add_row(struct rp_row_set *rows, struct rp_row_name name, uint32_t left,
                    uint32_t a, uint32_t b) {
    if (left == RP_COL_ZERO || a == RP_COL_ONE || b == RP_COL_ONE || left == a || left == b)
        return;
    rp_row_set_begin(rows, name, 0);
    rp_row_set_term(rows, left, 1);
    rp_row_set_term(rows, a, -1);
    rp_row_set_term(rows, b, -1);
}

void rp_formulation_rows(const struct rp_formulation *f, struct rp_row_set *rows) {
    const struct rp_instance *p = f->instance;
    for (uint32_t j = 0; j < p->n_ops; j++) /* (2) */
        for (uint32_t k = p->input_start[j]; k < p->input_start[j + 1]; k++)
            for (uint32_t t = f->stage_of[j], x = p->inputs[k]; t <= f->r_last[j]; t++)
                add_row(rows, (struct rp_row_name){RP_ROW_DEP, t, j, x, 0},
                        rp_formulation_run(f, t, j),
                        rp_formulation_run(f, t, p->producer[x]),
                        rp_formulation_held(f, t, x));
    for (uint32_t x = 0; x < p->n_tensors; x++) /* (3) */
        for (uint32_t t = rp_formulation_maker_stage(f, x) + 1; t < f->s_last[x]; t++)
            add_row(rows, (struct rp_row_name){RP_ROW_HOLD, t, RP_NONE, x, 0},
                    rp_formulation_held(f, t + 1, x), rp_formulation_held(f, t, x),
                    rp_formulation_run(f, t, p->producer[x]));
}

uint32_t rp_formulation_same_col(const struct rp_formulation *from, uint32_t col,
                                 const struct rp_formulation *to) {
    uint32_t id = from->col_id[col], t = from->col_t[col];
    return col < from->n_run_cols ? rp_formulation_run(to, t, id)
                                  : rp_formulation_held(to, t, id);
}

void rp_formulation_carry_row(const struct rp_formulation *from,
                              const struct rp_formulation *to,
                              const struct rp_row_set *rows, uint32_t i, double *sum,
                              struct rp_row_set *out) {
    uint32_t first = rows->start[i], end = rows->start[i + 1];
    rp_row_set_begin(out, rows->name[i], rows->rhs[i]);
    for (uint32_t pass = 0; pass < 2; pass++)
        for (uint32_t k = first; k < end; k++) {
            uint32_t col = rp_formulation_same_col(from, rows->col[k], to);
            if (col >= to->n_cols) {
                if (pass == 0)
                    rp_row_set_term(out, col, rows->coef[k]);
            } else if (pass == 0) {
                sum[col] += rows->coef[k];
            } else if (sum[col] != 0) {
                rp_row_set_term(out, col, sum[col]);
                sum[col] = 0;
            }
        }
}

void rp_formulation_schedule(const struct rp_formulation *f, const double *v,
                             double threshold, struct rp_schedule *s) {
    const struct rp_instance *p = f->instance;
    memset(s->rows, 0, ((size_t)s->n_stages + 1) * s->words * sizeof *s->rows);
    for (uint32_t x = 0; x < p->n_tensors; x++)
        for (uint32_t t = p->producer[x] + 1; t <= f->s_last[x]; t++)
            if (rp_formulation_value(v, rp_formulation_held(f, t, x)) > threshold)
                rp_schedule_set(s, x, t, t, true);
}

/* Adds the holds to `s` that every schedule of this formulation has. */
static void hold_constants(const struct rp_formulation *f, struct rp_schedule *s) {
    const struct rp_instance *p = f->instance;
    for (uint32_t x = 0; x < p->n_tensors; x++)
        for (uint32_t t = p->producer[x] + 1; t <= f->s_last[x]; t++)
            if (rp_formulation_held(f, t, x) == RP_COL_ONE)
                rp_schedule_set(s, x, t, t, true);
}

/* Writes the point of a pruned schedule. False if the formulation cannot represent it. */
static bool fill_point(const struct rp_formulation *f, const struct rp_schedule *s,
                       double *v) {
    const struct rp_instance *p = f->instance;
    struct rp_stage_work w = {0};
    bool ok = true;
    memset(v, 0, f->n_cols * sizeof *v);
    rp_stage_work_init(p, &w);
    for (uint32_t t = 0; t < p->n_ops && ok; t++) {
        ok = rp_stage_eval(p, s, t, &w);
        for (uint32_t a = 0; a < w.stage.n_runs && ok; a++) {
            uint32_t col = rp_formulation_run(f, t, w.stage.runs[a]);
            ok = col != RP_COL_ZERO;
            if (ok && col != RP_COL_ONE)
                v[col] = 1;
        }
    }
    for (uint32_t x = 0; x < p->n_tensors && ok; x++)
        for (uint32_t t = p->producer[x] + 1; t <= f->s_last[x] && ok; t++) {
            uint32_t col = rp_formulation_held(f, t, x);
            if (col == RP_COL_ONE || col == RP_COL_ZERO) {
                ok = rp_held(s, t, x) == (col == RP_COL_ONE);
                continue;
            }
            ok = f->col_t[col] == t || (v[col] > 0) == rp_held(s, t, x);
            v[col] = rp_held(s, t, x);
        }
    rp_stage_work_fini(&w);
    return ok;
}

bool rp_formulation_point(const struct rp_formulation *f, const struct rp_schedule *s,
                          double *v) {
    struct rp_schedule pruned;
    rp_schedule_empty(f->instance, &pruned);
    rp_schedule_copy(&pruned, s);
    hold_constants(f, &pruned);
    bool ok = rp_schedule_prune(f->instance, &pruned);
    hold_constants(f, &pruned); /* pruning takes holds of no bytes away */
    ok = ok && fill_point(f, &pruned, v);
    rp_schedule_fini(&pruned);
    return ok;
}
