/* Memory over time as an SVG 1.1 file: this plan in front of keep-all, the budget and the
 * fixed bytes. Lanes below show what each queue does.
 *
 * Lengths are integers in tenths of a pixel, so every machine writes the same file. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/format.h"
#include "base/mem.h"
#include "emit/chart.h"

typedef unsigned __int128 u128;

enum { /* tenths of a pixel */
       WIDTH = 9600,
       LEFT = 840,
       RIGHT = 9400,
       TOP = 1300,
       BOTTOM = 4500,
       LANE_GAP = 80,
       LANE = 140,
       COLUMN = 5, /* the curve's resolution */
       N_COLUMNS = (RIGHT - LEFT) / COLUMN
};

/* From the bottom up: what lies there longest first. */
static const int stacked_kinds[RP_N_MEMORY_KINDS] = {
    RP_PARAMETER, RP_STATE, RP_INPUT_TENSOR, RP_GRADIENT, RP_ACTIVATION, RP_WORKSPACE};
static const char *const kind_class[RP_N_MEMORY_KINDS] = {"k0", "k1", "k2",
                                                          "k3", "k4", "k5"};

struct drawing {
    const struct rp_report *r;
    FILE *f;
    struct rp_chart_scale scale; /* max_bytes >= 1 */
    int n_lanes;
    enum rp_trace_queue lane[RP_N_TRACE_QUEUES];
};

/* ---- elements ---- */

static struct rp_text32 px(int64_t tenths) {
    struct rp_text32 t;
    if (tenths % 10 == 0)
        snprintf(t.s, sizeof t.s, "%" PRId64, tenths / 10);
    else
        snprintf(t.s, sizeof t.s, "%" PRId64 ".%d", tenths / 10, (int)(tenths % 10));
    return t;
}

static int64_t x_of(const struct drawing *d, uint64_t ns) {
    return LEFT + (int64_t)((u128)ns * (RIGHT - LEFT) / d->scale.total_ns);
}

static int64_t y_of(const struct drawing *d, uint64_t bytes) {
    return BOTTOM - (int64_t)((u128)bytes * (BOTTOM - TOP) / d->scale.max_bytes);
}

static int64_t lane_top(int lane) {
    return BOTTOM + LANE_GAP + lane * (LANE + LANE_GAP / 2);
}

static int64_t floor_of(const struct drawing *d) {
    return lane_top(d->n_lanes - 1) + LANE;
}

static void put_rect(const struct drawing *d, const char *class, int64_t x, int64_t y,
                     int64_t w, int64_t h, const char *end) {
    fprintf(d->f, "<rect class=\"%s\" x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\"%s",
            class, px(x).s, px(y).s, px(w).s, px(h).s, end);
}

static void put_line(const struct drawing *d, const char *class, int64_t x1, int64_t y1,
                     int64_t x2, int64_t y2) {
    fprintf(d->f, "<line class=\"%s\" x1=\"%s\" y1=\"%s\" x2=\"%s\" y2=\"%s\"/>\n", class,
            px(x1).s, px(y1).s, px(x2).s, px(y2).s);
}

static void open_text(const struct drawing *d, const char *class, int64_t x, int64_t y) {
    fprintf(d->f, "<text class=\"%s\" x=\"%s\" y=\"%s\">", class, px(x).s, px(y).s);
}

static void put_text(const struct drawing *d, const char *class, int64_t x, int64_t y,
                     const char *text) {
    open_text(d, class, x, y);
    rp_chart_put_xml(text, d->f);
    fputs("</text>\n", d->f);
}

/* ---- titles and legend ---- */

static void put_style(const struct drawing *d) {
    fputs("<style>\n"
          "text{font-family:Helvetica,Arial,sans-serif;font-size:12px;fill:#333}\n"
          ".title{font-size:18px;font-weight:bold;fill:#111}\n"
          ".sub{font-size:13px;fill:#444}\n"
          ".tick{fill:#555}\n"
          ".e{text-anchor:end}\n"
          ".m{text-anchor:middle}\n"
          ".grid{stroke:#e3e6ea}\n"
          ".axis{stroke:#666}\n"
          ".all{fill:#dfe3e8;stroke:#a9b1bb}\n"
          ".plan{fill:none;stroke:#2b5c8a}\n"
          ".k0{fill:#2b4a68}\n" /* [enum rp_tensor_kind], workspace */
          ".k1{fill:#7a6a9b}\n"
          ".k2{fill:#8a949e}\n"
          ".k3{fill:#6f9fcc}\n"
          ".k4{fill:#d9a441}\n"
          ".k5{fill:#b9c8d6}\n"
          ".fixed{stroke:#111;stroke-dasharray:2 3}\n"
          ".budget{stroke:#c0392b;stroke-width:1.5;stroke-dasharray:6 4}\n"
          ".over{fill:#c0392b}\n"
          ".again{fill:#e67e22}\n"
          ".band{fill:#e67e22;fill-opacity:.22}\n"
          ".fwd{fill:#a9c3dc}\n"
          ".bwd{fill:#7393b3}\n"
          ".upd{fill:#b5a4c9}\n"
          ".copy{fill:#4d9e76}\n"
          ".idle{fill:#f3f4f6}\n"
          "</style>\n",
          d->f);
}

