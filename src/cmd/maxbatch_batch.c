#include "cmd/maxbatch_batch.h"

#include "cmd/plan_hand_over.h"

const char *const rp_batch_word[] = {
    [RP_BATCH_FITS] = "yes",
    [RP_BATCH_TOO_SLOW] = "too slow",
    [RP_BATCH_NO] = "no",
    [RP_BATCH_PROVED_NO] = "proved no",
    [RP_BATCH_NOT_FOUND] = "not found",
    [RP_BATCH_INTERRUPTED] = "interrupted",
};

double rp_batch_samples_per_s(const struct rp_batch *b) {
    return (double)b->batch * 1e9 / (double)b->plan.claims.time_ns;
}

static double time_ratio(const struct rp_batch *p) {
    return (double)p->plan.claims.time_ns / (double)p->plan.claims.baseline_time_ns;
}

/* Of the plans of larger batches, which fit, the one with the least time over keep-all. */
static const struct rp_batch *best_larger(const struct rp_batch *points, size_t n,
                                          uint64_t batch) {
    const struct rp_batch *best = NULL;
    for (size_t i = 0; i < n; i++) {
        const struct rp_batch *p = &points[i];
        if (p->batch >= batch && p->plan.steps.n > 0 &&
            (best == NULL || time_ratio(p) < time_ratio(best)))
            best = p;
    }
    return best;
}

/* Of the plans of smaller batches the nearest, which fits if it left room. */
static const struct rp_batch *nearest_smaller(const struct rp_batch *points, size_t n,
                                              uint64_t batch) {
    const struct rp_batch *best = NULL;
    for (size_t i = 0; i < n; i++) {
        const struct rp_batch *p = &points[i];
        if (p->batch < batch && p->plan.steps.n > 0 &&
            (best == NULL || p->batch > best->batch ||
             (p->batch == best->batch && time_ratio(p) < time_ratio(best))))
            best = p;
    }
    return best;
}

bool rp_batch_find_start(const struct rp_batch *points, size_t n, const struct rp_graph *g,
                         uint64_t batch, const struct rp_policy_options *o,
                         struct rp_plan *start) {
    const struct rp_batch *from[] = {best_larger(points, n, batch),
                                     nearest_smaller(points, n, batch)};
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
