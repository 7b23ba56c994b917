/* shown: a small graph and plans for it, with the report that charts and texts are made of.
 */
#ifndef RP_TESTS_SHOWN_H
#define RP_TESTS_SHOWN_H

#include <stddef.h>
#include <stdio.h>

#include "emit/report.h"

struct rp_shown {
    struct rp_graph g;
    struct rp_plan p;
    struct rp_report r;
};

/* The graph is w -a-> x -b-> y -c-> u, and x,y -d-> z: JSON with %s as the name of a. The
 * plan has the budget 96 and the bound 125. End it with rp_shown_close. */
void rp_shown_open(struct rp_shown *s, const char *first_op, const struct rp_step *steps,
                   size_t n);
void rp_shown_close(struct rp_shown *s);

/* In the first, a runs again before d. In the second, x is copied out while b runs, and in
 * again while c runs. */
enum { RP_N_AGAIN = 9, RP_N_SWAPPED = 7 };
extern const struct rp_step rp_again[RP_N_AGAIN], rp_swapped[RP_N_SWAPPED];

/* What `put` writes. The caller frees it. */
char *rp_shown_text(void (*put)(const struct rp_report *, FILE *),
                    const struct rp_shown *s);
/* It is this. */
void rp_shown_expect(void (*put)(const struct rp_report *, FILE *),
                     const struct rp_shown *s, const char *want);

#endif
