/* mem: allocation that cannot fail, vectors, and sums that cannot wrap.
 *
 * Out of memory ends the process with RP_ENV, so no other file tests for NULL. What these
 * functions return is the caller's to free(). Thread-safe.
 */
#ifndef RP_BASE_MEM_H
#define RP_BASE_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Prints "out of memory" and ends the process with RP_ENV. */
_Noreturn void rp_out_of_memory(void);

void *rp_calloc(size_t n, size_t size); /* zeroed */
void *rp_realloc(void *p, size_t n, size_t size);
char *rp_strdup(const char *s); /* NULL gives NULL */
char *rp_format(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* A vector: `RP_VEC(uint32_t) ids = {0};`. Its elements are at[0 .. n-1]. The owner calls
 * free(ids.at). */
#define RP_VEC(type)                                                                       \
    struct {                                                                               \
        type *at;                                                                          \
        size_t n, cap;                                                                     \
    }

/* AddressSanitizer sees a place past the end only where a vector is full. With it, small
 * ones always are. */
#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1 /* as gcc does */
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define RP_VEC_GROWN(cap) ((cap) < 64 ? (cap) + 1 : 2 * (cap))
#else
#define RP_VEC_GROWN(cap) ((cap) > 0 ? 2 * (cap) : 8)
#endif

/* Appends `x` to *v, an RP_VEC or another struct with its members. The elements may move,
 * so pointers to them become invalid. */
#define rp_push(v, x)                                                                      \
    do {                                                                                   \
        if ((v)->n == (v)->cap) {                                                          \
            (v)->cap = RP_VEC_GROWN((v)->cap);                                             \
            (v)->at = rp_realloc((v)->at, (v)->cap, sizeof *(v)->at);                      \
        }                                                                                  \
        (v)->at[(v)->n++] = (x);                                                           \
    } while (0)

/* Bytes and nanoseconds fit in 63 bits. */
#define RP_MAX_QUANTITY ((uint64_t)INT64_MAX)

/* False, and *sum unchanged, if the sum passes RP_MAX_QUANTITY. */
static inline bool rp_add(uint64_t *sum, uint64_t x) {
    if (*sum > RP_MAX_QUANTITY || x > RP_MAX_QUANTITY - *sum)
        return false;
    *sum += x;
    return true;
}

/* The sum becomes RP_MAX_QUANTITY if it would pass that. */
static inline void rp_add_capped(uint64_t *sum, uint64_t x) {
    if (!rp_add(sum, x))
        *sum = RP_MAX_QUANTITY;
}

/* `bytes` rounded up to a multiple of `alignment`, which is 1 or more. The result may pass
 * RP_MAX_QUANTITY. */
static inline uint64_t rp_round_up(uint64_t bytes, uint64_t alignment) {
    uint64_t rest = bytes % alignment;
    return rest ? bytes + (alignment - rest) : bytes;
}

#endif
