#include "solve/bound/pdhg_statistics.h"

void rp_pdhg_statistics_add(struct rp_pdhg_statistics *into,
                            const struct rp_pdhg_statistics *from) {
    into->iterations += from->iterations;
    into->restarts += from->restarts;
    into->separations += from->separations;
    into->memory_rows += from->memory_rows;
    into->cover_rows += from->cover_rows;
    into->path_rows += from->path_rows;
    into->copy_rows += from->copy_rows;
    into->dropped_rows += from->dropped_rows;
    into->dual_evaluations += from->dual_evaluations;
    into->proofs += from->proofs;
    into->horizon_updates += from->horizon_updates;
    into->refinements += from->refinements;
    into->cutoffs_tried += from->cutoffs_tried;
    into->cutoffs_proved += from->cutoffs_proved;
    into->restrictions += from->restrictions;
    into->splits += from->splits;
    into->work += from->work;
}
