#include "solve/local/drop_swaps.h"

#include <stdlib.h>

#include "base/mem.h"
#include "solve/incremental/incremental.h"

/* ns for a byte over the limit: more than any time saved is worth. */
static const double PRICE = 1e9;

/* x is swapped in, in stage t. */
struct candidate {
    uint64_t bytes;
    uint32_t x, t;
};

struct candidates {
    RP_VEC(struct candidate);
};

static int largest_first(const void *left, const void *right) {
    const struct candidate *a = left, *b = right;
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? 1 : -1;
    if (a->x != b->x)
        return a->x < b->x ? -1 : 1;
    return (a->t > b->t) - (a->t < b->t);
}

static struct candidates list_swap_ins(const struct rp_incremental *s, uint64_t max_bytes) {
    struct candidates list = {0};
    for (uint32_t t = 0; t < s->n_stages; t++)
        for (uint32_t k = 0; k < s->swaps.swap_ins[t].n; k++) {
            uint32_t x = s->swaps.swap_ins[t].at[k].x;
            struct candidate c = {s->p->bytes[x], x, t};
            if (c.bytes <= max_bytes)
                rp_push(&list, c);
        }
    if (list.n > 0)
        qsort(list.at, list.n, sizeof *list.at, largest_first);
    return list;
}

/* Holds x from its last use before stage t instead of swapping it in there. False, with
 * nothing changed, if that costs time or memory. */
static bool hold_instead(struct rp_incremental *s, uint32_t x, uint32_t t,
                         double max_time_ns) {
    uint32_t before = rp_incremental_use_before(s, x, t);
    if (before == RP_NONE || (x < s->p->n_homes && before == 0))
        return false;
    rp_incremental_begin(s);
    rp_incremental_flip(s, x, before + 1, t, true);
    if (rp_incremental_evaluate(s, PRICE, max_time_ns - s->time_ns, false)) {
        rp_incremental_commit(s);
        return true;
    }
    rp_incremental_undo(s);
    return false;
}

/* Stores the state's schedule. False if it is no better than one that costs c. */
static bool store(const struct rp_incremental *state, const struct rp_cost *c,
                  struct rp_schedule *fewer) {
    rp_incremental_store(state, fewer);
    struct rp_cost now = rp_schedule_cost(state->p, fewer);
    return now.sound && now.time_ns <= c->time_ns &&
           now.peak_bytes <= state->p->limit_bytes && now.host_bytes <= c->host_bytes;
}

bool rp_drop_swaps(const struct rp_instance *p, uint64_t max_bytes, struct rp_stop *stop,
                   const struct rp_schedule *s, struct rp_schedule *fewer) {
    struct rp_incremental state;
    size_t n = 0;
    if (rp_stop_now(stop) || p->out_ns == NULL || !rp_schedule_swaps(s))
        return false;
    struct rp_cost c = rp_schedule_cost_until(p, s, stop);
    if (!c.sound || c.peak_bytes > p->limit_bytes)
        return false;
    rp_incremental_init(&state, p);
    struct candidates list = {0};
    if (rp_incremental_load_until(&state, s, stop))
        list = list_swap_ins(&state, max_bytes);
    double max_time_ns = state.time_ns + 0.25; /* sums are rounded */
    for (size_t k = 0; k < list.n && !rp_stop_now(stop); k++)
        n += hold_instead(&state, list.at[k].x, list.at[k].t, max_time_ns);
    bool better = n > 0 && !rp_stop_interrupted(stop) && store(&state, &c, fewer);
    rp_incremental_fini(&state);
    free(list.at);
    return better;
}
