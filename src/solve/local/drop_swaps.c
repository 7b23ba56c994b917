#include "solve/local/drop_swaps.h"

#include <stdlib.h>

#include "base/mem.h"
#include "solve/local/incremental.h"

/* ns for a byte too much: more than any time is worth. */
static const double PRICE = 1e9;

/* x comes in, in stage t. */
struct trip {
    uint64_t bytes;
    uint32_t x, t;
};

struct trips {
    struct trip *at;
    size_t n, cap;
};

static int largest_first(const void *left, const void *right) {
    const struct trip *a = left, *b = right;
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? 1 : -1;
    if (a->x != b->x)
        return a->x < b->x ? -1 : 1;
    return (a->t > b->t) - (a->t < b->t);
}

static struct trips list_trips(const struct rp_incremental *s, uint64_t max_bytes) {
    struct trips trips = {0};
    for (uint32_t t = 0; t < s->n; t++)
        for (uint32_t k = 0; k < s->copies.trips[t].n; k++) {
            uint32_t x = s->copies.trips[t].at[k].x;
            struct trip trip = {s->p->bytes[x], x, t};
            if (trip.bytes <= max_bytes)
                rp_push(&trips, trip);
        }
    if (trips.n > 0)
        qsort(trips.at, trips.n, sizeof *trips.at, largest_first);
    return trips;
}

/* x stays from its last use before stage t. True if that costs nothing. */
static bool stay(struct rp_incremental *s, uint32_t x, uint32_t t, double max_time) {
    uint32_t before = rp_incremental_touch_before(s, x, t);
    if (before == RP_NONE)
        return false;
    rp_incremental_begin(s);
    rp_incremental_flip(s, x, before + 1, t, true);
    if (!s->broken && rp_incremental_evaluate(s, PRICE, max_time - s->time)) {
        rp_incremental_commit(s);
        return true;
    }
    rp_incremental_undo(s);
    return false;
}

bool rp_drop_swaps(const struct rp_instance *p, uint64_t max_bytes, struct rp_schedule *s) {
    struct rp_schedule fewer;
    struct rp_incremental state;
    struct rp_cost c = rp_schedule_cost(p, s);
    size_t n = 0;
    if (p->out_ns == NULL || !rp_schedule_swaps(s) || c.peak_bytes > p->limit_bytes)
        return false;
    rp_incremental_init(&state, p);
    rp_incremental_load(&state, s);
    struct trips trips = list_trips(&state, max_bytes);
    double max_time = state.time + 0.25; /* of a nanosecond: sums are rounded */
    for (size_t k = 0; k < trips.n; k++)
        n += stay(&state, trips.at[k].x, trips.at[k].t, max_time);
    rp_schedule_empty(p, &fewer);
    rp_incremental_store(&state, &fewer);
    struct rp_cost now = rp_schedule_cost(p, &fewer);
    bool better = n > 0 && now.sound && now.time_ns <= c.time_ns &&
                  now.peak_bytes <= p->limit_bytes && now.host_bytes <= c.host_bytes;
    if (better)
        rp_schedule_copy(s, &fewer);
    rp_schedule_fini(&fewer);
    rp_incremental_fini(&state);
    free(trips.at);
    return better;
}
