/* heap: a binary heap within an array, the first element on top (Williams, "Algorithm 232:
 * heapsort", 1964). Used like std::push_heap and std::pop_heap:
 *
 *     rp_push(&open, node);
 *     rp_heap_push(open.at, open.n, sizeof *open.at, before, context);
 *     ...
 *     rp_heap_pop(open.at, open.n, sizeof *open.at, before, context);
 *     node = open.at[--open.n];
 *
 * Where `before` is a strict total order, elements leave in that order, whatever the order
 * in which they came. The array is the caller's. Thread-safe: there is no other state.
 */
#ifndef RP_SOLVE_CORE_HEAP_H
#define RP_SOLVE_CORE_HEAP_H

#include <stdbool.h>
#include <stddef.h>

/* Must element a leave the heap before element b? */
typedef bool (*rp_heap_order)(const void *context, const void *a, const void *b);

static inline void rp_heap_swap(char *a, char *b, size_t size) {
    for (size_t k = 0; k < size; k++) {
        char byte = a[k];
        a[k] = b[k];
        b[k] = byte;
    }
}

/* The first n - 1 elements are a heap. Puts the last one in its place. */
static inline void rp_heap_push(void *elements, size_t n, size_t size, rp_heap_order before,
                                const void *context) {
    char *at = elements;
    for (size_t i = n - 1, parent; i > 0; i = parent) {
        parent = (i - 1) / 2;
        if (!before(context, at + i * size, at + parent * size))
            break;
        rp_heap_swap(at + i * size, at + parent * size, size);
    }
}

/* All n > 0 elements are a heap. Moves the top to the end; the others remain a heap. */
static inline void rp_heap_pop(void *elements, size_t n, size_t size, rp_heap_order before,
                               const void *context) {
    char *at = elements;
    rp_heap_swap(at, at + --n * size, size);
    for (size_t i = 0, child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && before(context, at + (child + 1) * size, at + child * size))
            child++;
        if (!before(context, at + child * size, at + i * size))
            break;
        rp_heap_swap(at + i * size, at + child * size, size);
    }
}

#endif
