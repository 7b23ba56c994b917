#include "solve/lns/large_neighborhood.h"

#include <math.h>

#include "base/numbers.h"
#include "base/random.h"
#include "solve/core/params.h"
#include "solve/lns/neighborhood.h"
#include "solve/mip/sub_mip.h"

/* Descents begin only from schedules that are no more than this share slower than the
 * fastest one. */
#define MAX_DESCENT_GAP 0.01

/* Which ops of the forward pass a kind chooses. */
enum shape { SCATTERED, BLOCKS };
enum { MIN_BLOCK_OPS = 12, MAX_BLOCK_OPS = 20 };

/* The first kind is a descent from another schedule than the fastest. The others are tries
 * from the fastest. */
enum { DESCENT, FIRST_PART };
struct kind {
    enum shape shape;
    uint32_t depth; /* of a descent: from 1 up to this */
    double size;    /* ops that are chosen at first */
};
static const struct kind kinds[RP_N_NEIGHBORHOODS] = {[DESCENT] = {SCATTERED, 3, 0},
                                                      [FIRST_PART] = {SCATTERED, 4, 60},
                                                      {SCATTERED, 3, 120},
                                                      {SCATTERED, 6, 30},
                                                      {BLOCKS, 8, 36}};

/* The weight of a kind is a mean over its tries: of 1 for a success and 0 for none. */
#define WEIGHT_DECAY 0.8
#define MIN_WEIGHT 0.05
#define GROWTH 1.2
#define MIN_SIZE 10.0

struct search {
    const struct rp_instance *p;
    const struct rp_large_neighborhood_options *o;
    struct rp_large_neighborhood *state;
    struct rp_large_neighborhood_statistics *stats;
    struct rp_solution_pool *pool;
    struct rp_neighborhood n;
    struct rp_schedule s; /* from which the next try starts */
    uint64_t time_ns;     /* of s; it is in the pool */
    uint64_t random;
};

static uint64_t try_work(const struct search *a) {
    return NEIGHBORHOOD_TRY_WORK_PER_OP * (uint64_t)a->p->n_ops;
}

/* May another try begin? */
static bool goes_on(const struct search *a) {
    return a->state->work_left >= (int64_t)try_work(a) && !a->o->stop(a->o->stop_arg);
}

static void count_try(struct search *a, const struct rp_sub_mip_result *r) {
    a->state->tries++;
    a->state->work_left -= (int64_t)r->work;
    a->stats->tries++;
    a->stats->solved += r->solved;
    a->stats->improvements += r->improved;
    a->stats->work += r->work;
    a->stats->seconds += r->seconds;
}

static struct rp_sub_mip make_program(const struct search *a,
                                      struct rp_sub_mip_rest *rest) {
    return (struct rp_sub_mip){.base = &a->n.base,
                               .known = a->n.known,
                               .engine = a->o->engine,
                               .work = try_work(a),
                               .stop = a->o->stop,
                               .stop_arg = a->o->stop_arg,
                               .rest = rest};
}

/* Solves the program of the chosen ops around a->s, and makes a->s the result. A program
 * that is cut off goes to `rest`, unless that is NULL. */
static struct rp_sub_mip_result try_depth(struct search *a, uint32_t depth,
                                          struct rp_sub_mip_rest *rest) {
    struct rp_sub_mip m = make_program(a, rest);
    struct rp_sub_mip_result r = {.work = rp_sub_mip_least_work(&a->n.base)};
    if (rp_neighborhood_open(&a->n, &a->s, depth))
        r = rp_sub_mip_solve(&m, &a->s);
    if (r.improved) {
        rp_solution_pool_replace(a->pool, a->time_ns, &a->s, r.time_ns);
        a->time_ns = r.time_ns;
    }
    count_try(a, &r);
    return r;
}

/* ---- descents ---- */

/* The fastest schedule without a descent; NULL if there is none near the fastest of all. */
static const struct rp_pool_solution *choose_start(const struct search *a) {
    for (size_t i = 0; i < a->pool->n; i++) {
        const struct rp_pool_solution *s = &a->pool->at[i];
        double slower = (double)(s->time_ns - a->pool->at[0].time_ns);
        if (slower > MAX_DESCENT_GAP * (double)s->time_ns)
            return NULL;
        if (!rp_recent_has(&a->state->descended_ns, s->time_ns))
            return s;
    }
    return NULL;
}

static void begin_at(struct search *a, const struct rp_pool_solution *start) {
    rp_schedule_copy(&a->s, &start->s);
    a->time_ns = start->time_ns;
}

/* Each depth until it gains no more. Where a program is too much, those of larger depths
 * are too: the descent waits there, unless another one does. */
static void go_down(struct search *a, uint32_t depth) {
    for (uint32_t j = 0; j < a->n.turn; j++)
        a->n.chosen[j] = true;
    while (depth <= kinds[DESCENT].depth && goes_on(a)) {
        struct rp_sub_mip_rest rest = {0};
        bool waits = a->state->cut_off.rest.worker != NULL;
        struct rp_sub_mip_result r = try_depth(a, depth, waits ? NULL : &rest);
        if (!r.solved && !r.improved) {
            if (!waits)
                a->state->cut_off =
                    (struct rp_cut_off_descent){rest, depth, a->time_ns, 1, 1};
            break;
        }
        rp_sub_mip_give_up(&rest);
        depth += r.solved;
    }
    rp_recent_note(&a->state->descended_ns, a->time_ns);
}

static void descend(struct search *a, const struct rp_pool_solution *start) {
    begin_at(a, start);
    rp_recent_note(&a->state->descended_ns, start->time_ns);
    go_down(a, 1);
    a->stats->descents++;
}

