#include "solve/lns/large_neighborhood.h"

#include <math.h>

#include "base/numbers.h"
#include "base/random.h"
#include "solve/core/params.h"
#include "solve/lns/neighborhood.h"
#include "solve/mip/sub_mip.h"

/* Which ops of the forward pass a kind chooses. */
enum shape { ALL, SCATTERED, BLOCKS };
enum { MIN_BLOCK_OPS = 12, MAX_BLOCK_OPS = 20 };

struct kind {
    enum shape shape;
    uint32_t depth;
    double size; /* ops that are chosen at first */
};
static const struct kind kinds[RP_N_NEIGHBORHOODS] = {
    {ALL, 1, 0},         {ALL, 2, 0},        {ALL, 3, 0},     {SCATTERED, 4, 60},
    {SCATTERED, 3, 120}, {SCATTERED, 6, 30}, {BLOCKS, 8, 36},
};

/* The weight of a kind is a mean of its last tries: of 1 for a success and 0 for none. */
#define WEIGHT_DECAY 0.8
#define MIN_WEIGHT 0.05
/* What a try costs before branch and cut begins: a process, and the columns of the base. */
#define MIN_TRY_WORK 20000
#define GROWTH 1.2
#define MIN_SIZE 10.0

struct search {
    const struct rp_large_neighborhood_options *o;
    struct rp_large_neighborhood *state;
    struct rp_large_neighborhood_statistics *stats;
    struct rp_neighborhood n;
    struct rp_schedule *s;
    uint64_t time_ns; /* of s */
    uint64_t random;
};

/* ---- which kind ---- */

/* A program of all ops has the same result until the schedule changes. */
static bool may_help(const struct search *a, uint32_t k) {
    return kinds[k].shape != ALL || a->state->kinds[k].seen_ns != a->time_ns;
}

/* Each kind once, then by their weights. */
static uint32_t choose_kind(struct search *a) {
    double sum = 0;
    if (a->state->tries < RP_N_NEIGHBORHOODS)
        return (uint32_t)a->state->tries;
    for (uint32_t k = 0; k < RP_N_NEIGHBORHOODS; k++)
        sum += may_help(a, k) ? a->state->kinds[k].weight : 0;
    double at = sum * rp_random_unit(&a->random);
    uint32_t chosen = RP_N_NEIGHBORHOODS - 1; /* its size is not ALL */
    for (uint32_t k = RP_N_NEIGHBORHOODS; k-- > 0;) {
        if (!may_help(a, k))
            continue;
        chosen = k;
        at -= a->state->kinds[k].weight;
        if (at < 0)
            break;
    }
    return chosen;
}

/* ---- which ops ---- */

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

static void choose_ops(struct search *a, uint32_t k) {
    uint32_t size = (uint32_t)a->state->kinds[k].size;
    for (uint32_t j = 0; j < a->n.turn; j++)
        a->n.chosen[j] = kinds[k].shape == ALL;
    if (kinds[k].shape == SCATTERED)
        choose_scattered(a, size);
    else if (kinds[k].shape == BLOCKS)
        choose_blocks(a, size);
}

/* ---- tries ---- */

static void learn(struct search *a, uint32_t k, const struct rp_sub_mip_result *r) {
    struct rp_neighborhood_kind_state *kind = &a->state->kinds[k];
    double size = kind->size * (r->solved ? GROWTH : 1 / GROWTH);
    kind->size = fmin(fmax(size, MIN_SIZE), a->n.turn);
    kind->weight = WEIGHT_DECAY * kind->weight + (1 - WEIGHT_DECAY) * r->improved;
    kind->weight = fmax(kind->weight, MIN_WEIGHT);
    kind->seen_ns = a->time_ns;
    a->state->tries++;
    a->state->work_left -= (int64_t)r->work;
    a->stats->tries++;
    a->stats->solved += r->solved;
    a->stats->improvements += r->improved;
    a->stats->work += r->work;
    a->stats->seconds += r->seconds;
    if (!r->improved)
        return;
    a->stats->saved_ns += a->time_ns - r->time_ns;
    a->time_ns = r->time_ns;
}

/* False if the formulation cannot represent the schedule. */
static bool try_kind(struct search *a, uint32_t k) {
    choose_ops(a, k);
    if (!rp_neighborhood_open(&a->n, a->s, kinds[k].depth))
        return false;
    struct rp_sub_mip m = {.base = &a->n.base,
                           .known = a->n.known,
                           .engine = a->o->engine,
                           .work = NEIGHBORHOOD_TRY_WORK,
                           .stop = a->o->stop,
                           .stop_arg = a->o->stop_arg};
    struct rp_sub_mip_result r = rp_sub_mip_solve(&m, a->s);
    bool answered = r.work > 0;
    r.work += MIN_TRY_WORK + a->n.base.n_cols / 2;
    learn(a, k, &r);
    return answered;
}

static void begin_state(struct rp_large_neighborhood *state) {
    for (uint32_t k = 0; state->tries == 0 && k < RP_N_NEIGHBORHOODS; k++)
        state->kinds[k] = (struct rp_neighborhood_kind_state){1, kinds[k].size, 0};
}

void rp_large_neighborhood_search(const struct rp_instance *p,
                                  const struct rp_large_neighborhood_options *o,
                                  struct rp_large_neighborhood *state,
                                  struct rp_schedule *s,
                                  struct rp_large_neighborhood_statistics *stats) {
    struct search a = {.o = o, .state = state, .stats = stats, .s = s};
    state->work_left += (int64_t)o->work;
    if (state->work_left < NEIGHBORHOOD_TRY_WORK)
        return;
    begin_state(state);
    rp_neighborhood_init(&a.n, p);
    a.time_ns = rp_schedule_cost(p, s).time_ns;
    a.random = rp_mix64(o->seed + state->tries) | 1;
    while (a.n.turn > 0 && state->work_left >= NEIGHBORHOOD_TRY_WORK &&
           !o->stop(o->stop_arg) && try_kind(&a, choose_kind(&a)))
        ;
    rp_neighborhood_fini(&a.n);
}
