#include "solve/lns/large_neighborhood.h"

#include <math.h>

#include "base/numbers.h"
#include "base/random.h"
#include "solve/core/params.h"
#include "solve/lns/neighborhood.h"
#include "solve/mip/sub_mip.h"

#define MAX_DESCENT_DEPTH 3
/* Descents begin only from schedules that are no more than this share slower than the
 * fastest one. */
#define MAX_DESCENT_GAP 0.01

/* Which ops of the forward pass a kind chooses. */
enum shape { SCATTERED, BLOCKS };
enum { MIN_BLOCK_OPS = 12, MAX_BLOCK_OPS = 20 };

struct kind {
    enum shape shape;
    uint32_t depth;
    double size; /* ops that are chosen at first */
};
static const struct kind kinds[RP_N_NEIGHBORHOODS] = {
    {SCATTERED, 4, 60}, {SCATTERED, 3, 120}, {SCATTERED, 6, 30}, {BLOCKS, 8, 36}};

/* The weight of a kind is a mean over its tries: of 1 for a success and 0 for none. */
#define WEIGHT_DECAY 0.8
#define MIN_WEIGHT 0.05
#define GROWTH 1.2
#define MIN_SIZE 10.0
/* What a try costs before branch and cut begins: a process, and the columns of the base. */
#define MIN_TRY_WORK 20000

struct search {
    const struct rp_large_neighborhood_options *o;
    struct rp_large_neighborhood *state;
    struct rp_large_neighborhood_statistics *stats;
    struct rp_solution_pool *pool;
    struct rp_neighborhood n;
    struct rp_schedule s; /* from which the next try starts */
    uint64_t random;
};

/* May another try begin? */
static bool goes_on(const struct search *a) {
    return a->state->work_left >= NEIGHBORHOOD_TRY_WORK && !a->o->stop(a->o->stop_arg);
}

/* Solves the program of the chosen ops around a->s, and makes a->s the result. */
static struct rp_sub_mip_result try_depth(struct search *a, uint32_t depth) {
    struct rp_sub_mip m = {.base = &a->n.base,
                           .known = a->n.known,
                           .engine = a->o->engine,
                           .work = NEIGHBORHOOD_TRY_WORK,
                           .stop = a->o->stop,
                           .stop_arg = a->o->stop_arg};
    struct rp_sub_mip_result r = {0};
    if (rp_neighborhood_open(&a->n, &a->s, depth))
        r = rp_sub_mip_solve(&m, &a->s);
    r.work += MIN_TRY_WORK + a->n.base.n_cols / 2;
    if (r.improved)
        rp_solution_pool_add(a->pool, &a->s, r.time_ns);
    a->state->tries++;
    a->state->work_left -= (int64_t)r.work;
    a->stats->tries++;
    a->stats->solved += r.solved;
    a->stats->improvements += r.improved;
    a->stats->work += r.work;
    a->stats->seconds += r.seconds;
    return r;
}

/* ---- descents ---- */

static bool is_descended(const struct rp_large_neighborhood *state, uint64_t time_ns) {
    for (uint64_t i = 0; i < RP_MAX_DESCENTS && i < state->n_descents; i++)
        if (state->descended_ns[i] == time_ns)
            return true;
    return false;
}

static void mark_descended(struct rp_large_neighborhood *state, uint64_t time_ns) {
    state->descended_ns[state->n_descents++ % RP_MAX_DESCENTS] = time_ns;
}

/* The fastest schedule without a descent; NULL if there is none near the fastest of all. */
static const struct rp_pool_solution *choose_start(const struct search *a) {
    for (size_t i = 0; i < a->pool->n; i++) {
        const struct rp_pool_solution *s = &a->pool->at[i];
        double slower = (double)(s->time_ns - a->pool->at[0].time_ns);
        if (slower > MAX_DESCENT_GAP * (double)s->time_ns)
            return NULL;
        if (!is_descended(a->state, s->time_ns))
            return s;
    }
    return NULL;
}

/* Each depth until it gains no more. */
static void descend(struct search *a, const struct rp_pool_solution *start) {
    uint64_t time_ns = start->time_ns;
    rp_schedule_copy(&a->s, &start->s);
    mark_descended(a->state, time_ns);
    for (uint32_t j = 0; j < a->n.turn; j++)
        a->n.chosen[j] = true;
    for (uint32_t depth = 1; depth <= MAX_DESCENT_DEPTH && goes_on(a);) {
        struct rp_sub_mip_result r = try_depth(a, depth);
        depth += r.solved || !r.improved;
        time_ns = r.improved ? r.time_ns : time_ns;
    }
    if (!is_descended(a->state, time_ns))
        mark_descended(a->state, time_ns);
    a->stats->descents++;
}

/* ---- parts of the ops ---- */

static uint32_t choose_kind(struct search *a) {
    const struct rp_neighborhood_kind_state *state = a->state->kinds;
    double sum = 0;
    uint32_t k = 0;
    for (uint32_t i = 0; i < RP_N_NEIGHBORHOODS; i++)
        sum += state[i].weight;
    double at = sum * rp_random_unit(&a->random);
    while (k + 1 < RP_N_NEIGHBORHOODS && at >= state[k].weight)
        at -= state[k++].weight;
    return k;
}

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

static void try_part(struct search *a) {
    uint32_t k = choose_kind(a);
    struct rp_neighborhood_kind_state *kind = &a->state->kinds[k];
    rp_schedule_copy(&a->s, &a->pool->at[0].s);
    for (uint32_t j = 0; j < a->n.turn; j++)
        a->n.chosen[j] = false;
    if (kinds[k].shape == SCATTERED)
        choose_scattered(a, (uint32_t)kind->size);
    else
        choose_blocks(a, (uint32_t)kind->size);
    struct rp_sub_mip_result r = try_depth(a, kinds[k].depth);
    double size = kind->size * (r.solved ? GROWTH : 1 / GROWTH);
    kind->size = fmin(fmax(size, MIN_SIZE), a->n.turn);
    kind->weight =
        fmax(WEIGHT_DECAY * kind->weight + (1 - WEIGHT_DECAY) * r.improved, MIN_WEIGHT);
    /* The schedules on the way need no descent. */
    if (r.improved)
        mark_descended(a->state, r.time_ns);
}

/* ---- the search ---- */

static void begin_state(struct rp_large_neighborhood *state) {
    for (uint32_t k = 0; state->tries == 0 && k < RP_N_NEIGHBORHOODS; k++)
        state->kinds[k] = (struct rp_neighborhood_kind_state){1, kinds[k].size};
}

void rp_large_neighborhood_search(const struct rp_instance *p,
                                  const struct rp_large_neighborhood_options *o,
                                  struct rp_large_neighborhood *state,
                                  struct rp_solution_pool *pool,
                                  struct rp_large_neighborhood_statistics *stats) {
    struct search a = {.o = o, .state = state, .stats = stats, .pool = pool};
    state->work_left += (int64_t)o->work;
    if (pool->n == 0 || !goes_on(&a))
        return;
    begin_state(state);
    rp_neighborhood_init(&a.n, p);
    rp_schedule_empty(p, &a.s);
    a.random = rp_mix64(o->seed + state->tries) | 1;
    while (a.n.turn > 0 && goes_on(&a)) {
        const struct rp_pool_solution *start = choose_start(&a);
        if (start != NULL)
            descend(&a, start);
        else
            try_part(&a);
    }
    rp_schedule_fini(&a.s);
    rp_neighborhood_fini(&a.n);
}