/* Goes on with the program that waits, now for schedules that are faster than the fastest.
 * What it finds takes the place of the schedule that it has come from. Once it is solved,
 * larger depths come. */
static void go_on_descending(struct search *a) {
    struct rp_cut_off_descent *c = &a->state->cut_off;
    struct rp_sub_mip m = make_program(a, &c->rest);
    begin_at(a, &a->pool->at[0]);
    struct rp_sub_mip_result r = rp_sub_mip_solve(&m, &a->s);
    count_try(a, &r);
    c->steps_left = c->pause = r.improved ? 1 : 2 * c->pause;
    if (r.improved) {
        rp_solution_pool_replace(a->pool, c->time_ns, &a->s, r.time_ns);
        rp_recent_note(&a->state->descended_ns, r.time_ns);
        a->time_ns = c->time_ns = r.time_ns;
    }
    if (r.solved)
        go_down(a, c->depth + 1);
}

/* ---- parts of the ops ---- */

static void choose_scattered(struct search *a, uint32_t size) {
    for (uint32_t i = 0; i < size; i++)
        a->n.chosen[rp_random_below(&a->random, a->n.turn)] = true;
}

static void choose_blocks(struct search *a, uint32_t size) {
    for (uint32_t n = 0; n < size;) {
        uint32_t first = rp_random_below(&a->random, a->n.turn);
        uint32_t length =
            MIN_BLOCK_OPS + rp_random_below(&a->random, MAX_BLOCK_OPS - MIN_BLOCK_OPS + 1);
        for (uint32_t j = first; j < a->n.turn && j - first < length; j++)
            a->n.chosen[j] = true;
        n += length;
    }
}

/* A try from the fastest schedule. */
static void try_part(struct search *a, uint32_t k) {
    struct rp_neighborhood_kind_state *kind = &a->state->kinds[k];
    begin_at(a, &a->pool->at[0]);
    for (uint32_t j = 0; j < a->n.turn; j++)
        a->n.chosen[j] = false;
    if (kinds[k].shape == SCATTERED)
        choose_scattered(a, (uint32_t)kind->size);
    else
        choose_blocks(a, (uint32_t)kind->size);
    struct rp_sub_mip_result r = try_depth(a, kinds[k].depth, NULL);
    double size = kind->size * (r.solved ? GROWTH : 1 / GROWTH);
    kind->size = fmin(fmax(size, MIN_SIZE), a->n.turn);
    /* The schedules on the way need no descent. */
    if (r.improved)
        rp_recent_note(&a->state->descended_ns, r.time_ns);
}

/* ---- kinds ---- */

/* By weight. A descent only if there is a start for one. */
static uint32_t choose_kind(struct search *a, bool may_descend) {
    const struct rp_neighborhood_kind_state *state = a->state->kinds;
    uint32_t k = may_descend ? DESCENT : FIRST_PART;
    double sum = 0;
    for (uint32_t i = k; i < RP_N_NEIGHBORHOODS; i++)
        sum += state[i].weight;
    double at = sum * rp_random_unit(&a->random);
    while (k + 1 < RP_N_NEIGHBORHOODS && at >= state[k].weight)
        at -= state[k++].weight;
    return k;
}

/* The fastest schedule gets a descent before all else. */
static bool try_kind(struct search *a) {
    const struct rp_pool_solution *best = &a->pool->at[0], *start = choose_start(a);
    uint64_t before_ns = best->time_ns;
    uint32_t k = start == best ? DESCENT : choose_kind(a, start != NULL);
    if (k == DESCENT)
        descend(a, start);
    else
        try_part(a, k);
    double *weight = &a->state->kinds[k].weight;
    bool gained = a->pool->at[0].time_ns < before_ns;
    *weight = fmax(WEIGHT_DECAY * *weight + (1 - WEIGHT_DECAY) * gained, MIN_WEIGHT);
    return gained;
}

/* A descent that was cut off goes on after a step that gained nothing. Each return that
 * gains nothing either doubles how many such steps come before the next one. */
static void take_step(struct search *a) {
    struct rp_cut_off_descent *c = &a->state->cut_off;
    bool waits = c->rest.worker != NULL;
    if (waits && c->steps_left == 0) {
        go_on_descending(a);
        return;
    }
    bool gained = try_kind(a);
    c->steps_left -= waits && !gained;
}

/* ---- the search ---- */

static void begin_state(struct rp_large_neighborhood *state) {
    for (uint32_t k = 0; state->tries == 0 && k < RP_N_NEIGHBORHOODS; k++)
        state->kinds[k] = (struct rp_neighborhood_kind_state){1, kinds[k].size};
}

void rp_large_neighborhood_fini(struct rp_large_neighborhood *state) {
    rp_sub_mip_give_up(&state->cut_off.rest);
}

void rp_large_neighborhood_search(const struct rp_instance *p,
                                  const struct rp_large_neighborhood_options *o,
                                  struct rp_large_neighborhood *state,
                                  struct rp_solution_pool *pool,
                                  struct rp_large_neighborhood_statistics *stats) {
    struct search a = {.p = p, .o = o, .state = state, .stats = stats, .pool = pool};
    state->work_left += (int64_t)o->work;
    if (pool->n == 0 || !goes_on(&a))
        return;
    begin_state(state);
    rp_neighborhood_init(&a.n, p);
    rp_schedule_empty(p, &a.s);
    a.random = rp_mix64(o->seed + state->tries) | 1;
    while (a.n.turn > 0 && goes_on(&a))
        take_step(&a);
    rp_schedule_fini(&a.s);
    rp_neighborhood_fini(&a.n);
}
