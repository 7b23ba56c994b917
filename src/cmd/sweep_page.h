/* sweep_page: a sweep's curve of one graph as a page for a browser, with all of its plans.
 * Not thread-safe. */
#ifndef RP_CMD_SWEEP_PAGE_H
#define RP_CMD_SWEEP_PAGE_H

#include "cmd/sweep_points.h"

/* One point of the curve, in ascending order of budgets. */
struct rp_page_point {
    uint64_t budget_bytes;
    uint64_t plan_budget_bytes; /* of the point that its plan was made for */
    struct rp_claims claims;    /* of the plan, with the point's own bound */
    const char *reason;         /* why there is no plan; NULL: there is one */
};

/* Loads the plans and writes DIR/NAME/curve.html. RP_INPUT: a plan is damaged. RP_LIMIT: an
 * interrupt, nothing is written. */
rp_rc rp_sweep_save_page(const struct rp_sweep *s, const struct rp_sweep_graph *a,
                         const struct rp_page_point *points, size_t n, struct rp_err *err);

#endif
