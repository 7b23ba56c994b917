#include "solve/mip/crossover.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "solve/core/prune.h"
#include "solve/lp/formulation.h"
#include "solve/mip/worker.h"

void rp_solution_pool_add(struct rp_solution_pool *f, const struct rp_schedule *s,
                          uint64_t time_ns) {
    size_t k = f->n;
    size_t bytes = ((size_t)s->n_stages + 1) * s->words * sizeof *s->rows;
    while (k > 0 && f->at[k - 1].time_ns > time_ns)
        k--;
    for (size_t i = k; i-- > 0 && f->at[i].time_ns == time_ns;)
        if (memcmp(f->at[i].s.rows, s->rows, bytes) == 0)
            return;
    if (k == RP_MAX_POOL)
        return;
    struct rp_pool_solution find = {.time_ns = time_ns}, last;
    find.s = *s;
    find.s.ins = NULL;
    find.s.rows = rp_calloc(bytes / sizeof *s->rows, sizeof *s->rows);
    memcpy(find.s.rows, s->rows, bytes);
    rp_push(f, find);
    memmove(f->at + k + 1, f->at + k, (f->n - 1 - k) * sizeof *f->at);
    f->at[k] = find;
    if (f->n > RP_MAX_POOL) {
        last = f->at[--f->n];
        rp_schedule_fini(&last.s);
    }
}

void rp_solution_pool_fini(struct rp_solution_pool *f) {
    for (size_t k = 0; k < f->n; k++)
        rp_schedule_fini(&f->at[k].s);
    free(f->at);
    *f = (struct rp_solution_pool){0};
}

struct combining {
    const struct rp_instance *p;
    const struct rp_crossover_options *o;
    struct rp_solution_pool *finds;
    struct rp_formulation base;
    double *point;  /* of one find */
    uint8_t *known; /* per column, what the finds so far agree on; 2: nothing */
    uint64_t work;
};

/* Fixes every column as find 0 has it. */
static void fix_all(struct combining *w) {
    rp_formulation_point(&w->base, &w->finds->at[0].s, w->point);
    for (uint32_t j = 0; j < w->base.n_cols; j++)
        w->known[j] = w->point[j] > 0.5;
}

/* Opens the columns that find k has otherwise. How many. */
static uint32_t open_columns(struct combining *w, size_t k) {
    uint32_t n = 0;
    rp_formulation_point(&w->base, &w->finds->at[k].s, w->point);
    for (uint32_t j = 0; j < w->base.n_cols; j++) {
        uint8_t value = w->point[j] > 0.5;
        if (w->known[j] == value || w->known[j] == 2)
            continue;
        w->known[j] = 2;
        n++;
    }
    return n;
}

/* Branch and cut over the open columns. False if it did not come to an end. */
static bool solve_open(struct combining *w, uint64_t work) {
    struct rp_branch_cut_options options = {.base = &w->base, .known = w->known};
    struct rp_mip_worker *m = rp_mip_worker_start(w->p, &options);
    struct rp_mip_worker_result r = {0};
    enum rp_mip_worker_status status = RP_MIP_DEADLINE;
    if (m == NULL)
        return false;
    rp_mip_worker_submit(m, work, &w->finds->at[0].s);
    while (status == RP_MIP_DEADLINE && !w->o->stop(w->o->stop_arg))
        status = rp_mip_worker_wait(m, 0.2, &r);
    bool over = status == RP_MIP_PAUSED || status == RP_MIP_FINISHED;
    if (over) {
        w->work += r.state.work;
        rp_log(1, "joined: %" PRIu32 " columns, %" PRIu64 " nodes, time %" PRIu64,
               r.state.n_cols, r.state.nodes, r.state.time_ns);
        if (r.state.found && r.state.time_ns < w->finds->at[0].time_ns)
            rp_solution_pool_add(w->finds, r.schedule, r.state.time_ns);
    }
    rp_mip_worker_end(m);
    return status == RP_MIP_FINISHED;
}

/* Finds that are no points of the formulation are of no use here. */
static void leave_points(struct combining *w) {
    size_t n = 0;
    for (size_t k = 0; k < w->finds->n; k++) {
        if (rp_formulation_point(&w->base, &w->finds->at[k].s, w->point))
            w->finds->at[n++] = w->finds->at[k];
        else
            rp_schedule_fini(&w->finds->at[k].s);
    }
    w->finds->n = n;
}

/* The best with each of the others. */
static void join_pairs(struct combining *w) {
    for (size_t k = 1; k < w->finds->n && w->work < w->o->work; k++) {
        uint64_t before = w->finds->at[0].time_ns;
        fix_all(w);
        if (open_columns(w, k) > 0)
            solve_open(w, (w->o->work - w->work) / 4 + 1);
        k += w->finds->at[0].time_ns < before && w->finds->n < RP_MAX_POOL; /* one more */
    }
}

/* The best with the next, with the next two, and so on, until that is too much. */
static void join_all(struct combining *w) {
    bool ended = true;
    fix_all(w);
    for (size_t k = 1; k < w->finds->n && ended && w->work < w->o->work; k++)
        if (open_columns(w, k) > 0 && k > 1)
            ended = solve_open(w, w->o->work - w->work);
}

uint64_t rp_crossover(const struct rp_instance *p, const struct rp_crossover_options *o,
                      struct rp_solution_pool *f) {
    struct combining w = {.p = p, .o = o, .finds = f};
    if (f->n < 2)
        return 0;
    rp_formulation_init(&w.base, p, &(struct rp_formulation_options){0});
    w.point = rp_calloc(w.base.n_cols, sizeof *w.point);
    w.known = rp_calloc(w.base.n_cols, sizeof *w.known);
    leave_points(&w);
    join_pairs(&w);
    if (f->n > 0)
        join_all(&w);
    rp_formulation_fini(&w.base);
    free(w.point);
    free(w.known);
    return w.work;
}
