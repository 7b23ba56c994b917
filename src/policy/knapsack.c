#include "policy/knapsack.h"

#include <stdlib.h>

#include "base/mem.h"

void rp_knapsack(uint32_t n, const uint32_t *size, const uint64_t *value, uint32_t capacity,
                 bool *chosen) {
    size_t width = (size_t)capacity + 1, words = width / 64 + 1;
    uint64_t *best = rp_calloc(width, sizeof *best); /* per room: the most value */
    /* Bit j of row i: with room for j, the best choice of items 0 .. i has item i. */
    uint64_t *taken = rp_calloc(n * words, sizeof *taken);
    for (uint32_t i = 0; i < n; i++)
        for (size_t j = width; j-- > size[i];)
            if (best[j - size[i]] + value[i] > best[j]) {
                best[j] = best[j - size[i]] + value[i];
                taken[i * words + j / 64] |= (uint64_t)1 << (j % 64);
            }
    size_t room = capacity;
    for (uint32_t i = n; i-- > 0;) {
        chosen[i] = taken[i * words + room / 64] >> (room % 64) & 1;
        room -= chosen[i] ? size[i] : 0;
    }
    free(best);
    free(taken);
}
