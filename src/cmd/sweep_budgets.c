#include "cmd/sweep_budgets.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/numbers.h"

uint64_t rp_round_points(uint64_t n_points, uint32_t round) {
    uint64_t first = rp_max_u64(2, n_points / RP_SWEEP_ROUNDS), rest = n_points - first;
    return round == 0 ? first
                      : rest * round / (RP_SWEEP_ROUNDS - 1) -
                            rest * (round - 1) / (RP_SWEEP_ROUNDS - 1);
}

/* The point at k/n of the way from low to high. */
static uint64_t between(uint64_t low, uint64_t high, uint64_t k, uint64_t n) {
    return low + (uint64_t)((unsigned __int128)k * (high - low) / n);
}

size_t rp_even_budgets(uint64_t low, uint64_t high, uint64_t n, uint64_t *budgets) {
    size_t count = 0;
    for (uint64_t k = 0; k < n; k++) {
        uint64_t budget = between(low, high, k, n - 1);
        if (count == 0 || budget > budgets[count - 1])
            budgets[count++] = budget;
    }
    return count;
}

/* ---- where the curve bends ---- */

/* What is known between two neighbouring points. */
struct gap {
    uint64_t low, high; /* budgets */
    double drop_ns;     /* by how much the time falls */
    uint64_t cuts;      /* budgets chosen between them */
};

static int by_budget(const void *a, const void *b) {
    return rp_compare_u64(&((const struct rp_known_point *)a)->budget_bytes,
                          &((const struct rp_known_point *)b)->budget_bytes);
}

/* A copy of the points in the order of their budgets, each with the least time of a plan
 * that fits. The caller frees it. */
static struct rp_known_point *staircase(const struct rp_known_point *points, size_t n,
                                        uint64_t baseline_ns) {
    struct rp_known_point *at = rp_calloc(n, sizeof *at);
    uint64_t slowest = baseline_ns + baseline_ns / 100, least = UINT64_MAX;
    memcpy(at, points, n * sizeof *at);
    qsort(at, n, sizeof *at, by_budget);
    for (size_t k = 0; k < n; k++)
        slowest = rp_max_u64(slowest, at[k].time_ns);
    for (size_t k = 0; k < n; k++) {
        if (at[k].time_ns > 0)
            least = rp_min_u64(least, at[k].time_ns);
        at[k].time_ns = least < UINT64_MAX ? least : slowest + (slowest - baseline_ns);
    }
    return at;
}

/* The largest rectangle once the gap is cut. 0 if no budget is left to cut it at. */
static double rectangle(const struct gap *g) {
    double pieces = (double)(g->cuts + 1);
    return g->high - g->low > g->cuts + 1
               ? (double)(g->high - g->low) * g->drop_ns / (pieces * pieces)
               : 0;
}

/* Cuts the largest rectangle. False if there is none. */
static bool cut_largest(struct gap *gaps, size_t n) {
    size_t best = 0;
    for (size_t k = 1; k < n; k++)
        if (rectangle(&gaps[k]) > rectangle(&gaps[best]))
            best = k;
    if (n == 0 || !(rectangle(&gaps[best]) > 0))
        return false;
    gaps[best].cuts++;
    return true;
}

size_t rp_bend_budgets(const struct rp_known_point *points, size_t n_points,
                       uint64_t baseline_ns, uint64_t n, uint64_t *budgets) {
    size_t n_gaps = n_points > 0 ? n_points - 1 : 0, count = 0;
    struct gap *gaps = rp_calloc(n_gaps, sizeof *gaps);
    struct rp_known_point *at = staircase(points, n_points, baseline_ns);
    for (size_t k = 0; k < n_gaps; k++)
        gaps[k] = (struct gap){at[k].budget_bytes, at[k + 1].budget_bytes,
                               (double)(at[k].time_ns - at[k + 1].time_ns), 0};
    while (n > 0 && cut_largest(gaps, n_gaps))
        n--;
    for (size_t k = 0; k < n_gaps; k++)
        for (uint64_t c = 1; c <= gaps[k].cuts; c++)
            budgets[count++] = between(gaps[k].low, gaps[k].high, c, gaps[k].cuts + 1);
    free(at);
    free(gaps);
    return count;
}