static void put_titles(const struct drawing *d) {
    const struct rp_memory_trace *t = &d->r->plan;
    uint64_t base = d->r->keep_all.time_ns;
    put_text(d, "title", LEFT, 300, d->r->g->name);
    open_text(d, "sub", LEFT, 520);
    fprintf(d->f, "%s, %s over keep-all's %s \xc2\xb7 peak %s, %s of keep-all's %s",
            rp_show_ns(t->time_ns).s, rp_show_percent(t->time_ns - base, base).s,
            rp_show_ns(base).s, rp_show_bytes(t->peak.bytes).s,
            rp_show_percent(t->peak.bytes, d->r->keep_all.peak.bytes).s,
            rp_show_bytes(d->r->keep_all.peak.bytes).s);
    if (d->r->p->claims.lower_bound_ns > 0)
        fprintf(d->f, " \xc2\xb7 bound %s", rp_show_ns(d->r->p->claims.lower_bound_ns).s);
    fputs("</text>\n", d->f);
}

/* Writes one entry of the legend, at height y, and returns where the next one begins. */
static int64_t put_key(const struct drawing *d, const char *class, int64_t x, int64_t y,
                       const char *text) {
    enum { BOX = 120, LETTER = 68 };
    put_rect(d, class, x, y - 100, BOX, BOX, "/>\n");
    put_text(d, "tick", x + BOX + 60, y, text);
    return x + BOX + 60 + LETTER * (int64_t)strlen(text) + 180;
}

static bool has_phase(const struct rp_graph *g, enum rp_phase phase) {
    for (uint32_t i = 0; i < g->n_ops; i++)
        if (g->ops[i].phase == phase)
            return true;
    return false;
}

/* Does the plan ever hold that kind of memory? */
static bool holds(const struct rp_memory_trace *t, int kind) {
    bool any = t->fixed.of[kind] > 0;
    for (size_t s = 0; s < t->n_steps && !any; s++)
        any = t->steps[s].during.of[kind] > 0;
    return any;
}

/* What the areas are. */
static void put_memory_legend(const struct drawing *d, int64_t y) {
    const struct rp_memory_trace *t = &d->r->plan;
    int64_t x = LEFT;
    for (int i = 0; i < RP_N_MEMORY_KINDS; i++)
        if (holds(t, rp_memory_kinds[i]))
            x = put_key(d, kind_class[rp_memory_kinds[i]], x, y,
                        rp_memory_kind_word[rp_memory_kinds[i]]);
    put_key(d, "all", x, y, "keep-all");
}

/* What the queues do. */
static void put_queue_legend(const struct drawing *d, int64_t y) {
    const struct rp_memory_trace *t = &d->r->plan;
    int64_t x = LEFT;
    if (t->reruns.n > 0) {
        char *again = rp_format("recomputing (%s)", rp_show_ns(t->recompute_ns).s);
        x = put_key(d, "again", x, y, again);
        free(again);
    }
    if (d->n_lanes > 1)
        x = put_key(d, "copy", x, y, "copying");
    if (has_phase(d->r->g, RP_FORWARD))
        x = put_key(d, "fwd", x, y, "forward");
    if (has_phase(d->r->g, RP_BACKWARD))
        x = put_key(d, "bwd", x, y, "backward");
    if (has_phase(d->r->g, RP_UPDATE))
        put_key(d, "upd", x, y, "update");
}

/* ---- memory ---- */

