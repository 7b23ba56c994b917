#include "solve/construct/keep_sources.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/numbers.h"
#include "solve/construct/copy_ahead.h"

enum { MAX_ROUNDS = 20 };

/* Is source x on the device all through stage t? */
static bool is_there(const struct rp_instance *p, const struct rp_schedule *s, uint32_t x,
                     uint32_t t) {
    bool at_begin = false, at_end = false;
    for (uint32_t v = x; v != RP_NONE; v = p->next_version[v]) {
        at_begin = at_begin || rp_held(s, t, v) || rp_swapped_in(s, t, v);
        at_end = at_end || rp_held(s, t + 1, v);
    }
    return at_begin && at_end;
}

/* Would source x fit beside the rest in all stages? */
static bool has_room(const struct rp_instance *p, const struct rp_schedule *s,
                     const uint64_t *room, uint32_t x) {
    for (uint32_t t = 1; t < p->n_ops; t++)
        if (room[t] < p->bytes[x] && !is_there(p, s, x, t))
            return false;
    return true;
}

static void let_stay(const struct rp_instance *p, struct rp_schedule *s, uint64_t *room,
                     uint32_t x) {
    for (uint32_t t = 1; t < p->n_ops; t++)
        room[t] -= is_there(p, s, x, t) ? 0 : p->bytes[x];
    for (uint32_t v = x; v != RP_NONE; v = p->next_version[v]) {
        for (uint32_t t = p->producer[v] + 1; t < p->n_ops; t++)
            if (rp_swapped_in(s, t, v))
                rp_schedule_set_in(s, v, t, false);
        rp_schedule_set(s, v, p->producer[v] + 1, rp_last_row(p, v), true);
    }
}

/* Lets sources stay for which there is room, up to `max_bytes` together. Those that are
 * used last come first. Returns their bytes. */
static uint64_t keep_some(const struct rp_instance *p, uint64_t max_bytes,
                          struct rp_stop *stop, struct rp_schedule *s) {
    uint64_t *room = rp_schedule_room(p, s, stop), bytes = 0;
    for (uint32_t x = p->n_homes; x-- > 0 && !rp_stop_after(stop, s->n_stages);) {
        if (p->lives_on_host[x] || rp_source_stays(p, s, x) ||
            p->bytes[x] > max_bytes - bytes || !has_room(p, s, room, x))
            continue;
        let_stay(p, s, room, x);
        bytes += p->bytes[x];
    }
    free(room);
    return bytes;
}

bool rp_schedule_keep_sources(const struct rp_instance *p, struct rp_stop *stop,
                              struct rp_schedule *s, struct rp_cost *cost) {
    struct rp_schedule more = {0};
    uint64_t max_bytes = p->limit_bytes, bytes = 1;
    bool changed = false;
    for (int k = 0; k < MAX_ROUNDS && bytes > 0 && !rp_stop_now(stop); k++) {
        rp_schedule_copy(&more, s);
        rp_schedule_trim(p, stop, &more);
        bytes = keep_some(p, max_bytes, stop, &more);
        rp_schedule_copy_ahead(p, stop, &more);
        struct rp_cost c = rp_schedule_cost_until(p, &more, stop);
        bool better = rp_cost_fits(p, &c) && c.time_ns < cost->time_ns;
        rp_log(2, "%" PRIu64 " bytes of sources stay too: %" PRIu64 " ns", bytes,
               c.time_ns);
        if (better) {
            *cost = c;
            rp_schedule_exchange(s, &more);
        } else {
            max_bytes = bytes / 2;
        }
        changed = changed || better;
    }
    rp_schedule_fini(&more);
    return changed;
}
