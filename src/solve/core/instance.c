#include "solve/core/instance.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/numbers.h"
#include "model/timeline.h"

/* Numbers the tensors by producer. local[x] is the number of graph tensor x; RP_NONE for
 * sources. */
static void number_tensors(struct rp_instance *p, bool addressed, uint32_t *local) {
    const struct rp_graph *g = p->graph;
    uint64_t alignment = addressed ? g->device.alignment_bytes : 1;
    for (uint32_t x = 0; x < g->n_tensors; x++)
        local[x] = RP_NONE;
    for (uint32_t i = 0; i < p->n_ops; i++) {
        const struct rp_op *op = &g->ops[p->op_of[i]];
        p->time_ns[i] = op->time_ns;
        p->workspace_bytes[i] = rp_round_up(op->workspace_bytes, alignment);
        p->output_start[i] = p->n_tensors;
        for (uint32_t k = 0; k < op->n_outputs; k++) {
            uint32_t x = op->outputs[k], y = p->n_tensors++;
            local[x] = y;
            p->tensor_of[y] = x;
            p->outputs[y] = y;
            p->producer[y] = i;
            p->pinned[y] = g->tensors[x].held;
            p->kept[y] = g->kept[x] || p->pinned[y];
            p->bytes[y] = rp_round_up(g->tensors[x].bytes, alignment);
            p->shadow_bytes[y] = op->cannot_rewrite ? p->bytes[y] : 0;
        }
    }
    p->output_start[p->n_ops] = p->n_tensors;
}

static int by_number(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static void list_inputs(struct rp_instance *p, const uint32_t *local) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->n_ops; i++) {
        const struct rp_op *op = &p->graph->ops[p->op_of[i]];
        p->input_start[i] = n;
        for (uint32_t k = 0; k < op->n_inputs; k++)
            if (local[op->inputs[k]] != RP_NONE)
                p->inputs[n++] = local[op->inputs[k]];
        qsort(p->inputs + p->input_start[i], n - p->input_start[i], sizeof *p->inputs,
              by_number);
    }
    p->input_start[p->n_ops] = n;
}

static void list_readers(struct rp_instance *p) {
    uint32_t *start = p->reader_start;
    for (uint32_t k = 0; k < p->input_start[p->n_ops]; k++)
        start[p->inputs[k] + 1]++;
    for (uint32_t x = 0; x < p->n_tensors; x++)
        start[x + 1] += start[x];
    uint32_t *next = rp_calloc(p->n_tensors, sizeof *next);
    for (uint32_t x = 0; x < p->n_tensors; x++)
        next[x] = start[x];
    for (uint32_t i = 0; i < p->n_ops; i++)
        for (uint32_t k = p->input_start[i]; k < p->input_start[i + 1]; k++)
            p->readers[next[p->inputs[k]]++] = i;
    free(next);
}

/* ---- how long ops may run again ---- */

static void limit_runs(struct rp_instance *p) {
    const struct rp_graph *g = p->graph;
    uint32_t *place = rp_calloc(p->n_ops, sizeof *place);
    for (uint32_t j = 0; j < p->n_ops; j++)
        place[p->op_of[j]] = j;
    rp_update_order_init(&p->updates, g, place);
    free(place);
    for (uint32_t j = 0; j < p->n_ops; j++) {
        const struct rp_op *op = &g->ops[p->op_of[j]];
        p->last_stage[j] = op->recompute && op->n_updates == 0 ? p->n_ops : j;
        for (uint32_t k = p->updates.after_start[j];
             k < p->updates.after_start[j + 1] && p->last_stage[j] > j; k++)
            p->last_stage[j] = rp_min_u32(p->last_stage[j], p->updates.after[k]);
    }
}

/* Readers come after the op that they read from, so ops are taken from late to early. */
void rp_instance_last_uses(const struct rp_instance *p, uint32_t *r_last,
                           uint32_t *s_last) {
    for (uint32_t j = p->n_ops; j-- > 0;) {
        uint32_t wanted = j;
        for (uint32_t x = p->output_start[j]; x < p->output_start[j + 1]; x++) {
            s_last[x] = p->kept[x] ? p->n_ops : j;
            for (uint32_t k = p->reader_start[x]; k < p->reader_start[x + 1]; k++)
                s_last[x] = rp_max_u32(s_last[x], r_last[p->readers[k]]);
            wanted = rp_max_u32(wanted, s_last[x]);
        }
        r_last[j] = rp_min_u32(wanted, p->last_stage[j]);
    }
}