static void put_axes(const struct drawing *d) {
    struct rp_axis bytes = rp_axis_bytes(d->scale.max_bytes, 8),
                   ns = rp_axis_ns(d->scale.total_ns, 10);
    int64_t bottom = floor_of(d);
    for (uint64_t v = 0; v <= d->scale.max_bytes; v += bytes.step) {
        put_line(d, "grid", LEFT, y_of(d, v), RIGHT, y_of(d, v));
        put_text(d, "tick e", LEFT - 80, y_of(d, v) + 40, rp_axis_label(&bytes, v).s);
    }
    for (uint64_t v = 0; v <= d->scale.total_ns; v += ns.step) {
        put_line(d, "grid", x_of(d, v), TOP, x_of(d, v), bottom);
        put_text(d, "tick m", x_of(d, v), bottom + 180, rp_axis_label(&ns, v).s);
    }
    fprintf(d->f,
            "<text class=\"m\" transform=\"translate(%s %s) rotate(-90)\">memory held "
            "(%s)</text>\n",
            px(260).s, px((TOP + BOTTOM) / 2).s, bytes.unit_name);
    open_text(d, "m", (LEFT + RIGHT) / 2, bottom + 380);
    fprintf(d->f, "time in the step (%s)</text>\n", ns.unit_name);
}

/* The bytes of each column, as a filled outline that ends with the step at `end`. */
static void put_outline(const struct drawing *d, const struct rp_memory_split *held,
                        int64_t end, const char *class) {
    int64_t y = BOTTOM;
    fprintf(d->f, "<path class=\"%s\" d=\"M%s %s", class, px(LEFT).s, px(BOTTOM).s);
    for (int i = 0; i < N_COLUMNS && LEFT + i * COLUMN < end; i++)
        if (y_of(d, held[i].bytes) != y) {
            y = y_of(d, held[i].bytes);
            fprintf(d->f, "%sH%sV%s", i % 16 ? "" : "\n", px(LEFT + i * COLUMN).s, px(y).s);
        }
    fprintf(d->f, "H%sV%sZ\"/>\n", px(end).s, px(BOTTOM).s);
}

/* The most memory in each column. */
static void put_curve(const struct drawing *d, const struct rp_memory_trace *t,
                      const char *class) {
    struct rp_memory_split *held = rp_calloc(N_COLUMNS, sizeof *held);
    rp_memory_trace_columns(t, d->scale.total_ns, N_COLUMNS, held);
    put_outline(d, held, x_of(d, t->time_ns), class);
    free(held);
}

/* What the plan holds when each column holds most: the area below all kinds, then that
 * below all but the uppermost, and so on, each in front of the one before. */
static void put_areas(const struct drawing *d) {
    const struct rp_memory_trace *t = &d->r->plan;
    struct rp_memory_split *held = rp_calloc(N_COLUMNS, sizeof *held);
    rp_memory_trace_columns(t, d->scale.total_ns, N_COLUMNS, held);
    for (int k = RP_N_MEMORY_KINDS; k-- > 0;) {
        int kind = stacked_kinds[k];
        if (holds(t, kind))
            put_outline(d, held, x_of(d, t->time_ns), kind_class[kind]);
        for (int i = 0; i < N_COLUMNS; i++)
            rp_memory_split_take(&held[i], kind, held[i].of[kind]);
    }
    free(held);
}

static void put_budget(const struct drawing *d) {
    char *text = rp_format("budget %s%s", rp_show_bytes(d->r->p->budget_bytes).s,
                           d->scale.with_budget ? "" : " (above the picture)");
    int64_t y = d->scale.with_budget ? y_of(d, d->r->p->budget_bytes) : TOP;
    if (d->scale.with_budget)
        put_line(d, "budget", LEFT, y, RIGHT, y);
    put_text(d, "over e", RIGHT, y - 60, text);
    free(text);
}

/* A line at the sources that stay on the device. */
static void put_fixed(const struct drawing *d) {
    uint64_t bytes = d->r->plan.fixed.bytes;
    if (bytes == 0)
        return;
    char *text = rp_format("fixed %s", rp_show_bytes(bytes).s);
    put_line(d, "fixed", LEFT, y_of(d, bytes), RIGHT, y_of(d, bytes));
    put_text(d, "tick", LEFT + 60, y_of(d, bytes) - 40, text);
    free(text);
}

/* Draws a band over the full height wherever ops run again. Adjacent reruns share a band.
 */
static void put_bands(const struct drawing *d) {
    const struct rp_memory_trace *t = &d->r->plan;
    int64_t from = 0, to = 0;
    for (size_t s = 0; s <= t->n_steps; s++) {
        const struct rp_timed_step *m = s < t->n_steps ? &t->steps[s] : NULL;
        if (m != NULL && !m->again)
            continue;
        if (to > from && (m == NULL || x_of(d, m->start_ns) > to))
            put_rect(d, "band", from, TOP, to - from, BOTTOM - TOP, "/>\n");
        if (m != NULL && (to == from || x_of(d, m->start_ns) > to))
            from = x_of(d, m->start_ns);
        if (m != NULL)
            to = x_of(d, m->end_ns) > from ? x_of(d, m->end_ns) : from + 1;
    }
}

