#include "policy/interval_actions.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/numbers.h"
#include "policy/intervals.h"
#include "policy/recorder.h"

void rp_interval_actions_init(const struct rp_instance *p, struct rp_interval_actions *a) {
    *a = (struct rp_interval_actions){0};
    a->action = rp_calloc(rp_n_intervals(p), sizeof *a->action);
    a->trigger = rp_calloc(rp_n_intervals(p), sizeof *a->trigger);
    a->swap_out_stage = rp_calloc(p->n_tensors, sizeof *a->swap_out_stage);
    a->keep_restored = rp_calloc(p->n_tensors, sizeof *a->keep_restored);
    a->hold_until = rp_calloc(p->n_tensors, sizeof *a->hold_until);
    memcpy(a->trigger, p->readers, rp_n_intervals(p) * sizeof *a->trigger);
    for (uint32_t x = 0; x < p->n_tensors; x++) {
        a->swap_out_stage[x] = p->producer[x] + 1;
        a->keep_restored[x] = true;
    }
}

void rp_interval_actions_fini(struct rp_interval_actions *a) {
    free(a->action);
    free(a->trigger);
    free(a->swap_out_stage);
    free(a->keep_restored);
    free(a->hold_until);
    *a = (struct rp_interval_actions){0};
}

void rp_interval_actions_copy(const struct rp_instance *p, struct rp_interval_actions *to,
                              const struct rp_interval_actions *from) {
    uint32_t n = rp_n_intervals(p), m = p->n_tensors;
    memcpy(to->action, from->action, n * sizeof *to->action);
    memcpy(to->trigger, from->trigger, n * sizeof *to->trigger);
    memcpy(to->swap_out_stage, from->swap_out_stage, m * sizeof *to->swap_out_stage);
    memcpy(to->keep_restored, from->keep_restored, m * sizeof *to->keep_restored);
    memcpy(to->hold_until, from->hold_until, m * sizeof *to->hold_until);
    to->wait_for_swap_out = from->wait_for_swap_out;
}

/* ---- triggers ---- */

/* When each stage starts if ops take their own time only; [n_ops] is the end. */
static double *stage_starts_ns(const struct rp_instance *p) {
    double *start = rp_calloc((size_t)p->n_ops + 1, sizeof *start);
    for (uint32_t i = 0; i < p->n_ops; i++)
        start[i + 1] = start[i] + (double)p->time_ns[i];
    return start;
}

/* The last stage that starts at `ns` or before. */
static uint32_t stage_at(const double *start, uint32_t n, double ns) {
    uint32_t a = 0, b = n;
    while (a + 1 < b) {
        uint32_t mid = a + (b - a) / 2;
        if (start[mid] <= ns)
            a = mid;
        else
            b = mid;
    }
    return a;
}

/* All SWAP intervals, sorted by the first need of their tensors. */
static struct rp_intervals list_swaps(const struct rp_instance *p,
                                      const struct rp_interval_actions *a,
                                      const uint32_t *first_need) {
    struct rp_intervals intervals = {0};
    for (uint32_t x = 0; x < p->n_tensors; x++)
        for (uint32_t e = p->reader_start[x]; e < p->reader_start[x + 1]; e++) {
            if (a->action[e] != RP_INTERVAL_SWAP)
                continue;
            struct rp_interval interval = rp_interval_of(p, x, e);
            interval.use = first_need[e];
            interval.key = first_need[e];
            rp_push(&intervals, interval);
        }
    rp_intervals_sort(&intervals);
    return intervals;
}

void rp_interval_actions_schedule_swap_ins(const struct rp_instance *p,
                                           struct rp_interval_actions *a,
                                           const uint32_t *first_need) {
    struct rp_intervals intervals = list_swaps(p, a, first_need);
    double *start = stage_starts_ns(p), next = start[p->n_ops];
    for (size_t k = intervals.n; k-- > 0;) {
        const struct rp_interval *interval = &intervals.at[k];
        double end = start[interval->use] < next ? start[interval->use] : next;
        next = end - (double)rp_swap_in_ns(p, interval->x);
        uint32_t t = stage_at(start, p->n_ops, next > 0 ? next : 0);
        /* The tensor cannot be out before the second stage of the interval. */
        uint32_t earliest = rp_min_u32(interval->begin + 2, interval->use);
        a->trigger[interval->e] = t > earliest ? rp_min_u32(t, interval->use) : earliest;
    }
    free(intervals.at);
    free(start);
}

/* ---- the cost of recomputation ---- */

/* Is y on the device or on the host when the closure of stage t asks for it? */
static bool is_available(const struct rp_instance *p, const struct rp_interval_actions *a,
                         uint32_t y, uint32_t t) {
    uint32_t e = rp_interval_ending_from(p, y, t);
    if (p->irreplaceable[y])
        return true;
    if (e == p->reader_start[y + 1])
        return p->kept[y];
    return a->action[e] != RP_INTERVAL_RECOMPUTE;
}

uint64_t rp_recompute_ns(const struct rp_instance *p, const struct rp_interval_actions *a,
                         uint32_t x, uint32_t e) {
    enum { MAX_RUNS = 512 }; /* a longer closure is not worth recomputing */
    uint32_t list[MAX_RUNS], n = 1, t = p->readers[e];
    uint64_t sum = 0;
    if (p->irreplaceable[x])
        return UINT64_MAX;
    list[0] = p->producer[x];
    for (uint32_t k = 0; k < n; k++) {
        uint32_t j = list[k];
        sum += p->time_ns[j];
        for (uint32_t i = p->input_start[j]; i < p->input_start[j + 1]; i++) {
            uint32_t q = p->producer[p->inputs[i]];
            bool skip = is_available(p, a, p->inputs[i], t);
            for (uint32_t b = 0; b < n && !skip; b++)
                skip = list[b] == q;
            if (skip)
                continue;
            if (n == MAX_RUNS)
                return UINT64_MAX;
            list[n++] = q;
        }
    }
    return sum;
}
