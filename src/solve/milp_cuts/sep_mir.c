#include "solve/milp_cuts/sep_mir.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/graph.h"

enum { MAX_ROWS = 6, MAX_DELTAS = 12, MAX_PARTS = 8 };
#define ZERO 1e-9
#define POSITIVE 1e-6       /* a value of a column from which it counts as positive */
#define LEAST_FRACTION 0.01 /* of f and of 1 - f */
#define MARGIN 1e-9 /* relative: what a right side is raised by for rounding errors */

/* A sum of rows:  sum of coef[j] x[j] + sum of weight[k] (slack of row[k]) = rhs. */
struct sum {
    double *coef; /* per column */
    bool *has;    /* per column: it is in `col` */
    RP_VEC(uint32_t) col;
    double rhs;
    uint32_t n_rows, row[MAX_ROWS];
    double weight[MAX_ROWS];
};

/* An integer column of the sum, or its complement 1 - x. */
struct term {
    uint32_t col;
    bool complemented;
    double a, x; /* x: at the point */
};

struct rp_mir {
    struct rp_mir_columns c;
    const struct rp_row_set *rows;
    const double *x;
    double *slack; /* per row, at x */
    uint32_t cap_rows;
    /* The rows with a continuous column d: row_of[start[d]] .. row_of[start[d + 1] - 1]. */
    uint32_t *start, *row_of, cap_row_of;
    struct sum sum;
    RP_VEC(struct term) term; /* of the sum, */
    double b, s, s_norm2;     /* its b and, at x, its s; of the coefficients in s */
    struct rp_row_set *cuts;  /* may be `rows`, so it is only appended to */
    RP_VEC(double) efficacy;  /* per cut */
    uint64_t n_terms;
};

struct rp_mir *rp_mir_new(struct rp_mir_columns columns) {
    struct rp_mir *m = rp_calloc(1, sizeof *m);
    m->c = columns;
    m->start = rp_calloc((size_t)columns.n - columns.n_integer + 2, sizeof *m->start);
    m->sum.coef = rp_calloc(columns.n, sizeof *m->sum.coef);
    m->sum.has = rp_calloc(columns.n, sizeof *m->sum.has);
    return m;
}

void rp_mir_free(struct rp_mir *m) {
    if (m == NULL)
        return;
    free(m->slack);
    free(m->start);
    free(m->row_of);
    free(m->sum.coef);
    free(m->sum.has);
    free(m->sum.col.at);
    free(m->term.at);
    free(m->efficacy.at);
    free(m);
}

static bool is_continuous(const struct rp_mir *m, uint32_t col) {
    return col >= m->c.n_integer;
}

/* ---- sums of rows ---- */

/* Fills start and row_of. */
static void index_rows(struct rp_mir *m) {
    const struct rp_row_set *rows = m->rows;
    uint32_t n = m->c.n - m->c.n_integer, *next = m->start + 1;
    memset(m->start, 0, ((size_t)n + 2) * sizeof *m->start);
    for (uint32_t k = 0; k < rows->n_terms; k++)
        if (is_continuous(m, rows->col[k]))
            next[rows->col[k] - m->c.n_integer + 1]++;
    for (uint32_t d = 0; d < n; d++)
        next[d + 1] += next[d];
    if (next[n] > m->cap_row_of) {
        m->cap_row_of = 2 * next[n];
        m->row_of = rp_realloc(m->row_of, m->cap_row_of, sizeof *m->row_of);
    }
    for (uint32_t i = 0; i < rows->n; i++)
        for (uint32_t k = rows->start[i]; k < rows->start[i + 1]; k++)
            if (is_continuous(m, rows->col[k]))
                m->row_of[next[rows->col[k] - m->c.n_integer]++] = i;
}

static void measure_slacks(struct rp_mir *m) {
    if (m->rows->n > m->cap_rows) {
        m->cap_rows = 2 * m->rows->n;
        m->slack = rp_realloc(m->slack, m->cap_rows, sizeof *m->slack);
    }
    for (uint32_t i = 0; i < m->rows->n; i++)
        m->slack[i] = fmax(m->rows->rhs[i] - rp_row_set_left(m->rows, i, m->x), 0);
}

static void clear_sum(struct sum *s) {
    for (size_t k = 0; k < s->col.n; k++) {
        s->coef[s->col.at[k]] = 0;
        s->has[s->col.at[k]] = false;
    }
    s->col.n = 0;
    s->n_rows = 0;
    s->rhs = 0;
}

