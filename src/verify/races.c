/* Which steps happen before which, from queues and waits alone; any two that use the same
 * cell, one of them writing, must be in order. Then no order that the waits allow gives
 * other values than the one replayed.
 *
 * known[t][q] is one more than the latest task of queue q that has ended when t begins (of
 * t's own queue: t itself): all of q's up to there happened before, for queues are in
 * order. */
#include <stdlib.h>

#include "base/mem.h"
#include "verify/task_graph.h"

#define NO_TASK SIZE_MAX

struct uses {
    size_t write, read[RP_N_QUEUES]; /* the latest of each, or NO_TASK */
};

struct search {
    const struct rp_graph *g;
    const struct rp_task_graph *prog;
    size_t (*known)[RP_N_QUEUES];
    struct uses *device, *host;
    size_t task;
    struct rp_err *err;
};

static enum rp_queue queue(const struct search *s, size_t task) {
    return rp_queue_of(s->prog->tasks.at[task].kind);
}

static void learn(struct search *s, size_t from) {
    for (int q = 0; q < RP_N_QUEUES; q++)
        if (s->known[from][q] > s->known[s->task][q])
            s->known[s->task][q] = s->known[from][q];
}

static rp_rc must_be_before(const struct search *s, size_t earlier) {
    if (earlier == NO_TASK || s->known[s->task][queue(s, earlier)] > earlier)
        return RP_OK;
    return rp_fail(s->err, RP_NO,
                   "replay: steps[%zu] does not wait for steps[%zu], which uses the same "
                   "storage",
                   s->task, earlier);
}

static rp_rc use(struct search *s, struct uses *cells, struct rp_region region,
                 bool write) {
    rp_rc rc = RP_OK;
    for (size_t k = region.first; k < region.first + region.n && rc == RP_OK; k++) {
        rc = must_be_before(s, cells[k].write);
        for (int q = 0; write && q < RP_N_QUEUES && rc == RP_OK; q++)
            rc = must_be_before(s, cells[k].read[q]);
        if (write)
            cells[k].write = s->task;
        else
            cells[k].read[queue(s, s->task)] = s->task;
    }
    return rc;
}

static rp_rc use_all(struct search *s, const struct rp_task *t) {
    const struct rp_region *region = &s->prog->regions.at[t->regions];
    rp_rc rc = RP_OK;
    if (t->kind == RP_RUN) {
        const struct rp_op *op = &s->g->ops[t->id];
        for (uint32_t k = 0; k < op->n_inputs + op->n_outputs + 1 && rc == RP_OK; k++)
            rc = use(s, s->device, region[k], k >= op->n_inputs);
        return rc;
    }
    rc = use(s, s->device, region[0], t->kind != RP_SWAP_OUT);
    if (rc == RP_OK && t->kind != RP_FREE)
        rc = use(s, s->host, region[1], t->kind == RP_SWAP_OUT);
    return rc;
}

static struct uses *unused(size_t n) {
    struct uses *cells = rp_calloc(n, sizeof *cells);
    for (size_t k = 0; k < n; k++)
        cells[k] = (struct uses){NO_TASK, {NO_TASK, NO_TASK, NO_TASK}};
    return cells;
}

rp_rc rp_task_graph_check_waits(const struct rp_graph *g, const struct rp_task_graph *prog,
                                struct rp_err *err) {
    struct search s = {.g = g, .prog = prog, .err = err};
    size_t last[RP_N_QUEUES] = {NO_TASK, NO_TASK, NO_TASK};
    rp_rc rc = RP_OK;
    s.known = rp_calloc(prog->tasks.n, sizeof *s.known);
    s.device = unused(prog->device_cells);
    s.host = unused(prog->host_cells);
    for (; s.task < prog->tasks.n && rc == RP_OK; s.task++) {
        const struct rp_task *t = &prog->tasks.at[s.task];
        const enum rp_queue q = queue(&s, s.task);
        if (last[q] != NO_TASK)
            learn(&s, last[q]);
        for (size_t k = 0; k < t->n_waits; k++)
            learn(&s, prog->waits.at[t->waits + k]);
        s.known[s.task][q] = s.task + 1;
        last[q] = s.task;
        rc = use_all(&s, t);
    }
    free(s.known);
    free(s.device);
    free(s.host);
    return rc;
}
