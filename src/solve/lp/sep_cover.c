#include "solve/lp/sep_cover.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "solve/lp/separation.h"

#define POSITIVE 1e-6     /* values above are not zero */
#define TIE 1e-6          /* a cover must be violated by that much more to be better */
#define MIN_EFFICACY 0.02 /* in branch and cut */

struct item {
    uint32_t col;
    double weight, value;
    uint32_t alpha;
};

static int by_column(const struct item *a, const struct item *b) {
    return (a->col > b->col) - (a->col < b->col);
}

/* First the items that lose little of the violation for the weight they add: by
 * (1 - value) / weight. */
static int by_price(const void *left, const void *right) {
    const struct item *a = left, *b = right;
    double p = (1 - a->value) * b->weight, q = (1 - b->value) * a->weight;
    if (p != q)
        return p < q ? -1 : 1;
    return by_column(a, b);
}

static int by_value(const void *left, const void *right) {
    const struct item *a = left, *b = right;
    if (fabs(a->value - b->value) > 1e-9)
        return a->value > b->value ? -1 : 1;
    if (a->weight != b->weight)
        return a->weight > b->weight ? -1 : 1;
    return by_column(a, b);
}

static int by_weight(const void *left, const void *right) {
    const struct item *a = left, *b = right;
    if (a->weight != b->weight)
        return a->weight < b->weight ? -1 : 1;
    return by_column(a, b);
}

/* Moves a minimal cover to the front of `item`, lightest first. Returns its size, 0 if
 * there is none. */
static uint32_t find_minimal_cover(struct item *item, uint32_t n, double capacity) {
    double weight = 0;
    uint32_t c = 0;
    qsort(item, n, sizeof *item, by_price);
    while (c < n && weight <= capacity)
        weight += item[c++].weight;
    if (weight <= capacity)
        return 0;
    for (uint32_t k = c; k-- > 0;)
        if (weight - item[k].weight > capacity) {
            struct item spare = item[k];
            weight -= spare.weight;
            item[k] = item[--c];
            item[c] = spare;
        }
    qsort(item, c, sizeof *item, by_weight);
    return c;
}

/* min_weight[h] is the least weight with which the items lifted so far can make the left
 * side h or more. If an item is 1, `capacity` minus its weight is left for the others, and
 * they can make at most some h with it. So its alpha may be beta - h. */
static void lift(struct item *item, uint32_t n, uint32_t c, double capacity) {
    uint32_t beta = c - 1;
    double *min_weight = rp_calloc((size_t)c, sizeof *min_weight);
    for (uint32_t k = 0; k < c; k++)
        item[k].alpha = 1;
    for (uint32_t h = 1; h <= beta; h++)
        min_weight[h] = min_weight[h - 1] + item[h - 1].weight;
    qsort(item + c, n - c, sizeof *item, by_value);
    for (uint32_t k = c; k < n; k++) {
        uint32_t h = beta;
        while (h > 0 && min_weight[h] > capacity - item[k].weight)
            h--;
        uint32_t alpha = item[k].alpha = beta - h;
        for (h = beta; alpha > 0 && h > 0; h--)
            min_weight[h] = fmin(min_weight[h],
                                 (h > alpha ? min_weight[h - alpha] : 0) + item[k].weight);
    }
    free(min_weight);
}

bool rp_sep_cover_find(const struct rp_row_set *from, uint32_t i, const double *v,
                       double min_efficacy, struct rp_row_set *to) {
    uint32_t first = from->start[i], n = from->start[i + 1] - first;
    struct item *item = rp_calloc(n, sizeof *item);
    double left = 0, square = 0;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t col = from->col[first + k];
        item[k] =
            (struct item){.col = col, .weight = from->coef[first + k], .value = v[col]};
    }
    uint32_t c = from->rhs[i] < 0 ? 0 : find_minimal_cover(item, n, from->rhs[i]);
    if (c > 0)
        lift(item, n, c, from->rhs[i]);
    for (uint32_t k = 0; k < n; k++) {
        left += item[k].alpha * item[k].value;
        square += (double)item[k].alpha * item[k].alpha;
    }
    bool found = c > 0 && left - (c - 1) >= min_efficacy * sqrt(square);
    if (found) {
        struct rp_row_name name = from->name[i];
        name.kind = RP_ROW_COVER;
        rp_row_set_begin(to, name, c - 1);
        for (uint32_t k = 0; k < n; k++)
            if (item[k].alpha > 0)
                rp_row_set_term(to, item[k].col, item[k].alpha);
        for (uint32_t k = from->detail_start[i]; k < from->detail_start[i + 1]; k++)
            rp_row_set_detail(to, from->detail[k]);
    }
    free(item);
    return found;
}

/* ---- the family of cuts ---- */

struct state {
    struct rp_sep_memory memory;
    double *support; /* the point with every positive value raised to 1 */
    double *over;    /* per k: how far row (4) is above the limit at `support` */
};

static void *create(const struct rp_formulation *f) {
    struct state *s = rp_calloc(1, sizeof *s);
    rp_sep_memory_init(&s->memory, f, true);
    s->support = rp_calloc(f->n_cols, sizeof *s->support);
    s->over = rp_calloc(f->instance->n_ops, sizeof *s->over);
    return s;
}

static void destroy(void *state) {
    struct state *s = state;
    rp_sep_memory_fini(&s->memory);
    free(s->support);
    free(s->over);
    free(s);
}

static double violation(const struct rp_row_set *rows, uint32_t i, const double *v) {
    return rp_row_set_left(rows, i, v) - rows->rhs[i];
}

/* Replaces the row of `best` by a cover of (t, k) that is violated more. */
static void improve(struct state *s, uint32_t t, uint32_t k, const double *v,
                    struct rp_row_set *best) {
    struct rp_row_set memory = {0}, cover = {0};
    rp_sep_memory_row(&s->memory, t, k, v, &memory);
    if (rp_sep_cover_find(&memory, 0, v, MIN_EFFICACY, &cover) &&
        (best->n == 0 || violation(&cover, 0, v) > violation(best, 0, v) + TIE)) {
        struct rp_row_set swap = *best;
        *best = cover;
        cover = swap;
    }
    rp_row_set_fini(&memory);
    rp_row_set_fini(&cover);
}

/* A cover of (t, k) can be violated only if its memory row would be with every positive
 * column at 1. */
static uint32_t find(void *state, uint32_t t, const double *v, struct rp_row_set *rows,
                     uint64_t *terms) {
    struct state *s = state;
    const struct rp_formulation *f = s->memory.formulation;
    struct rp_row_set best = {0};
    (void)terms; /* small beside the work of the other families */
    if (t == 0)  /* the first stage at a new point */
        for (uint32_t j = 0; j < f->n_cols; j++)
            s->support[j] = v[j] > POSITIVE;
    rp_sep_memory_sweep(&s->memory, t, s->support, s->over);
    for (uint32_t k = rp_formulation_first_row(f, t); k <= f->last_op[t]; k++)
        if (s->over[k] > 0 && rp_formulation_may_run(f, t, k))
            improve(s, t, k, v, &best);
    uint32_t n = best.n;
    rp_row_set_copy_all(rows, &best);
    rp_row_set_fini(&best);
    return n;
}

const struct rp_cut_family rp_sep_cover_family = {
    .name = "cover", .per_stage = true, .create = create, .destroy = destroy, .find = find};
