/* knapsack: things that may be there or not, with a weight and a count each. Do those that
 * fit count at most so much together? */
#ifndef RP_VERIFY_CHECK_COVER_H
#define RP_VERIFY_CHECK_COVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RP_KNAPSACK_MAX 4096 /* for `at_most` */

struct rp_cover_check {
    struct rp_thing {
        uint64_t key; /* which one */
        __int128 weight;
        uint64_t count;
    } * at;
    size_t n, cap;
    __int128 room;
};

/* Adds to the weight and the count of the thing `key`. */
void rp_cover_check_add(struct rp_cover_check *k, uint64_t key, __int128 weight,
                        uint64_t count);
/* at_most <= RP_KNAPSACK_MAX. */
bool rp_cover_check_counts(struct rp_cover_check *k, uint64_t at_most);

#endif
