/* The rows of interval_memory.h, written out once more: all paths are listed, and each row
 * is weighed as a whole. */
#include <stdlib.h>

#include "base/mem.h"
#include "row_check.h"

enum { MAX_PATH = 6 };

struct path {
    uint32_t n, y[MAX_PATH];
};

struct stage {
    struct rp_row_check *c;
    uint32_t t;
    bool *taken; /* per tensor */
};

static bool uses(const struct rp_instance *p, uint32_t j, uint32_t x) {
    bool found = p->producer[x] == j;
    for (uint32_t k = p->input_start[j]; k < p->input_start[j + 1]; k++)
        found = found || p->inputs[k] == x;
    return found;
}

static bool is_due(const struct stage *a, uint32_t x) {
    const struct rp_instance *p = a->c->p;
    return a->t == p->n_ops ? p->kept[x] : uses(p, a->t, x) && p->producer[x] != a->t;
}

static double bytes_of(const struct stage *a, uint32_t x) {
    return (double)a->c->p->bytes[x] * a->c->m->byte_scale;
}

static double working_set(const struct stage *a, uint32_t k) {
    double sum = (double)a->c->p->workspace_bytes[k] * a->c->m->byte_scale;
    for (uint32_t x = 0; x < a->c->p->n_tensors; x++)
        sum += uses(a->c->p, k, x) ? bytes_of(a, x) : 0;
    return sum;
}

/* Adds coef times W. */
static void add_want(const struct stage *a, struct rp_dense_row *r, double coef,
                     uint32_t x) {
    if (is_due(a, x)) {
        r->right -= coef;
    } else {
        rp_dense_row_add(r, coef, S, a->t + 1, x);
        rp_dense_row_add(r, -coef, F, a->t + 1, x);
    }
}

/* Adds what a path holds, and returns what that is at the point. */
static double add_path(const struct stage *a, const struct path *q,
                       struct rp_dense_row *r) {
    struct rp_dense_row alone = rp_dense_row_new(a->c->m, 0);
    double bytes = bytes_of(a, q->y[0]);
    uint32_t maker = a->c->p->producer[q->y[q->n - 1]];
    bool flight = !is_due(a, q->y[0]) && q->n == 1 &&
                  rp_interval_at(a->c->m, S, a->t + 1, q->y[0]) != RP_COL_ZERO;
    for (uint32_t i = 1; i < q->n; i++)
        bytes = bytes_of(a, q->y[i]) < bytes ? bytes_of(a, q->y[i]) : bytes;
    for (int k = 0; k < 2; k++) {
        struct rp_dense_row *to = k == 0 ? &alone : r;
        add_want(a, to, bytes, q->y[0]);
        for (uint32_t i = 0; i < q->n; i++)
            rp_dense_row_add(to, -bytes, U, a->t, q->y[i]);
        rp_dense_row_add(to, -bytes, R, a->t, maker);
        rp_dense_row_add(to, flight ? bytes : 0, F, a->t, q->y[0]);
        rp_dense_row_add(to, flight ? -bytes : 0, U, a->t, q->y[0]);
    }
    double over = rp_dense_row_over(&alone, a->c->v);
    rp_dense_row_free(&alone);
    return over;
}

static double held(const struct stage *a, const struct path *q) {
    struct rp_dense_row nothing = rp_dense_row_new(a->c->m, 0);
    double sum = add_path(a, q, &nothing);
    rp_dense_row_free(&nothing);
    return sum;
}

/* Of all paths that begin with q the one that holds most; of equal ones the first. */
static void list_paths(const struct stage *a, const struct path *q, struct path *best) {
    const struct rp_instance *p = a->c->p;
    uint32_t maker = p->producer[q->y[q->n - 1]];
    if (held(a, q) > held(a, best))
        *best = *q;
    for (uint32_t i = p->input_start[maker]; i < p->input_start[maker + 1]; i++) {
        struct path longer = *q;
        if (q->n == MAX_PATH || a->taken[p->inputs[i]])
            continue;
        longer.y[longer.n++] = p->inputs[i];
        list_paths(a, &longer, best);
    }
}

static void take(struct stage *a, const struct path *q, struct rp_dense_row *r) {
    add_path(a, q, r);
    for (uint32_t i = 0; i < q->n; i++)
        a->taken[q->y[i]] = true;
}

