#include "cmd/maxbatch_size.h"

#include "cmd/plan_hand_over.h"

const char *const rp_size_word[] = {
    [RP_SIZE_FITS] = "yes",
    [RP_SIZE_TOO_SLOW] = "too slow",
    [RP_SIZE_NO] = "no",
    [RP_SIZE_PROVED_NO] = "proved no",
    [RP_SIZE_NOT_FOUND] = "not found",
    [RP_SIZE_INTERRUPTED] = "interrupted",
};

double rp_size_samples_per_s(const struct rp_size *p) {
    return (double)p->samples * 1e9 / (double)p->plan.claims.time_ns;
}

static double time_ratio(const struct rp_size *p) {
    return (double)p->plan.claims.time_ns / (double)p->plan.claims.baseline_time_ns;
}

/* Of the plans of larger sizes, which fit, the one with the least time over keep-all. */
static const struct rp_size *best_larger(const struct rp_size *points, size_t n,
                                         uint64_t size) {
    const struct rp_size *best = NULL;
    for (size_t i = 0; i < n; i++) {
        const struct rp_size *p = &points[i];
        if (p->size >= size && p->plan.steps.n > 0 &&
            (best == NULL || time_ratio(p) < time_ratio(best)))
            best = p;
    }
    return best;
}

/* Of the plans of smaller sizes the nearest, which fits if it left room. */
static const struct rp_size *nearest_smaller(const struct rp_size *points, size_t n,
                                             uint64_t size) {
    const struct rp_size *best = NULL;
    for (size_t i = 0; i < n; i++) {
        const struct rp_size *p = &points[i];
        if (p->size < size && p->plan.steps.n > 0 &&
            (best == NULL || p->size > best->size ||
             (p->size == best->size && time_ratio(p) < time_ratio(best))))
            best = p;
    }
    return best;
}

bool rp_size_find_start(const struct rp_size *points, size_t n, const struct rp_graph *g,
                        uint64_t size, const struct rp_policy_options *o,
                        struct rp_plan *start) {
    const struct rp_size *from[] = {best_larger(points, n, size),
                                    nearest_smaller(points, n, size)};
    bool found = false;
    *start = (struct rp_plan){0};
    for (int k = 0; k < 2; k++) {
        struct rp_plan plan = {0};
        if (from[k] != NULL && rp_plan_hand_over(&from[k]->plan, g, o, &plan) &&
            (!found || rp_plan_order(g, &plan, start) < 0)) {
            struct rp_plan worse = *start;
            *start = plan;
            plan = worse;
            found = true;
        }
        rp_plan_fini(&plan);
    }
    return found;
}
