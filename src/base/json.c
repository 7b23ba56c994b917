#include "base/json.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static const char *const type_name[] = {
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
            return rp_fail(err, RP_INPUT, "%s: %s: unknown key '%.80s'", file, place, key);
        if (!fits(v, f->type))
            return rp_fail(err, RP_INPUT, "%s: %s: '%s' must be %s", file, place, key,
                           type_name[f->type]);
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
    *root = NULL;
    if (len == 0)
        return rp_fail(err, RP_INPUT, "%s: the file is empty", file);
    const char *nul = memchr(text, '\0', len);
    if (nul != NULL)
        return rp_fail(err, RP_INPUT, "%s: byte %td is NUL", file, nul - text);
    if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
        return rp_fail(err, RP_INPUT, "%s: begins with a byte order mark", file);
    *root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &je);
    if (*root != NULL)
        return RP_OK;
    if (je.text[0] == '\0') /* jansson has no code for it here */
        return rp_fail(err, RP_ENV, "%s: out of memory", file);
    bool nul_escape = json_error_code(&je) == json_error_null_character ||
                      json_error_code(&je) == json_error_null_byte_in_key;
    return rp_fail(err, RP_INPUT, "%s: line %d column %d: %s", file, je.line, je.column,
                   nul_escape ? "\\u0000 is not allowed" : je.text);
}

rp_rc rp_json_format(const json_t *root, const char *want, int newest, const char *file,
                     struct rp_err *err) {
    const char *is = json_string_value(json_object_get(root, "format"));
    const json_t *v = json_object_get(root, "version");
    if (is == NULL)
        return rp_fail(err, RP_INPUT, "%s: not a %s file (it has no 'format' text)", file,
                       want);
    if (strcmp(is, want) != 0)
        return rp_fail(err, RP_INPUT, "%s: not a %s file (its 'format' is '%.80s')", file,
                       want, is);
    if (json_is_integer(v) && (json_integer_value(v) < 1 || json_integer_value(v) > newest))
        return rp_fail(err, RP_INPUT,
                       "%s: %s version %" JSON_INTEGER_FORMAT
                       " is not known (this program reads version%s)",
                       file, want, json_integer_value(v), newest == 1 ? " 1" : "s 1 and 2");
    return RP_OK;
}

/* What jansson leaves as it is but no terminal should get is written as \uXXXX. */
void rp_json_put(FILE *f, const json_t *value) {
    char *dump = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
    if (dump == NULL)
        rp_out_of_memory();
    uint32_t c;
    size_t n;
    const char *text = dump, *hidden;
    for (; (hidden = rp_find_hidden(text, &c, &n)) != NULL; text = hidden + n) {
        fwrite(text, 1, (size_t)(hidden - text), f);
        if (c > 0xffff)
            fprintf(f, "\\u%04x", 0xd800 + ((c - 0x10000) >> 10));
        fprintf(f, "\\u%04x", c > 0xffff ? 0xdc00 + (c & 0x3ff) : c);
    }
    fputs(text, f);
    free(dump);
}

void rp_json_put_string(FILE *f, const char *s) {
    json_t *v = json_string(s);
    if (v == NULL) { /* not UTF-8: a file name may be anything */
        char *clean = rp_clean_copy(s);
        v = json_string(clean);
        free(clean);
    }
    rp_json_put(f, v);
    json_decref(v);
}