/* ---- queues ---- */

static const char *span_class(const struct drawing *d, size_t s) {
    const struct rp_timed_step *m = &d->r->plan.steps[s];
    if (m->queue != RP_TRACE_COMPUTE)
        return "copy";
    if (m->again)
        return "again";
    switch (d->r->g->ops[d->r->p->steps.at[s].id].phase) {
    case RP_BACKWARD:
        return "bwd";
    case RP_UPDATE:
        return "upd";
    default:
        return "fwd";
    }
}

static const char *span_name(const struct drawing *d, size_t s) {
    const struct rp_step *step = &d->r->p->steps.at[s];
    return step->kind == RP_RUN ? d->r->g->ops[step->id].name
                                : d->r->g->tensors[step->id].name;
}

/* A reader who points at a rerun or a copy sees its name. Other boxes have none. */
static void put_span(const struct drawing *d, int64_t top, size_t first, size_t last,
                     uint32_t count) {
    const struct rp_timed_step *m = d->r->plan.steps;
    bool named = m[first].queue != RP_TRACE_COMPUTE || m[first].again;
    uint64_t start_ns = m[first].start_ns, end_ns = m[last].end_ns;
    int64_t x = x_of(d, start_ns), w = x_of(d, end_ns) - x;
    put_rect(d, span_class(d, first), x, top, w > 0 ? w : 1, LANE,
             named ? "><title>" : "/>\n");
    if (!named)
        return;
    rp_chart_put_xml(span_name(d, first), d->f);
    if (count > 1) {
        fprintf(d->f, "%s", count > 2 ? " ... " : ", ");
        rp_chart_put_xml(span_name(d, last), d->f);
        fprintf(d->f, " (%" PRIu32 ")", count);
    }
    fprintf(d->f, ": %s</title></rect>\n", rp_show_ns(end_ns - start_ns).s);
}

/* Adjacent spans of one class become one box. */
static void put_lane(const struct drawing *d, int lane) {
    static const char *const title[] = {"compute", "to host", "to device"};
    enum rp_trace_queue queue = d->lane[lane];
    const struct rp_memory_trace *t = &d->r->plan;
    int64_t top = lane_top(lane);
    size_t first = 0, last = 0;
    uint32_t count = 0;
    put_text(d, "tick e", LEFT - 80, top + LANE - 35, title[queue]);
    put_rect(d, "idle", LEFT, top, RIGHT - LEFT, LANE, "/>\n");
    for (size_t s = 0; s < t->n_steps; s++) {
        const struct rp_timed_step *m = &t->steps[s];
        if (m->queue != queue || m->end_ns == m->start_ns)
            continue;
        if (count > 0 && (m->start_ns != t->steps[last].end_ns ||
                          strcmp(span_class(d, s), span_class(d, last)) != 0)) {
            put_span(d, top, first, last, count);
            count = 0;
        }
        if (count++ == 0)
            first = s;
        last = s;
    }
    if (count > 0)
        put_span(d, top, first, last, count);
}

static void choose_lanes(struct drawing *d) {
    for (int q = 0; q < RP_N_TRACE_QUEUES; q++)
        if (q == RP_TRACE_COMPUTE || d->r->plan.busy_ns[q] > 0)
            d->lane[d->n_lanes++] = (enum rp_trace_queue)q;
}

void rp_chart_svg(const struct rp_report *r, FILE *f) {
    struct drawing d = {.r = r, .f = f, .scale = rp_chart_scale_of(r)};
    d.scale.max_bytes += d.scale.max_bytes / 25 + 1; /* space above the curves */
    choose_lanes(&d);
    int64_t height = floor_of(&d) + 520;
    fprintf(f,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%s\" height=\"%s\" "
            "viewBox=\"0 0 %s %s\">\n",
            px(WIDTH).s, px(height).s, px(WIDTH).s, px(height).s);
    put_style(&d);
    fputs("<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n", f);
    put_titles(&d);
    put_memory_legend(&d, 800);
    put_queue_legend(&d, 1000);
    put_axes(&d);
    put_curve(&d, &r->keep_all, "all");
    put_bands(&d);
    put_areas(&d);
    put_curve(&d, &r->plan, "plan");
    put_line(&d, "axis", LEFT, TOP, LEFT, BOTTOM);
    put_line(&d, "axis", LEFT, BOTTOM, RIGHT, BOTTOM);
    put_budget(&d);
    put_fixed(&d);
    for (int lane = 0; lane < d.n_lanes; lane++)
        put_lane(&d, lane);
    fputs("</svg>\n", f);
}
