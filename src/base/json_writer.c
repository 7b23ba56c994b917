#include "base/json_writer.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/json.h"

struct rp_json_writer rp_json_writer_on(FILE *f) {
    return (struct rp_json_writer){.f = f};
}

static void put_newline(struct rp_json_writer *w) {
    if (w->on_new_line)
        fputc('\n', w->f);
    w->on_new_line = false;
}

/* Writes what precedes a value: a comma if it is not the first and, in objects, its key. */
static void begin_value(struct rp_json_writer *w, const char *key) {
    bool in_object = w->depth > 0 && w->closing[w->depth - 1] == '}';
    assert(in_object == (key != NULL));
    assert(w->depth > 0 || !w->needs_comma); /* one outermost value */
    if (w->needs_comma)
        fputc(',', w->f);
    put_newline(w);
    w->needs_comma = true;
    if (key == NULL)
        return;
    rp_json_put_string(w->f, key);
    fputc(':', w->f);
}

static void open_with(struct rp_json_writer *w, const char *key, char opening,
                      char closing) {
    begin_value(w, key);
    assert(w->depth < RP_JSON_MAX_DEPTH);
    w->closing[w->depth++] = closing;
    w->needs_comma = false;
    fputc(opening, w->f);
}

void rp_json_object(struct rp_json_writer *w, const char *key) {
    open_with(w, key, '{', '}');
}

void rp_json_array(struct rp_json_writer *w, const char *key) {
    open_with(w, key, '[', ']');
}

void rp_json_end(struct rp_json_writer *w) {
    assert(w->depth > 0);
    put_newline(w);
    fputc(w->closing[--w->depth], w->f);
    w->needs_comma = true;
}

void rp_json_finish(struct rp_json_writer *w) {
    assert(w->depth == 0 && w->needs_comma);
    fputc('\n', w->f);
}

void rp_json_string(struct rp_json_writer *w, const char *key, const char *value) {
    char *shown = w->clean ? rp_clean_copy(value) : NULL;
    begin_value(w, key);
    rp_json_put_string(w->f, w->clean ? shown : value);
    free(shown);
}

void rp_json_uint(struct rp_json_writer *w, const char *key, uint64_t value) {
    begin_value(w, key);
    fprintf(w->f, "%" PRIu64, value);
}

void rp_json_int(struct rp_json_writer *w, const char *key, int64_t value) {
    begin_value(w, key);
    fprintf(w->f, "%" PRId64, value);
}

void rp_json_double(struct rp_json_writer *w, const char *key, double value, int decimals) {
    begin_value(w, key);
    fprintf(w->f, "%.*f", decimals, value);
}

void rp_json_bool(struct rp_json_writer *w, const char *key, bool value) {
    rp_json_raw(w, key, value ? "true" : "false");
}

void rp_json_null(struct rp_json_writer *w, const char *key) {
    rp_json_raw(w, key, "null");
}

void rp_json_value(struct rp_json_writer *w, const char *key, const json_t *value) {
    begin_value(w, key);
    rp_json_put(w->f, value);
}

void rp_json_raw(struct rp_json_writer *w, const char *key, const char *text) {
    begin_value(w, key);
    fputs(text, w->f);
}

void rp_json_newline(struct rp_json_writer *w) {
    w->on_new_line = true;
}
