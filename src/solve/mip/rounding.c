#include "solve/mip/rounding.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/numbers.h"
#include "solve/core/prune.h"

static uint32_t next_first_reader(const struct rp_instance *p, uint32_t x, uint32_t t) {
    for (uint32_t k = p->reader_start[x]; k < p->reader_start[x + 1]; k++)
        if (p->readers[k] >= t)
            return p->readers[k];
    return p->n_ops;
}

/* Is x carried through stage t, evaluated in w, without being used there? */
static bool carried(const struct rp_instance *p, const struct rp_schedule *s, uint32_t t,
                    uint32_t x, const struct rp_stage_work *w) {
    if (!rp_held(s, t, x) || !rp_held(s, t + 1, x) || p->bytes[x] == 0 || p->pinned[x] ||
        p->last_stage[p->producer[x]] <= t)
        return false;
    for (uint32_t a = 0; a < w->stage.n_runs; a++)
        for (uint32_t j = w->stage.runs[a], k = p->input_start[j];
             k < p->input_start[j + 1]; k++)
            if (p->inputs[k] == x)
                return false;
    return true;
}

/* The tensor that stage t should drop, RP_NONE if there is none. */
static uint32_t choose_victim(const struct rp_instance *p, const struct rp_formulation *f,
                              const double *weight, const struct rp_schedule *s, uint32_t t,
                              const struct rp_stage_work *w) {
    uint32_t victim = RP_NONE;
    double best = -1;
    for (uint32_t x = 0; x < p->n_tensors && p->producer[x] < t; x++) {
        if (!carried(p, s, t, x, w))
            continue;
        double hold =
            weight ? rp_formulation_value(weight, rp_formulation_held(f, t + 1, x)) : 0;
        double cost = (double)p->time_ns[p->producer[x]] + 1;
        double score = (double)p->bytes[x] * (1.01 - hold) / cost;
        if (score > best) {
            best = score;
            victim = x;
        }
    }
    return victim;
}

bool rp_rounding_repair(const struct rp_instance *p, const struct rp_formulation *f,
                        const double *weight, struct rp_schedule *s) {
    struct rp_stage_work w = {0};
    bool fits = true;
    rp_stage_work_init(p, &w);
    for (uint32_t t = 0; t < p->n_ops && fits; t++)
        for (;;) {
            fits = rp_stage_eval(p, s, t, &w);
            if (!fits || w.stage.peak_bytes <= p->limit_bytes)
                break;
            uint32_t x = choose_victim(p, f, weight, s, t, &w);
            fits = x != RP_NONE;
            if (!fits)
                break;
            uint32_t end =
                rp_min_u32(next_first_reader(p, x, t + 1), p->last_stage[p->producer[x]]);
            rp_schedule_set(s, x, t, end < p->n_ops ? end : p->n_ops - 1, false);
        }
    rp_stage_work_fini(&w);
    if (!fits || !rp_schedule_prune(p, s))
        return false;
    return rp_schedule_fits(p, s);
}

/* Adds up the times of stages first .. last. False if one of them does not fit. */
static bool time_of(const struct rp_instance *p, const struct rp_schedule *s,
                    uint32_t first, uint32_t last, struct rp_stage_work *w,
                    uint64_t *time_ns) {
    *time_ns = 0;
    for (uint32_t t = first; t <= last; t++)
        if (!rp_stage_eval(p, s, t, w) || w->stage.peak_bytes > p->limit_bytes ||
            !rp_add(time_ns, w->stage.time_ns))
            return false;
    return true;
}

static bool runs_in(const struct rp_instance *p, const struct rp_schedule *s, uint32_t t,
                    uint32_t j, struct rp_stage_work *w) {
    rp_stage_eval(p, s, t, w);
    for (uint32_t a = 0; a < w->stage.n_runs; a++)
        if (w->stage.runs[a] == j)
            return true;
    return false;
}

/* Stage t makes x again. Holds x from the last earlier stage that had it up to stage t,
 * unless that does not fit or saves no time. */
static void hold_over(const struct rp_instance *p, struct rp_schedule *s, uint32_t t,
                      uint32_t x, struct rp_stage_work *w) {
    uint32_t maker = p->producer[x], had = t - 1;
    uint64_t before, after;
    if (rp_held(s, t, x))
        return;
    while (had > maker && !rp_held(s, had, x) && !runs_in(p, s, had, maker, w))
        had--;
    if (!time_of(p, s, had, t, w, &before))
        return;
    rp_schedule_set(s, x, had + 1, t, true);
    if (!time_of(p, s, had, t, w, &after) || after >= before)
        rp_schedule_set(s, x, had + 1, t, false);
}

void rp_rounding_fill(const struct rp_instance *p, struct rp_schedule *s) {
    struct rp_stage_work w = {0};
    RP_VEC(uint32_t) made = {0};
    rp_stage_work_init(p, &w);
    for (uint32_t t = p->n_ops; t-- > 1;) {
        if (!rp_stage_eval(p, s, t, &w))
            break;
        for (uint32_t a = 0; a + 1 < w.stage.n_runs; a++)
            for (uint32_t j = w.stage.runs[a], x = p->output_start[j];
                 x < p->output_start[j + 1]; x++)
                rp_push(&made, x);
        /* Begin with the last one: if it is held, what it was made from may not be needed.
         */
        while (made.n > 0)
            hold_over(p, s, t, made.at[--made.n], &w);
    }
    rp_schedule_prune(p, s);
    rp_stage_work_fini(&w);
    free(made.at);
}

bool rp_rounding(const struct rp_formulation *f, const double *v, struct rp_schedule *best,
                 uint64_t *best_time_ns) {
    static const double threshold[] = {0.5, 0.25, 0.75, 0.05, 0.95};
    const struct rp_instance *p = f->instance;
    struct rp_schedule s;
    bool better = false;
    rp_schedule_empty(p, &s);
    for (size_t i = 0; i < sizeof threshold / sizeof *threshold; i++) {
        rp_formulation_schedule(f, v, threshold[i], &s);
        if (!rp_schedule_prune(p, &s) || !rp_rounding_repair(p, f, v, &s))
            continue;
        rp_rounding_fill(p, &s);
        struct rp_cost c = rp_schedule_cost(p, &s);
        if (rp_cost_fits(p, &c) && c.time_ns < *best_time_ns) {
            *best_time_ns = c.time_ns;
            rp_schedule_copy(best, &s);
            better = true;
        }
    }
    rp_schedule_fini(&s);
    return better;
}
