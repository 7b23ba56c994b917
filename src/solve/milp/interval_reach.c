#include "solve/milp/interval_reach.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/numbers.h"

/* ---- windows ---- */

static bool runs_first_in(const struct rp_interval_window *w, uint32_t j) {
    return j >= w->first && j <= w->last;
}

static bool is_read_at_end(const struct rp_interval_reach *c, uint32_t x) {
    return c->p->kept[x] && c->window.last == c->p->n_ops;
}

/* What of the step can want x: sets s_last[x]. Returns the least time between that and a
 * first run of the window. need_ns: per op, the same with its own run. */
static double find_readers(struct rp_interval_reach *c, const double *need_ns, uint32_t x) {
    const struct rp_instance *p = c->p;
    const struct rp_interval_window *w = &c->window;
    bool at_end = is_read_at_end(c, x);
    uint32_t last = at_end || p->pinned[x] ? w->last : 0;
    double least = at_end ? 0 : HUGE_VAL;
    for (uint32_t k = p->reader_start[x]; k < p->reader_start[x + 1]; k++) {
        uint32_t r = p->readers[k];
        bool first_run = runs_first_in(w, r);
        last = rp_max_u32(last, rp_max_u32(c->r_last[r], first_run ? r : 0));
        least = fmin(least, first_run ? 0 : c->r_last[r] > 0 ? need_ns[r] : HUGE_VAL);
    }
    c->s_last[x] = rp_min_u32(c->s_last[x], last);
    return least;
}

static void assume_outputs(struct rp_interval_reach *c, uint32_t j) {
    for (uint32_t x = c->p->output_start[j]; x < c->p->output_start[j + 1]; x++) {
        c->is_assumed[x] = true;
        c->s_last[x] = c->window.last;
    }
}

/* r_last and s_last of a window, where ops are near up to a distance: distance_ns[j] is the
 * least time between a run of op j and a first run of the window, and HUGE_VAL if it cannot
 * run again. */
static void narrow(struct rp_interval_reach *c, double near_ns, double *distance_ns) {
    const struct rp_instance *p = c->p;
    double *need_ns = rp_calloc(p->n_ops, sizeof *need_ns);
    rp_instance_last_uses(p, c->r_last, c->s_last);
    for (uint32_t j = p->n_ops; j-- > 0;) {
        double least = HUGE_VAL;
        for (uint32_t x = p->output_start[j]; x < p->output_start[j + 1]; x++)
            least = fmin(least, find_readers(c, need_ns, x));
        need_ns[j] = least + (double)p->time_ns[j];
        uint32_t last = rp_min_u32(c->r_last[j], c->window.last);
        bool runs =
            last > j && last >= c->window.first && need_ns[j] <= (double)c->window.most_ns;
        bool near = least <= near_ns || j >= c->window.first;
        distance_ns[j] = runs ? least : HUGE_VAL;
        c->r_last[j] = runs && near ? last : 0;
        if (runs && !near)
            assume_outputs(c, j);
    }
    free(need_ns);
}

static int by_value(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* The distance of the op before the window that is the n-th nearest; n > 0. */
static double nth_distance_ns(const struct rp_interval_reach *c, const double *distance_ns,
                              uint32_t n) {
    double *sorted = rp_calloc(c->window.first + 1, sizeof *sorted);
    memcpy(sorted, distance_ns, c->window.first * sizeof *sorted);
    qsort(sorted, c->window.first, sizeof *sorted, by_value);
    double nth = n <= c->window.first ? sorted[n - 1] : HUGE_VAL;
    free(sorted);
    return nth;
}

static void narrow_to_near(struct rp_interval_reach *c) {
    double *distance_ns = rp_calloc(c->p->n_ops, sizeof *distance_ns);
    narrow(c, HUGE_VAL, distance_ns);
    double near_ns =
        c->window.max_runs == 0 ? -1 : nth_distance_ns(c, distance_ns, c->window.max_runs);
    if (near_ns < HUGE_VAL)
        narrow(c, near_ns, distance_ns);
    free(distance_ns);
}

/* ---- all ---- */

void rp_interval_reach_init(struct rp_interval_reach *c, const struct rp_instance *p,
                            const struct rp_interval_window *w, uint64_t slack_ns) {
    *c = (struct rp_interval_reach){.p = p,
                                    .window = *w,
                                    .slack_ns = (double)slack_ns,
                                    .before_ns =
                                        rp_calloc((size_t)p->n_ops + 1, sizeof(double)),
                                    .r_last = rp_calloc(p->n_ops, sizeof(uint32_t)),
                                    .s_last = rp_calloc(p->n_tensors, sizeof(uint32_t)),
                                    .is_assumed = rp_calloc(p->n_tensors, sizeof(bool)),
                                    .working_set = rp_calloc(p->n_ops, sizeof(uint64_t))};
    uint64_t total = 0;
    for (uint32_t j = 0; j < p->n_ops; j++) {
        total += p->time_ns[j];
        c->before_ns[j + 1] = (double)total;
        c->working_set[j] = rp_instance_op_bytes(p, j);
    }
    if (rp_is_window(p, w))
        narrow_to_near(c);
    else
        rp_instance_last_uses(p, c->r_last, c->s_last);
}

void rp_interval_reach_fini(struct rp_interval_reach *c) {
    free(c->before_ns);
    free(c->r_last);
    free(c->s_last);
    free(c->is_assumed);
    free(c->working_set);
    *c = (struct rp_interval_reach){0};
}

bool rp_interval_touches(const struct rp_instance *p, uint32_t k, uint32_t x) {
    return p->producer[x] == k || rp_op_reads(p, k, x);
}

bool rp_interval_fits(const struct rp_interval_reach *c, uint32_t t, uint32_t x) {
    return rp_interval_touches(c->p, t - 1, x) ||
           c->working_set[t - 1] + c->p->bytes[x] <= c->p->limit_bytes;
}
