#include "kernels/args_literal.h"

#include <inttypes.h>
#include <stddef.h>

enum field_type { INT32, INT64, UINT64, REAL };

/* In the order of the struct, as C++ requires. */
static const struct {
    const char *name;
    enum field_type type;
    int n;
    size_t offset;
} fields[] = {
#define FIELD(name, type, n)                                                               \
    { #name, type, n, offsetof(struct rp_kargs, name) }
    FIELD(n_in, INT32, 1),        FIELD(n_out, INT32, 1),    FIELD(count, INT64, 1),
    FIELD(outer, INT64, 1),       FIELD(mid, INT64, 1),      FIELD(inner, INT64, 1),
    FIELD(batch, INT64, 1),       FIELD(m, INT64, 1),        FIELD(n, INT64, 1),
    FIELD(k, INT64, 1),           FIELD(batches, INT64, 3),  FIELD(stride_a, INT64, 5),
    FIELD(stride_b, INT64, 5),    FIELD(stride_c, INT64, 5), FIELD(transpose_a, INT32, 1),
    FIELD(transpose_b, INT32, 1), FIELD(single_b, INT32, 1), FIELD(channels, INT64, 1),
    FIELD(filters, INT64, 1),     FIELD(groups, INT64, 1),   FIELD(x_size, INT64, 3),
    FIELD(y_size, INT64, 3),      FIELD(kernel, INT64, 3),   FIELD(stride, INT64, 3),
    FIELD(pad, INT64, 3),         FIELD(dilation, INT64, 3), FIELD(count_pad, INT32, 1),
    FIELD(algorithm, INT32, 1),   FIELD(tf32, INT32, 1),     FIELD(start, INT64, 1),
    {"parts", INT64, 0, 0},       FIELD(causal, INT32, 1),   FIELD(inverse, INT32, 1),
    FIELD(affine, INT32, 1),      FIELD(grad_h, INT32, 1),   FIELD(grad_c, INT32, 1),
    FIELD(alpha, REAL, 1),        FIELD(eps, REAL, 1),       FIELD(momentum, REAL, 1),
    FIELD(base, REAL, 1),         FIELD(p, REAL, 1),         FIELD(seed, UINT64, 1),
    FIELD(wide_grad, INT32, 1),   FIELD(master, INT32, 1),   FIELD(lr, REAL, 1),
    FIELD(beta1, REAL, 1),        FIELD(beta2, REAL, 1),     FIELD(weight_decay, REAL, 1),
#undef FIELD
};

static int is_zero(const char *at, enum field_type type, int n) {
    static const size_t size[] = {[INT32] = 4, [INT64] = 8, [UINT64] = 8, [REAL] = 8};
    for (size_t i = 0; i < (size_t)n * size[type]; i++)
        if (at[i] != 0)
            return 0;
    return 1;
}

static void put_value(FILE *f, const char *at, enum field_type type, int i) {
    switch (type) {
    case INT32:
        fprintf(f, "%" PRId32, ((const int32_t *)(const void *)at)[i]);
        break;
    case INT64:
        fprintf(f, "%" PRId64, ((const int64_t *)(const void *)at)[i]);
        break;
    case UINT64:
        fprintf(f, "%" PRIu64 "u", ((const uint64_t *)(const void *)at)[i]);
        break;
    case REAL:
        fprintf(f, "%a", ((const double *)(const void *)at)[i]);
        break;
    }
}

static int64_t n_parts(const struct rp_kargs *a) {
    return a->n_in > 1 ? a->n_in : a->n_out;
}

void rp_args_literal_write(const struct rp_kernel *k, const char *name, FILE *f) {
    if (k->parts != NULL) {
        fprintf(f, "static const int64_t %s_parts[] = {", name);
        for (int64_t i = 0; i < n_parts(&k->args); i++)
            fprintf(f, "%s%" PRId64, i > 0 ? ", " : "", k->parts[i]);
        fputs("};\n", f);
    }
    fprintf(f, "static const struct rp_kargs %s = {", name);
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        const char *at = (const char *)&k->args + fields[i].offset;
        if (fields[i].n == 0 && k->parts != NULL)
            fprintf(f, ", .parts = %s_parts", name);
        if (is_zero(at, fields[i].type, fields[i].n))
            continue;
        fprintf(f, "%s.%s = ", i > 0 ? ", " : "", fields[i].name);
        if (fields[i].n > 1)
            fputc('{', f);
        for (int j = 0; j < fields[i].n; j++) {
            if (j > 0)
                fputs(", ", f);
            put_value(f, at, fields[i].type, j);
        }
        if (fields[i].n > 1)
            fputc('}', f);
    }
    fputs("};\n", f);
}
