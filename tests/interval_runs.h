/* interval_runs: solves interval models with GLPK, for tests. */
#ifndef RP_TESTS_INTERVAL_RUNS_H
#define RP_TESTS_INTERVAL_RUNS_H

#include "solve/milp/interval_solve.h"

/* With so much work (interval_solve.h). Frees the model. */
struct rp_interval_result rp_solve_and_free(struct rp_interval_model *m, uint64_t work);

#endif
