/* recent: the last few numbers that were noted, so that a search does not do the same
 * again. A zeroed ring has none.
 */
#ifndef RP_SOLVE_MIP_RECENT_H
#define RP_SOLVE_MIP_RECENT_H

#include <stdbool.h>
#include <stdint.h>

enum { RP_MAX_RECENT = 256 };

struct rp_recent {
    uint64_t at[RP_MAX_RECENT];
    uint64_t n; /* noted so far; the last RP_MAX_RECENT of them are here */
};

static inline bool rp_recent_has(const struct rp_recent *r, uint64_t x) {
    for (uint64_t i = 0; i < RP_MAX_RECENT && i < r->n; i++)
        if (r->at[i] == x)
            return true;
    return false;
}

static inline void rp_recent_note(struct rp_recent *r, uint64_t x) {
    if (!rp_recent_has(r, x))
        r->at[r->n++ % RP_MAX_RECENT] = x;
}

#endif
