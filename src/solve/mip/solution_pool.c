#include "solve/mip/solution_pool.h"

#include <stdlib.h>
#include <string.h>

/* Where a schedule of this time belongs: behind those that are as fast. */
static size_t find_place(const struct rp_solution_pool *pool, uint64_t time_ns) {
    size_t k = pool->n;
    while (k > 0 && pool->at[k - 1].time_ns > time_ns)
        k--;
    return k;
}

static bool has(const struct rp_solution_pool *pool, const struct rp_schedule *s,
                uint64_t time_ns) {
    for (size_t i = find_place(pool, time_ns); i-- > 0 && pool->at[i].time_ns == time_ns;)
        if (rp_schedule_distance(&pool->at[i].s, s) == 0)
            return true;
    return false;
}

static void drop(struct rp_solution_pool *pool, size_t k) {
    rp_schedule_fini(&pool->at[k].s);
    memmove(pool->at + k, pool->at + k + 1, (--pool->n - k) * sizeof *pool->at);
}

void rp_solution_pool_add(struct rp_solution_pool *pool, const struct rp_schedule *s,
                          uint64_t time_ns) {
    size_t k = find_place(pool, time_ns);
    if (k == RP_MAX_POOL || has(pool, s, time_ns))
        return;
    struct rp_pool_solution added = {.time_ns = time_ns};
    rp_schedule_copy(&added.s, s);
    rp_push(pool, added);
    memmove(pool->at + k + 1, pool->at + k, (pool->n - 1 - k) * sizeof *pool->at);
    pool->at[k] = added;
    if (pool->n > RP_MAX_POOL)
        drop(pool, RP_MAX_POOL);
}

void rp_solution_pool_replace(struct rp_solution_pool *pool, uint64_t old_ns,
                              const struct rp_schedule *s, uint64_t time_ns) {
    size_t k = find_place(pool, old_ns);
    if (k > 0 && pool->at[k - 1].time_ns == old_ns)
        drop(pool, k - 1);
    rp_solution_pool_add(pool, s, time_ns);
}

void rp_solution_pool_fini(struct rp_solution_pool *pool) {
    for (size_t k = 0; k < pool->n; k++)
        rp_schedule_fini(&pool->at[k].s);
    free(pool->at);
    *pool = (struct rp_solution_pool){0};
}
