#include "solve/order/step_end.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* What op j reads, makes and works in, and all that is kept. */
static uint64_t bytes_beside_kept(const struct rp_instance *p, uint32_t j) {
    uint64_t bytes = rp_instance_kept_bytes(p) + rp_instance_op_bytes(p, j);
    for (uint32_t k = p->input_start[j]; k < p->input_start[j + 1]; k++)
        bytes -= p->kept[p->inputs[k]] ? rp_instance_least_bytes(p, p->inputs[k]) : 0;
    for (uint32_t x = p->output_start[j]; x < p->output_start[j + 1]; x++)
        bytes -= p->kept[x] ? rp_instance_least_bytes(p, x) : 0;
    return bytes - p->overwritten_bytes[j];
}

static bool may_be_last(const struct rp_instance *p, uint32_t j) {
    return p->reader_start[p->output_start[j]] == p->reader_start[p->output_start[j + 1]];
}

/* Does whatever op is the last one fit beside what is kept? */
static bool last_fits(const struct rp_instance *p, bool any_order) {
    bool fits = p->n_ops == 0 || bytes_beside_kept(p, p->n_ops - 1) <= p->limit_bytes;
    for (uint32_t j = 0; j < p->n_ops && any_order && fits; j++)
        fits = rp_is_begin(p, j) || !may_be_last(p, j) ||
               bytes_beside_kept(p, j) <= p->limit_bytes;
    return fits;
}

/* Can x leave the device and come back after the last op? */
static bool may_come_back(const struct rp_instance *p, uint32_t x, bool may_run) {
    return p->kept[x] && !p->pinned[x] && p->bytes[x] > 0 &&
           (p->out_ns != NULL || (may_run && p->last_stage[p->producer[x]] == p->n_ops));
}

static bool is_needed(const struct rp_instance *p, struct rp_step_end_options o) {
    uint32_t x = 0;
    while (x < p->n_tensors && !may_come_back(p, x, o.may_run))
        x++;
    return x < p->n_tensors && !last_fits(p, o.any_order);
}

/* `end` reads all that is kept, after all other readers. */
static void add_reads(struct rp_instance *p, uint32_t end) {
    uint32_t n = p->reader_start[p->n_tensors], added = 0;
    uint32_t *readers = rp_calloc(p->input_start[end] + p->n_tensors, sizeof *readers);
    for (uint32_t x = 0, k = 0; x < p->n_tensors; x++) {
        uint32_t stop = p->reader_start[x + 1];
        memcpy(readers + k + added, p->readers + k, (stop - k) * sizeof *readers);
        k = stop;
        if (p->kept[x]) {
            p->inputs[n + added] = x;
            readers[stop + added++] = end;
        }
        p->reader_start[x + 1] += added;
    }
    free(p->readers);
    p->readers = readers;
    p->input_start[end + 1] = n + added;
}

/* Ops that may run in every stage may run in that of `end` too, or not. */
static void limit_runs(struct rp_instance *p, bool may_run) {
    uint32_t end = p->n_ops - 1;
    p->stage_before_end = rp_calloc(p->n_ops, sizeof *p->stage_before_end);
    p->irreplaceable_at_end = rp_calloc(p->n_tensors, sizeof *p->irreplaceable_at_end);
    p->last_stage[end] = end;
    struct rp_instance before = *p;
    before.last_stage = p->stage_before_end;
    before.irreplaceable = p->irreplaceable_at_end;
    for (uint32_t j = 0; j < p->n_ops; j++) {
        bool any = j < end && p->last_stage[j] == end;
        before.last_stage[j] = any ? end - 1 : p->last_stage[j];
        p->last_stage[j] = any && may_run ? p->n_ops : before.last_stage[j];
    }
    rp_instance_find_irreplaceable(&before);
    rp_instance_find_irreplaceable(p);
}

void rp_instance_add_end_if_needed(struct rp_instance *p, struct rp_step_end_options o) {
    uint32_t end = p->n_ops;
    if (!is_needed(p, o))
        return;
    p->n_ops++;
    p->has_end = true;
    p->op_of[end] = RP_NONE;
    p->output_start[end + 1] = p->n_tensors;
    add_reads(p, end);
    limit_runs(p, o.may_run);
}

void rp_instance_copies_at_end(const struct rp_instance *p, struct rp_instance *q) {
    *q = *p;
    if (!p->has_end || p->out_ns == NULL || p->host_limit_bytes < rp_instance_kept_bytes(p))
        return;
    q->last_stage = p->stage_before_end;
    q->irreplaceable = p->irreplaceable_at_end;
}
