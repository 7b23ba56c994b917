#include "solve/lp/row_set.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

void rp_row_set_fini(struct rp_row_set *rows) {
    free(rows->start);
    free(rows->col);
    free(rows->coef);
    free(rows->rhs);
    free(rows->name);
    free(rows->detail_start);
    free(rows->detail);
    *rows = (struct rp_row_set){0};
}

void rp_row_set_begin(struct rp_row_set *rows, struct rp_row_name name, double rhs) {
    if (rows->n == rows->cap) {
        uint32_t cap = rows->cap = rows->cap ? 2 * rows->cap : 64;
        rows->start = rp_realloc(rows->start, (size_t)cap + 1, sizeof *rows->start);
        rows->rhs = rp_realloc(rows->rhs, cap, sizeof *rows->rhs);
        rows->name = rp_realloc(rows->name, cap, sizeof *rows->name);
        rows->detail_start =
            rp_realloc(rows->detail_start, (size_t)cap + 1, sizeof *rows->detail_start);
    }
    rows->start[rows->n] = rows->n_terms;
    rows->detail_start[rows->n] = rows->n_details;
    rows->rhs[rows->n] = rhs;
    rows->name[rows->n] = name;
    rows->n++;
    rows->start[rows->n] = rows->n_terms;
    rows->detail_start[rows->n] = rows->n_details;
}

void rp_row_set_term(struct rp_row_set *rows, uint32_t col, double coef) {
    if (col == RP_COL_ONE)
        rows->rhs[rows->n - 1] -= coef;
    if (col == RP_COL_ONE || col == RP_COL_ZERO)
        return;
    if (rows->n_terms == rows->cap_terms) {
        rows->cap_terms = rows->cap_terms ? 2 * rows->cap_terms : 256;
        rows->col = rp_realloc(rows->col, rows->cap_terms, sizeof *rows->col);
        rows->coef = rp_realloc(rows->coef, rows->cap_terms, sizeof *rows->coef);
    }
    rows->col[rows->n_terms] = col;
    rows->coef[rows->n_terms++] = coef;
    rows->start[rows->n] = rows->n_terms;
}

void rp_row_set_detail(struct rp_row_set *rows, uint32_t detail) {
    if (rows->n_details == rows->cap_details) {
        rows->cap_details = rows->cap_details ? 2 * rows->cap_details : 256;
        rows->detail = rp_realloc(rows->detail, rows->cap_details, sizeof *rows->detail);
    }
    rows->detail[rows->n_details++] = detail;
    rows->detail_start[rows->n] = rows->n_details;
}

void rp_row_set_copy(struct rp_row_set *rows, const struct rp_row_set *from, uint32_t i) {
    rp_row_set_begin(rows, from->name[i], from->rhs[i]);
    for (uint32_t k = from->start[i]; k < from->start[i + 1]; k++)
        rp_row_set_term(rows, from->col[k], from->coef[k]);
    for (uint32_t k = from->detail_start[i]; k < from->detail_start[i + 1]; k++)
        rp_row_set_detail(rows, from->detail[k]);
}

void rp_row_set_copy_all(struct rp_row_set *rows, const struct rp_row_set *from) {
    for (uint32_t i = 0; i < from->n; i++)
        rp_row_set_copy(rows, from, i);
}

void rp_row_set_drop(struct rp_row_set *rows, const bool *drop) {
    struct rp_row_set kept = {0};
    for (uint32_t i = 0; i < rows->n; i++)
        if (!drop[i])
            rp_row_set_copy(&kept, rows, i);
    rp_row_set_fini(rows);
    *rows = kept;
}

void rp_row_set_drop_small(struct rp_row_set *rows, uint32_t first, double least,
                           const double *most) {
    uint32_t k = first < rows->n ? rows->start[first] : rows->n_terms, n = k;
    for (uint32_t i = first; i < rows->n; i++) {
        for (uint32_t end = rows->start[i + 1]; k < end; k++) {
            uint32_t col = rows->col[k];
            double coef = rows->coef[k];
            if (fabs(coef) < least) {
                rows->rhs[i] -= fmin(coef, 0) * most[col];
                continue;
            }
            rows->col[n] = col;
            rows->coef[n++] = coef;
        }
        rows->start[i + 1] = n;
    }
    rows->n_terms = n;
}

struct rp_sparse_rows rp_row_set_view(const struct rp_row_set *rows, uint32_t first) {
    if (first >= rows->n)
        return (struct rp_sparse_rows){0};
    return (struct rp_sparse_rows){.n = rows->n - first,
                                   .start = rows->start + first,
                                   .col = rows->col,
                                   .coef = rows->coef,
                                   .high = rows->rhs + first};
}

double rp_row_set_left(const struct rp_row_set *rows, uint32_t i, const double *v) {
    double sum = 0;
    for (uint32_t k = rows->start[i]; k < rows->start[i + 1]; k++)
        sum += rows->coef[k] * v[rows->col[k]];
    return sum;
}
