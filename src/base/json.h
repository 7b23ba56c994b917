/* json: strict reading of objects by a table of fields, on top of jansson. */
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

/* A field that is absent leaves *to as it was; tables end with a NULL key. */
struct rp_json_field {
    const char *key;
    enum rp_json_type type;
    bool required;
    void *to;
};

/* `file` and `place` (such as `ops[17] "relu_3"`) begin every message. An unknown key, a
 * missing required key and a value of the wrong type are RP_INPUT. */
rp_rc rp_json_fields(json_t *object, const struct rp_json_field *fields, const char *file,
                     const char *place, struct rp_err *err);

/* Parses all of `text`: UTF-8, no duplicate keys, nothing after the value. */
rp_rc rp_json_parse(const char *text, size_t len, const char *file, json_t **root,
                    struct rp_err *err);

/* The "format" of an object that reader `want` shall read must be `want`, its "version" 1:
 * asked before the keys, because another format's keys are all unknown. */
rp_rc rp_json_format(const json_t *root, const char *want, const char *file,
                     struct rp_err *err);

/* Compact, key order kept; bytes that are not UTF-8 become '?'. Writing to a memory stream:
 * errors show when it is closed. */
void rp_json_put(FILE *f, const json_t *value);
void rp_json_put_string(FILE *f, const char *s);

#endif
