#include "model/cost.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/arithmetic.h"

/* What this model assumes beyond data sheets. It is the same for every device, in percent.
 *   - Large square matrix products reach two thirds of the tensor peak (83 of 125 TFLOP/s
 *     on a V100: Markidis et al., "NVIDIA Tensor Core Programmability, Performance and
 *     Precision", 2018) and more of the FP32 peak. Layers of real networks reach less.
 *   - Grouped convolutions have few channels per filter to spread over the multipliers.
 *   - Streaming kernels nearly reach the bandwidth of a copy, which is 83% of the sheet's
 *     on a V100 (Jia et al., "Dissecting the NVIDIA Volta GPU Architecture", 2018) to 88%
 *     ("Rough-n-Ready Roofline: NVIDIA V100 edition", paranumal.com, 2018).
 *   - Packet headers and flow control take a fifth of a host link's raw rate.
 *   - Launch and copy latency are orders of magnitude, not measurements. */
enum {
    DENSE_PERCENT = 70,
    TENSOR_PERCENT = 50,
    GROUPED_PERCENT = 10,
    ELEMENTWISE_PERCENT = 50,
    BANDWIDTH_PERCENT = 80,
    LINK_PERCENT = 80,
    LAUNCH_NS = 5000, /* to queue, start and drain one kernel */
    COPY_LATENCY_NS = 10000,
    ALIGNMENT_BYTES = 512
};

static rp_rc op_fail(const struct rp_graph *g, uint32_t i, const char *file,
                     const char *what, const char *which, struct rp_err *err) {
    return rp_fail(err, RP_INPUT, "%s: ops[%" PRIu32 "] \"%.80s\": %s%.80s", file, i,
                   g->ops[i].name, what, which);
}

/* The first tensor of the op, in the order inputs, outputs, updates, that is not stated to
 * be of integers or truth values; NULL if all are. */
static const struct rp_tensor *first_not_integer(const struct rp_graph *g,
                                                 const struct rp_op *op) {
    const uint32_t n[3] = {op->n_inputs, op->n_outputs, op->n_updates};
    const uint32_t *const lists[3] = {op->inputs, op->outputs, op->updates};
    for (int i = 0; i < 3; i++)
        for (uint32_t k = 0; k < n[i]; k++) {
            const struct rp_tensor *t = &g->tensors[lists[i][k]];
            if (t->dtype == NULL || rp_number_of(t->dtype) != RP_NUMBER_INTEGER)
                return t;
        }
    return NULL;
}

/* A rate per second, and the share of it that is reached. */
struct rate {
    uint64_t per_s;
    unsigned percent;
};

static struct rate arithmetic_rate(const struct rp_device_model *m, enum rp_op_class class,
                                   enum rp_number number) {
    uint64_t flops = rp_number_flops(m, number);
    uint64_t single =
        flops < m->f32_flops ? flops : m->f32_flops; /* without tensor cores */
    if (class == RP_CLASS_GROUPED)
        return (struct rate){single, GROUPED_PERCENT};
    if (class == RP_CLASS_MEMORY)
        return (struct rate){single, ELEMENTWISE_PERCENT};
    bool tensor = m->tensor_cores && flops > m->f32_flops;
    return (struct rate){flops, tensor ? TENSOR_PERCENT : DENSE_PERCENT};
}

/* In nanoseconds, rounded up. amount < 2^64 and 100 * 10^9 < 2^37, so the product fits. */
static unsigned __int128 duration(uint64_t amount, struct rate r) {
    unsigned __int128 per_100s = (unsigned __int128)r.per_s * r.percent;
    return ((unsigned __int128)amount * 100 * 1000000000 + per_100s - 1) / per_100s;
}

/* Leaves *value alone if the op does not state `key`. */
static rp_rc read_attr(const struct rp_graph *g, uint32_t i, const char *key,
                       const char *file, uint64_t *value, bool *stated,
                       struct rp_err *err) {
    const json_t *v = json_object_get(g->ops[i].attrs, key);
    *stated = v != NULL;
    if (v == NULL)
        return RP_OK;
    if (!json_is_integer(v) || json_integer_value(v) < 0)
        return op_fail(g, i, file, "attrs: must be an integer from 0 to 2^63-1: ", key,
                       err);
    *value = (uint64_t)json_integer_value(v);
    return RP_OK;
}

/* Each input is read once, each output written once, and what is updated read and written.
 * The sum of all tensors has 63 bits (graph.h), so this one has 64. */
static uint64_t default_traffic(const struct rp_graph *g, const struct rp_op *op) {
    uint64_t bytes = 0;
    for (uint32_t k = 0; k < op->n_updates; k++)
        bytes += 2 * g->tensors[op->updates[k]].bytes;
    for (uint32_t k = 0; k < op->n_inputs; k++)
        bytes += g->tensors[op->inputs[k]].bytes;
    for (uint32_t k = 0; k < op->n_outputs; k++)
        bytes += g->tensors[op->outputs[k]].bytes;
    return bytes;
}

/* How long the op's arithmetic takes. The type that it computes in is that of its first
 * tensor that is not of integers. Leaves *ns alone if there is none, if it is not known, or
 * if the op states no arithmetic. */
