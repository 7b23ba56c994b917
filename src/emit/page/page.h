/* page: plans of one graph as one HTML file, which needs nothing else: no network, no other
 * file. It holds data as JSON (page_data.c, page_plan.c) and the program in page/ that
 * draws it. Names of ops and tensors stay text: no "<" leaves the JSON as it is, and the
 * program sets text only. The same input gives the same bytes.
 *
 * Thread-safe: nothing is kept between calls. */
#ifndef RP_EMIT_PAGE_PAGE_H
#define RP_EMIT_PAGE_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "model/graph.h"
#include "model/plan.h"

/* One plan, or why there is none. All pointers are the caller's. */
struct rp_page_entry {
    const char *name; /* of the policy; NULL: its budget names it */
    uint64_t budget_bytes;
    const struct rp_plan *plan; /* has passed rp_verify; NULL: there is none */
    bool fits;                  /* the plan is within the budget */
    const char *reason;         /* why there is no plan, if so */
    const uint64_t *solver_ns;  /* how long planning took; NULL: it is not said */
};

/* PLAN: one entry, with a plan. COMPARISON: policies at some budgets, in the order of the
 * budgets. SWEEP: plans in ascending order of budgets. All plans have addresses, or none.
 */
enum rp_page_kind { RP_PAGE_PLAN, RP_PAGE_COMPARISON, RP_PAGE_SWEEP };

struct rp_page {
    enum rp_page_kind kind;
    const struct rp_graph *g;
    const struct rp_page_entry *entries;
    size_t n;
};

/* Entries with the same steps share them in the file. Errors stay with the stream. */
void rp_page_write(const struct rp_page *page, FILE *f);

#endif
