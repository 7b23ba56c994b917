#include "model/arithmetic.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

static const struct {
    const char *name;
    enum rp_number number;
} names[] = {
    {"f64", RP_NUMBER_F64},        {"float64", RP_NUMBER_F64},
    {"double", RP_NUMBER_F64},     {"f32", RP_NUMBER_F32},
    {"float32", RP_NUMBER_F32},    {"float", RP_NUMBER_F32},
    {"tf32", RP_NUMBER_F32},       {"f16", RP_NUMBER_F16},
    {"float16", RP_NUMBER_F16},    {"half", RP_NUMBER_F16},
    {"bf16", RP_NUMBER_BF16},      {"bfloat16", RP_NUMBER_BF16},
    {"c32", RP_NUMBER_C32},        {"complex32", RP_NUMBER_C32},
    {"c64", RP_NUMBER_C64},        {"complex64", RP_NUMBER_C64},
    {"c128", RP_NUMBER_C128},      {"complex128", RP_NUMBER_C128},
    {"bool", RP_NUMBER_INTEGER},   {"pred", RP_NUMBER_INTEGER},
    {"float0", RP_NUMBER_INTEGER}, {"f0", RP_NUMBER_INTEGER}, /* JAX: no value at all */
};

/* Formats of 8 bits and fewer have their bits of exponent and mantissa behind one of
 * these: f8e4m3fn, float8_e5m2fnuz, float4_e2m1fn_x2. */
static const char *const small[] = {"f8e",      "f8_e", "float8_e", "f6e",     "f6_e",
                                    "float6_e", "f4e",  "f4_e",     "float4_e"};

/* Integers have their bits behind one of these: i64, uint8, qint32. */
static const char *const integers[] = {"i", "u", "int", "uint", "qint", "quint"};

static bool begins(const char *text, const char *prefix) {
    return strncasecmp(text, prefix, strlen(prefix)) == 0;
}

/* A number, also with what PyTorch writes behind the bits of several integers in one byte
 * ("quint4x2"). */
static bool is_width(const char *text) {
    size_t n = strspn(text, "0123456789");
    if (n > 0 && text[n] == 'x') {
        text += n + 1;
        n = strspn(text, "0123456789");
    }
    return n > 0 && text[n] == '\0';
}

enum rp_number rp_number_of(const char *dtype) {
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcasecmp(dtype, names[i].name) == 0)
            return names[i].number;
    for (size_t i = 0; i < sizeof small / sizeof small[0]; i++)
        if (begins(dtype, small[i]))
            return RP_NUMBER_F8;
    for (size_t i = 0; i < sizeof integers / sizeof integers[0]; i++)
        if (begins(dtype, integers[i]) && is_width(dtype + strlen(integers[i])))
            return RP_NUMBER_INTEGER;
    return RP_NUMBER_UNKNOWN;
}

static uint64_t f8_flops(const struct rp_device_model *m) {
    if (m->f8_flops > 0)
        return m->f8_flops;
    return m->f16_flops > m->bf16_flops ? m->f16_flops : m->bf16_flops;
}

uint64_t rp_number_flops(const struct rp_device_model *m, enum rp_number number) {
    switch (number) {
    case RP_NUMBER_F64:
        return m->f64_flops;
    case RP_NUMBER_F16:
        return m->f16_flops;
    case RP_NUMBER_BF16:
        return m->bf16_flops;
    case RP_NUMBER_F8:
        return f8_flops(m);
    case RP_NUMBER_C32:
        return m->f16_flops / 4;
    case RP_NUMBER_C64:
        return m->f32_flops / 4;
    case RP_NUMBER_C128:
        return m->f64_flops / 4;
    case RP_NUMBER_F32:
    case RP_NUMBER_INTEGER:
    case RP_NUMBER_UNKNOWN:
        break;
    }
    return m->f32_flops;
}
