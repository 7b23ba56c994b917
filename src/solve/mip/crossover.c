#include "solve/mip/crossover.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/numbers.h"
#include "base/random.h"
#include "solve/lp/formulation.h"
#include "solve/mip/sub_mip.h"

/* The first limit of a program is this part of the work. */
#define PROGRAM_PARTS 4

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
    double *point;   /* of one schedule */
    uint8_t *values; /* n_cols for each schedule of the pool: its point */
    uint8_t *known;  /* per column: the value in which the schedules so far agree */
    uint64_t limit;  /* of work, for one program */
    bool gave_up;    /* a program was too much for its limit */
    struct rp_crossover_statistics stats;
};

/* May another program begin? */
static bool goes_on(const struct crossover *c) {
    return c->limit <= c->o->work && c->stats.work <= c->o->work - c->limit &&
           !c->o->stop(c->o->stop_arg);
}

/* Finds the points of the pool, and drops schedules that the formulation cannot represent.
 */
static void load_points(struct crossover *c) {
    size_t n = 0, n_cols = c->base.n_cols;
    for (size_t k = 0; k < c->pool->n; k++) {
        if (rp_formulation_point(&c->base, &c->pool->at[k].s, c->point)) {
            for (size_t j = 0; j < n_cols; j++)
                c->values[n * n_cols + j] = c->point[j] > 0.5;
            c->pool->at[n++] = c->pool->at[k];
        } else {
            rp_schedule_fini(&c->pool->at[k].s);
            c->stats.dropped++;
        }
    }
    c->pool->n = n;
}

/* Fixes every column as schedule i has it. */
static void fix_columns(struct crossover *c, size_t i) {
    memcpy(c->known, c->values + i * c->base.n_cols, c->base.n_cols);
}

/* Opens the columns in which schedule k differs, and returns how many there are. */
static uint32_t open_columns(struct crossover *c, size_t k) {
    const uint8_t *value = c->values + k * c->base.n_cols;
    uint32_t n = 0;
    for (uint32_t j = 0; j < c->base.n_cols; j++) {
        if (c->known[j] == value[j] || c->known[j] == RP_UNDECIDED)
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

/* The program of schedule k and others was solved to the end, and gave `s`. That of `s` and
 * schedule k is a part of it, unless rounding has found `s` outside of the open columns. */
static void note_part(struct crossover *c, const struct rp_schedule *s, size_t k) {
    if (!rp_formulation_point(&c->base, s, c->point))
        return;
    for (uint32_t j = 0; j < c->base.n_cols; j++) {
        uint8_t value = c->point[j] > 0.5;
        if (c->known[j] != value && c->known[j] != RP_UNDECIDED)
            return;
        c->known[j] = value;
    }
    open_columns(c, k);
    rp_recent_note(&c->state->solved, hash_program(c));
}

/* Runs branch and cut over the open columns, from schedule i. A faster schedule takes the
 * place of that. Schedule k is another one of the program. */
static struct rp_sub_mip_result run_program(struct crossover *c, size_t i, size_t k) {
    struct rp_sub_mip m = {&c->base, c->known,   c->o->engine,
                           c->limit, c->o->stop, c->o->stop_arg};
    struct rp_schedule s;
    rp_schedule_empty(c->p, &s);
    rp_schedule_copy(&s, &c->pool->at[i].s);
    struct rp_sub_mip_result r = rp_sub_mip_solve(&m, &s);
    if (r.improved && r.solved)
        note_part(c, &s, k);
    if (r.improved)
        rp_solution_pool_replace(c->pool, c->pool->at[i].time_ns, &s, r.time_ns);
    c->stats.work += r.work;
    c->stats.seconds += r.seconds;
    c->stats.crossings++;
    c->stats.solved += r.solved;
    c->stats.improvements += r.improved;
    rp_schedule_fini(&s);
    return r;
}

enum outcome { SOLVED, GIVEN_UP, IMPROVED };

/* The program of the open columns, unless it has been run with this limit before. */
static enum outcome cross(struct crossover *c, size_t i, size_t k) {
    uint64_t hash = hash_program(c), limited = rp_mix64(hash + c->limit);
    if (rp_recent_has(&c->state->solved, hash))
        return SOLVED;
    bool known = rp_recent_has(&c->state->given_up, limited);
    c->gave_up = c->gave_up || known;
    if (known)
        return GIVEN_UP;
    struct rp_sub_mip_result r = run_program(c, i, k);
    c->gave_up = c->gave_up || !r.solved;
    rp_recent_note(r.solved ? &c->state->solved : &c->state->given_up,
                   r.solved ? hash : limited);
    if (r.improved)
        load_points(c);
    return r.improved ? IMPROVED : r.solved ? SOLVED : GIVEN_UP;
}

/* Crosses schedule i with each slower one. True if the pool has changed. */
static bool cross_pairs(struct crossover *c, size_t i) {
    bool improved = false;
    for (size_t k = i + 1; k < c->pool->n && !improved && goes_on(c); k++) {
        uint64_t crossings = c->stats.crossings;
        fix_columns(c, i);
        improved = open_columns(c, k) > 0 && cross(c, i, k) == IMPROVED;
        c->stats.pairs += c->stats.crossings - crossings;
    }
    return improved;
}

/* Crosses the best schedule with the second and the third, and so on, until that is too
 * much work. True if the pool has changed. */
static bool cross_several(struct crossover *c) {
    enum outcome outcome = SOLVED;
    fix_columns(c, 0);
    for (size_t k = 1; k < c->pool->n && outcome == SOLVED && goes_on(c); k++)
        if (open_columns(c, k) > 0 && k > 1)
            outcome = cross(c, 0, k);
    return outcome == IMPROVED;
}

/* Runs the programs of the pool that have not been run with this limit, up to one that
 * changes the pool. False if there was none. */
static bool take_round(struct crossover *c) {
    bool improved = cross_pairs(c, 0) || cross_several(c);
    for (size_t i = 1; i < c->pool->n && !improved; i++)
        improved = cross_pairs(c, i);
    return improved;
}

uint64_t rp_crossover(const struct rp_instance *p, const struct rp_crossover_options *o,
                      struct rp_crossover_state *state, struct rp_solution_pool *pool,
                      struct rp_crossover_statistics *stats) {
    struct crossover c = {.p = p, .o = o, .state = state, .pool = pool};
    if (pool->n < 2)
        return 0;
    rp_formulation_init(&c.base, p, &(struct rp_formulation_options){0});
    c.point = rp_calloc(c.base.n_cols, sizeof *c.point);
    c.values = rp_calloc(pool->n * c.base.n_cols, sizeof *c.values);
    c.known = rp_calloc(c.base.n_cols, sizeof *c.known);
    c.limit = o->work / PROGRAM_PARTS + 1;
    load_points(&c);
    while (goes_on(&c)) {
        if (take_round(&c))
            continue;
        if (!c.gave_up)
            break;
        c.limit *= 2;
    }
    rp_formulation_fini(&c.base);
    free(c.point);
    free(c.values);
    free(c.known);
    if (stats != NULL)
        rp_crossover_statistics_add(stats, &c.stats);
    return c.stats.work;
}
