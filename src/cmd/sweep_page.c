#include "cmd/sweep_page.h"

#include <stdlib.h>

#include "base/io.h"
#include "emit/page/page.h"

/* Points with one plan are neighbours: loaded[i] stays empty if point i-1 has the same one.
 * plans[i] is the plan with the claims of point i and owns nothing. */
static rp_rc load_plans(const struct rp_sweep *s, const struct rp_sweep_graph *a,
                        const struct rp_page_point *points, size_t n,
                        struct rp_plan *loaded, struct rp_plan *plans, struct rp_err *err) {
    rp_rc rc = RP_OK;
    size_t at = 0; /* the plan that was loaded last */
    for (size_t i = 0; i < n && rc == RP_OK; i++) {
        if (points[i].reason != NULL)
            continue;
        uint64_t budget = points[i].plan_budget_bytes;
        rc = rp_sweep_check_stop(s, err);
        if (rc == RP_OK &&
            (loaded[at].graph_name == NULL || loaded[at].budget_bytes != budget))
            rc = rp_point_load_plan(a, budget, &loaded[at = i], err);
        plans[i] = loaded[at];
        plans[i].claims = points[i].claims;
    }
    return rc;
}

static rp_rc write_page(const struct rp_sweep_graph *a, const struct rp_page_point *points,
                        const struct rp_plan *plans, size_t n, struct rp_err *err) {
    struct rp_page_entry *entries = rp_calloc(n, sizeof *entries);
    char *text, *path = rp_format("%s/curve.html", a->dir);
    size_t len;
    FILE *f = rp_text_open(&text, &len);
    for (size_t i = 0; i < n; i++)
        entries[i] = (struct rp_page_entry){
            .budget_bytes = points[i].budget_bytes,
            .plan = points[i].reason == NULL ? &plans[i] : NULL,
            .fits = true,
            .reason = points[i].reason,
        };
    rp_page_write(&(struct rp_page){RP_PAGE_SWEEP, &a->g, entries, n}, f);
    rp_rc rc = rp_text_save(f, &text, &len, path, err);
    free(path);
    free(entries);
    return rc;
}

rp_rc rp_sweep_save_page(const struct rp_sweep *s, const struct rp_sweep_graph *a,
                         const struct rp_page_point *points, size_t n, struct rp_err *err) {
    struct rp_plan *loaded = rp_calloc(n, sizeof *loaded),
                   *plans = rp_calloc(n, sizeof *plans);
    rp_rc rc = load_plans(s, a, points, n, loaded, plans, err);
    if (rc == RP_OK)
        rc = write_page(a, points, plans, n, err);
    for (size_t i = 0; i < n; i++)
        rp_plan_fini(&loaded[i]);
    free(loaded);
    free(plans);
    return rc;
}