/* Adds the columns and the right side of a row. */
static void add_row(struct rp_mir *m, uint32_t i, double weight) {
    const struct rp_row_set *rows = m->rows;
    struct sum *s = &m->sum;
    for (uint32_t k = rows->start[i]; k < rows->start[i + 1]; k++) {
        uint32_t j = rows->col[k];
        s->coef[j] += weight * rows->coef[k];
        if (!s->has[j]) {
            s->has[j] = true;
            rp_push(&s->col, j);
        }
    }
    s->rhs += weight * rows->rhs[i];
    m->n_terms += rows->start[i + 1] - rows->start[i];
}

/* Adds its slack too. */
static void add_equation(struct rp_mir *m, uint32_t i, double weight) {
    struct sum *s = &m->sum;
    add_row(m, i, weight);
    s->row[s->n_rows] = i;
    s->weight[s->n_rows++] = weight;
}

static bool is_in_sum(const struct sum *s, uint32_t row) {
    for (uint32_t k = 0; k < s->n_rows; k++)
        if (s->row[k] == row)
            return true;
    return false;
}

static double coef_in(const struct rp_row_set *rows, uint32_t i, uint32_t col) {
    for (uint32_t k = rows->start[i]; k < rows->start[i + 1]; k++)
        if (rows->col[k] == col)
            return rows->coef[k];
    return 0;
}

/* The continuous column that takes off most at the point. RP_NONE: none does. */
static uint32_t largest_continuous(const struct rp_mir *m) {
    const struct sum *s = &m->sum;
    uint32_t largest = RP_NONE;
    double most = ZERO;
    for (size_t k = 0; k < s->col.n; k++) {
        uint32_t j = s->col.at[k];
        if (is_continuous(m, j) && -s->coef[j] * m->x[j] > most) {
            most = -s->coef[j] * m->x[j];
            largest = j;
        }
    }
    return largest;
}

/* Of the rows with this column, the one with the least slack. RP_NONE: the sum has all. */
static uint32_t tightest_row(const struct rp_mir *m, uint32_t col) {
    uint32_t d = col - m->c.n_integer, tightest = RP_NONE;
    for (uint32_t k = m->start[d]; k < m->start[d + 1]; k++) {
        uint32_t i = m->row_of[k];
        if ((tightest == RP_NONE || m->slack[i] < m->slack[tightest]) &&
            !is_in_sum(&m->sum, i))
            tightest = i;
    }
    return tightest;
}

/* False if there is nothing to eliminate. */
static bool eliminate_one(struct rp_mir *m) {
    struct sum *s = &m->sum;
    uint32_t col = s->n_rows < MAX_ROWS ? largest_continuous(m) : RP_NONE;
    uint32_t row = col != RP_NONE ? tightest_row(m, col) : RP_NONE;
    if (row == RP_NONE)
        return false;
    add_equation(m, row, -s->coef[col] / coef_in(m->rows, row, col));
    s->coef[col] = 0;
    return true;
}

/* ---- rounding ---- */

static void complement(struct rp_mir *m, struct term *t) {
    m->b -= t->a;
    t->a = -t->a;
    t->x = 1 - t->x;
    t->complemented = !t->complemented;
}

/* Brings the sum into the form of sep_mir.h. */
static void bring_into_form(struct rp_mir *m) {
    const struct sum *s = &m->sum;
    m->term.n = 0;
    m->b = s->rhs;
    m->s = m->s_norm2 = 0;
    for (size_t k = 0; k < s->col.n; k++) {
        uint32_t j = s->col.at[k];
        double a = s->coef[j];
        if (is_continuous(m, j)) {
            m->s -= fmin(a, 0) * m->x[j];
            m->s_norm2 += a < 0 ? a * a : 0;
        } else if (fabs(a) < ZERO) {
            m->b -= fmin(a, 0);
        } else if (m->c.low[j] == m->c.high[j]) {
            m->b -= a * m->c.low[j];
        } else {
            rp_push(&m->term, ((struct term){.col = j, .a = a, .x = m->x[j]}));
            if (m->x[j] > 0.5)
                complement(m, &m->term.at[m->term.n - 1]);
        }
    }
    for (uint32_t k = 0; k < s->n_rows; k++)
        m->s -= fmin(s->weight[k], 0) * m->slack[s->row[k]];
}

static double fraction(double u) {
    return u - floor(u);
}

static double round_coef(double u, double f) {
    return floor(u) + fmax(0, fraction(u) - f) / (1 - f);
}

/* Efficacy of the cut. 0 or less: there is none, or x meets it. */
static double efficacy(struct rp_mir *m, double delta) {
    double f = fraction(m->b / delta), scale = delta * (1 - f);
    double left = 0, norm2 = ZERO + m->s_norm2 / (scale * scale);
    if (f < LEAST_FRACTION || f > 1 - LEAST_FRACTION)
        return 0;
    for (size_t k = 0; k < m->term.n; k++) {
        double rounded = round_coef(m->term.at[k].a / delta, f);
        left += rounded * m->term.at[k].x;
        norm2 += rounded * rounded;
    }
    m->n_terms += m->term.n;
    return (left - floor(m->b / delta) - m->s / scale) / sqrt(norm2);
}

