#include "model/graph.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

const char *const rp_tensor_kind_word[5] = {"parameter", "state", "input", "activation",
                                            "gradient"};
const char *const rp_phase_word[4] = {NULL, "forward", "backward", "update"};
const char *const rp_home_word[3] = {"device", "host", "any"};

static rp_rc op_fail(const struct rp_graph *g, uint32_t i, const char *file,
                     struct rp_err *err, const char *rule, uint32_t tensor) {
    return rp_fail(err, RP_INPUT, "%s: ops[%u] \"%.80s\": %s %u", file, i, g->ops[i].name,
                   rule, tensor);
}

/* Sets the producers, and refuses ids that are out of range or repeated. mark[x] says who
 * named x last: 2i+1 as an input of op i, 2i+2 as an output. There are at most 2^31 ops. */
static rp_rc check_op(struct rp_graph *g, uint32_t i, uint32_t *mark, const char *file,
                      struct rp_err *err) {
    struct rp_op *op = &g->ops[i];
    for (uint32_t k = 0; k < op->n_inputs; k++) {
        uint32_t x = op->inputs[k];
        if (x >= g->n_tensors)
            return op_fail(g, i, file, err, "inputs: no tensor", x);
        if (mark[x] == 2 * i + 1)
            return op_fail(g, i, file, err, "inputs: repeats tensor", x);
        mark[x] = 2 * i + 1;
    }
    for (uint32_t k = 0; k < op->n_outputs; k++) {
        uint32_t x = op->outputs[k];
        if (x >= g->n_tensors)
            return op_fail(g, i, file, err, "outputs: no tensor", x);
        if (mark[x] == 2 * i + 1)
            return op_fail(g, i, file, err, "outputs: already an input: tensor", x);
        if (mark[x] == 2 * i + 2)
            return op_fail(g, i, file, err, "outputs: repeats tensor", x);
        mark[x] = 2 * i + 2;
        if (g->tensors[x].producer != RP_NONE)
            return op_fail(g, i, file, err, "outputs: an earlier op makes tensor", x);
        g->tensors[x].producer = i;
    }
    if (op->n_outputs == 0 && op->n_updates == 0 && op->recompute)
        return rp_fail(
            err, RP_INPUT,
            "%s: ops[%u] \"%.80s\": an op without outputs needs \"recompute\": false", file,
            i, op->name);
    return RP_OK;
}

/* Refuses updates that are no sources, are repeated, or are inputs or outputs too. mark[x]
 * is i + 1 if op i named x already. Comes after check_op, which sets the producers. */
static rp_rc check_updates(const struct rp_graph *g, uint32_t i, uint32_t *mark,
                           const char *file, struct rp_err *err) {
    const struct rp_op *op = &g->ops[i];
    for (uint32_t k = 0; k < op->n_inputs && op->n_updates > 0; k++)
        mark[op->inputs[k]] = i + 1;
    for (uint32_t k = 0; k < op->n_updates; k++) {
        uint32_t x = op->updates[k];
        if (x >= g->n_tensors)
            return op_fail(g, i, file, err, "updates: no tensor", x);
        if (g->tensors[x].producer != RP_NONE)
            return op_fail(g, i, file, err, "updates: not a source: tensor", x);
        if (mark[x] == i + 1)
            return op_fail(g, i, file, err,
                           "updates: already an input or an update: tensor", x);
        mark[x] = i + 1;
    }
    return RP_OK;
}

/* What only a tensor that an op makes, or only a source, can be. */
static rp_rc check_tensors(const struct rp_graph *g, const char *file, struct rp_err *err) {
    for (uint32_t x = 0; x < g->n_tensors; x++) {
        const struct rp_tensor *t = &g->tensors[x];
        if (t->held && t->producer == RP_NONE)
            return rp_fail(err, RP_INPUT,
                           "%s: tensors[%u] \"%.80s\": 'held' is for tensors that an op "
                           "makes",
                           file, x, t->name);
        if (t->home != RP_HOME_DEVICE && t->producer != RP_NONE)
            return rp_fail(err, RP_INPUT,
                           "%s: tensors[%u] \"%.80s\": 'home' is for sources", file, x,
                           t->name);
    }
    return RP_OK;
}

static rp_rc check_order(const struct rp_graph *g, const char *file, struct rp_err *err) {
    for (uint32_t i = 0; i < g->n_ops; i++)
        for (uint32_t k = 0; k < g->ops[i].n_inputs; k++) {
            uint32_t p = g->tensors[g->ops[i].inputs[k]].producer;
            if (p != RP_NONE && p >= i)
                return op_fail(g, i, file, err, "inputs: a later op makes tensor",
                               g->ops[i].inputs[k]);
        }
    for (uint32_t k = 0; k < g->n_keep; k++)
        if (g->keep[k] >= g->n_tensors)
            return rp_fail(err, RP_INPUT, "%s: keep[%u]: no tensor %u", file, k,
                           g->keep[k]);
    return RP_OK;
}

