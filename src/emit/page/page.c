#include "emit/page/page.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/embedded.h"
#include "base/io.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "emit/chart.h"
#include "emit/page/page_data.h"

/* ---- texts of the page ---- */

static const char *const scripts[] = {
    "text.js",    "plan.js",    "kinds.js",  "gaps.js",     "axis.js",
    "memory.js",  "queues.js",  "arena.js",  "chart.js",    "hand.js",
    "details.js", "tensors.js", "search.js", "overview.js", "main.js",
};

static void put_file(const char *name, FILE *f) {
    char *path = rp_format("emit/page/%s", name);
    size_t k = 0;
    while (k < rp_n_embedded && strcmp(rp_embedded[k].path, path) != 0)
        k++;
    assert(k < rp_n_embedded);
    fputs(rp_embedded[k].text, f);
    free(path);
}

/* The text of the script element. The caller frees it. */
static char *program_text(void) {
    char *text;
    size_t len;
    FILE *f = rp_text_open(&text, &len);
    fputs("\n\"use strict\";\n", f);
    for (size_t k = 0; k < sizeof scripts / sizeof scripts[0]; k++)
        put_file(scripts[k], f);
    rp_text_close(f);
    return text;
}

/* The digest of a text in base64, as a content security policy names it (RFC 4648). */
static void put_digest(const char *text, FILE *f) {
    static const char digit[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char hex[65 + 2] = {0};
    rp_sha256_hex(text, strlen(text), hex);
    hex[64] = hex[65] = '0'; /* 256 bits are 42 digits of 6 and one of 4 */
    for (int k = 0; k < 64; k += 3) {
        char three[4] = {hex[k], hex[k + 1], hex[k + 2], '\0'};
        unsigned long bits = strtoul(three, NULL, 16);
        fputc(digit[bits >> 6], f);
        if (k < 63)
            fputc(digit[bits & 63], f);
    }
    fputc('=', f);
}

/* The policy forbids every load, and every script but the program of the page. */
static void put_head(const struct rp_page *page, const char *program, FILE *f) {
    fputs("<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
          "style-src 'unsafe-inline'; script-src 'sha256-",
          f);
    put_digest(program, f);
    fputs("'\">\n<title>", f);
    rp_chart_put_xml(page->g->name, f);
    fputs(" \xc2\xb7 remat-plan</title>\n<style>\n", f);
    put_file("page.css", f);
    fputs("</style>\n</head>\n<body>\n", f);
    put_file("body.html", f);
}

/* ---- data ---- */

/* "<" occurs in JSON only within strings. Escaped, it can neither end the script element
 * nor begin a comment. */
static void put_json(const char *json, FILE *f) {
    for (; *json != '\0'; json++)
        if (*json == '<')
            fputs("\\u003c", f);
        else
            fputc(*json, f);
}

static void put_data(const struct rp_page *page, const size_t *plan_of, FILE *f) {
    char *text;
    size_t len;
    FILE *json = rp_text_open(&text, &len);
    rp_page_put_data(page, plan_of, json);
    rp_text_close(json);
    fputs("<script type=\"application/json\" id=\"data\">", f);
    put_json(text, f);
    fputs("</script>\n", f);
    free(text);
}

static void put_plan(const struct rp_page *page, const struct rp_plan *p, size_t k,
                     FILE *f) {
    fprintf(f, "<script type=\"application/json\" id=\"plan-%zu\">", k);
    rp_page_put_plan(page->g, p, f); /* numbers and a fixed set of letters */
    fputs("</script>\n", f);
}

static bool same_step(const struct rp_step *a, const struct rp_step *b) {
    return a->kind == b->kind && a->id == b->id && a->address == b->address &&
           a->n_at == b->n_at;
}

static bool same_steps(const struct rp_plan *a, const struct rp_plan *b) {
    if (a->steps.n != b->steps.n || a->at.n != b->at.n || a->homes.n != b->homes.n)
        return false;
    for (size_t i = 0; i < a->steps.n; i++)
        if (!same_step(&a->steps.at[i], &b->steps.at[i]))
            return false;
    for (size_t i = 0; i < a->at.n; i++)
        if (a->at.at[i] != b->at.at[i])
            return false;
    for (size_t i = 0; i < a->homes.n; i++)
        if (a->homes.at[i].tensor != b->homes.at[i].tensor)
            return false;
    return true;
}

/* Writes each plan once and sets plan_of as page_data.h says. */
static void put_plans(const struct rp_page *page, size_t *plan_of, FILE *f) {
    size_t n_plans = 0;
    for (size_t i = 0; i < page->n; i++) {
        const struct rp_plan *p = page->entries[i].plan;
        size_t k = 0;
        if (p == NULL)
            continue;
        while (page->entries[k].plan == NULL || !same_steps(page->entries[k].plan, p))
            k++;
        plan_of[i] = k < i ? plan_of[k] : n_plans++;
        if (k == i)
            put_plan(page, p, plan_of[i], f);
    }
}

void rp_page_write(const struct rp_page *page, FILE *f) {
    size_t *plan_of = rp_calloc(page->n, sizeof *plan_of);
    char *program = program_text();
    put_head(page, program, f);
    put_plans(page, plan_of, f);
    put_data(page, plan_of, f);
    fprintf(f, "<script>%s</script>\n</body>\n</html>\n", program);
    free(program);
    free(plan_of);
}
