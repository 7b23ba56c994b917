/* mem: allocation that cannot fail, growth, and sums that cannot wrap.
 *
 * Out of memory ends the process with RP_ENV, so no other file tests for NULL.
 */
#ifndef RP_BASE_MEM_H
#define RP_BASE_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void *rp_calloc(size_t n, size_t size); /* zeroed; free() it */
void *rp_realloc(void *p, size_t n, size_t size);
char *rp_strdup(const char *s); /* NULL gives NULL */
char *rp_format(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* For any struct with members `at`, `n`, `cap`: room for one more, then append `x`. */
#define rp_push(v, x)                                                                      \
    do {                                                                                   \
        if ((v)->n == (v)->cap) {                                                          \
            (v)->cap = (v)->cap ? 2 * (v)->cap : 8;                                        \
            (v)->at = rp_realloc((v)->at, (v)->cap, sizeof *(v)->at);                      \
        }                                                                                  \
        (v)->at[(v)->n++] = (x);                                                           \
    } while (0)

/* Bytes and nanoseconds fit in 63 bits. False, and *sum untouched, if it would not fit. */
#define RP_MAX_QUANTITY ((uint64_t)INT64_MAX)
static inline bool rp_add(uint64_t *sum, uint64_t x) {
    if (*sum > RP_MAX_QUANTITY || x > RP_MAX_QUANTITY - *sum)
        return false;
    *sum += x;
    return true;
}

/* `bytes` rounded up to a multiple of `alignment` (any value >= 1; result may pass 63
 * bits). */
static inline uint64_t rp_rounding_up(uint64_t bytes, uint64_t alignment) {
    uint64_t rest = bytes % alignment;
    return rest ? bytes + (alignment - rest) : bytes;
}

#endif
