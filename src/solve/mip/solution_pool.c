#include "solve/mip/solution_pool.h"

#include <stdlib.h>
#include <string.h>

void rp_solution_pool_add(struct rp_solution_pool *pool, const struct rp_schedule *s,
                          uint64_t time_ns) {
    size_t k = pool->n;
    size_t bytes = ((size_t)s->n_stages + 1) * s->words * sizeof *s->rows;
    while (k > 0 && pool->at[k - 1].time_ns > time_ns)
        k--;
    for (size_t i = k; i-- > 0 && pool->at[i].time_ns == time_ns;)
        if (memcmp(pool->at[i].s.rows, s->rows, bytes) == 0)
            return;
    if (k == RP_MAX_POOL)
        return;
    struct rp_pool_solution added = {.s = *s, .time_ns = time_ns};
    added.s.ins = NULL;
    added.s.rows = rp_calloc(bytes / sizeof *s->rows, sizeof *s->rows);
    memcpy(added.s.rows, s->rows, bytes);
    rp_push(pool, added);
    memmove(pool->at + k + 1, pool->at + k, (pool->n - 1 - k) * sizeof *pool->at);
    pool->at[k] = added;
    if (pool->n > RP_MAX_POOL)
        rp_schedule_fini(&pool->at[--pool->n].s);
}

void rp_solution_pool_fini(struct rp_solution_pool *pool) {
    for (size_t k = 0; k < pool->n; k++)
        rp_schedule_fini(&pool->at[k].s);
    free(pool->at);
    *pool = (struct rp_solution_pool){0};
}
