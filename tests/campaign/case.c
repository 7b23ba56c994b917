#include "case.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/mem.h"

bool cam_fail(struct cam_case *c, const char *format, ...) {
    va_list list;
    if (!c->failed)
        printf("FAILED make campaign SEED=%" PRIu64 " CASE=%" PRIu64 " KIND=%s (in %s)\n",
               c->o->seed, c->number, c->kind, c->folder);
    c->failed = true;
    fputs("    ", stdout);
    va_start(list, format);
    vprintf(format, list);
    va_end(list);
    putchar('\n');
    return false;
}

/* ---- files ---- */

char *cam_path(const struct cam_case *c, const char *name) {
    return rp_format("%s/%s", c->folder, name);
}

void cam_expect(struct cam_case *c, const char *name) {
    c->expected = rp_realloc(c->expected, c->n_expected + 1, sizeof *c->expected);
    c->expected[c->n_expected++] = rp_strdup(name);
}

bool cam_exists(const struct cam_case *c, const char *name) {
    char *path = cam_path(c, name);
    bool there = access(path, F_OK) == 0;
    free(path);
    return there;
}

void cam_write(struct cam_case *c, const char *name, const char *text) {
    char *path = cam_path(c, name);
    FILE *f = fopen(path, "w");
    if (f == NULL || fputs(text, f) == EOF || fclose(f) != 0) {
        perror(path);
        exit(2);
    }
    free(path);
    cam_expect(c, name);
}

void cam_write_graph(struct cam_case *c, const char *name, const struct cam_wish *wish,
                     struct cam_graph *g) {
    cam_generate(&c->r, wish, g);
    cam_write(c, name, g->text);
    free(g->text);
    g->text = NULL;
}

static bool is_expected(const struct cam_case *c, const char *name) {
    for (size_t k = 0; k < c->n_expected; k++)
        if (strcmp(c->expected[k], name) == 0)
            return true;
    return strncmp(name, "command-", 8) == 0 || strcmp(name, "commands") == 0;
}

static bool ends_with(const char *name, const char *end) {
    size_t n = strlen(name), m = strlen(end);
    return n >= m && strcmp(name + n - m, end) == 0;
}

static void check_json(struct cam_case *c, const char *path) {
    json_error_t error;
    json_t *o = json_load_file(path, 0, &error);
    if (o == NULL)
        cam_fail(c, "%s is not whole: %s", path, error.text);
    json_decref(o);
}

/* Calls `check` for all files in and below the folder. */
static void walk(struct cam_case *c, const char *path,
                 void (*check)(struct cam_case *c, const char *path)) {
    DIR *d = opendir(path);
    if (d == NULL) {
        check(c, path);
        return;
    }
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        char *below = rp_format("%s/%s", path, e->d_name);
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
            walk(c, below, check);
        free(below);
    }
    closedir(d);
}

static void check_whole(struct cam_case *c, const char *path) {
    if (ends_with(path, ".json"))
        check_json(c, path);
}

void cam_check_whole(struct cam_case *c, const char *name) {
    char *path = cam_path(c, name);
    if (cam_exists(c, name))
        walk(c, path, check_whole);
    free(path);
}

static void check_no_temporary(struct cam_case *c, const char *path) {
    if (strstr(path, ".tmp-") != NULL)
        cam_fail(c, "it left the temporary file %s", path);
}

static void check_folder(struct cam_case *c) {
    walk(c, c->folder, check_no_temporary);
    DIR *d = opendir(c->folder);
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;)
        if (e->d_name[0] != '.' || (e->d_name[1] != 0 && e->d_name[1] != '.'))
            if (!is_expected(c, e->d_name))
                cam_fail(c, "it left the file %s", e->d_name);
    if (d != NULL)
        closedir(d);
}

