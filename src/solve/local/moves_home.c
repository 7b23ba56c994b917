#include "solve/local/moves_home.h"

#include "base/numbers.h"
#include "base/random.h"
#include "solve/local/moves_interval.h"

/* Version 0 comes for its first use, and stays to its last. */
static void bring_in(struct rp_incremental *s, uint32_t x) {
    const struct rp_instance *p = s->p;
    if (p->reader_start[x] == p->reader_start[x + 1])
        return;
    uint32_t first = p->readers[p->reader_start[x]];
    uint32_t in = rp_last_swap_in(s, x, 1, first, 1);
    rp_incremental_flip_swap_in(s, x, in, true);
    rp_incremental_flip(s, x, in + 1, rp_instance_last_need(p, x), true);
}

/* A later version stays until it is overwritten, the last one until it is copied out. */
static void hold_version(struct rp_incremental *s, uint32_t x) {
    const struct rp_instance *p = s->p;
    uint32_t last = rp_last_row(p, x);
    if (p->next_version[x] == RP_NONE)
        last = rp_max_u32(rp_copied_out_by(s, x), rp_instance_last_need(p, x));
    rp_incremental_flip(s, x, p->producer[x] + 1, last, true);
}

bool rp_move_home(struct rp_incremental *s, uint64_t *random) {
    const struct rp_instance *p = s->p;
    uint32_t x = rp_random_below(random, p->n_homes);
    if (p->lives_on_host[x])
        return false;
    bool stays = rp_incremental_stays(s, x);
    if (stays && s->is_small[x])
        return false;
    rp_incremental_flip_stay(s, x, !stays);
    if (!stays)
        return true;
    bring_in(s, x);
    for (uint32_t v = p->next_version[x]; v != RP_NONE; v = p->next_version[v])
        hold_version(s, v);
    return true;
}