/* The readers of all tensors share one array, whose positions have 32 bits. */
static rp_rc check_count(const struct rp_graph *g, const char *file, struct rp_err *err) {
    uint64_t n = 0;
    for (uint32_t i = 0; i < g->n_ops; i++)
        n += g->ops[i].n_inputs;
    return n < RP_NONE ? RP_OK
                       : rp_fail(err, RP_INPUT, "%s: ops: more than 2^32-2 inputs", file);
}

static rp_rc check_sums(struct rp_graph *g, const char *file, struct rp_err *err) {
    uint64_t bytes = 0;
    g->fixed_bytes = g->total_time_ns = 0;
    if (g->device.alignment_bytes == 0)
        return rp_fail(err, RP_INPUT, "%s: device: 'alignment_bytes' must be at least 1",
                       file);
    for (uint32_t x = 0; x < g->n_tensors; x++) {
        const struct rp_tensor *t = &g->tensors[x];
        if (!rp_add(&bytes, rp_round_up(t->bytes, g->device.alignment_bytes)))
            return rp_fail(err, RP_INPUT,
                           "%s: tensors[%u] \"%.80s\": the sum of bytes passes 2^63-1",
                           file, x, t->name);
        if (t->producer == RP_NONE && t->home != RP_HOME_HOST)
            g->fixed_bytes += t->bytes;
    }
    for (uint32_t i = 0; i < g->n_ops; i++) {
        const struct rp_op *op = &g->ops[i];
        if (!rp_add(&bytes, rp_round_up(op->workspace_bytes, g->device.alignment_bytes)))
            return rp_fail(err, RP_INPUT,
                           "%s: ops[%u] \"%.80s\": the sum of bytes passes 2^63-1", file, i,
                           op->name);
        if (!rp_add(&g->total_time_ns, op->time_ns))
            return rp_fail(err, RP_INPUT,
                           "%s: ops[%u] \"%.80s\": the sum of times passes 2^63-1", file, i,
                           op->name);
    }
    return RP_OK;
}

static void list_readers(struct rp_graph *g) {
    free(g->reader_start);
    free(g->readers);
    free(g->kept);
    g->reader_start = rp_calloc((size_t)g->n_tensors + 2, sizeof *g->reader_start);
    g->kept = rp_calloc(g->n_tensors, sizeof *g->kept);
    uint32_t *start = g->reader_start;
    for (uint32_t i = 0; i < g->n_ops; i++)
        for (uint32_t k = 0; k < g->ops[i].n_inputs; k++)
            start[g->ops[i].inputs[k] + 2]++;
    for (uint32_t x = 0; x < g->n_tensors; x++)
        start[x + 2] += start[x + 1];
    g->readers = rp_calloc(start[g->n_tensors + 1], sizeof *g->readers);
    /* Filling in moves start[x + 1] to its final place. */
    for (uint32_t i = 0; i < g->n_ops; i++)
        for (uint32_t k = 0; k < g->ops[i].n_inputs; k++)
            g->readers[start[g->ops[i].inputs[k] + 1]++] = i;
    for (uint32_t k = 0; k < g->n_keep; k++)
        g->kept[g->keep[k]] = true;
}

rp_rc rp_graph_check(struct rp_graph *g, const char *file, struct rp_err *err) {
    rp_rc rc = RP_OK;
    uint32_t *mark = rp_calloc(g->n_tensors, sizeof *mark);
    for (uint32_t x = 0; x < g->n_tensors; x++)
        g->tensors[x].producer = RP_NONE;
    for (uint32_t i = 0; i < g->n_ops && rc == RP_OK; i++)
        rc = check_op(g, i, mark, file, err);
    memset(mark, 0, g->n_tensors * sizeof *mark);
    for (uint32_t i = 0; i < g->n_ops && rc == RP_OK; i++)
        rc = check_updates(g, i, mark, file, err);
    free(mark);
    if (rc == RP_OK)
        rc = check_tensors(g, file, err);
    if (rc == RP_OK)
        rc = check_order(g, file, err);
    if (rc == RP_OK)
        rc = check_count(g, file, err);
    if (rc == RP_OK)
        rc = check_sums(g, file, err);
    if (rc == RP_OK)
        list_readers(g);
    return rc;
}

void rp_graph_fini(struct rp_graph *g) {
    for (uint32_t x = 0; x < g->n_tensors; x++) {
        free(g->tensors[x].name);
        free(g->tensors[x].dtype);
        free(g->tensors[x].shape);
        json_decref(g->tensors[x].attrs);
    }
    for (uint32_t i = 0; i < g->n_ops; i++) {
        free(g->ops[i].name);
        free(g->ops[i].kind);
        free(g->ops[i].inputs);
        free(g->ops[i].outputs);
        free(g->ops[i].updates);
        json_decref(g->ops[i].attrs);
    }
    free(g->tensors);
    free(g->ops);
    free(g->keep);
    free(g->name);
    free(g->time_source);
    free(g->device.name);
    free(g->reader_start);
    free(g->readers);
    free(g->kept);
    json_decref(g->attrs);
    json_decref(g->notes);
    *g = (struct rp_graph){0};
}
