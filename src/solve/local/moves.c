#include "solve/local/moves.h"

#include <assert.h>
#include <stddef.h>

#include "base/random.h"
#include "solve/core/anneal_statistics.h"
#include "solve/incremental/incremental.h"
#include "solve/local/moves_hold.h"
#include "solve/local/moves_home.h"
#include "solve/local/moves_swap.h"

/* Moves are drawn from the first group that applies and wins its own draw. */
enum group {
    HOME, /* applies if sources may live on the host */
    PEAK, /* applies while the schedule is over the limit */
    SWAP, /* applies if the instance allows swaps */
    HOLD  /* always applies */
};
enum { HOME_ONE_IN = 16, PEAK_ONE_IN = 4, SWAP_ONE_IN = 3 };

/* The sum of the shares of each group's rows. */
static const uint32_t all_shares[] = {[HOME] = 1, [PEAK] = 1, [SWAP] = 32, [HOLD] = 100};

static const struct row {
    const char *name;
    enum group group;
    uint32_t share;
    bool (*propose)(struct rp_incremental *s, uint64_t *random);
} rows[] = {
    {"move home", HOME, 1, rp_move_home},
    {"reduce peak", PEAK, 1, rp_move_reduce_peak},
    {"toggle at use", HOLD, 40, rp_move_toggle_at_use},
    {"toggle random", HOLD, 25, rp_move_toggle_random},
    {"exchange 1-1", HOLD, 10, rp_move_exchange_1_1},
    {"shift recompute", HOLD, 10, rp_move_shift_recompute},
    {"shift checkpoint", HOLD, 6, rp_move_shift_checkpoint},
    {"exchange 1-n", HOLD, 3, rp_move_exchange_1_n},
    {"exchange n-1", HOLD, 2, rp_move_exchange_n_1},
    {"toggle segment", HOLD, 4, rp_move_toggle_segment},
    {"exchange swap", SWAP, 8, rp_move_exchange_swap},
    {"shift swap-in", SWAP, 9, rp_move_shift_swap_in},
    {"shift free", SWAP, 3, rp_move_shift_free},
    {"end swap", SWAP, 6, rp_move_end_swap},
    {"swap recomputed", SWAP, 6, rp_move_swap_recomputed},
};

enum { N_ROWS = sizeof rows / sizeof *rows };
static_assert(sizeof rows / sizeof *rows <= RP_MAX_MOVES, "too many for statistics");

const char *rp_move_name(uint32_t i) {
    return i < N_ROWS ? rows[i].name : NULL;
}

bool rp_moves_are_complete(void) {
    uint32_t sum[] = {[HOME] = 0, [PEAK] = 0, [SWAP] = 0, [HOLD] = 0};
    for (uint32_t i = 0; i < N_ROWS; i++)
        sum[rows[i].group] += rows[i].share;
    return sum[HOME] == all_shares[HOME] && sum[PEAK] == all_shares[PEAK] &&
           sum[SWAP] == all_shares[SWAP] && sum[HOLD] == all_shares[HOLD];
}

/* The row of a group in which share number `drawn` lies. */
static uint32_t row_of(enum group group, uint32_t drawn) {
    for (uint32_t i = 0;; i++) {
        if (rows[i].group != group)
            continue;
        if (drawn < rows[i].share)
            return i;
        drawn -= rows[i].share;
    }
}

/* One of 32 shares in two draws. One draw would do, but would give other plans for the same
 * seed. */
static uint32_t draw_swap(uint64_t *random) {
    uint32_t low = rp_random_below(random, 8), high = rp_random_below(random, 4);
    return high == 0 ? low : 8 + low * 3 + high - 1;
}

bool rp_propose_move(struct rp_incremental *s, uint64_t *random, uint32_t *move) {
    uint32_t hold = rp_random_below(random, all_shares[HOLD]);
    if (s->p->n_homes > 0 && rp_random_below(random, HOME_ONE_IN) == 0)
        *move = row_of(HOME, 0);
    else if (s->overflow_bytes > 0 && rp_random_below(random, PEAK_ONE_IN) == 0)
        *move = row_of(PEAK, 0);
    else if (s->p->out_ns != NULL && rp_random_below(random, SWAP_ONE_IN) == 0)
        *move = row_of(SWAP, draw_swap(random));
    else
        *move = row_of(HOLD, hold);
    rp_incremental_begin(s);
    return rows[*move].propose(s, random);
}