bool cam_same_bytes(const struct cam_case *c, const char *one, const char *other) {
    char *text[2] = {NULL, NULL}, *path[2] = {cam_path(c, one), cam_path(c, other)};
    size_t length[2] = {0, 0};
    struct rp_err ignored = {{0}};
    for (int k = 0; k < 2; k++)
        if (rp_read_file(path[k], &text[k], &length[k], &ignored) != RP_OK)
            length[k] = SIZE_MAX;
    bool same = length[0] == length[1] &&
                (length[0] == SIZE_MAX || memcmp(text[0], text[1], length[0]) == 0);
    for (int k = 0; k < 2; k++) {
        free(text[k]);
        free(path[k]);
    }
    return same;
}

/* ---- command lines ---- */

void cam_word(struct cam_line *line, const char *format, ...) {
    char word[512];
    va_list list;
    va_start(list, format);
    vsnprintf(word, sizeof word, format, list);
    va_end(list);
    if (line->n == 63)
        abort();
    line->words[line->n++] = rp_strdup(word);
}

void cam_line_fini(struct cam_line *line) {
    for (int k = 0; k < line->n; k++)
        free(line->words[k]);
    line->n = 0;
}

bool cam_has(const struct cam_line *line, const char *word) {
    for (int k = 0; k < line->n; k++)
        if (strcmp(line->words[k], word) == 0)
            return true;
    return false;
}

static void note_command(const struct cam_case *c, const struct cam_line *line) {
    char *path = cam_path(c, "commands");
    FILE *f = fopen(path, "a");
    free(path);
    if (f == NULL)
        return;
    for (int k = 0; k < line->n; k++)
        fprintf(f, "%s%s", k ? " " : "", line->words[k]);
    if (line->signals[0] != 0)
        fprintf(f, "  # signal %d after %.3f s", line->signals[0], line->signal_after_s[0]);
    fputc('\n', f);
    fclose(f);
}

/* Control characters other than a line's end and a tab; with `c1`, those of U+0080 to
 * U+009F too, which JSON may hold. */
static bool has_controls(const char *text, size_t n, bool with_c1) {
    for (size_t k = 0; k < n; k++) {
        unsigned char b = (unsigned char)text[k];
        bool c1 = with_c1 && b == 0xc2 && k + 1 < n && (unsigned char)text[k + 1] < 0xa0;
        if ((b < 0x20 && b != '\n' && b != '\t') || b == 0x7f || c1)
            return true;
    }
    return false;
}

static bool ended_by_our_signal(const struct cam_line *line, const struct cam_ended *e) {
    return e->signal != 0 &&
           (e->signal == line->signals[0] || e->signal == line->signals[1]);
}

static void check_time(struct cam_case *c, const struct cam_line *line, const char *what,
                       const struct cam_ended *e) {
    if (c->o->steady || c->o->sanitized)
        return;
    if (line->limit_s > 0 && e->busy_s > 1.1 * line->limit_s + 1)
        cam_fail(c, "TIME %s: %.1f s with a limit of %.2f s", what, e->busy_s,
                 line->limit_s);
    if (e->after_sign_s > 1.1)
        cam_fail(c, "TIME %s: ended %.1f s after the signal", what, e->after_sign_s);
}

static void check_end(struct cam_case *c, const struct cam_line *line,
                      const struct cam_ended *e) {
    char what[64];
    snprintf(what, sizeof what, "command-%u, %s", c->n_commands, line->words[1]);
    if (e->hung)
        cam_fail(c, "TIME %s: hangs", what);
    else if (e->signal != 0 && !ended_by_our_signal(line, e))
        cam_fail(c, "%s: signal %d", what, e->signal);
    else if (e->signal == 0 && (e->code < 0 || e->code > 5))
        cam_fail(c, "%s: exit code %d: %.200s", what, e->code, e->err);
    if (e->code > 0 && e->out_len == 0 && e->err_len == 0)
        cam_fail(c, "%s: exit code %d without a word", what, e->code);
    if (e->code == 5)
        cam_fail(c, "%s: exit code 5: %.200s", what, e->err);
    if (line->must_exit > 0 && e->code != line->must_exit)
        cam_fail(c, "%s: exit code %d instead of %d: %.200s", what, e->code,
                 line->must_exit, e->err);
    if (strstr(e->err, "Sanitizer") != NULL || strstr(e->err, "runtime error") != NULL)
        cam_fail(c, "%s: %.400s", what, e->err);
    if (has_controls(e->out, e->out_len, !cam_has(line, "--json")) ||
        has_controls(e->err, e->err_len, true))
        cam_fail(c, "%s: control characters", what);
    check_time(c, line, what, e);
}

