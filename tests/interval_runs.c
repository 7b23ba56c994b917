#include "interval_runs.h"

#include <stdlib.h>

#include "base/mem.h"

struct rp_interval_result rp_solve_and_free(struct rp_interval_model *m, uint64_t work) {
    struct rp_interval_result r;
    struct rp_interval_options o = {.engine = RP_ENGINE_GLPK, .work = work};
    double *x = rp_calloc(m->n_cols, sizeof *x);
    rp_interval_solve(m, &o, x, &r);
    free(x);
    rp_interval_model_fini(m);
    return r;
}
