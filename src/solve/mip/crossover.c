#include "solve/mip/crossover.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/numbers.h"
#include "base/random.h"
#include "solve/lp/formulation.h"
#include "solve/mip/sub_mip.h"

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
    struct rp_crossover_state *state;
    struct rp_solution_pool *pool;
    struct rp_formulation base;
    double *point;  /* of one schedule */
    uint8_t *known; /* per column: the value in which the schedules so far agree */
    struct rp_crossover_statistics stats;
};

/* May another program begin? */
static bool goes_on(const struct crossover *c) {
    return c->stats.work < c->o->work && !c->o->stop(c->o->stop_arg);
}

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

/* What identifies the program of the open columns. */
static uint64_t hash_program(const struct crossover *c) {
    uint64_t hash = 0;
    for (uint32_t j = 0; j < c->base.n_cols; j += sizeof hash) {
        uint64_t part = 0;
        memcpy(&part, c->known + j, rp_min_u64(sizeof part, c->base.n_cols - j));
        hash = rp_mix64(hash + part) + RP_GOLDEN_RATIO_64;
    }
    return hash;
}

/* A pair's program was solved to the end, and gave a new best schedule. That of the new one
 * and schedule k, which is one of the pair, is a part of it. */
static void note_part(struct crossover *c, size_t k) {
    fix_to_best(c);
    open_columns(c, k);
    rp_recent_note(&c->state->solved, hash_program(c));
}

/* Runs branch and cut over the open columns, unless it has before. False if it did not
 * finish. */
static bool solve_open_columns(struct crossover *c, uint64_t work) {
    uint64_t hash = hash_program(c);
    bool solved = rp_recent_has(&c->state->solved, hash);
    if (solved || rp_recent_has(&c->state->given_up, hash))
        return solved;
    struct rp_sub_mip m = {&c->base, c->known,   c->o->engine,
                           work,     c->o->stop, c->o->stop_arg};
    struct rp_schedule s;
    rp_schedule_empty(c->p, &s);
    rp_schedule_copy(&s, &c->pool->at[0].s);
    struct rp_sub_mip_result r = rp_sub_mip_solve(&m, &s);
    if (r.improved)
        rp_solution_pool_replace(c->pool, c->pool->at[0].time_ns, &s, r.time_ns);
    rp_recent_note(r.solved ? &c->state->solved : &c->state->given_up, hash);
    c->stats.work += r.work;
    c->stats.seconds += r.seconds;
    c->stats.crossings++;
    c->stats.solved += r.solved;
    c->stats.improvements += r.improved;
    rp_schedule_fini(&s);
    return r.solved;
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
    for (size_t k = 1; k < c->pool->n && goes_on(c); k++) {
        uint64_t before_ns = c->pool->at[0].time_ns, crossings = c->stats.crossings;
        fix_to_best(c);
        bool solved = open_columns(c, k) > 0 &&
                      solve_open_columns(c, (c->o->work - c->stats.work) / PAIR_PARTS + 1);
        c->stats.pairs += c->stats.crossings - crossings;
        if (solved && c->pool->at[0].time_ns < before_ns)
            note_part(c, k);
    }
}

/* Crosses the best schedule with the second, with the second and the third, and so on,
 * until that is too much work. */
static void cross_all(struct crossover *c) {
    bool finished = true;
    fix_to_best(c);
    for (size_t k = 1; k < c->pool->n && finished && goes_on(c); k++)
        if (open_columns(c, k) > 0 && k > 1)
            finished = solve_open_columns(c, c->o->work - c->stats.work);
}

uint64_t rp_crossover(const struct rp_instance *p, const struct rp_crossover_options *o,
                      struct rp_crossover_state *state, struct rp_solution_pool *pool,
                      struct rp_crossover_statistics *stats) {
    struct crossover c = {.p = p, .o = o, .state = state, .pool = pool};
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