static rp_rc arithmetic_time(const struct rp_graph *g, uint32_t i,
                             const struct rp_device_model *m, const char *file,
                             unsigned __int128 *ns, struct rp_err *err) {
    const struct rp_op *op = &g->ops[i];
    const struct rp_tensor *t = first_not_integer(g, op);
    enum rp_op_class class = rp_op_class(op);
    uint64_t flops = 0;
    bool stated;
    rp_rc rc = read_attr(g, i, "flops", file, &flops, &stated, err);
    if (rc != RP_OK || t == NULL || (flops == 0 && (stated || class == RP_CLASS_MEMORY)))
        return rc;
    if (!stated)
        return op_fail(g, i, file, "attrs: a device model needs ", "'flops'", err);
    if (t->dtype == NULL)
        return op_fail(g, i, file, "no dtype is stated for its tensor ", t->name, err);
    enum rp_number number = rp_number_of(t->dtype);
    if (number != RP_NUMBER_UNKNOWN)
        *ns = duration(flops, arithmetic_rate(m, class, number));
    return RP_OK;
}

static rp_rc op_time(const struct rp_graph *g, uint32_t i, const struct rp_device_model *m,
                     const char *file, uint64_t *ns, struct rp_err *err) {
    uint64_t traffic = default_traffic(g, &g->ops[i]);
    bool stated;
    unsigned __int128 compute = 0;
    rp_rc rc = read_attr(g, i, "traffic_bytes", file, &traffic, &stated, err);
    if (rc == RP_OK)
        rc = arithmetic_time(g, i, m, file, &compute, err);
    if (rc != RP_OK)
        return rc;
    unsigned __int128 memory =
        duration(traffic, (struct rate){m->memory_bytes_per_s, BANDWIDTH_PERCENT});
    unsigned __int128 time = (compute > memory ? compute : memory) + LAUNCH_NS;
    if (time > RP_MAX_QUANTITY)
        return op_fail(g, i, file, "takes longer than 2^63 ns on ", m->name, err);
    *ns = (uint64_t)time;
    return RP_OK;
}

/* Streaming that computes longer than it moves data is another kind of op, and products of
 * integers have a rate that no model knows. */
static bool is_doubtful(const struct rp_graph *g, uint32_t i,
                        const struct rp_device_model *m, const char *file) {
    uint64_t flops = 0, traffic = default_traffic(g, &g->ops[i]);
    unsigned __int128 compute = 0;
    struct rp_err err = {{0}};
    bool stated;
    read_attr(g, i, "flops", file, &flops, &stated, &err);
    if (rp_op_class(&g->ops[i]) != RP_CLASS_MEMORY)
        return flops > 0 && first_not_integer(g, &g->ops[i]) == NULL;
    read_attr(g, i, "traffic_bytes", file, &traffic, &stated, &err);
    return arithmetic_time(g, i, m, file, &compute, &err) == RP_OK &&
           compute > LAUNCH_NS + duration(traffic, (struct rate){m->memory_bytes_per_s,
                                                                 BANDWIDTH_PERCENT});
}

/* Is there an op of this kind among the first n? */
static bool is_seen(const struct rp_graph *g, const bool *doubtful, uint32_t n,
                    const char *kind) {
    for (uint32_t i = 0; i < n; i++)
        if (doubtful[i] && strcmp(g->ops[i].kind, kind) == 0)
            return true;
    return false;
}

char *rp_cost_doubtful_kinds(const struct rp_graph *g, const struct rp_device_model *model,
                             const char *file) {
    enum { MAX_KINDS = 8 };
    bool *doubtful = rp_calloc(g->n_ops, sizeof *doubtful);
    char *kinds = NULL;
    uint32_t n = 0;
    for (uint32_t i = 0; i < g->n_ops; i++) {
        const char *kind = g->ops[i].kind;
        if (!is_doubtful(g, i, model, file) || is_seen(g, doubtful, i, kind))
            continue;
        doubtful[i] = true;
        if (n++ >= MAX_KINDS)
            continue;
        char *longer =
            kinds == NULL ? rp_format("%.80s", kind) : rp_format("%s, %.80s", kinds, kind);
        free(kinds);
        kinds = longer;
    }
    if (n > MAX_KINDS) {
        char *longer = rp_format("%s and %" PRIu32 " more", kinds, n - MAX_KINDS);
        free(kinds);
        kinds = longer;
    }
    free(doubtful);
    return kinds;
}

static void set_device(struct rp_graph *g, const struct rp_device_model *m) {
    free(g->device.name);
    free(g->time_source);
    g->time_source = rp_format("analytic:%s", m->name);
    g->has_device = true;
    g->device = (struct rp_device){
        .name = rp_strdup(m->title),
        .memory_bytes = m->memory_bytes,
        .h2d_bytes_per_s = m->link_bytes_per_s / 100 * LINK_PERCENT,
        .d2h_bytes_per_s = m->link_bytes_per_s / 100 * LINK_PERCENT,
        .copy_latency_ns = COPY_LATENCY_NS,
        .alignment_bytes = ALIGNMENT_BYTES,
    };
}

const char *rp_cost_unknown_dtype(const struct rp_graph *g) {
    for (uint32_t i = 0; i < g->n_ops; i++) {
        const struct rp_tensor *t = first_not_integer(g, &g->ops[i]);
        if (t != NULL && t->dtype != NULL && rp_number_of(t->dtype) == RP_NUMBER_UNKNOWN)
            return t->dtype;
    }
    return NULL;
}

rp_rc rp_cost_apply(struct rp_graph *g, const struct rp_device_model *model,
                    const char *file, struct rp_err *err) {
    for (uint32_t i = 0; i < g->n_ops; i++) {
        rp_rc rc = op_time(g, i, model, file, &g->ops[i].time_ns, err);
        if (rc != RP_OK)
            return rc;
    }
    set_device(g, model);
    return rp_graph_check(g, file, err);
}