void cam_command(struct cam_case *c, struct cam_line *line, struct cam_ended *e) {
    char name[32];
    snprintf(name, sizeof name, "command-%u", ++c->n_commands);
    struct cam_order order = {
        .folder = c->folder,
        .name = name,
        .argv = line->words,
        .signals = {line->signals[0], line->signals[1]},
        .signal_after_s = {line->signal_after_s[0], line->signal_after_s[1]},
        .give_up_s = (cam_has(line, "--ignore-clock") ? 600 : 60) + 20 * line->limit_s};
    line->words[line->n] = NULL;
    note_command(c, line);
    cam_run(&order, e);
    c->counts->commands++;
    c->counts->interrupts += e->after_sign_s >= 0;
    check_end(c, line, e);
    check_folder(c);
    cam_line_fini(line);
}

json_t *cam_json(struct cam_case *c, const struct cam_ended *e) {
    json_error_t error;
    json_t *o = json_loadb(e->out, e->out_len, JSON_REJECT_DUPLICATES, &error);
    if (!json_is_object(o)) {
        cam_fail(c, "command-%u: not one JSON object: %s", c->n_commands, error.text);
        json_decref(o);
        return NULL;
    }
    return o;
}

uint64_t cam_member(const json_t *o, const char *key) {
    return (uint64_t)json_integer_value(json_object_get(o, key));
}

/* ---- plans ---- */

static void compare_figures(struct cam_case *c, const json_t *o,
                            const struct ck_figures *f) {
    const struct {
        const char *key;
        uint64_t value;
    } both[] = {{"time_ns", f->time_ns},
                {"baseline_time_ns", f->baseline_time_ns},
                {"recompute_ns", f->recompute_ns},
                {"stall_ns", f->stall_ns},
                {"peak_bytes", f->peak_bytes},
                {"fixed_bytes", f->fixed_bytes},
                {"arena_used_bytes", f->arena_bytes},
                {"host_used_bytes", f->host_bytes},
                {"budget_bytes", f->budget_bytes},
                {"lower_bound_ns", f->lower_bound_ns}};
    for (size_t k = 0; k < sizeof both / sizeof *both; k++)
        if (json_object_get(o, both[k].key) != NULL &&
            cam_member(o, both[k].key) != both[k].value)
            cam_fail(c, "verify says %s = %" PRIu64 ", the second checker %" PRIu64,
                     both[k].key, cam_member(o, both[k].key), both[k].value);
}

bool cam_judge(struct cam_case *c, const char *graph, const char *plan,
               struct ck_figures *f) {
    struct cam_line line = {.n = 0};
    struct cam_ended e;
    char why[256] = "", *graph_path = cam_path(c, graph), *plan_path = cam_path(c, plan);
    cam_word(&line, "%s", c->o->program);
    cam_word(&line, "verify");
    cam_word(&line, "%s", graph);
    cam_word(&line, "%s", plan);
    cam_word(&line, "--json");
    cam_command(c, &line, &e);
    bool good = e.code == 0 || cam_fail(c, "verify rejects %s: %.200s", plan, e.out);
    if (ck_check(graph_path, plan_path, f, why) != CK_VALID)
        good = cam_fail(c, "the second checker rejects %s: %s", plan, why);
    json_t *o = good ? cam_json(c, &e) : NULL;
    if (o != NULL)
        compare_figures(c, o, f);
    json_decref(o);
    cam_ended_fini(&e);
    free(graph_path);
    free(plan_path);
    c->counts->plans++;
    return good;
}
