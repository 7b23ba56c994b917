#include "step.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kernels/element.h"
#include "kernels/half.h"
#include "kernels/initial_values.h"
#include "networks.h"
#include "run.h"

uint64_t rp_step_count(const struct rp_graph *g, uint32_t x) {
    return rp_net_count(&g->tensors[x]);
}

size_t rp_step_bytes(const struct rp_step_run *s, uint32_t x) {
    const struct rp_tensor *t = &s->g->tensors[x];
    if (s->how == RP_BIND_F64 && strcmp(t->dtype, "i32") != 0)
        return rp_step_count(s->g, x) * sizeof(double);
    return t->bytes;
}

/* Behind every operand there are bytes that form NaNs. A kernel that reads too far gives
 * NaN, and one that writes too far changes them. */
enum { GUARD = 64 };

static void *guarded(size_t bytes) {
    void *at = rp_calloc(bytes + GUARD, 1);
    memset(at, 0xff, bytes + GUARD);
    return at;
}

static void release(void *at, size_t bytes) {
    for (size_t i = 0; i < GUARD; i++)
        CU_ASSERT_EQUAL(((unsigned char *)at)[bytes + i], 0xff);
    free(at);
}

/* Fails the test with the message, which names the op and the graph. */
static void must(rp_rc rc, const struct rp_err *err) {
    if (rc != RP_OK) {
        printf("%s\n", err->msg);
        CU_FAIL_FATAL("the graph cannot be run");
    }
}

void rp_step_open(struct rp_step_run *s, const struct rp_graph *g, enum rp_bind how) {
    struct rp_err err = {{0}};
    *s = (struct rp_step_run){.g = g,
                              .how = how,
                              .kernels = rp_calloc(g->n_ops, sizeof *s->kernels),
                              .at = rp_calloc(g->n_tensors, sizeof *s->at)};
    for (uint32_t i = 0; i < g->n_ops; i++)
        must(rp_kernel_bind(g, i, how, g->name, &s->kernels[i], &err), &err);
    for (uint32_t x = 0; x < g->n_tensors; x++) {
        s->at[x] = guarded(rp_step_bytes(s, x));
        if (g->tensors[x].producer != RP_NONE)
            continue;
        struct rp_fill fill;
        must(rp_initial_values(g, x, how, g->name, &fill, &err), &err);
        rp_fill_values(&fill, s->at[x]);
    }
}

void rp_step_run_op(struct rp_step_run *s, uint32_t i) {
    const struct rp_op *op = &s->g->ops[i];
    const void **in = rp_calloc(op->n_inputs, sizeof *in);
    void **out = rp_calloc(op->n_outputs, sizeof *out);
    for (uint32_t k = 0; k < op->n_inputs; k++)
        in[k] = s->at[op->inputs[k]];
    for (uint32_t k = 0; k < op->n_outputs; k++)
        out[k] = s->at[op->outputs[k]];
    rp_kernel_run(&s->kernels[i], in, out);
    free(in);
    free(out);
}

void rp_step_run_all(struct rp_step_run *s) {
    for (uint32_t i = 0; i < s->g->n_ops; i++)
        rp_step_run_op(s, i);
}

void rp_step_run_forward(struct rp_step_run *s) {
    for (uint32_t i = 0; i < s->g->n_ops; i++)
        if (s->g->ops[i].phase == RP_FORWARD)
            rp_step_run_op(s, i);
}

void rp_step_close(struct rp_step_run *s) {
    for (uint32_t i = 0; i < s->g->n_ops; i++)
        rp_kernel_fini(&s->kernels[i]);
    for (uint32_t x = 0; x < s->g->n_tensors; x++)
        release(s->at[x], rp_step_bytes(s, x));
    free(s->kernels);
    free(s->at);
}

uint32_t rp_step_loss(const struct rp_graph *g) {
    return (uint32_t)json_integer_value(json_object_get(g->attrs, "loss"));
}

