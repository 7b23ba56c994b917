#include "solve/engine/mip_solver.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

double rp_mip_limit(const struct rp_milp *m, const struct rp_mip_options *o) {
    double limit = o->cutoff > 0 ? o->cutoff : HUGE_VAL;
    if (o->start != NULL)
        limit = fmin(limit, rp_milp_value(m, o->start));
    if (limit == HUGE_VAL)
        return limit;
    return limit - fmax(o->absolute_gap, 1e-7 * fabs(limit));
}

uint64_t rp_mip_work(uint64_t pivots, uint64_t size) {
    return pivots * size / 64 + 1;
}

bool rp_mip_round(const struct rp_milp *m, double *x) {
    bool whole = true;
    for (uint32_t j = 0; j < m->n_cols; j++) {
        if (!m->integer[j])
            continue;
        if (fabs(x[j] - round(x[j])) > RP_MIP_TOLERANCE)
            whole = false;
        else
            x[j] = round(x[j]);
    }
    return whole;
}

uint64_t rp_mip_find_rows(const struct rp_mip_options *o, const double *x, bool whole,
                          struct rp_milp *rows) {
    rp_milp_fini(rows);
    uint64_t work = o->separate(o->separate_arg, x, whole, rows);
    bool *met = rp_calloc((size_t)rows->n_rows + 1, sizeof *met);
    for (uint32_t i = 0; i < rows->n_rows; i++)
        met[i] = rp_milp_violation(rows, i, x) <= RP_MIP_TOLERANCE;
    rp_milp_drop_rows(rows, met);
    free(met);
    return work;
}
