/* page_data: what a page shows, as JSON. Lists of numbers that mostly rise are written as
 * differences, which are shorter; plan.js sums them up. Sizes and addresses that are
 * multiples of the alignment are counted in `unit` bytes. Thread-safe. */
#ifndef RP_EMIT_PAGE_PAGE_DATA_H
#define RP_EMIT_PAGE_PAGE_DATA_H

#include "emit/page/page.h"

/* The graph, keep-all, and the figures of every entry. plan_of[i]: which of the plans in
 * the file has the steps of entry i. */
void rp_page_put_data(const struct rp_page *page, const size_t *plan_of, FILE *f);

/* The steps of one plan with their times, memory and addresses (page_plan.c). */
void rp_page_put_plan(const struct rp_graph *g, const struct rp_plan *p, FILE *f);

#endif