uint32_t rp_step_param_of(const struct rp_graph *g, uint32_t grad) {
    const json_t *of = json_object_get(g->tensors[grad].attrs, "of");
    for (uint32_t x = 0; of != NULL && x < g->n_tensors; x++)
        if (strcmp(g->tensors[x].name, json_string_value(of)) == 0)
            return x;
    return RP_NONE;
}

/* ---- one op alone ---- */

static enum rp_element element(const char *dtype, enum rp_bind how) {
    enum rp_element e = RP_ELEMENT_F32;
    CU_ASSERT_TRUE_FATAL(rp_element_find(dtype, &e));
    return how == RP_BIND_F64 && e != RP_ELEMENT_I32 ? RP_ELEMENT_F64 : e;
}

static void put(enum rp_element e, void *at, uint64_t i, double value) {
    switch (e) {
    case RP_ELEMENT_F32:
        ((float *)at)[i] = (float)value;
        break;
    case RP_ELEMENT_F16:
        ((uint16_t *)at)[i] = rp_to_half((float)value);
        break;
    case RP_ELEMENT_BF16:
        ((uint16_t *)at)[i] = rp_to_bf16((float)value);
        break;
    case RP_ELEMENT_F64:
        ((double *)at)[i] = value;
        break;
    case RP_ELEMENT_I32:
        ((int32_t *)at)[i] = (int32_t)value;
        break;
    }
}

double rp_step_get(const char *dtype, enum rp_bind how, const void *at, uint64_t i) {
    switch (element(dtype, how)) {
    case RP_ELEMENT_F32:
        return ((const float *)at)[i];
    case RP_ELEMENT_F16:
        return rp_from_half(((const uint16_t *)at)[i]);
    case RP_ELEMENT_BF16:
        return rp_from_bf16(((const uint16_t *)at)[i]);
    case RP_ELEMENT_F64:
        return ((const double *)at)[i];
    case RP_ELEMENT_I32:
        break;
    }
    return ((const int32_t *)at)[i];
}

double rp_step_rounding(const char *dtype) {
    return strcmp(dtype, "bf16") == 0  ? 0x1p-8
           : strcmp(dtype, "f16") == 0 ? 0x1p-11
                                       : 0x1p-24;
}

static size_t operand_bytes(const struct rp_graph *g, uint32_t x, enum rp_bind how) {
    return rp_step_count(g, x) * rp_element_bytes(element(g->tensors[x].dtype, how));
}

void rp_step_run_apart(const struct rp_graph *g, uint32_t i, enum rp_bind how,
                       double *const *in, double **out) {
    const struct rp_op *op = &g->ops[i];
    struct rp_kernel k;
    struct rp_err err = {{0}};
    void **from = rp_calloc(op->n_inputs, sizeof *from);
    void **to = rp_calloc(op->n_outputs, sizeof *to);
    must(rp_kernel_bind(g, i, how, g->name, &k, &err), &err);
    for (uint32_t j = 0; j < op->n_inputs; j++) {
        const char *dtype = rp_net_input(g, op, j)->dtype;
        const uint64_t n = rp_step_count(g, op->inputs[j]);
        from[j] = guarded(operand_bytes(g, op->inputs[j], how));
        for (uint64_t e = 0; e < n; e++)
            put(element(dtype, how), from[j], e, in[j][e]);
    }
    for (uint32_t j = 0; j < op->n_outputs; j++)
        to[j] = guarded(operand_bytes(g, op->outputs[j], how));
    rp_kernel_run(&k, (const void *const *)from, to);
    for (uint32_t j = 0; j < op->n_outputs; j++)
        for (uint64_t e = 0; e < rp_step_count(g, op->outputs[j]); e++)
            out[j][e] = rp_step_get(rp_net_output(g, op, j)->dtype, how, to[j], e);
    for (uint32_t j = 0; j < op->n_inputs; j++)
        release(from[j], operand_bytes(g, op->inputs[j], how));
    for (uint32_t j = 0; j < op->n_outputs; j++)
        release(to[j], operand_bytes(g, op->outputs[j], how));
    free(from);
    free(to);
    rp_kernel_fini(&k);
}
