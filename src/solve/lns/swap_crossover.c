#include "solve/lns/swap_crossover.h"

#include <inttypes.h>
#include <math.h>

#include "base/log.h"
#include "base/numbers.h"
#include "base/random.h"
#include "solve/core/params.h"
#include "solve/milp/interval_join.h"

/* What a child must gain, as a part of what its parent takes beside all ops once. The model
 * finds smaller gains that are none, since it is a relaxation. */
#define MIN_GAIN 500
#define FIRST_SIZE 50.0
#define MIN_SIZE 10.0
#define GROWTH 1.2

/* What identifies a pair: the times of both. */
static uint64_t pair_hash(const struct rp_solution_pool *pool, size_t i, size_t k) {
    return rp_mix64(pool->at[i].time_ns) + pool->at[k].time_ns;
}

static bool choose_pair(const struct rp_swap_crossover *state,
                        const struct rp_solution_pool *pool, size_t *i, size_t *k) {
    uint32_t least = UINT32_MAX;
    for (size_t a = 0; a < pool->n && least == UINT32_MAX; a++)
        for (size_t b = a + 1; b < pool->n; b++) {
            uint32_t n = rp_schedule_distance(&pool->at[a].s, &pool->at[b].s);
            if (n >= least || rp_recent_has(&state->crossed, pair_hash(pool, a, b)))
                continue;
            least = n;
            *i = a;
            *k = b;
        }
    return least < UINT32_MAX;
}

bool rp_swap_crossover_try(const struct rp_instance *p,
                           const struct rp_swap_crossover_options *o,
                           struct rp_swap_crossover *state,
                           const struct rp_solution_pool *pool, size_t *parent, bool *found,
                           struct rp_schedule *child,
                           struct rp_crossover_statistics *stats) {
    uint64_t work = CROSSOVER_WORK_PER_OP * (uint64_t)p->n_ops;
    size_t k;
    if (state->work_left < (int64_t)work || !choose_pair(state, pool, parent, &k))
        return false;
    state->size = fmin(state->size > 0 ? state->size : FIRST_SIZE, p->n_tensors);
    uint64_t parent_ns = pool->at[*parent].time_ns;
    struct rp_interval_join_options j = {
        .engine = o->engine,
        .work = work,
        .stop = o->stop,
        .below_ns = parent_ns - (parent_ns - p->graph->total_time_ns) / MIN_GAIN,
        .most_open = (uint32_t)state->size,
        .random = rp_mix64(o->seed + stats->crossings)};
    double begin = rp_seconds();
    struct rp_interval_join_result r =
        rp_interval_join(p, &j, &pool->at[*parent].s, &pool->at[k].s, child);
    if (r.solved && r.n_open == r.n_differ)
        rp_recent_note(&state->crossed, pair_hash(pool, *parent, k));
    state->size = fmax(state->size * (r.solved ? GROWTH : 1 / GROWTH), MIN_SIZE);
    state->work_left -= (int64_t)r.work;
    stats->seconds += rp_seconds() - begin;
    stats->work += r.work;
    stats->pairs++;
    stats->crossings++;
    stats->solved += r.solved;
    rp_log(1, "crossover: %" PRIu32 " of %" PRIu32 " tensors%s%s", r.n_open, r.n_differ,
           r.found ? ", a child" : "", r.solved ? ", solved" : "");
    *found = r.found;
    return true;
}
