/* row_set: rows of a linear program, and what it takes to derive each of them again.
 *
 *   row i:   sum over k in [start[i], start[i + 1]) of coef[k] x[col[k]]  <=  rhs[i]
 *
 * Where a term's place may be a constant instead of a column, RP_COL_ZERO and RP_COL_ONE
 * stand for it. Rows hold columns only: rp_row_set_term moves constants to the right side.
 *
 * Invariants: no column occurs twice in a row. Once there is a row, start and detail_start
 * have n + 1 entries and never descend.
 *
 * The caller owns a set; a zeroed one is empty. Not thread-safe: one set, one thread.
 */
#ifndef RP_SOLVE_LP_ROW_SET_H
#define RP_SOLVE_LP_ROW_SET_H

#include <stdint.h>

#include "solve/engine/milp.h"

/* In place of a column: a constant. */
#define RP_COL_ZERO (UINT32_MAX - 1)
#define RP_COL_ONE UINT32_MAX

/* Equations (2) to (6) of formulation.h, sep_path.h and sep_cover.h, (8), and (9) and (10)
 * of bound/sep_copy.h. RP_ROW_OTHER: a cut that only branch and cut uses. No certificate
 * can hold the last three kinds. */
enum rp_row_kind {
    RP_ROW_DEP,
    RP_ROW_HOLD,
    RP_ROW_MEM,
    RP_ROW_PATH,
    RP_ROW_COVER,
    RP_ROW_EXTRA,
    RP_ROW_COPY,
    RP_ROW_OTHER
};

struct rp_row_name {
    enum rp_row_kind kind;
    uint32_t t;  /* stage; path: the last one of its window */
    uint32_t op; /* dep: the reader j. mem, cover: k. copy: d or a. path: the reader r. else
                    RP_NONE */
    uint32_t x;  /* dep, hold, path: the tensor. else RP_NONE */
    uint32_t from; /* path: the first stage of its window. copy: 1 for (9). else 0 */
};

struct rp_row_set {
    uint32_t n, n_terms, n_details;
    uint32_t cap, cap_terms, cap_details; /* allocated */
    uint32_t *start, *col;
    double *coef, *rhs;
    struct rp_row_name *name;
    /* Row i has the details [detail_start[i], detail_start[i + 1]). mem: pairs of a tensor
     * and its term, which is an op r for R[t][r] or one of the two below. cover: those of
     * the memory row that it follows from. path: the tensors of its path. copy: the length
     * of (11), its low half first, or 0, and the tensors for which 1 - S stands. */
    uint32_t *detail_start, *detail;
};
#define RP_TERM_NEXT (UINT32_MAX - 1) /* S[t+1][x] */
#define RP_TERM_NOW UINT32_MAX        /* S[t][x] */

void rp_row_set_fini(struct rp_row_set *rows); /* safe on a zeroed set, and twice */

/* Starts a row without terms. The next two append to the row that was started last. */
void rp_row_set_begin(struct rp_row_set *rows, struct rp_row_name name, double rhs);
void rp_row_set_term(struct rp_row_set *rows, uint32_t col, double coef);
void rp_row_set_detail(struct rp_row_set *rows, uint32_t detail);

/* Appends row i of `from`, or all of its rows. `from` must be another set. */
void rp_row_set_copy(struct rp_row_set *rows, const struct rp_row_set *from, uint32_t i);
void rp_row_set_copy_all(struct rp_row_set *rows, const struct rp_row_set *from);

/* Deletes each row i for which drop[i]. Later rows move up. */
void rp_row_set_drop(struct rp_row_set *rows, const bool *drop);

/* Leaves out the terms of rows first .. n - 1 whose coefficients are below `least`, and
 * raises the right sides by what they can amount to, so that each point of the old rows
 * meets the new ones. Column j lies between 0 and most[j]. */
void rp_row_set_drop_small(struct rp_row_set *rows, uint32_t first, double least,
                           const double *most);

/* Rows first .. n - 1 as an engine reads them. Valid until the set changes. */
struct rp_sparse_rows rp_row_set_view(const struct rp_row_set *rows, uint32_t first);

/* The left side of row i at point v, which has one value per column. */
double rp_row_set_left(const struct rp_row_set *rows, uint32_t i, const double *v);

#endif
