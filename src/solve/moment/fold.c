#include "solve/moment/fold.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/graph.h"

/* Sums of several numbers are off by less than this share. */
static const double ROUNDING = 1e-12;

/* ---- colours ---- */

struct colours {
    const struct rp_row_set *rows;
    uint32_t n_cols;
    uint64_t *col, *row; /* hash values */
    uint64_t *next, *sorted;
};

static uint64_t mix(uint64_t a, uint64_t b) {
    uint64_t h = a * 0x9e3779b97f4a7c15u + b;
    h = (h ^ h >> 32) * 0xd6e8feb86659fd93u;
    h = (h ^ h >> 32) * 0xd6e8feb86659fd93u;
    return h ^ h >> 32;
}

static uint64_t bits(double v) {
    uint64_t u;
    memcpy(&u, &v, sizeof u);
    return u;
}

static int by_value(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static uint32_t count_colours(struct colours *k) {
    uint32_t n = k->n_cols > 0;
    if (k->n_cols > 0)
        memcpy(k->sorted, k->col, k->n_cols * sizeof *k->sorted);
    qsort(k->sorted, k->n_cols, sizeof *k->sorted, by_value);
    for (uint32_t j = 1; j < k->n_cols; j++)
        n += k->sorted[j] != k->sorted[j - 1];
    return n;
}

/* Rows by their columns, then columns by their rows. Sums, since the order of terms says
 * nothing. */
static void refine(struct colours *k) {
    const struct rp_row_set *rows = k->rows;
    for (uint32_t j = 0; j < k->n_cols; j++)
        k->next[j] = mix(k->col[j], 1);
    for (uint32_t i = 0; i < rows->n; i++) {
        k->row[i] = bits(rows->rhs[i]);
        for (uint32_t e = rows->start[i]; e < rows->start[i + 1]; e++)
            k->row[i] += mix(k->col[rows->col[e]], bits(rows->coef[e]));
        for (uint32_t e = rows->start[i]; e < rows->start[i + 1]; e++)
            k->next[rows->col[e]] += mix(k->row[i], bits(rows->coef[e]));
    }
    uint64_t *old = k->col;
    k->col = k->next;
    k->next = old;
}

static void find_colours(struct colours *k, const double *cost, const bool *alone) {
    for (uint32_t j = 0; j < k->n_cols; j++)
        k->col[j] = alone[j] ? mix(j, 2) : mix(bits(cost[j]), 3);
    uint32_t before, n = count_colours(k);
    do {
        before = n;
        refine(k);
        n = count_colours(k);
    } while (n > before);
}

/* ---- classes ---- */

struct item {
    uint64_t colour;
    uint32_t i;
};

static int by_colour(const void *a, const void *b) {
    const struct item *x = a, *y = b;
    if (x->colour != y->colour)
        return x->colour < y->colour ? -1 : 1;
    return (x->i > y->i) - (x->i < y->i);
}

/* Items by colour. The caller frees the result. */
static struct item *sort_by_colour(uint32_t n, const uint64_t *colour) {
    struct item *items = rp_calloc(n, sizeof *items);
    for (uint32_t i = 0; i < n; i++)
        items[i] = (struct item){colour[i], i};
    if (n > 0)
        qsort(items, n, sizeof *items, by_colour);
    return items;
}

/* Replaces the colour of each item by the number of the first item that has it. */
static void name_by_first(uint32_t n, uint64_t *colour) {
    struct item *items = sort_by_colour(n, colour);
    for (uint32_t e = 0; e < n; e++) {
        bool same = e > 0 && items[e].colour == items[e - 1].colour;
        colour[items[e].i] = same ? colour[items[e - 1].i] : items[e].i;
    }
    free(items);
}

/* colour[j]: the first column of the class of column j. */
static void number_classes(struct rp_fold *f, uint32_t n_cols, const double *cost,
                           const uint64_t *colour) {
    f->class_of = rp_calloc(n_cols, sizeof *f->class_of);
    f->size = rp_calloc(n_cols, sizeof *f->size);
    f->cost = rp_calloc(n_cols, sizeof *f->cost);
    for (uint32_t j = 0; j < n_cols; j++) {
        uint32_t c = f->class_of[j] = colour[j] == j ? f->n_cols++ : f->class_of[colour[j]];
        f->cost[c] = f->size[c]++ == 0 ? cost[j] : fmin(f->cost[c], cost[j]);
    }
    for (uint32_t c = 0; c < f->n_cols; c++) {
        f->cost[c] *= f->size[c];
        f->cost[c] -= f->size[c] > 1 ? fabs(f->cost[c]) * ROUNDING : 0;
    }
}

/* ---- rows ---- */

/* Rows of one class, added up. */
struct sum {
    uint32_t n; /* rows */
    double rhs;
    double *coef;                 /* per column */
    uint32_t *cols, n_cols;       /* those that occur */
    bool *occurs;                 /* per column */
    uint32_t *classes, n_classes; /* of these columns */
    uint32_t *seen;               /* per class: such columns */
    double *least;                /* per class: of their coefficients */
};

static void sum_init(struct sum *s, uint32_t n_cols) {
    *s = (struct sum){.coef = rp_calloc(n_cols, sizeof *s->coef),
                      .cols = rp_calloc(n_cols, sizeof *s->cols),
                      .occurs = rp_calloc(n_cols, sizeof *s->occurs),
                      .classes = rp_calloc(n_cols, sizeof *s->classes),
                      .seen = rp_calloc(n_cols, sizeof *s->seen),
                      .least = rp_calloc(n_cols, sizeof *s->least)};
}

static void sum_fini(struct sum *s) {
    free(s->coef);
    free(s->cols);
    free(s->occurs);
    free(s->classes);
    free(s->seen);
    free(s->least);
}

static void add_row(struct sum *s, const struct rp_row_set *rows, uint32_t i) {
    s->n++;
    s->rhs += rows->rhs[i];
    for (uint32_t e = rows->start[i]; e < rows->start[i + 1]; e++) {
        uint32_t j = rows->col[e];
        if (!s->occurs[j])
            s->cols[s->n_cols++] = j;
        s->occurs[j] = true;
        s->coef[j] += rows->coef[e];
    }
}

/* Finds the least coefficient of each class, and empties the columns of the sum. */
static void sum_classes(const struct rp_fold *f, struct sum *s) {
    for (uint32_t e = 0; e < s->n_cols; e++) {
        uint32_t j = s->cols[e], c = f->class_of[j];
        if (s->seen[c]++ == 0)
            s->classes[s->n_classes++] = c;
        s->least[c] = s->seen[c] == 1 ? s->coef[j] : fmin(s->least[c], s->coef[j]);
        s->coef[j] = 0;
        s->occurs[j] = false;
    }
    s->n_cols = 0;
}

/* Writes the mean of the rows, and empties the sum. */
static void end_row(struct rp_fold *f, struct sum *s) {
    static const struct rp_row_name name = {
        .kind = RP_ROW_OTHER, .op = RP_NONE, .x = RP_NONE};
    double rhs = s->rhs / s->n;
    rp_row_set_begin(&f->rows, name, s->n > 1 ? rhs + fabs(rhs) * ROUNDING : rhs);
    sum_classes(f, s);
    for (uint32_t e = 0; e < s->n_classes; e++) {
        uint32_t c = s->classes[e];
        double least = s->seen[c] < f->size[c] ? fmin(s->least[c], 0) : s->least[c];
        double coef = least * f->size[c] / s->n;
        bool exact = s->n == 1 && f->size[c] == 1;
        rp_row_set_term(&f->rows, c, exact ? coef : coef - fabs(coef) * ROUNDING);
        s->seen[c] = 0;
    }
    s->n = s->n_classes = 0;
    s->rhs = 0;
}

/* colour[i]: the first row of the class of row i. */
static void fold_rows(struct rp_fold *f, uint32_t n_cols, const struct rp_row_set *rows,
                      const uint64_t *colour) {
    struct item *items = sort_by_colour(rows->n, colour);
    struct sum s;
    sum_init(&s, n_cols);
    for (uint32_t e = 0; e < rows->n; e++) {
        add_row(&s, rows, items[e].i);
        if (e + 1 == rows->n || items[e + 1].colour != items[e].colour)
            end_row(f, &s);
    }
    sum_fini(&s);
    free(items);
}

void rp_fold_init(struct rp_fold *f, uint32_t n_cols, const double *cost, const bool *alone,
                  const struct rp_row_set *rows) {
    struct colours k = {.rows = rows, .n_cols = n_cols};
    *f = (struct rp_fold){0};
    k.col = rp_calloc(n_cols, sizeof *k.col);
    k.next = rp_calloc(n_cols, sizeof *k.next);
    k.sorted = rp_calloc(n_cols, sizeof *k.sorted);
    k.row = rp_calloc(rows->n, sizeof *k.row);
    find_colours(&k, cost, alone);
    name_by_first(n_cols, k.col);
    name_by_first(rows->n, k.row);
    number_classes(f, n_cols, cost, k.col);
    fold_rows(f, n_cols, rows, k.row);
    free(k.col);
    free(k.next);
    free(k.sorted);
    free(k.row);
}

void rp_fold_fini(struct rp_fold *f) {
    free(f->class_of);
    free(f->size);
    free(f->cost);
    rp_row_set_fini(&f->rows);
    *f = (struct rp_fold){0};
}
