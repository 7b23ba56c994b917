#include "base/json.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static const char *const type_words[] = {
    [RP_JSON_STRING] = "a string",    [RP_JSON_NAT] = "an integer from 0 to 2^63-1",
    [RP_JSON_BOOL] = "true or false", [RP_JSON_ARRAY] = "an array",
    [RP_JSON_OBJECT] = "an object",   [RP_JSON_ANY] = "a value",
};

static bool fits(const json_t *v, enum rp_json_type type) {
    switch (type) {
    case RP_JSON_STRING:
        return json_is_string(v);
    case RP_JSON_NAT:
        return json_is_integer(v) && json_integer_value(v) >= 0;
    case RP_JSON_BOOL:
        return json_is_boolean(v);
    case RP_JSON_ARRAY:
        return json_is_array(v);
    case RP_JSON_OBJECT:
        return json_is_object(v);
    case RP_JSON_ANY:
        return true;
    }
    return false;
}

static void store(json_t *v, const struct rp_json_field *f) {
    switch (f->type) {
    case RP_JSON_STRING:
        *(const char **)f->to = json_string_value(v);
        break;
    case RP_JSON_NAT:
        *(uint64_t *)f->to = (uint64_t)json_integer_value(v);
        break;
    case RP_JSON_BOOL:
        *(bool *)f->to = json_is_true(v);
        break;
    default:
        *(json_t **)f->to = v;
    }
}

rp_rc rp_json_fields(json_t *object, const struct rp_json_field *fields, const char *file,
                     const char *place, struct rp_err *err) {
    const char *key;
    json_t *v;
    if (!json_is_object(object))
        return rp_fail(err, RP_INPUT, "%s: %s: must be an object", file, place);
    json_object_foreach(object, key, v) {
        const struct rp_json_field *f = fields;
        while (f->key != NULL && strcmp(f->key, key) != 0)
            f++;
        if (f->key == NULL)
            return rp_fail(err, RP_INPUT, "%s: %s: unknown key '%s'", file, place, key);
        if (!fits(v, f->type))
            return rp_fail(err, RP_INPUT, "%s: %s: '%s' must be %s", file, place, key,
                           type_words[f->type]);
        store(v, f);
    }
    for (const struct rp_json_field *f = fields; f->key != NULL; f++)
        if (f->required && json_object_get(object, f->key) == NULL)
            return rp_fail(err, RP_INPUT, "%s: %s: '%s' is missing", file, place, f->key);
    return RP_OK;
}

rp_rc rp_json_parse(const char *text, size_t len, const char *file, json_t **root,
                    struct rp_err *err) {
    json_error_t je;
    if (len == 0)
        return rp_fail(err, RP_INPUT, "%s: the file is empty", file);
    *root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &je);
    if (*root == NULL && json_error_code(&je) == json_error_out_of_memory)
        return rp_fail(err, RP_ENV, "%s: out of memory", file);
    if (*root == NULL)
        return rp_fail(err, RP_INPUT, "%s: line %d column %d: %s", file, je.line, je.column,
                       je.text);
    return RP_OK;
}

void rp_json_put(FILE *f, const json_t *value) {
    json_dumpf(value, f, JSON_COMPACT | JSON_ENCODE_ANY);
}

void rp_json_put_string(FILE *f, const char *s) {
    json_t *v = json_string(s);
    rp_json_put(f, v);
    json_decref(v);
}
