/* row_check: a point of a small interval model, the rows that one family finds there, and
 * how they are compared with rows that are written out a second time, as dense rows. */
#ifndef RP_TESTS_ROW_CHECK_H
#define RP_TESTS_ROW_CHECK_H

#include "dense_row.h"
#include "solve/lp/row_set.h"

struct rp_row_check {
    const struct rp_interval_model *m; /* borrowed, as all below */
    const struct rp_instance *p;
    double *v, least; /* the point; what a row must be violated by */
    struct rp_row_set found;
    bool use_v; /* in paths */
    uint32_t n; /* rows seen */
    bool good;
};

double rp_check_at(const struct rp_row_check *c, enum rp_interval_kind kind, uint32_t t,
                   uint32_t id);
/* H[t][x] */
double rp_check_readable(const struct rp_row_check *c, uint32_t t, uint32_t x);
/* Over the stages a to b. */
double rp_check_sum(const struct rp_row_check *c, enum rp_interval_kind kind, uint32_t id,
                    uint32_t a, uint32_t b);
/* The time of the ops first .. last - 1. Scaled, as all times. */
double rp_check_ops_time(const struct rp_row_check *c, uint32_t first, uint32_t last);
/* kind: O or U. */
double rp_check_copy_time(const struct rp_row_check *c, enum rp_interval_kind kind,
                          uint32_t x);

/* The best of some rows. */
struct rp_check_best {
    struct rp_dense_row row; /* coef NULL: none */
    double over;
};
/* Replaces the best by r, which it takes, if r is violated by `least` or more, and by more
 * than the best; or by as much, and later_wins. */
void rp_check_weigh(const struct rp_row_check *c, struct rp_check_best *b,
                    struct rp_dense_row r, bool later_wins);
/* The family has found this row next, if there is one and it says anything. */
void rp_check_expect(struct rp_row_check *c, struct rp_check_best b);

/* The rows (M9) and (M13h) of interval_memory.h are what was found. */
void rp_check_expect_memory(struct rp_row_check *c);
void rp_check_expect_memory_two(struct rp_row_check *c);
/* The rows (M13e) of interval_chains.h are what was found. */
void rp_check_expect_chains(struct rp_row_check *c);

#endif
