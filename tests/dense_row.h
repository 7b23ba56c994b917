/* dense_row: small instances of the interval model, and rows of it with one coefficient per
 * column, for tests that write its rows out a second time.
 *
 * All times, bytes and values are multiples of a power of two, and few bits long. So sums
 * of them are exact in any order, and rows can be compared as they are.
 */
#ifndef RP_TESTS_DENSE_ROW_H
#define RP_TESTS_DENSE_ROW_H

#include "solve/milp/interval_model.h"

#define R RP_INTERVAL_R
#define S RP_INTERVAL_S
#define F RP_INTERVAL_F
#define U RP_INTERVAL_U
#define O RP_INTERVAL_O
#define V RP_INTERVAL_V
#define D RP_INTERVAL_D

/* A model of 3 to 8 ops near its floor, whose copies take about as long as its ops. */
struct rp_small_model {
    struct rp_graph g;
    struct rp_instance p;
    uint64_t total_ns, horizon_ns; /* the sum of all op times; as it was asked for */
    struct rp_interval_model m;
};
void rp_small_model_init(struct rp_small_model *w, uint64_t seed);
void rp_small_model_fini(struct rp_small_model *w);

/* sum of coef[c] v[c] <= right */
struct rp_dense_row {
    const struct rp_interval_model *m; /* borrowed */
    double *coef;
    double right;
};
struct rp_dense_row rp_dense_row_new(const struct rp_interval_model *m, double right);
void rp_dense_row_free(struct rp_dense_row *r);
void rp_dense_row_add(struct rp_dense_row *r, double coef, enum rp_interval_kind kind,
                      uint32_t t, uint32_t id);
/* Adds -d[u] for first <= u <= last. */
void rp_dense_row_wait(struct rp_dense_row *r, uint32_t first, uint32_t last);
/* By how much v violates it. */
double rp_dense_row_over(const struct rp_dense_row *r, const double *v);
/* The least and the most that it can be violated by within the columns' bounds. */
double rp_dense_row_least(const struct rp_dense_row *r);
double rp_dense_row_most(const struct rp_dense_row *r);
/* Is it row i of the set, and is there one? */
bool rp_dense_row_is(const struct rp_dense_row *r, const struct rp_row_set *rows,
                     uint32_t i);

#endif
