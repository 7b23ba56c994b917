#include "kernels/bind.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>

#define MAX_ATTR ((int64_t)1 << 40)

void rp_bind_fail(struct rp_binding *b, const char *fmt, ...) {
    char text[512];
    va_list ap;
    if (b->rc != RP_OK)
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    b->rc = rp_fail(b->err, RP_INPUT, "%s: ops[%" PRIu32 "] \"%s\": %s", b->file, b->index,
                    b->op->name, text);
}

int64_t rp_bind_product(struct rp_binding *b, int64_t x, int64_t y) {
    if (x != 0 && y > RP_BIND_MAX_COUNT / x) {
        rp_bind_fail(b, "sizes overflow");
        return 1;
    }
    return x * y;
}

/* ---- operands ---- */

static const char *slot_text(int slot, char text[32]) {
    snprintf(text, 32, "%s %d", slot < RP_OUT ? "input" : "output", slot % RP_OUT);
    return text;
}

const struct rp_operand *rp_bind_operand(const struct rp_binding *b, int slot) {
    return slot < RP_OUT ? &b->in[slot] : &b->out[slot - RP_OUT];
}

void rp_bind_count(struct rp_binding *b, int slot, int64_t count) {
    char text[32];
    const int64_t has = rp_bind_operand(b, slot)->count;
    if (has != count)
        rp_bind_fail(b, "%s has %" PRId64 " elements, not %" PRId64, slot_text(slot, text),
                     has, count);
}

void rp_bind_same(struct rp_binding *b, int slot, int other) {
    rp_bind_count(b, slot, rp_bind_operand(b, other)->count);
}

/* ---- attributes ---- */

static int64_t integer(struct rp_binding *b, const json_t *value, const char *key) {
    const json_int_t n = json_integer_value(value);
    if (!json_is_integer(value) || n < 0 || n > MAX_ATTR) {
        rp_bind_fail(b, "attribute \"%s\" is missing or not an integer from 0 to 2^40",
                     key);
        return 1;
    }
    return n;
}

int64_t rp_bind_int(struct rp_binding *b, const char *key) {
    return integer(b, json_object_get(b->op->attrs, key), key);
}

void rp_bind_ints(struct rp_binding *b, const char *key, size_t n, int64_t *to) {
    const json_t *array = json_object_get(b->op->attrs, key);
    if (json_array_size(array) != n)
        rp_bind_fail(b, "attribute \"%s\" is missing or not a list of %zu integers", key,
                     n);
    for (size_t i = 0; i < n; i++)
        to[i] = integer(b, json_array_get(array, i), key);
}

double rp_bind_real(struct rp_binding *b, const char *key) {
    const json_t *value = json_object_get(b->op->attrs, key);
    if (!json_is_number(value))
        rp_bind_fail(b, "attribute \"%s\" is missing or not a number", key);
    return json_is_number(value) ? json_number_value(value) : 1;
}

bool rp_bind_bool(struct rp_binding *b, const char *key) {
    const json_t *value = json_object_get(b->op->attrs, key);
    if (!json_is_boolean(value))
        rp_bind_fail(b, "attribute \"%s\" is missing or neither true nor false", key);
    return json_is_true(value);
}

bool rp_bind_tf32(struct rp_binding *b) {
    const char *const key = "tf32";
    if (json_object_get(b->op->attrs, key) == NULL)
        return false;
    return rp_bind_bool(b, key) && b->k->real == RP_REAL32;
}

size_t rp_bind_axis(struct rp_binding *b, int slot) {
    const struct rp_operand *x = rp_bind_operand(b, slot);
    const int64_t axis = rp_bind_int(b, "axis");
    if (b->rc == RP_OK && axis < (int64_t)x->n_dims)
        return (size_t)axis;
    rp_bind_fail(b, "axis %" PRId64 " does not exist", axis);
    return 0;
}

void rp_bind_groups(struct rp_binding *b, int slot, size_t axis, size_t n_mid) {
    const struct rp_operand *x = rp_bind_operand(b, slot);
    struct rp_kargs *a = &b->k->args;
    a->outer = a->mid = a->inner = 1;
    for (size_t i = 0; i < x->n_dims; i++)
        *(i < axis ? &a->outer : i < axis + n_mid ? &a->mid : &a->inner) *= x->dim[i];
}
