#include "row_check.h"

#include <math.h>

double rp_check_at(const struct rp_row_check *c, enum rp_interval_kind kind, uint32_t t,
                   uint32_t id) {
    return rp_interval_value(c->m, kind, t, id, c->v);
}

double rp_check_ops_time(const struct rp_row_check *c, uint32_t first, uint32_t last) {
    double ns = 0;
    for (uint32_t u = first; u < last; u++)
        ns += (double)c->p->time_ns[u];
    return ns * c->m->time_scale;
}

double rp_check_copy_time(const struct rp_row_check *c, enum rp_interval_kind kind,
                          uint32_t x) {
    return (double)(kind == O ? c->p->out_ns : c->p->in_ns)[x] * c->m->time_scale;
}

void rp_check_weigh(const struct rp_row_check *c, struct rp_check_best *b,
                    struct rp_dense_row r, bool later_wins) {
    double over = rp_dense_row_over(&r, c->v), least = fmax(c->least, b->over);
    bool better = later_wins ? over >= least : over > least;
    if (better) {
        rp_dense_row_free(&b->row);
        *b = (struct rp_check_best){r, over};
    } else
        rp_dense_row_free(&r);
}

void rp_check_expect(struct rp_row_check *c, struct rp_check_best b) {
    if (b.row.coef != NULL && rp_dense_row_most(&b.row) > 0) {
        c->good = c->good && rp_dense_row_is(&b.row, &c->found, c->n);
        c->n++;
    }
    rp_dense_row_free(&b.row);
}

double rp_check_readable(const struct rp_row_check *c, uint32_t t, uint32_t x) {
    return rp_check_at(c, S, t, x) - rp_check_at(c, F, t, x);
}

double rp_check_sum(const struct rp_row_check *c, enum rp_interval_kind kind, uint32_t id,
                    uint32_t a, uint32_t b) {
    double sum = 0;
    for (uint32_t t = a; t <= b; t++)
        sum += rp_check_at(c, kind, t, id);
    return sum;
}
