/* show: a plan for people to read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/log.h"
#include "cmd/commands.h"
#include "cmd/common.h"
#include "emit/chart.h"
#include "emit/page/page.h"
#include "emit/report.h"

struct options {
    const char *svg, *html;
    uint64_t width;
    bool steps, json;
    bool silent; /* a picture or page goes to standard output, so the words do not */
};

/* True if the terminal takes UTF-8. The first variable that is set decides (POSIX, 8.2). */
static bool locale_is_utf8(void) {
    static const char *const variables[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (int i = 0; i < 3; i++) {
        const char *value = getenv(variables[i]);
        if (value != NULL && value[0] != '\0')
            return strcasestr(value, "utf-8") != NULL || strcasestr(value, "utf8") != NULL;
    }
    return false;
}

static void show_text(const struct rp_report *r, const struct options *o) {
    rp_report_text(r, rp_log_level() > 0 ? UINT32_MAX : 12, stdout);
    if (o->steps) {
        putchar('\n');
        rp_report_steps(r, stdout);
    }
    putchar('\n');
    rp_chart_text(r, (uint32_t)o->width, locale_is_utf8(), stdout);
}

static rp_rc write_svg(const struct rp_report *r, const char *path, struct rp_err *err) {
    char *text;
    size_t len;
    FILE *f = rp_text_open(&text, &len);
    rp_chart_svg(r, f);
    return rp_text_save(f, &text, &len, path, err);
}

static rp_rc write_html(const struct rp_report *r, const char *path, struct rp_err *err) {
    const struct rp_page_entry entry = {
        .budget_bytes = r->p->budget_bytes, .plan = r->p, .fits = true};
    char *text;
    size_t len;
    FILE *f = rp_text_open(&text, &len);
    rp_page_write(&(struct rp_page){RP_PAGE_PLAN, r->g, &entry, 1}, f);
    return rp_text_save(f, &text, &len, path, err);
}

static rp_rc show_valid(const struct options *o, const struct rp_graph *g,
                        const struct rp_plan *p, struct rp_err *err) {
    struct rp_report r;
    rp_rc rc = RP_OK;
    rp_report_build(g, p, &r);
    if (o->svg != NULL)
        rc = write_svg(&r, o->svg, err);
    if (rc == RP_OK && o->html != NULL)
        rc = write_html(&r, o->html, err);
    if (rc == RP_OK && o->json)
        rp_report_json(&r, o->steps, stdout);
    else if (rc == RP_OK && rp_log_level() >= 0 && !o->silent)
        show_text(&r, o);
    rp_report_fini(&r);
    return rc;
}

static rp_rc show(const struct options *o, const char *graph, const char *plan,
                  struct rp_err *err) {
    struct rp_graph g = {0};
    struct rp_plan p = {0};
    struct rp_verdict verdict;
    rp_rc rc = rp_graph_load(graph, &g, err);
    if (rc == RP_OK)
        rc = rp_plan_load(plan, &p, err);
    if (rc == RP_OK && (rc = rp_verify(&g, &p, &verdict, err)) == RP_NO)
        rp_report_rejection(rp_path_name(plan), err->msg, o->json);
    if (rc == RP_OK)
        rc = show_valid(o, &g, &p, err);
    rp_plan_fini(&p);
    rp_graph_fini(&g);
    return rc;
}

static rp_rc run(int argc, char **argv, struct rp_err *err) {
    struct options o = {.width = 80};
    const struct rp_option table[] = {
        {"svg", 0, RP_OPT_STRING, &o.svg, "FILE", "draw the memory over time into FILE"},
        {"html", 0, RP_OPT_STRING, &o.html, "FILE", "write a page for a browser into FILE"},
        {"steps", 0, RP_OPT_FLAG, &o.steps, NULL, "list every step by name"},
        {"width", 0, RP_OPT_NAT, &o.width, "N",
         "width of the chart in the terminal, in columns (80)"},
        rp_option_json(&o.json),
        {0},
    };
    int n = 0;
    bool done = false;
    rp_rc rc = rp_options_parse(&rp_cmd_show, table, argc, argv, &n, &done, err);
    if (rc != RP_OK || done)
        return rc;
    if (o.width < RP_CHART_MIN_WIDTH || o.width > RP_CHART_MAX_WIDTH)
        return rp_fail(err, RP_USAGE, "show: --width must be from %d to %d",
                       RP_CHART_MIN_WIDTH, RP_CHART_MAX_WIDTH);
    const struct rp_named_file files[] = {{"GRAPH", argv[1], .input = true},
                                          {"PLAN", argv[2], .input = true},
                                          {"--json", o.json ? "-" : NULL},
                                          {"--svg", o.svg},
                                          {"--html", o.html}};
    o.silent = rp_uses_stdout(files, 5);
    rc = rp_check_files("show", files, 5, err);
    return rc == RP_OK ? show(&o, argv[1], argv[2], err) : rc;
}

const struct rp_command rp_cmd_show = {
    .name = "show",
    .operands = "GRAPH PLAN",
    .min_operands = 2,
    .max_operands = 2,
    .summary = "Describe a plan: its costs, what it recomputes, its memory",
    .run = run,
};
