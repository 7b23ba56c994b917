#include "solve/lp/sep_cover.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

struct item {
    uint32_t col;
    double weight, value;
    uint32_t alpha;
};

static int by_column(const struct item *a, const struct item *b) {
    return (a->col > b->col) - (a->col < b->col);
}

/* First those that cost the cut little of its violation for the weight they bring. */
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

/* Brings a minimal cover to the front of `item`, lightest first; 0 if there is none. */
static uint32_t find_cover(struct item *item, uint32_t n, double room) {
    double weight = 0;
    uint32_t c = 0;
    qsort(item, n, sizeof *item, by_price);
    while (c < n && weight <= room)
        weight += item[c++].weight;
    if (weight <= room)
        return 0;
    for (uint32_t k = c; k-- > 0;)
        if (weight - item[k].weight > room) {
            struct item spare = item[k];
            weight -= spare.weight;
            item[k] = item[--c];
            item[c] = spare;
        }
    qsort(item, c, sizeof *item, by_weight);
    return c;
}

/* least[h]: the least weight whose left side is h or more, over the items done so far.
 * An item may have what is missing to `beta` beside the best that fits with it. */
static void lift(struct item *item, uint32_t n, uint32_t c, double room) {
    uint32_t beta = c - 1;
    double *least = rp_calloc((size_t)c, sizeof *least);
    for (uint32_t k = 0; k < c; k++)
        item[k].alpha = 1;
    for (uint32_t h = 1; h <= beta; h++)
        least[h] = least[h - 1] + item[h - 1].weight;
    qsort(item + c, n - c, sizeof *item, by_value);
    for (uint32_t k = c; k < n; k++) {
        uint32_t h = beta;
        while (h > 0 && least[h] > room - item[k].weight)
            h--;
        uint32_t alpha = item[k].alpha = beta - h;
        for (h = beta; alpha > 0 && h > 0; h--)
            least[h] = fmin(least[h], (h > alpha ? least[h - alpha] : 0) + item[k].weight);
    }
    free(least);
}

bool rp_sep_cover_find(const struct rp_row_set *from, uint32_t i, const double *v,
                       double least, struct rp_row_set *to) {
    uint32_t first = from->start[i], n = from->start[i + 1] - first;
    struct item *item = rp_calloc(n, sizeof *item);
    double left = 0, square = 0;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t col = from->col[first + k];
        item[k] =
            (struct item){.col = col, .weight = from->coef[first + k], .value = v[col]};
    }
    uint32_t c = from->rhs[i] < 0 ? 0 : find_cover(item, n, from->rhs[i]);
    if (c > 0)
        lift(item, n, c, from->rhs[i]);
    for (uint32_t k = 0; k < n; k++) {
        left += item[k].alpha * item[k].value;
        square += (double)item[k].alpha * item[k].alpha;
    }
    bool found = c > 0 && left - (c - 1) >= least * sqrt(square);
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