/* Takes delta if its cut is better than *best. */
static void try_delta(struct rp_mir *m, double delta, double *chosen, double *best) {
    double e = efficacy(m, delta);
    if (e > *best) {
        *best = e;
        *chosen = delta;
    }
}

/* Complements each column with which the cut gets better. */
static void try_complements(struct rp_mir *m, double delta, double *best) {
    for (size_t k = 0; k < m->term.n; k++) {
        struct term *t = &m->term.at[k];
        if (t->x < POSITIVE)
            continue;
        complement(m, t);
        double e = efficacy(m, delta);
        if (e > *best)
            *best = e;
        else
            complement(m, t);
    }
}

/* The delta of the best cut, and which columns are complemented. Returns its efficacy, or 0
 * if there is none. */
static double choose_cut(struct rp_mir *m, double *delta) {
    double best = 0, tried[MAX_DELTAS];
    uint32_t n = 0;
    *delta = 0;
    for (size_t k = 0; k < m->term.n && n < MAX_DELTAS; k++) {
        const struct term *t = &m->term.at[k];
        bool skip = t->x < POSITIVE;
        for (uint32_t i = 0; i < n; i++)
            skip = skip || fabs(tried[i] - fabs(t->a)) <= ZERO * tried[i];
        if (skip)
            continue;
        tried[n++] = fabs(t->a);
        try_delta(m, fabs(t->a), delta, &best);
    }
    double whole = *delta;
    for (int part = 2; part <= MAX_PARTS && whole > 0; part *= 2)
        try_delta(m, whole / part, delta, &best);
    if (whole > 0)
        try_complements(m, *delta, &best);
    return best;
}

/* Makes the sum the left side of the cut, times delta (1 - f). */
static void append_cut(struct rp_mir *m, double delta) {
    static const struct rp_row_name name = {
        .kind = RP_ROW_OTHER, .op = RP_NONE, .x = RP_NONE};
    struct sum *s = &m->sum;
    double f = fraction(m->b / delta), scale = delta * (1 - f), size;
    s->rhs = scale * floor(m->b / delta);
    for (size_t k = 0; k < s->col.n; k++) {
        uint32_t j = s->col.at[k];
        s->coef[j] = is_continuous(m, j) ? fmin(s->coef[j], 0) : 0;
    }
    for (size_t k = 0; k < m->term.n; k++) {
        const struct term *t = &m->term.at[k];
        double rounded = scale * round_coef(t->a / delta, f);
        s->coef[t->col] = t->complemented ? -rounded : rounded;
        s->rhs -= t->complemented ? rounded : 0;
    }
    for (uint32_t k = 0; k < s->n_rows; k++)
        if (s->weight[k] < 0)
            add_row(m, s->row[k], -s->weight[k]);
    size = fabs(s->rhs);
    for (size_t k = 0; k < s->col.n; k++)
        size = fmax(size, fabs(s->coef[s->col.at[k]]));
    rp_row_set_begin(m->cuts, name, s->rhs + MARGIN * size);
    for (size_t k = 0; k < s->col.n; k++)
        if (s->coef[s->col.at[k]] != 0)
            rp_row_set_term(m->cuts, s->col.at[k], s->coef[s->col.at[k]]);
}

/* ---- all rows ---- */

/* Different rows often lead to the same cut. */
static bool is_known(const struct rp_mir *m, double efficacy) {
    for (size_t k = 0; k < m->efficacy.n; k++)
        if (m->efficacy.at[k] == efficacy)
            return true;
    return false;
}

static void find_from(struct rp_mir *m, uint32_t row, double min_efficacy) {
    double best, delta;
    clear_sum(&m->sum);
    add_equation(m, row, 1);
    do {
        bring_into_form(m);
        best = choose_cut(m, &delta);
    } while ((best == 0 || best < min_efficacy) && eliminate_one(m));
    if (best == 0 || best < min_efficacy || is_known(m, best))
        return;
    rp_push(&m->efficacy, best);
    append_cut(m, delta);
}

uint64_t rp_mir_find(struct rp_mir *m, const struct rp_row_set *rows, const double *x,
                     double min_efficacy, struct rp_row_set *cuts) {
    m->rows = rows;
    m->x = x;
    m->cuts = cuts;
    m->n_terms = rows->n_terms;
    m->efficacy.n = 0;
    index_rows(m);
    measure_slacks(m);
    for (uint32_t i = 0, n = rows->n; i < n; i++)
        find_from(m, i, min_efficacy);
    return m->n_terms;
}
