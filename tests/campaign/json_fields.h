/* json_fields: typed members of JSON objects, and one message for what is wrong. Part of
 * checker.h. */
#ifndef RP_CAMPAIGN_JSON_FIELDS_H
#define RP_CAMPAIGN_JSON_FIELDS_H

#include "files.h"

/* The first fault found; `place` is the object being read. */
struct ck_reader {
    char *why, place[80];
};

json_t *ck_load(struct ck_reader *r, const char *path);

/* Prints the fault, and returns false. */
bool ck_fault(struct ck_reader *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* False if `o` is no object, or has a key that is not in this list, which ends with NULL.
 */
bool ck_keys(struct ck_reader *r, const json_t *o, const char *const *known);

/* A member. Without the key, *value stays as it is, and this is a fault if it is required.
 */
bool ck_number(struct ck_reader *r, const json_t *o, const char *key, bool required,
               int64_t *value);
bool ck_bool(struct ck_reader *r, const json_t *o, const char *key, bool required,
             bool *value);
bool ck_string(struct ck_reader *r, const json_t *o, const char *key, bool required,
               const char **value);
/* One of `words`, which ends with NULL; *value becomes its index. */
bool ck_word(struct ck_reader *r, const json_t *o, const char *key, bool required,
             const char *const *words, int *value);
bool ck_object(struct ck_reader *r, const json_t *o, const char *key, bool required,
               json_t **value);
bool ck_array(struct ck_reader *r, const json_t *o, const char *key, bool required,
              json_t **value);
/* An array of numbers below `end`. */
bool ck_ids(struct ck_reader *r, const json_t *o, const char *key, bool required, int end,
            struct ck_list *list);
/* *sum += value; a sum above CK_MAX is a fault. */
bool ck_add(struct ck_reader *r, int64_t *sum, int64_t value, const char *what);

#endif
