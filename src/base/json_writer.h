/* json_writer: writes JSON to a stream, value by value. It puts the commas, quotes and
 * closing brackets. A mistake of the caller (a key in an array, an object left open) fails
 * an assert.
 *
 *     struct rp_json_writer w = rp_json_writer_on(f);
 *     rp_json_object(&w, NULL);
 *     rp_json_string(&w, "name", g->name);
 *     rp_json_array(&w, "ops");
 *     rp_json_uint(&w, NULL, 7);
 *     rp_json_end(&w);
 *     rp_json_end(&w);
 *     rp_json_finish(&w);           {"name":"mlp","ops":[7]} and a newline
 *
 * `key` is the member's name within an object, and NULL within an array and for the
 * outermost value. The output is compact: no spaces, and newlines only where
 * rp_json_newline asks for one. Write errors stay with the stream, for its owner to check.
 *
 * Not thread-safe: one writer, one thread.
 */
#ifndef RP_BASE_JSON_WRITER_H
#define RP_BASE_JSON_WRITER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { RP_JSON_MAX_DEPTH = 16 };

struct rp_json_writer {
    FILE *f;                         /* the caller's */
    uint32_t depth;                  /* objects and arrays that are open */
    char closing[RP_JSON_MAX_DEPTH]; /* '}' or ']' of each */
    bool needs_comma, on_new_line;
    bool clean; /* strings are for people to read: as rp_put_clean writes them */
};

struct rp_json_writer rp_json_writer_on(FILE *f);
/* Asserts that one value was written and is closed; ends the line. */
void rp_json_finish(struct rp_json_writer *w);

void rp_json_object(struct rp_json_writer *w, const char *key);
void rp_json_array(struct rp_json_writer *w, const char *key);
void rp_json_end(struct rp_json_writer *w); /* closes the innermost object or array */

/* Bytes that are not UTF-8 become '?'. */
void rp_json_string(struct rp_json_writer *w, const char *key, const char *value);
void rp_json_uint(struct rp_json_writer *w, const char *key, uint64_t value);
void rp_json_int(struct rp_json_writer *w, const char *key, int64_t value);
void rp_json_double(struct rp_json_writer *w, const char *key, double value, int decimals);
void rp_json_bool(struct rp_json_writer *w, const char *key, bool value);
void rp_json_null(struct rp_json_writer *w, const char *key);
/* A value that jansson holds, or one that is JSON text already. */
void rp_json_value(struct rp_json_writer *w, const char *key, const json_t *value);
void rp_json_raw(struct rp_json_writer *w, const char *key, const char *text);

/* The next member, element or closing bracket begins on a new line. */
void rp_json_newline(struct rp_json_writer *w);

#endif
