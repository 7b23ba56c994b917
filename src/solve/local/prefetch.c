#include "solve/local/prefetch.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/numbers.h"

/* Per stage: the limit less the peak; 0 for those over the limit. The caller frees it. */
static uint64_t *find_room(const struct rp_instance *p, const struct rp_schedule *s) {
    struct rp_stage_work w = {0};
    uint64_t *room = rp_calloc(p->n_ops, sizeof *room);
    rp_stage_work_init(p, &w);
    for (uint32_t t = 0; t < p->n_ops; t++)
        if (rp_stage_eval(p, s, t, &w) && w.stage.peak_bytes < p->limit_bytes)
            room[t] = p->limit_bytes - w.stage.peak_bytes;
    rp_stage_work_fini(&w);
    return room;
}

/* The earliest stage, not before `first`, from which on there is room for x to stage t, in
 * which it is swapped in. */
static uint32_t earliest(const struct rp_instance *p, const struct rp_schedule *s,
                         const uint64_t *room, uint32_t x, uint32_t first, uint32_t t) {
    first = rp_max_u32(first, p->producer[x] + 1);
    while (t > first && !rp_held(s, t - 1, x) && !rp_swapped_in(s, t - 1, x) &&
           room[t - 1] >= p->bytes[x])
        t--;
    return t;
}

static void move(const struct rp_instance *p, struct rp_schedule *s, uint64_t *room,
                 uint32_t x, uint32_t from, uint32_t to) {
    rp_schedule_set_in(s, x, from, false);
    rp_schedule_set_in(s, x, to, true);
    rp_schedule_set(s, x, to + 1, from, true);
    for (uint32_t t = to; t < from; t++)
        room[t] -= p->bytes[x];
}

void rp_schedule_prefetch(const struct rp_instance *p, struct rp_schedule *s) {
    uint64_t *room = find_room(p, s);
    uint32_t first = 0;
    for (uint32_t t = 0; t < p->n_ops && s->ins != NULL; t++)
        for (size_t i = s->words; i-- > 0;)
            for (uint64_t rest = s->ins[(size_t)t * s->words + i]; rest != 0;) {
                uint32_t high = 63 - (uint32_t)__builtin_clzll(rest);
                uint32_t x = (uint32_t)(i * 64) + high;
                rest ^= (uint64_t)1 << high;
                first = earliest(p, s, room, x, first, t);
                if (first < t)
                    move(p, s, room, x, t, first);
            }
    free(room);
}
