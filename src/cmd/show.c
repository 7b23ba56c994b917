/* show: a plan for people to read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/json.h"
#include "base/log.h"
#include "base/options.h"
#include "cmd/commands.h"
#include "emit/report.h"
#include "model/graph.h"
#include "model/plan.h"
#include "verify/verifier.h"

struct options {
    const char *svg;
    uint64_t width;
    bool steps, json;
};

/* Does the terminal take UTF-8? The first of these that is set decides (POSIX, 8.2). */
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
    rp_text_close(f);
    rp_rc rc = rp_write_file(path, text, len, err);
    free(text);
    return rc;
}

/* A "no" is an answer, and answers go to standard output. */
static void show_refusal(const struct options *o, const char *plan,
                         const struct rp_err *err) {
    if (o->json) {
        fputs("{\"verdict\":\"rejected\",\"reason\":", stdout);
        rp_json_put_string(stdout, err->msg);
        fputs("}\n", stdout);
    } else {
        printf("rejected  %s: %s\n", rp_path_name(plan), err->msg);
    }
}

static rp_rc show_valid(const struct options *o, const struct rp_graph *g,
                        const struct rp_plan *p, struct rp_err *err) {
    struct rp_report r;
    rp_rc rc = RP_OK;
    rp_report_build(g, p, &r);
    if (o->svg != NULL)
        rc = write_svg(&r, o->svg, err);
    if (rc == RP_OK && o->json)
        rp_report_json(&r, o->steps, stdout);
    else if (rc == RP_OK && rp_log_level() >= 0 &&
             (o->svg == NULL || strcmp(o->svg, "-") != 0))
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
        show_refusal(o, plan, err);
    if (rc == RP_OK)
        rc = show_valid(o, &g, &p, err);
    rp_plan_fini(&p);
    rp_graph_fini(&g);
    return rc;
}

static const struct rp_command command = {
    "show",
    "GRAPH PLAN",
    "What PLAN does: its costs, what it recomputes, its memory.",
    NULL,
};

rp_rc rp_cmd_show(int argc, char **argv, struct rp_err *err) {
    struct options o = {.width = 80};
    const struct rp_option table[] = {
        {"svg", 0, RP_OPT_STRING, &o.svg, "FILE", "draw the memory over the step here"},
        {"steps", 0, RP_OPT_FLAG, &o.steps, NULL, "list every step by name"},
        {"width", 0, RP_OPT_NAT, &o.width, "N",
         "columns of the picture in the terminal (80)"},
        {"json", 0, RP_OPT_FLAG, &o.json, NULL, "report as one JSON object on stdout"},
        {0},
    };
    int n = 0;
    bool done = false;
    rp_rc rc = rp_options_parse(&command, table, argc, argv, &n, &done, err);
    if (rc != RP_OK || done)
        return rc;
    if (n != 2)
        return rp_fail(err, RP_USAGE, "show: needs GRAPH and PLAN (try --help)");
    if (o.width < RP_PICTURE_MIN || o.width > RP_PICTURE_MAX)
        return rp_fail(err, RP_USAGE, "show: --width must be from %d to %d", RP_PICTURE_MIN,
                       RP_PICTURE_MAX);
    if (o.json && o.svg != NULL && strcmp(o.svg, "-") == 0)
        return rp_fail(err, RP_USAGE,
                       "show: --json and --svg - both write to standard output");
    return show(&o, argv[1], argv[2], err);
}
