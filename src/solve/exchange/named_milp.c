#include "solve/exchange/named_milp.h"

#include <stdlib.h>

#include "solve/lp/row_set.h"

void rp_named_milp_fini(struct rp_named_milp *m) {
    for (size_t j = 0; j < m->cols.n; j++)
        free(m->cols.at[j]);
    for (size_t i = 0; i < m->rows.n; i++)
        free(m->rows.at[i]);
    free(m->cols.at);
    free(m->rows.at);
    free(m->title);
    rp_milp_fini(&m->p);
    *m = (struct rp_named_milp){0};
}

uint32_t rp_named_col(struct rp_named_milp *m, double cost, double low, double high,
                      bool integer, char *name) {
    rp_push(&m->cols, name);
    return rp_milp_add_col(&m->p, cost, low, high, integer);
}

void rp_named_row(struct rp_named_milp *m, double low, double high, char *name) {
    rp_push(&m->rows, name);
    rp_milp_begin_row(&m->p, low, high);
}

void rp_named_term(struct rp_named_milp *m, double coef, uint32_t col) {
    uint32_t row = m->p.n_rows - 1;
    if (col != RP_COL_ONE && col != RP_COL_ZERO)
        rp_milp_term(&m->p, col, coef);
    if (col == RP_COL_ONE) {
        m->p.row_low[row] -= coef;
        m->p.row_high[row] -= coef;
    }
}