static void find_irreplaceable(struct rp_instance *p) {
    uint32_t *r_last = rp_calloc(p->n_ops, sizeof *r_last);
    uint32_t *s_last = rp_calloc(p->n_tensors, sizeof *s_last);
    rp_instance_last_uses(p, r_last, s_last);
    for (uint32_t x = 0; x < p->n_tensors; x++)
        p->irreplaceable[x] = p->pinned[x] || s_last[x] > p->last_stage[p->producer[x]];
    free(r_last);
    free(s_last);
}

void rp_instance_run_once(struct rp_instance *p) {
    for (uint32_t j = 0; j < p->n_ops; j++)
        p->last_stage[j] = j;
    find_irreplaceable(p);
}

void rp_instance_any_order(struct rp_instance *p) {
    for (uint32_t j = 0; j < p->n_ops; j++)
        p->last_stage[j] = p->n_ops;
    for (uint32_t x = 0; x < p->n_tensors; x++)
        p->pinned[x] = false;
    find_irreplaceable(p);
}

void rp_instance_for_certificate(struct rp_instance *p) {
    for (uint32_t j = 0; j < p->n_ops; j++)
        p->last_stage[j] = p->graph->ops[p->op_of[j]].recompute ? p->n_ops : j;
    for (uint32_t x = 0; x < p->n_tensors; x++) {
        p->pinned[x] = false;
        p->kept[x] = p->graph->kept[p->tensor_of[x]];
    }
    for (uint32_t x = 0; x < p->graph->n_tensors; x++)
        if (p->graph->tensors[x].home == RP_HOME_ANY)
            p->limit_bytes += p->graph->tensors[x].bytes;
    find_irreplaceable(p);
}

void rp_instance_init(struct rp_instance *p, const struct rp_graph *g,
                      uint64_t budget_bytes, bool addressed, const uint32_t *order) {
    uint32_t n = g->n_ops, m = g->n_tensors;
    size_t n_inputs = 0;
    *p = (struct rp_instance){
        .graph = g, .n_ops = n, .limit_bytes = budget_bytes - g->fixed_bytes};
    p->bytes = rp_calloc(m, sizeof *p->bytes);
    p->time_ns = rp_calloc(n, sizeof *p->time_ns);
    p->workspace_bytes = rp_calloc(n, sizeof *p->workspace_bytes);
    p->last_stage = rp_calloc(n, sizeof *p->last_stage);
    p->kept = rp_calloc(m, sizeof *p->kept);
    p->pinned = rp_calloc(m, sizeof *p->pinned);
    p->irreplaceable = rp_calloc(m, sizeof *p->irreplaceable);
    p->shadow_bytes = rp_calloc(m, sizeof *p->shadow_bytes);
    p->producer = rp_calloc(m, sizeof *p->producer);
    p->op_of = rp_calloc(n, sizeof *p->op_of);
    p->tensor_of = rp_calloc(m, sizeof *p->tensor_of);
    p->outputs = rp_calloc(m, sizeof *p->outputs);
    p->output_start = rp_calloc((size_t)n + 1, sizeof *p->output_start);
    p->input_start = rp_calloc((size_t)n + 1, sizeof *p->input_start);
    p->reader_start = rp_calloc((size_t)m + 1, sizeof *p->reader_start);
    for (uint32_t i = 0; i < n; i++) {
        p->op_of[i] = order != NULL ? order[i] : i;
        n_inputs += g->ops[i].n_inputs;
    }
    p->inputs = rp_calloc(n_inputs, sizeof *p->inputs);
    p->readers = rp_calloc(n_inputs, sizeof *p->readers);
    uint32_t *local = rp_calloc(m, sizeof *local);
    number_tensors(p, addressed, local);
    list_inputs(p, local);
    list_readers(p);
    limit_runs(p);
    find_irreplaceable(p);
    free(local);
}

