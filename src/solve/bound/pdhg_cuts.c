#include "solve/bound/pdhg_cuts.h"
#include "solve/core/params.h"

#include <stdlib.h>

#include "solve/lp/sep_cover.h"
#include "solve/lp/sep_path.h"

/* The first calls look for memory rows alone: the points are far off. */
#define N_EARLY 4
#define PATH_INTERVAL 2 /* calls from one search for path cuts to the next */
#define MAX_IDLE 8      /* separations that a row without a multiplier survives */

#define VIOLATION 0.1 /* scaled bytes; the limit is 512 or more */
#define NEAR 1.0      /* scaled bytes under the limit where covers are still looked for */
#define COVER_MIN_EFFICACY 0.05
#define PATH_MIN_EFFICACY 0.05

/* The last n rows are new. */
static void note_added(struct rp_pdhg_cuts *c, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        rp_push(&c->idle, 0);
}

static void add_memory_row(struct rp_pdhg_cuts *c, uint32_t t, uint32_t k,
                           const double *v) {
    rp_sep_memory_row(&c->memory, t, k, v, &c->rows);
    note_added(c, 1);
    c->memory_rows++;
}

void rp_pdhg_cuts_init(struct rp_pdhg_cuts *c, const struct rp_formulation *f) {
    *c = (struct rp_pdhg_cuts){.formulation = f};
    rp_sep_memory_init(&c->memory, f, false);
    c->point = rp_calloc(f->n_cols, sizeof *c->point);
    for (uint32_t t = 0; t < f->n_stages; t++)
        add_memory_row(c, t, f->last_op[t], NULL);
    if (!rp_formulation_has_copy_times(f))
        return;
    rp_sep_copy_init(&c->copies, f);
    rp_sep_copy_stages(f, &c->rows);
    note_added(c, f->n_stages);
}

void rp_pdhg_cuts_adopt(struct rp_pdhg_cuts *c, uint32_t n) {
    note_added(c, n);
    c->n_additions = N_EARLY;
}

void rp_pdhg_cuts_fini(struct rp_pdhg_cuts *c) {
    rp_sep_memory_fini(&c->memory);
    rp_sep_copy_fini(&c->copies);
    rp_row_set_fini(&c->rows);
    free(c->idle.at);
    free(c->point);
    *c = (struct rp_pdhg_cuts){0};
}

/* ---- dropping ---- */

/* Rows (8) stay: they say what the columns of others mean. So do those of branchings. */
static bool is_idle(const struct rp_pdhg_cuts *c, uint32_t i) {
    enum rp_row_kind kind = c->rows.name[i].kind;
    return c->idle.at[i] > MAX_IDLE && kind != RP_ROW_EXTRA && kind != RP_ROW_OTHER;
}

static bool is_cover(const struct rp_pdhg_cuts *c, uint32_t i) {
    return c->rows.name[i].kind == RP_ROW_COVER;
}

static uint32_t drop_rows(struct rp_pdhg_cuts *c, float *y,
                          bool (*drop)(const struct rp_pdhg_cuts *c, uint32_t i)) {
    struct rp_row_set kept = {0};
    uint32_t n = 0, old = c->rows.n;
    for (uint32_t i = 0; i < old; i++) {
        if (drop(c, i))
            continue;
        rp_row_set_copy(&kept, &c->rows, i);
        c->idle.at[n] = c->idle.at[i];
        y[n++] = y[i];
    }
    for (uint32_t i = n; i < old; i++)
        y[i] = 0;
    rp_row_set_fini(&c->rows);
    c->rows = kept;
    c->idle.n = n;
    c->dropped_rows += old - n;
    return old - n;
}

uint32_t rp_pdhg_cuts_drop_idle(struct rp_pdhg_cuts *c, float *y) {
    for (uint32_t i = 0; i < c->rows.n; i++)
        c->idle.at[i] = y[i] > 0 ? 0 : c->idle.at[i] + 1;
    return drop_rows(c, y, is_idle);
}

