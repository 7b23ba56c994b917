#include "solve/search/lp_rounding.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/numbers.h"
#include "solve/bound/pdhg_bound.h"
#include "solve/core/params.h"
#include "solve/core/prune.h"
#include "solve/search/stage_rounding.h"

/* Thresholds are from here to there. Which one is best differs from graph to graph. */
static const double MIN_THRESHOLD = 0.15, MAX_THRESHOLD = 0.7;
/* The sequence first + k * step, mod 1, fills the interval evenly wherever it ends. */
static const double FIRST_PLACE = 0.45, GOLDEN_STEP = 0.6180339887498949;

/* A point is of use after so many steps of PDHG. */
enum { STEPS = 400 };

struct rp_lp_rounding {
    struct rp_instance p;          /* a copy, which does not move */
    struct rp_pdhg_bound *program; /* NULL: there is none yet */
    uint32_t stages;               /* of the program */
    bool rounded;                  /* its point has been */
    uint32_t n_rounded;            /* points, so far */
};

struct rp_lp_rounding *rp_lp_rounding_new(const struct rp_instance *p) {
    struct rp_lp_rounding *r = rp_calloc(1, sizeof *r);
    r->p = *p;
    return r;
}

void rp_lp_rounding_free(struct rp_lp_rounding *r) {
    if (r == NULL)
        return;
    rp_pdhg_bound_free(r->program);
    free(r);
}

bool rp_lp_rounding_begin(struct rp_lp_rounding *r, uint64_t plan_ns) {
    uint64_t horizon_ns = r->p.out_ns != NULL ? plan_ns : 0;
    if (r->program == NULL || (r->rounded && r->stages < MAX_ROUNDING_STAGES)) {
        rp_pdhg_bound_free(r->program);
        r->stages = r->stages == 0 ? MIN_ROUNDING_STAGES : 2 * r->stages;
        r->program = rp_pdhg_bound_new_for_points(&r->p, horizon_ns, r->stages);
        r->rounded = false;
    } else if (horizon_ns > 0) {
        rp_pdhg_bound_tighten(r->program, horizon_ns);
    }
    return rp_pdhg_bound_formulation(r->program) != NULL;
}

uint64_t rp_lp_rounding_work_missing(const struct rp_lp_rounding *r) {
    return rp_pdhg_bound_work_until(r->program, STEPS);
}

bool rp_lp_rounding_run(struct rp_lp_rounding *r, uint64_t work, struct rp_stop *stop) {
    return rp_pdhg_bound_run(r->program, work, stop);
}

bool rp_lp_rounding_next(struct rp_lp_rounding *r, struct rp_stop *stop,
                         struct rp_schedule *s) {
    double place = fmod(FIRST_PLACE + r->n_rounded * GOLDEN_STEP, 1);
    double threshold = MIN_THRESHOLD + place * (MAX_THRESHOLD - MIN_THRESHOLD);
    double *v = rp_pdhg_bound_point(r->program);
    rp_stage_rounding(rp_pdhg_bound_formulation(r->program), v, threshold, s);
    free(v);
    r->n_rounded++;
    r->rounded = true;
    return rp_schedule_prune_until(&r->p, s, stop) &&
           rp_schedule_cost_until(&r->p, s, stop).sound;
}
