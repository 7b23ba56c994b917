/* Memory over time in a terminal. Each column is an interval of time and shows the most
 * memory held in it. Lanes below show how much of the interval each queue spent on copies
 * and recomputation. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/format.h"
#include "base/mem.h"
#include "emit/chart.h"

enum { ROWS = 12, MARGIN = 12, EIGHTHS = 8 }; /* MARGIN: labels and the axis */

typedef unsigned __int128 u128;

struct glyphs {
    const char *block[EIGHTHS + 1]; /* a cell, filled from below by 0 to 8 eighths */
    const char *keep_all, *budget, *tick, *bar, *corner, *floor;
};

static const struct glyphs unicode = {
    .block = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"},
    .keep_all = "░",
    .budget = "╌",
    .tick = "┤",
    .bar = "│",
    .corner = "└",
    .floor = "─",
};
static const struct glyphs ascii = {
    .block = {" ", ".", ".", ":", ":", "+", "+", "#", "#"},
    .keep_all = "'",
    .budget = "-",
    .tick = "+",
    .bar = "|",
    .corner = "+",
    .floor = "-",
};

struct canvas {
    const struct rp_report *r;
    const struct glyphs *glyph;
    FILE *f;
    struct rp_chart_scale scale;             /* max_bytes >= 1 */
    uint32_t n;                              /* columns */
    struct rp_memory_split *plan, *keep_all; /* held, per column */
};

static void put_left(const struct canvas *c, const char *label, const char *axis) {
    fprintf(c->f, "%*s %s", MARGIN - 2, label, axis);
}

/* How much of the cell (row 0 at the bottom) `bytes` fills, in eighths, rounded up. */
static uint32_t fill_of(const struct canvas *c, uint32_t row, uint64_t bytes) {
    u128 eighths =
        ((u128)bytes * ROWS * EIGHTHS + c->scale.max_bytes - 1) / c->scale.max_bytes;
    u128 below = (u128)row * EIGHTHS;
    return eighths <= below             ? 0
           : eighths - below >= EIGHTHS ? EIGHTHS
                                        : (uint32_t)(eighths - below);
}

/* The row of the budget's line. */
static uint32_t budget_row(const struct canvas *c) {
    u128 row = (u128)c->r->p->budget_bytes * ROWS / c->scale.max_bytes;
    return row >= ROWS ? ROWS - 1 : (uint32_t)row;
}

static void put_row(const struct canvas *c, uint32_t row) {
    bool budget = c->scale.with_budget && row == budget_row(c);
    struct rp_text32 label = {""};
    if (budget)
        label = rp_show_bytes(c->r->p->budget_bytes);
    else if (row == ROWS - 1)
        label = rp_show_bytes(c->scale.max_bytes);
    put_left(c, label.s, label.s[0] != '\0' ? c->glyph->tick : c->glyph->bar);
    for (uint32_t i = 0; i < c->n; i++) {
        uint32_t fill = fill_of(c, row, c->plan[i].bytes);
        const char *cell = c->glyph->block[fill];
        if (fill == 0 && budget)
            cell = c->glyph->budget;
        else if (fill == 0 && fill_of(c, row, c->keep_all[i].bytes) >= EIGHTHS / 2)
            cell = c->glyph->keep_all;
        fputs(cell, c->f);
    }
    fputs(budget ? " budget\n" : "\n", c->f);
}

/* Adds the part of start_ns..end_ns in each column to ns[]. */
static void add_interval(const struct canvas *c, uint64_t start_ns, uint64_t end_ns,
                         uint64_t *ns) {
    uint32_t i = (uint32_t)((u128)start_ns * c->n / c->scale.total_ns);
    for (; i < c->n && start_ns < end_ns; i++) {
        uint64_t until = (uint64_t)((u128)c->scale.total_ns * (i + 1) / c->n);
        if (until > end_ns)
            until = end_ns;
        ns[i] += until - start_ns;
        start_ns = until;
    }
}

/* A lane shows a queue's copies, or the recomputation on the compute queue. */
static void put_lane(const struct canvas *c, enum rp_trace_queue queue, const char *label) {
    const struct rp_memory_trace *t = &c->r->plan;
    uint64_t *ns = rp_calloc(c->n, sizeof *ns);
    bool any = false;
    for (size_t s = 0; s < t->n_steps; s++) {
        const struct rp_timed_step *m = &t->steps[s];
        if (m->queue == queue && (queue != RP_TRACE_COMPUTE || m->again)) {
            add_interval(c, m->start_ns, m->end_ns, ns);
            any = true;
        }
    }
    if (any) {
        put_left(c, label, c->glyph->bar);
        for (uint32_t i = 0; i < c->n; i++) {
            u128 eighths =
                ((u128)ns[i] * c->n * EIGHTHS + c->scale.total_ns - 1) / c->scale.total_ns;
            fputs(c->glyph->block[eighths < EIGHTHS ? (uint32_t)eighths : EIGHTHS], c->f);
        }
        fputc('\n', c->f);
    }
    free(ns);
}

/* Puts labels below their ticks, except those that would touch another label. */
static void put_time_axis(const struct canvas *c) {
    struct rp_axis a = rp_axis_ns(c->scale.total_ns, c->n / 12);
    char *line = rp_calloc(c->n + 64, 1);
    memset(line, ' ', c->n + 32);
    put_left(c, "0", c->glyph->corner);
    for (uint32_t i = 0; i < c->n; i++)
        fputs(c->glyph->floor, c->f);
    size_t end = 0;
    for (uint64_t tick = 0; tick <= c->scale.total_ns; tick += a.step) {
        size_t at = (size_t)((u128)tick * c->n / c->scale.total_ns);
        struct rp_text32 label = rp_axis_label(&a, tick);
        size_t len = strlen(label.s);
        if (at + len <= c->n && (tick == 0 || at > end)) {
            memcpy(line + at, label.s, len);
            end = at + len;
        }
    }
    memcpy(line + end + 1, a.unit_name, strlen(a.unit_name) + 1);
    fprintf(c->f, "\n%*s%s\n", MARGIN, "", line);
    free(line);
}

void rp_chart_text(const struct rp_report *r, uint32_t width, bool utf8, FILE *f) {
    struct canvas c = {
        .r = r, .glyph = utf8 ? &unicode : &ascii, .f = f, .scale = rp_chart_scale_of(r)};
    c.n = width - MARGIN - (uint32_t)strlen(" budget");
    if (c.scale.max_bytes == 0)
        c.scale.max_bytes = 1;
    c.plan = rp_calloc(c.n, sizeof *c.plan);
    c.keep_all = rp_calloc(c.n, sizeof *c.keep_all);
    rp_memory_trace_columns(&r->plan, c.scale.total_ns, c.n, c.plan);
    rp_memory_trace_columns(&r->keep_all, c.scale.total_ns, c.n, c.keep_all);
    fprintf(f, "memory over the step (%s this plan, %s keep-all)\n",
            c.glyph->block[EIGHTHS], c.glyph->keep_all);
    for (uint32_t row = ROWS; row-- > 0;)
        put_row(&c, row);
    put_time_axis(&c);
    put_lane(&c, RP_TRACE_COMPUTE, "recompute");
    put_lane(&c, RP_TRACE_TO_HOST, "to host");
    put_lane(&c, RP_TRACE_TO_DEVICE, "to device");
    free(c.plan);
    free(c.keep_all);
}