bool rp_instance_allow_swap(struct rp_instance *p, uint64_t host_limit_bytes) {
    const struct rp_device *d = &p->graph->device;
    if (!rp_device_can_swap(d))
        return false;
    uint64_t *out_ns = rp_calloc(p->n_tensors, sizeof *out_ns);
    uint64_t *in_ns = rp_calloc(p->n_tensors, sizeof *in_ns);
    bool ok = true;
    for (uint32_t x = 0; x < p->n_tensors; x++) {
        uint64_t bytes = p->graph->tensors[p->tensor_of[x]].bytes;
        out_ns[x] = rp_device_d2h_ns(d, bytes);
        in_ns[x] = rp_device_h2d_ns(d, bytes);
        ok = ok && out_ns[x] >> 62 == 0 && in_ns[x] >> 62 == 0;
    }
    if (!ok) {
        free(out_ns);
        free(in_ns);
        return false;
    }
    free(p->out_ns);
    free(p->in_ns);
    p->out_ns = out_ns;
    p->in_ns = in_ns;
    p->host_limit_bytes = host_limit_bytes;
    return true;
}

void rp_instance_fini(struct rp_instance *p) {
    free(p->out_ns);
    free(p->in_ns);
    free(p->bytes);
    free(p->time_ns);
    free(p->workspace_bytes);
    free(p->last_stage);
    rp_update_order_fini(&p->updates);
    free(p->kept);
    free(p->pinned);
    free(p->irreplaceable);
    free(p->shadow_bytes);
    free(p->producer);
    free(p->op_of);
    free(p->tensor_of);
    free(p->outputs);
    free(p->output_start);
    free(p->input_start);
    free(p->inputs);
    free(p->reader_start);
    free(p->readers);
    *p = (struct rp_instance){0};
}

uint32_t rp_instance_last_need(const struct rp_instance *p, uint32_t x) {
    uint32_t end = p->reader_start[x + 1];
    if (p->kept[x])
        return p->n_ops;
    return end > p->reader_start[x] ? p->readers[end - 1] : p->producer[x];
}

int64_t *rp_instance_bytes_in_use(const struct rp_instance *p) {
    int64_t *used = rp_calloc((size_t)p->n_ops + 1, sizeof *used), live = 0;
    for (uint32_t x = 0; x < p->n_tensors; x++) {
        uint32_t need = rp_instance_last_need(p, x);
        used[p->producer[x]] += (int64_t)p->bytes[x];
        used[need < p->n_ops ? need + 1 : p->n_ops] -= (int64_t)p->bytes[x];
    }
    for (uint32_t j = 0; j < p->n_ops; j++) {
        live += used[j];
        used[j] = live + (int64_t)p->workspace_bytes[j];
    }
    return used;
}

/* The first op after whose predecessor x must lie on the device until it was last needed,
 * whatever the plan does. Larger than rp_instance_last_need if there is none. */
static uint32_t must_lie_from(const struct rp_instance *p, uint32_t x) {
    uint32_t j = p->producer[x];
    if (p->pinned[x])
        return j + 1;
    return p->out_ns == NULL && p->last_stage[j] < p->n_ops ? p->last_stage[j] + 1
                                                            : RP_NONE;
}

/* What must lie on the device while each op runs beside what the op itself makes. The
 * caller frees it. */
static uint64_t *bytes_that_must_lie(const struct rp_instance *p) {
    uint64_t *bytes = rp_calloc((size_t)p->n_ops + 2, sizeof *bytes);
    for (uint32_t x = 0; x < p->n_tensors; x++) {
        uint32_t from = must_lie_from(p, x), last = rp_instance_last_need(p, x);
        if (from > last || from > p->n_ops)
            continue;
        bytes[from] += p->bytes[x];
        if (last < p->n_ops)
            bytes[last + 1] -= p->bytes[x];
    }
    for (uint32_t i = 1; i <= p->n_ops; i++)
        bytes[i] += bytes[i - 1];
    return bytes;
}

uint64_t rp_instance_floor(const struct rp_instance *p, uint32_t *op) {
    uint64_t floor_bytes = 0, kept = 0, *others = bytes_that_must_lie(p);
    *op = RP_NONE;
    for (uint32_t i = 0; i < p->n_ops; i++) {
        uint64_t need = others[i] + p->workspace_bytes[i];
        for (uint32_t x = p->output_start[i]; x < p->output_start[i + 1]; x++) {
            need += p->bytes[x];
            kept += p->kept[x] ? p->bytes[x] : 0;
        }
        for (uint32_t k = p->input_start[i]; k < p->input_start[i + 1]; k++)
            if (must_lie_from(p, p->inputs[k]) > i)
                need += p->bytes[p->inputs[k]];
        if (need > floor_bytes) {
            floor_bytes = need;
            *op = i;
        }
    }
    if (kept > floor_bytes) {
        floor_bytes = kept;
        *op = RP_NONE;
    }
    free(others);
    return floor_bytes;
}
