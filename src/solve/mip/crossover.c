#include "solve/mip/crossover.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "solve/lp/formulation.h"
#include "solve/mip/worker.h"

#define POLL_SECONDS 0.2
/* A pair may take the PAIR_PARTS-th part of the work that is left. */
#define PAIR_PARTS 4

void rp_crossover_statistics_add(struct rp_crossover_statistics *into,
                                 const struct rp_crossover_statistics *from) {
    into->dropped += from->dropped;
    into->pairs += from->pairs;
    into->crossings += from->crossings;
    into->solved += from->solved;
    into->improvements += from->improvements;
    into->work += from->work;
    into->seconds += from->seconds;
}

struct crossover {
    const struct rp_instance *p;
    const struct rp_crossover_options *o;
    struct rp_solution_pool *pool;
    struct rp_formulation base;
    double *point;  /* of one schedule */
    uint8_t *known; /* per column: the value in which the schedules so far agree */
    struct rp_crossover_statistics stats;
};

/* Fixes every column as the best schedule has it. */
static void fix_to_best(struct crossover *c) {
    rp_formulation_point(&c->base, &c->pool->at[0].s, c->point);
    for (uint32_t j = 0; j < c->base.n_cols; j++)
        c->known[j] = c->point[j] > 0.5;
}

/* Opens the columns in which schedule k differs, and returns how many there are. */
static uint32_t open_columns(struct crossover *c, size_t k) {
    uint32_t n = 0;
    rp_formulation_point(&c->base, &c->pool->at[k].s, c->point);
    for (uint32_t j = 0; j < c->base.n_cols; j++) {
        uint8_t value = c->point[j] > 0.5;
        if (c->known[j] == value || c->known[j] == RP_UNDECIDED)
            continue;
        c->known[j] = RP_UNDECIDED;
        n++;
    }
    return n;
}

static void take_result(struct crossover *c, const struct rp_mip_worker_result *r) {
    const struct rp_branch_cut_state *state = &r->state;
    c->stats.work += state->statistics.work;
    c->stats.seconds += r->seconds;
    rp_log(1, "crossover: %" PRIu32 " columns, %" PRIu64 " nodes, time %" PRIu64,
           state->n_cols, state->statistics.nodes, state->time_ns);
    if (state->found && state->time_ns < c->pool->at[0].time_ns) {
        rp_solution_pool_add(c->pool, r->schedule, state->time_ns);
        c->stats.improvements++;
    }
}

/* Runs branch and cut over the open columns. False if it did not finish. */
static bool solve_open_columns(struct crossover *c, uint64_t work) {
    struct rp_branch_cut_options options = {
        .engine = c->o->engine, .base = &c->base, .known = c->known};
    struct rp_mip_worker *m = rp_mip_worker_start(c->p, &options);
    struct rp_mip_worker_result r = {0};
    enum rp_mip_worker_status status = RP_MIP_DEADLINE;
    if (m == NULL)
        return false;
    rp_mip_worker_submit(m, work, &c->pool->at[0].s);
    while (status == RP_MIP_DEADLINE && !c->o->stop(c->o->stop_arg))
        status = rp_mip_worker_wait(m, POLL_SECONDS, &r);
    if (status == RP_MIP_PAUSED || status == RP_MIP_FINISHED)
        take_result(c, &r);
    rp_mip_worker_end(m);
    c->stats.crossings++;
    c->stats.solved += status == RP_MIP_FINISHED;
    return status == RP_MIP_FINISHED;
}

/* Drops schedules that the formulation cannot represent. */
static void drop_infeasible(struct crossover *c) {
    size_t n = 0;
    for (size_t k = 0; k < c->pool->n; k++) {
        if (rp_formulation_point(&c->base, &c->pool->at[k].s, c->point)) {
            c->pool->at[n++] = c->pool->at[k];
        } else {
            rp_schedule_fini(&c->pool->at[k].s);
            c->stats.dropped++;
        }
    }
    c->pool->n = n;
}

/* Crosses the best schedule with each of the others. */
static void cross_pairs(struct crossover *c) {
    for (size_t k = 1; k < c->pool->n && c->stats.work < c->o->work; k++) {
        uint64_t before_ns = c->pool->at[0].time_ns;
        fix_to_best(c);
        if (open_columns(c, k) > 0) {
            solve_open_columns(c, (c->o->work - c->stats.work) / PAIR_PARTS + 1);
            c->stats.pairs++;
        }
        /* A new best schedule moves the others one place up, unless the pool is full. */
        k += c->pool->at[0].time_ns < before_ns && c->pool->n < RP_MAX_POOL;
    }
}

/* Crosses the best schedule with the second, with the second and the third, and so on,
 * until that is too much work. */
static void cross_all(struct crossover *c) {
    bool finished = true;
    fix_to_best(c);
    for (size_t k = 1; k < c->pool->n && finished && c->stats.work < c->o->work; k++)
        if (open_columns(c, k) > 0 && k > 1)
            finished = solve_open_columns(c, c->o->work - c->stats.work);
}

uint64_t rp_crossover(const struct rp_instance *p, const struct rp_crossover_options *o,
                      struct rp_solution_pool *pool,
                      struct rp_crossover_statistics *stats) {
    struct crossover c = {.p = p, .o = o, .pool = pool};
    if (pool->n < 2)
        return 0;
    rp_formulation_init(&c.base, p, &(struct rp_formulation_options){0});
    c.point = rp_calloc(c.base.n_cols, sizeof *c.point);
    c.known = rp_calloc(c.base.n_cols, sizeof *c.known);
    drop_infeasible(&c);
    cross_pairs(&c);
    if (pool->n > 0)
        cross_all(&c);
    rp_formulation_fini(&c.base);
    free(c.point);
    free(c.known);
    if (stats != NULL)
        rp_crossover_statistics_add(stats, &c.stats);
    return c.stats.work;
}
