/* json: reads objects strictly by a table of fields, on top of jansson. json_writer writes.
 *
 * Thread-safe for different values, as jansson is. */
#ifndef RP_BASE_JSON_H
#define RP_BASE_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/status.h"

enum rp_json_type {
    RP_JSON_STRING, /* to: const char *, borrowed from the object */
    RP_JSON_NAT,    /* to: uint64_t, 0 .. 2^63-1 */
    RP_JSON_BOOL,   /* to: bool */
    RP_JSON_ARRAY,  /* to: json_t *, borrowed */
    RP_JSON_OBJECT, /* to: json_t *, borrowed */
    RP_JSON_ANY     /* to: json_t *, borrowed */
};

/* If the field is absent, *to keeps its value. A table ends with a NULL key. */
struct rp_json_field {
    const char *key;
    enum rp_json_type type;
    bool required;
    void *to;
};

/* Reads an object. RP_INPUT if a key is unknown, a required key is missing or a value has
 * the wrong type. Messages begin with `file` and `place` (such as `ops[17] "relu_3"`). */
rp_rc rp_json_fields(json_t *object, const struct rp_json_field *fields, const char *file,
                     const char *place, struct rp_err *err);

/* Parses all of `text`, which must be one value in UTF-8 without duplicate keys. On RP_OK
 * the caller owns *root; otherwise it is NULL. */
rp_rc rp_json_parse(const char *text, size_t len, const char *file, json_t **root,
                    struct rp_err *err);

/* Checks that an object's "format" is `want` and its "version" from 1 to `newest`. Call it
 * before rp_json_fields, to which all keys of another format would be unknown. A version
 * that is missing or no integer is left to rp_json_fields. */
rp_rc rp_json_format(const json_t *root, const char *want, int newest, const char *file,
                     struct rp_err *err);

/* Write compact JSON and keep the order of keys. Bytes that are not UTF-8 become escapes
 * such as \xff. Write errors stay with the stream. */
void rp_json_put(FILE *f, const json_t *value);
void rp_json_put_string(FILE *f, const char *s);

#endif
