#include "json_fields.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool ck_fault(struct ck_reader *r, const char *format, ...) {
    va_list list;
    if (r->why[0] != 0)
        return false;
    int n = snprintf(r->why, 256, "%s%s", r->place, r->place[0] ? ": " : "");
    va_start(list, format);
    vsnprintf(r->why + n, 256 - (size_t)n, format, list);
    va_end(list);
    return false;
}

json_t *ck_load(struct ck_reader *r, const char *path) {
    json_error_t error;
    json_t *o = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
    if (o == NULL)
        ck_fault(r, "line %d: %s", error.line, error.text);
    return o;
}

bool ck_keys(struct ck_reader *r, const json_t *o, const char *const *known) {
    const char *key;
    json_t *value;
    if (!json_is_object(o))
        return ck_fault(r, "an object is missing");
    json_object_foreach((json_t *)o, key, value) {
        const char *const *k = known;
        while (*k != NULL && strcmp(*k, key) != 0)
            k++;
        if (*k == NULL)
            return ck_fault(r, "unknown key %.40s", key);
    }
    return true;
}

/* The member, or NULL. A missing one is a fault if it is required. */
static json_t *member(struct ck_reader *r, const json_t *o, const char *key, bool required,
                      bool *good) {
    json_t *v = json_object_get(o, key);
    *good = v != NULL || !required || ck_fault(r, "%s is missing", key);
    return v;
}

bool ck_number(struct ck_reader *r, const json_t *o, const char *key, bool required,
               int64_t *value) {
    bool good;
    json_t *v = member(r, o, key, required, &good);
    if (v == NULL)
        return good;
    if (!json_is_integer(v) || json_integer_value(v) < 0)
        return ck_fault(r, "%s is not a quantity", key);
    *value = json_integer_value(v);
    return true;
}

bool ck_bool(struct ck_reader *r, const json_t *o, const char *key, bool required,
             bool *value) {
    bool good;
    json_t *v = member(r, o, key, required, &good);
    if (v == NULL)
        return good;
    if (!json_is_boolean(v))
        return ck_fault(r, "%s is neither true nor false", key);
    *value = json_is_true(v);
    return true;
}

bool ck_string(struct ck_reader *r, const json_t *o, const char *key, bool required,
               const char **value) {
    bool good;
    json_t *v = member(r, o, key, required, &good);
    if (v == NULL)
        return good;
    if (!json_is_string(v))
        return ck_fault(r, "%s is not a string", key);
    *value = json_string_value(v);
    return true;
}

bool ck_word(struct ck_reader *r, const json_t *o, const char *key, bool required,
             const char *const *words, int *value) {
    const char *text = NULL;
    if (!ck_string(r, o, key, required, &text))
        return false;
    if (text == NULL)
        return true;
    for (int k = 0; words[k] != NULL; k++)
        if (strcmp(words[k], text) == 0) {
            *value = k;
            return true;
        }
    return ck_fault(r, "%s has an unknown value", key);
}

bool ck_object(struct ck_reader *r, const json_t *o, const char *key, bool required,
               json_t **value) {
    bool good;
    *value = member(r, o, key, required, &good);
    if (*value != NULL && !json_is_object(*value))
        return ck_fault(r, "%s is not an object", key);
    return good;
}

bool ck_array(struct ck_reader *r, const json_t *o, const char *key, bool required,
              json_t **value) {
    bool good;
    *value = member(r, o, key, required, &good);
    if (*value != NULL && !json_is_array(*value))
        return ck_fault(r, "%s is not an array", key);
    return good;
}

bool ck_ids(struct ck_reader *r, const json_t *o, const char *key, bool required, int end,
            struct ck_list *list) {
    json_t *a;
    if (!ck_array(r, o, key, required, &a))
        return false;
    int n = (int)json_array_size(a);
    list->at = calloc((size_t)n + 1, sizeof *list->at);
    for (int k = 0; k < n; k++) {
        json_t *v = json_array_get(a, (size_t)k);
        list->at[k] = json_integer_value(v);
        if (!json_is_integer(v) || list->at[k] < 0 || list->at[k] >= end)
            return ck_fault(r, "%s[%d] is no tensor", key, k);
        for (int i = 0; i < k; i++)
            if (list->at[i] == list->at[k])
                return ck_fault(r, "%s names a tensor twice", key);
        list->n++;
    }
    return true;
}

bool ck_add(struct ck_reader *r, int64_t *sum, int64_t value, const char *what) {
    if (value > CK_MAX - *sum)
        return ck_fault(r, "%s: the sum overflows", what);
    *sum += value;
    return true;
}