uint32_t rp_pdhg_cuts_drop_covers(struct rp_pdhg_cuts *c, float *y) {
    return drop_rows(c, y, is_cover);
}

void rp_pdhg_cuts_set_slack(struct rp_pdhg_cuts *c) {
    double unit = rp_formulation_slack(c->formulation);
    for (uint32_t k = 0; k < c->rows.n_terms; k++)
        if (c->rows.col[k] >= c->formulation->copy_time_col)
            c->rows.coef[k] = c->rows.coef[k] < 0 ? -unit : unit;
}

/* ---- adding ---- */

/* Adds a cover of the memory row of (t, k), if the point violates one. */
static uint32_t add_cover(struct rp_pdhg_cuts *c, uint32_t t, uint32_t k) {
    struct rp_row_set memory = {0};
    rp_sep_memory_row(&c->memory, t, k, c->point, &memory);
    uint32_t found = rp_sep_cover_find(&memory, 0, c->point, COVER_MIN_EFFICACY, &c->rows);
    note_added(c, found);
    c->cover_rows += found;
    rp_row_set_fini(&memory);
    return found;
}

/* The work of one search: each window looks at the inputs of all ops before it. */
static double work_of_paths(const struct rp_formulation *f) {
    double n = f->n_stages;
    return n * n / 6 * (f->instance->n_ops + f->instance->input_start[f->instance->n_ops]);
}

static uint32_t add_paths(struct rp_pdhg_cuts *c, uint64_t step_work,
                          struct rp_stop *stop) {
    struct rp_sep_path paths;
    double work = work_of_paths(c->formulation);
    if (work > MAX_PATH_WORK || c->path_work + work > PATH_SHARE * (double)step_work)
        return 0;
    c->path_work += work;
    rp_sep_path_init(&paths, c->formulation);
    paths.stop = stop;
    uint32_t n = rp_sep_path_find(&paths, c->point, PATH_MIN_EFFICACY,
                                  c->formulation->instance->n_ops, &c->rows);
    note_added(c, n);
    c->path_rows += n;
    rp_sep_path_fini(&paths);
    return n;
}

static uint32_t add_copies(struct rp_pdhg_cuts *c) {
    const struct rp_formulation *f = c->formulation;
    if (!rp_formulation_has_copy_times(f))
        return 0;
    uint32_t n = rp_sep_copy_find(&c->copies, c->point, &c->rows);
    note_added(c, n);
    c->copy_rows += n;
    c->copy_work += (double)f->n_stages * (f->instance->n_ops + f->instance->n_tensors);
    return n;
}

/* The k whose memory row in stage t is violated most. Of equal ones, the latest. */
static uint32_t find_worst(struct rp_pdhg_cuts *c, uint32_t t, double *over) {
    uint32_t worst = c->formulation->last_op[t],
             first = rp_formulation_first_row(c->formulation, t);
    rp_sep_memory_sweep(&c->memory, t, c->point, over);
    for (uint32_t k = worst; k-- > first;)
        if (over[k] > over[worst])
            worst = k;
    return worst;
}

uint32_t rp_pdhg_cuts_add(struct rp_pdhg_cuts *c, const float *x, uint64_t step_work,
                          struct rp_stop *stop) {
    uint32_t n = 0;
    bool early = c->n_additions < N_EARLY;
    for (uint32_t j = 0; j < c->formulation->n_cols; j++)
        c->point[j] = x[j];
    double *over = rp_calloc(c->formulation->instance->n_ops, sizeof *over);
    for (uint32_t t = 0; t < c->formulation->n_stages; t++) {
        uint32_t worst = find_worst(c, t, over);
        if (over[worst] > VIOLATION) {
            add_memory_row(c, t, worst, c->point);
            n++;
        }
        if (over[worst] > -NEAR && !early)
            n += add_cover(c, t, worst);
    }
    if (!early && c->n_additions % PATH_INTERVAL == 0)
        n += add_paths(c, step_work, stop);
    if (!early)
        n += add_copies(c);
    c->n_additions++;
    free(over);
    return n;
}