static bool is_wanted(const struct stage *a, uint32_t x) {
    return bytes_of(a, x) > 0 && a->c->p->producer[x] < a->t &&
           (is_due(a, x) || rp_interval_at(a->c->m, S, a->t + 1, x) != RP_COL_ZERO);
}

/* Adds the paths beside the ops k and l. */
static void add_paths(struct stage *a, uint32_t k, uint32_t l, struct rp_dense_row *r) {
    uint32_t n = a->c->p->n_tensors;
    for (uint32_t x = 0; x < n; x++)
        a->taken[x] = uses(a->c->p, k, x) || uses(a->c->p, l, x);
    for (uint32_t x = 0; x < n; x++) {
        struct path q = {1, {x}};
        if (!a->taken[x] && is_wanted(a, x) && held(a, &q) >= bytes_of(a, x) / 2)
            take(a, &q, r);
    }
    for (uint32_t x = n; x-- > 0;) {
        struct path best = {1, {x}};
        if (a->taken[x] || !is_wanted(a, x))
            continue;
        list_paths(a, &(struct path){1, {x}}, &best);
        if (held(a, &best) > 0)
            take(a, &best, r);
    }
}

static struct rp_dense_row new_row(const struct stage *a) {
    return rp_dense_row_new(a->c->m, (double)a->c->p->limit_bytes * a->c->m->byte_scale);
}

void rp_check_expect_memory(struct rp_row_check *c) {
    bool *taken = rp_calloc(c->p->n_tensors, sizeof *taken);
    for (uint32_t t = 0; t <= c->p->n_ops; t++) {
        struct stage a = {c, t, taken};
        struct rp_check_best b = {0};
        for (uint32_t k = 0; k < t; k++) {
            if (rp_check_at(c, R, t, k) <= 0)
                continue;
            struct rp_dense_row r = new_row(&a);
            add_paths(&a, k, k, &r);
            rp_dense_row_add(&r, working_set(&a, k), R, t, k);
            rp_check_weigh(c, &b, r, false);
        }
        rp_check_expect(c, b);
    }
    free(taken);
}

/* W[x] - U[t][x] + R[t][p] */
static double made_again(const struct stage *a, uint32_t x) {
    struct rp_dense_row r = rp_dense_row_new(a->c->m, 0);
    add_want(a, &r, 1, x);
    rp_dense_row_add(&r, -1, U, a->t, x);
    rp_dense_row_add(&r, 1, R, a->t, a->c->p->producer[x]);
    double sum = rp_dense_row_over(&r, a->c->v);
    rp_dense_row_free(&r);
    return sum;
}

static void weigh_two(struct stage *a, uint32_t x, uint32_t z, struct rp_check_best *b) {
    uint32_t k = a->c->p->producer[x], l = a->c->p->producer[z], made[] = {x, z};
    double set[] = {working_set(a, k) + bytes_of(a, z), working_set(a, l) + bytes_of(a, x)};
    double both = set[0] < set[1] ? set[0] : set[1];
    if (k == l || uses(a->c->p, k, z) || uses(a->c->p, l, x) ||
        rp_check_at(a->c, R, a->t, k) <= 0 || rp_check_at(a->c, R, a->t, l) <= 0 ||
        made_again(a, x) + made_again(a, z) <= 3)
        return;
    struct rp_dense_row r = new_row(a);
    add_paths(a, k, l, &r);
    r.right += 3 * both;
    for (int i = 0; i < 2; i++) {
        add_want(a, &r, both, made[i]);
        rp_dense_row_add(&r, -both, U, a->t, made[i]);
        rp_dense_row_add(&r, both, R, a->t, a->c->p->producer[made[i]]);
    }
    rp_check_weigh(a->c, b, r, false);
}

void rp_check_expect_memory_two(struct rp_row_check *c) {
    bool *taken = rp_calloc(c->p->n_tensors, sizeof *taken);
    for (uint32_t t = 0; t <= c->p->n_ops; t++) {
        struct stage a = {c, t, taken};
        struct rp_check_best b = {0};
        for (uint32_t x = 0; x < c->p->n_tensors; x++)
            for (uint32_t z = 0; z < x; z++)
                if (is_wanted(&a, x) && is_wanted(&a, z))
                    weigh_two(&a, x, z, &b);
        rp_check_expect(c, b);
    }
    free(taken);
}
