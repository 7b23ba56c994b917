/* check_copy: rows about what can be copied between two ops (docs/certificate.md, "Rows
 * about copies"). Such a row is about the moment when the op runs that ends a stage b:
 *
 *     sum of coefficient[x] * S[b+1][x] <= right side + sum of E[t] over some stages
 *
 * Thread-safe: only the arguments are touched.
 */
#ifndef RP_VERIFY_CHECK_COPY_H
#define RP_VERIFY_CHECK_COPY_H

#include <stdbool.h>
#include <stdint.h>

#include "verify/certificate/host_capacity.h"

struct rp_copy_row {
    const struct rp_host_capacity *host; /* borrowed */
    bool in;                             /* about copies in; else about copies out */
    uint32_t stage;                      /* b */
    uint32_t position;                   /* of the op where the interval ends or begins */
    uint32_t first, last;                /* stages of E */
    __int128 right_ns;
    /* With rounding, else 0: the length, and what is left of the right side modulo it. */
    __int128 length_ns, rest_ns;
};

/* The row for copies in of what is read up to `op`, or for copies out of what `op` and
 * later ones have made. limit_bytes: for everything but sources. False if that op is not on
 * the right side of the moment, or if the right side passes 2^62 ns. */
bool rp_copy_row_init(struct rp_copy_row *r, const struct rp_host_capacity *host,
                      uint64_t limit_bytes, bool in, uint32_t stage, uint32_t op);

/* How long the copy of tensor x takes, which is no source; 0 if the row is not about x. */
uint64_t rp_copy_row_ns(const struct rp_copy_row *r, uint32_t x);

/* Rounds by length_ns (1 to 2^62), after the tensors whose copies take turned_ns together
 * have been turned: 1 - S stands for S. */
void rp_copy_row_round(struct rp_copy_row *r, uint64_t length_ns, __int128 turned_ns);

/* The coefficient of S (or, turned, of 1 - S) for a tensor whose copy takes `ns`. */
__int128 rp_copy_row_coefficient(const struct rp_copy_row *r, uint64_t ns, bool turned);

#endif
