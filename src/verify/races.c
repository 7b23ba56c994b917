#include "verify/races.h"

#include <stdlib.h>

#include "base/mem.h"

#define NO_TASK SIZE_MAX

struct last_uses {                        /* of a cell */
    size_t write, read[RP_N_TASK_QUEUES]; /* the latest task of each, or NO_TASK */
};

struct check {
    const struct rp_graph *g;
    const struct rp_task_graph *tg;
    /* Vector clocks. Entry [t][q] is 1 + the latest task of queue q that has ended when
     * task t begins, or 0. All earlier tasks of q have ended then too. For t's own queue
     * the entry is 1 + t. */
    size_t (*clock)[RP_N_TASK_QUEUES];
    struct last_uses *device, *host; /* per cell */
    size_t task;
    struct rp_err *err;
};

static enum rp_task_queue queue(const struct check *s, size_t task) {
    return rp_task_queue_of(s->tg->tasks.at[task].kind);
}

static void merge_clock(struct check *s, size_t from) {
    for (int q = 0; q < RP_N_TASK_QUEUES; q++)
        if (s->clock[from][q] > s->clock[s->task][q])
            s->clock[s->task][q] = s->clock[from][q];
}

static rp_rc check_before(const struct check *s, size_t earlier) {
    if (earlier == NO_TASK || s->clock[s->task][queue(s, earlier)] > earlier)
        return RP_OK;
    return rp_fail(s->err, RP_NO,
                   "replay: steps[%zu] does not wait for steps[%zu], which uses the same "
                   "storage",
                   s->task, earlier);
}

/* Records that the current task reads or writes these cells. RP_NO if an earlier use of one
 * of them is not ordered before it. */
static rp_rc use(struct check *s, struct last_uses *cells, struct rp_cell_range range,
                 bool write) {
    rp_rc rc = RP_OK;
    for (size_t k = range.first; k < range.first + range.n && rc == RP_OK; k++) {
        rc = check_before(s, cells[k].write);
        for (int q = 0; write && q < RP_N_TASK_QUEUES && rc == RP_OK; q++)
            rc = check_before(s, cells[k].read[q]);
        if (write)
            cells[k].write = s->task;
        else
            cells[k].read[queue(s, s->task)] = s->task;
    }
    return rc;
}

static rp_rc use_all(struct check *s, const struct rp_task *t) {
    const struct rp_cell_range *range = &s->tg->ranges.at[t->first_range];
    rp_rc rc = RP_OK;
    if (t->kind == RP_RUN) {
        const struct rp_op *op = &s->g->ops[t->id];
        uint32_t n = op->n_inputs + op->n_updates + op->n_outputs + 1;
        for (uint32_t k = 0; k < n && rc == RP_OK; k++)
            if (!range[k].left)
                rc = use(s, s->device, range[k], k >= op->n_inputs);
        return rc;
    }
    rc = use(s, s->device, range[0], t->kind != RP_SWAP_OUT);
    if (rc == RP_OK && t->kind != RP_FREE)
        rc = use(s, s->host, range[1], t->kind == RP_SWAP_OUT);
    return rc;
}

static struct last_uses *new_cells(size_t n) {
    struct last_uses *cells = rp_calloc(n, sizeof *cells);
    for (size_t k = 0; k < n; k++)
        cells[k] = (struct last_uses){NO_TASK, {NO_TASK, NO_TASK, NO_TASK}};
    return cells;
}

rp_rc rp_check_races(const struct rp_graph *g, const struct rp_task_graph *tg,
                     struct rp_err *err) {
    struct check s = {.g = g, .tg = tg, .err = err};
    size_t last[RP_N_TASK_QUEUES] = {NO_TASK, NO_TASK, NO_TASK};
    rp_rc rc = RP_OK;
    s.clock = rp_calloc(tg->tasks.n, sizeof *s.clock);
    s.device = new_cells(tg->n_device_cells);
    s.host = new_cells(tg->n_host_cells);
    for (; s.task < tg->tasks.n && rc == RP_OK; s.task++) {
        const struct rp_task *t = &tg->tasks.at[s.task];
        const enum rp_task_queue q = queue(&s, s.task);
        if (last[q] != NO_TASK)
            merge_clock(&s, last[q]);
        for (size_t k = 0; k < t->n_waits; k++)
            merge_clock(&s, tg->waits.at[t->first_wait + k]);
        s.clock[s.task][q] = s.task + 1;
        last[q] = s.task;
        rc = use_all(&s, t);
    }
    free(s.clock);
    free(s.device);
    free(s.host);
    return rc;
}
