#include "emit/chart.h"

#include <inttypes.h>

#include "base/numbers.h"

/* Pixels. A plan for one budget fits every larger one, so the curve is a staircase. */
enum { WIDTH = 800, HEIGHT = 460, LEFT = 80, RIGHT = 770, TOP = 60, BOTTOM = 400 };

struct drawing {
    const struct rp_curve *c;
    FILE *f;
    uint64_t max_bytes, max_over_ns; /* ends of the axes; time over the baseline */
};

static uint64_t x_of(const struct drawing *d, uint64_t bytes) {
    return LEFT + (uint64_t)((unsigned __int128)bytes * (RIGHT - LEFT) / d->max_bytes);
}

static uint64_t y_of(const struct drawing *d, uint64_t time_ns) {
    uint64_t over = time_ns > d->c->baseline_ns ? time_ns - d->c->baseline_ns : 0;
    return BOTTOM - (uint64_t)((unsigned __int128)over * (BOTTOM - TOP) / d->max_over_ns);
}

static void put_axes(const struct drawing *d) {
    struct rp_axis bytes = rp_axis_bytes(d->max_bytes, 8);
    for (uint64_t b = 0; b <= d->max_bytes; b += bytes.step)
        fprintf(d->f,
                "<line class=\"grid\" x1=\"%" PRIu64 "\" y1=\"%d\" x2=\"%" PRIu64
                "\" y2=\"%d\"/><text x=\"%" PRIu64 "\" y=\"%d\" text-anchor=\"middle\">%s"
                "</text>\n",
                x_of(d, b), TOP, x_of(d, b), BOTTOM, x_of(d, b), BOTTOM + 18,
                rp_axis_label(&bytes, b).s);
    fprintf(d->f, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">budget, %s</text>\n", RIGHT,
            BOTTOM + 40, bytes.unit_name);
    struct rp_axis ns = rp_axis_ns(d->max_over_ns, 6);
    for (uint64_t t = 0; t <= d->max_over_ns; t += ns.step) {
        uint64_t y = y_of(d, d->c->baseline_ns + t);
        fprintf(d->f,
                "<line class=\"grid\" x1=\"%d\" y1=\"%" PRIu64 "\" x2=\"%d\" y2=\"%" PRIu64
                "\"/><text x=\"%d\" y=\"%" PRIu64 "\" text-anchor=\"end\">%s</text>\n",
                LEFT, y, RIGHT, y, LEFT - 8, y + 4,
                rp_show_percent(t, d->c->baseline_ns).s);
    }
    fprintf(d->f, "<text x=\"%d\" y=\"%d\">time over keep-all</text>\n", LEFT, TOP - 10);
}

static void put_stairs(const struct drawing *d) {
    const struct rp_curve *c = d->c;
    fputs("<polyline class=\"plan\" points=\"", d->f);
    for (size_t i = 0; i < c->n; i++) {
        uint64_t x = x_of(d, c->at[i].budget_bytes), y = y_of(d, c->at[i].time_ns);
        if (i > 0)
            fprintf(d->f, " %" PRIu64 ",%" PRIu64, x, y_of(d, c->at[i - 1].time_ns));
        fprintf(d->f, "%s%" PRIu64 ",%" PRIu64, i > 0 ? " " : "", x, y);
    }
    fputs("\"/>\n<polyline class=\"bound\" points=\"", d->f);
    for (size_t i = 0; i < c->n; i++)
        fprintf(d->f, "%s%" PRIu64 ",%" PRIu64, i > 0 ? " " : "",
                x_of(d, c->at[i].budget_bytes), y_of(d, c->at[i].lower_bound_ns));
    fputs("\"/>\n", d->f);
    for (size_t i = 0; i < c->n; i++)
        fprintf(d->f,
                "<circle cx=\"%" PRIu64 "\" cy=\"%" PRIu64
                "\" r=\"4\"><title>%s: %s</title></circle>\n",
                x_of(d, c->at[i].budget_bytes), y_of(d, c->at[i].time_ns),
                rp_show_bytes(c->at[i].budget_bytes).s, rp_show_ns(c->at[i].time_ns).s);
}

void rp_chart_curve(const struct rp_curve *c, FILE *f) {
    struct drawing d = {.c = c, .f = f, .max_bytes = 1, .max_over_ns = 1};
    for (size_t i = 0; i < c->n; i++) {
        uint64_t over =
            c->at[i].time_ns > c->baseline_ns ? c->at[i].time_ns - c->baseline_ns : 0;
        d.max_bytes = rp_max_u64(d.max_bytes, c->at[i].budget_bytes);
        d.max_over_ns = rp_max_u64(d.max_over_ns, over);
    }
    fprintf(f,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
            "viewBox=\"0 0 %d %d\">\n<style>text{font:12px sans-serif;fill:#333}"
            ".grid{stroke:#ddd}.plan{fill:none;stroke:#06c;stroke-width:2}"
            ".bound{fill:none;stroke:#999;stroke-dasharray:4 3}circle{fill:#06c}</style>\n"
            "<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n<text x=\"%d\" y=\"24\" "
            "font-weight=\"bold\">",
            WIDTH, HEIGHT, WIDTH, HEIGHT, WIDTH, HEIGHT, LEFT);
    rp_chart_put_xml(c->title, f);
    fputs("</text>\n", f);
    put_axes(&d);
    if (c->n > 0)
        put_stairs(&d);
    fprintf(f,
            "<text x=\"%d\" y=\"24\" text-anchor=\"end\">solid: the plans; dashed: no plan "
            "is faster</text>\n</svg>\n",
            RIGHT);
}
