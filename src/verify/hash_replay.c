#include "verify/hash_replay.h"

#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/random.h"

/* What cells without a value hold. A digest equals one of these with probability 2^-64. */
#define UNWRITTEN 0xe0e0e0e0e0e0e0e0u
#define ALLOCATED 0xe1e1e1e1e1e1e1e1u
#define FREED 0xe2e2e2e2e2e2e2e2u
#define WORKSPACE 0xe3e3e3e3e3e3e3e3u
#define EMPTY 0xe4e4e4e4e4e4e4e4u /* the value of a tensor of 0 bytes: it has no cells */

/* The right values, from the step without rematerialization. */
struct reference {
    uint64_t *last; /* per tensor: when the step ends */
    /* From first[i] on: what op i finds in its inputs, then in what it updates, and then
     * what it leaves in the latter. */
    uint64_t *of_op;
    size_t *first;
};

struct machine {
    const struct rp_graph *g;
    const struct rp_task_graph *tg;
    struct reference right;
    uint64_t *device, *host;
    bool *done;                    /* per task */
    size_t next[RP_N_TASK_QUEUES]; /* per queue: all its tasks before this are done */
    const char *order;             /* of the copies, for messages */
    size_t n_values;               /* compared so far */
    struct rp_err *err;
};

/* ---- digests ---- */

static uint64_t mix(uint64_t a, uint64_t b) {
    return rp_mix64(a * RP_GOLDEN_RATIO_64 + b + 0x632be59bd9b4e019u);
}

static uint64_t source_value(uint32_t x) {
    return mix(1, x);
}

static uint64_t op_start(uint32_t i) {
    return mix(2, i);
}

/* ---- the step without rematerialization ---- */

/* What a source holds when the step begins. */
static uint64_t first_value(const struct rp_graph *g, uint32_t x) {
    return g->tensors[x].bytes > 0 ? source_value(x) : EMPTY;
}

/* Carries op i out on `now`, the present value of each tensor. */
static void reference_op(const struct rp_graph *g, uint32_t i, uint64_t *now,
                         uint64_t *of_op) {
    const struct rp_op *op = &g->ops[i];
    uint64_t digest = op_start(i);
    for (uint32_t k = 0; k < op->n_inputs; k++)
        digest = mix(digest, *of_op++ = now[op->inputs[k]]);
    for (uint32_t k = 0; k < op->n_updates; k++)
        digest = mix(digest, *of_op++ = now[op->updates[k]]);
    for (uint32_t k = 0; k < op->n_outputs; k++)
        if (g->tensors[op->outputs[k]].bytes > 0)
            now[op->outputs[k]] = mix(digest, k);
    for (uint32_t k = 0; k < op->n_updates; k++) {
        if (g->tensors[op->updates[k]].bytes > 0)
            now[op->updates[k]] = mix(digest, op->n_outputs + k);
        *of_op++ = now[op->updates[k]];
    }
}

static struct reference run_reference(const struct rp_graph *g) {
    struct reference r = {.last = rp_calloc(g->n_tensors, sizeof *r.last),
                          .first = rp_calloc(g->n_ops + (size_t)1, sizeof *r.first)};
    for (uint32_t i = 0; i < g->n_ops; i++)
        r.first[i + 1] = r.first[i] + g->ops[i].n_inputs + 2 * (size_t)g->ops[i].n_updates;
    r.of_op = rp_calloc(r.first[g->n_ops], sizeof *r.of_op);
    for (uint32_t x = 0; x < g->n_tensors; x++)
        r.last[x] = first_value(g, x);
    for (uint32_t i = 0; i < g->n_ops; i++)
        reference_op(g, i, r.last, r.of_op + r.first[i]);
    return r;
}

static void free_reference(struct reference *r) {
    free(r->last);
    free(r->of_op);
    free(r->first);
}

/* ---- cells ---- */

/* Atomic, because threads race for a cell if a wait is missing. */
static uint64_t load_cell(const uint64_t *cell) {
    return __atomic_load_n(cell, __ATOMIC_RELAXED);
}

static void fill(uint64_t *cells, struct rp_cell_range range, uint64_t with) {
    for (size_t k = 0; k < range.n; k++)
        __atomic_store_n(&cells[range.first + k], with, __ATOMIC_RELAXED);
}

/* The right value if all cells of the range hold it, else that of the first wrong cell. */
static uint64_t load_range(const uint64_t *cells, struct rp_cell_range range,
                           uint64_t right) {
    for (size_t k = 0; k < range.n; k++) {
        const uint64_t found = load_cell(&cells[range.first + k]);
        if (found != right)
            return found;
    }
    return right;
}

/* If the cell holds a source before or after an update, says so. */
static void describe_version(const struct machine *m, uint64_t cell, char *text,
                             size_t size) {
    for (uint32_t i = 0; i < m->g->n_ops; i++) {
        const struct rp_op *op = &m->g->ops[i];
        const uint64_t *before = m->right.of_op + m->right.first[i] + op->n_inputs;
        for (uint32_t k = 0; k < op->n_updates; k++) {
            uint32_t x = op->updates[k];
            bool is_after = cell == before[op->n_updates + k];
            if (is_after || cell == before[k])
                snprintf(text, size, "tensor %u \"%.80s\" as it is %s op %u", x,
                         m->g->tensors[x].name, is_after ? "after" : "before", i);
        }
    }
}

/* What a wrong cell holds, in words. */
static void describe_cell(const struct machine *m, uint64_t cell, char *text, size_t size) {
    static const struct {
        uint64_t mark;
        const char *description;
    } marks[] = {{UNWRITTEN, "memory never written"},
                 {ALLOCATED, "memory taken and not yet written"},
                 {FREED, "freed memory"},
                 {WORKSPACE, "some op's workspace"}};
    snprintf(text, size, "a wrong value");
    for (size_t k = 0; k < sizeof marks / sizeof marks[0]; k++)
        if (cell == marks[k].mark)
            snprintf(text, size, "%s", marks[k].description);
    for (uint32_t x = 0; x < m->g->n_tensors; x++)
        if (cell == m->right.last[x])
            snprintf(text, size, "tensor %u \"%.80s\"", x, m->g->tensors[x].name);
    describe_version(m, cell, text, size);
}

/* A step and, for a run, its op. The number of tasks stands for the end of the plan. */
static void describe_task(const struct machine *m, size_t task, char *text, size_t size) {
    const struct rp_task *t = &m->tg->tasks.at[task];
    if (task == m->tg->tasks.n)
        snprintf(text, size, "at the end: the step");
    else if (t->kind == RP_RUN)
        snprintf(text, size, "steps[%zu]: op %u \"%.80s\"", task, t->id,
                 m->g->ops[t->id].name);
    else
        snprintf(text, size, "steps[%zu]: the copy", task);
}

/* Does the range hold `right`, as tensor x does? `verb` says what `task` does with it. */
static rp_rc check_value(struct machine *m, const uint64_t *cells,
                         struct rp_cell_range range, uint32_t x, uint64_t right,
                         size_t task, const char *verb) {
    uint64_t cell = load_range(cells, range, right);
    m->n_values++;
    if (cell == right)
        return RP_OK;
    char where[128], found[128];
    describe_task(m, task, where, sizeof where);
    describe_cell(m, cell, found, sizeof found);
    return rp_fail(m->err, RP_NO,
                   "replay, copies %s: %s %s tensor %u \"%.80s\": it finds %s", m->order,
                   where, verb, x, m->g->tensors[x].name, found);
}

/* ---- tasks ---- */

/* Checks what op i finds in its inputs and in what it updates, and digests it. */
static rp_rc read_all(struct machine *m, size_t task, uint64_t *digest) {
    const struct rp_task *t = &m->tg->tasks.at[task];
    const struct rp_op *op = &m->g->ops[t->id];
    const struct rp_cell_range *in = &m->tg->ranges.at[t->first_range];
    const uint64_t *right = m->right.of_op + m->right.first[t->id];
    rp_rc rc = RP_OK;
    for (uint32_t k = 0; k < op->n_inputs + op->n_updates && rc == RP_OK; k++) {
        bool reads = k < op->n_inputs;
        uint32_t x = reads ? op->inputs[k] : op->updates[k - op->n_inputs];
        rc = check_value(m, m->device, in[k], x, right[k], task,
                         reads ? "reads" : "updates");
        *digest = mix(*digest, in[k].n > 0 ? load_cell(&m->device[in[k].first]) : EMPTY);
    }
    return rc;
}

/* Outputs and workspace are overwritten first, since an op may write to both before it has
 * read its last input. It may write to its workspace until it ends. */
static rp_rc do_run(struct machine *m, size_t task) {
    const struct rp_task *t = &m->tg->tasks.at[task];
    const struct rp_op *op = &m->g->ops[t->id];
    const struct rp_cell_range *update = &m->tg->ranges.at[t->first_range] + op->n_inputs;
    const struct rp_cell_range *out = update + op->n_updates,
                               *workspace = out + op->n_outputs;
    const uint64_t *updated =
        m->right.of_op + m->right.first[t->id] + op->n_inputs + op->n_updates;
    uint64_t digest = op_start(t->id);
    for (uint32_t k = 0; k < op->n_outputs; k++)
        if (out[k].fresh)
            fill(m->device, out[k], ALLOCATED);
    fill(m->device, *workspace, WORKSPACE);
    rp_rc rc = read_all(m, task, &digest);
    for (uint32_t k = 0; k < op->n_outputs; k++)
        if (!out[k].left)
            fill(m->device, out[k], mix(digest, k));
    for (uint32_t k = 0; k < op->n_updates; k++)
        fill(m->device, update[k], mix(digest, op->n_outputs + k));
    fill(m->device, *workspace, WORKSPACE);
    for (uint32_t k = 0; k < op->n_outputs && rc == RP_OK; k++)
        if (!out[k].left)
            rc = check_value(m, m->device, out[k], op->outputs[k],
                             m->right.last[op->outputs[k]], task, "has made");
    for (uint32_t k = 0; k < op->n_updates && rc == RP_OK; k++)
        rc = check_value(m, m->device, update[k], op->updates[k], updated[k], task,
                         "has updated");
    return rc;
}

/* A source is copied as it is: which version is right is for those to say that read it. */
static rp_rc do_copy(struct machine *m, size_t task) {
    const struct rp_task *t = &m->tg->tasks.at[task];
    const struct rp_cell_range *device = &m->tg->ranges.at[t->first_range],
                               *host = device + 1;
    bool out = t->kind == RP_SWAP_OUT;
    struct rp_cell_range from = out ? *device : *host;
    const uint64_t *cells = out ? m->device : m->host;
    rp_rc rc = RP_OK;
    if (!m->tg->listed[t->id])
        rc = check_value(m, cells, from, t->id, m->right.last[t->id], task,
                         out ? "takes from the device" : "takes from the host");
    if (from.n > 0)
        fill(out ? m->host : m->device, out ? *host : *device,
             load_cell(&cells[from.first]));
    return rc;
}

static rp_rc do_task(struct machine *m, size_t task) {
    const struct rp_task *t = &m->tg->tasks.at[task];
    if (t->kind == RP_RUN)
        return do_run(m, task);
    if (t->kind != RP_FREE)
        return do_copy(m, task);
    fill(m->device, m->tg->ranges.at[t->first_range], FREED);
    return RP_OK;
}

/* ---- orders ---- */

/* The first task of queue q that is not done, or the number of tasks. */
static size_t next_task(struct machine *m, enum rp_task_queue q) {
    const struct rp_task_graph *tg = m->tg;
    while (m->next[q] < tg->tasks.n &&
           (m->done[m->next[q]] || rp_task_queue_of(tg->tasks.at[m->next[q]].kind) != q))
        m->next[q]++;
    return m->next[q];
}

static bool may_start(const struct machine *m, size_t task) {
    const struct rp_task *t = &m->tg->tasks.at[task];
    for (size_t k = 0; k < t->n_waits; k++)
        if (!m->done[m->tg->waits.at[t->first_wait + k]])
            return false;
    return true;
}

static rp_rc run_next(struct machine *m, size_t task) {
    m->done[task] = true;
    return do_task(m, task);
}

/* A copy begins as soon as its waits are over. */
static rp_rc copies_first(struct machine *m) {
    static const enum rp_task_queue queues[] = {RP_QUEUE_D2H, RP_QUEUE_H2D,
                                                RP_QUEUE_COMPUTE};
    rp_rc rc = RP_OK;
    for (unsigned k = 0; k < RP_N_TASK_QUEUES && rc == RP_OK;) {
        size_t task = next_task(m, queues[k]);
        bool ready = task < m->tg->tasks.n && may_start(m, task);
        if (ready)
            rc = run_next(m, task);
        k = ready ? 0 : k + 1;
    }
    return rc;
}

/* Runs all tasks of a queue up to `task`, and before each the tasks it waits for. Waits are
 * for earlier tasks, and those of a copy are for compute tasks that are done or for one
 * more copy, so the recursion is at most three deep. */
static rp_rc run_until(struct machine *m, size_t task) {
    rp_rc rc = RP_OK;
    while (!m->done[task] && rc == RP_OK) {
        size_t first = next_task(m, rp_task_queue_of(m->tg->tasks.at[task].kind));
        const struct rp_task *t = &m->tg->tasks.at[first];
        for (size_t k = 0; k < t->n_waits && rc == RP_OK; k++)
            rc = run_until(m, m->tg->waits.at[t->first_wait + k]);
        if (rc == RP_OK)
            rc = run_next(m, first);
    }
    return rc;
}

/* A copy begins only when a run, a free or the end of the plan has to wait for it. */
static rp_rc copies_last(struct machine *m) {
    rp_rc rc = RP_OK;
    for (unsigned q = 0; q < RP_N_TASK_QUEUES; q++)
        for (size_t task; rc == RP_OK && (task = next_task(m, q)) < m->tg->tasks.n;)
            rc = run_until(m, task);
    return rc;
}

/* ---- threads: one for each queue, with an event for each task ---- */

struct events {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool *done; /* per task, under the lock */
    bool stop;  /* a task failed: all others are skipped */
};

struct queue_thread {
    struct machine m; /* with its own error and count; memory is shared */
    struct rp_err err;
    struct events *events;
    enum rp_task_queue queue;
    size_t failed; /* the task that failed, or the number of tasks */
    rp_rc rc;
};

/* Waits until all that `task` waits for is done. False if the task must be skipped. */
static bool wait_for_events(struct queue_thread *q, size_t task) {
    const struct rp_task *t = &q->m.tg->tasks.at[task];
    struct events *e = q->events;
    pthread_mutex_lock(&e->lock);
    for (size_t k = 0; k < t->n_waits; k++)
        while (!e->done[q->m.tg->waits.at[t->first_wait + k]])
            pthread_cond_wait(&e->changed, &e->lock);
    const bool ready = !e->stop;
    pthread_mutex_unlock(&e->lock);
    return ready;
}

static void signal_event(struct queue_thread *q, size_t task) {
    struct events *e = q->events;
    pthread_mutex_lock(&e->lock);
    e->done[task] = true;
    e->stop = e->stop || q->rc != RP_OK;
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
}

/* Some tasks, chosen by a hash of their number, let the other threads go first. */
static void *run_queue(void *arg) {
    struct queue_thread *q = arg;
    const struct rp_task_graph *tg = q->m.tg;
    for (size_t task = 0; task < tg->tasks.n; task++) {
        if (rp_task_queue_of(tg->tasks.at[task].kind) != q->queue)
            continue;
        if (wait_for_events(q, task)) {
            if (mix(q->queue, task) % 4 == 0)
                sched_yield();
            q->rc = do_task(&q->m, task);
            if (q->rc != RP_OK)
                q->failed = task;
        }
        signal_event(q, task);
    }
    return NULL;
}

/* Reports the first wrong step of those that were found. Which ones were found may depend
 * on the race. */
static rp_rc merge_results(struct machine *m, const struct queue_thread *queues) {
    const struct queue_thread *first = &queues[0];
    for (int q = 0; q < RP_N_TASK_QUEUES; q++) {
        m->n_values += queues[q].m.n_values;
        if (queues[q].failed < first->failed)
            first = &queues[q];
    }
    return first->rc == RP_OK ? RP_OK : rp_fail(m->err, first->rc, "%s", first->err.msg);
}

static rp_rc in_threads(struct machine *m) {
    struct queue_thread queues[RP_N_TASK_QUEUES];
    pthread_t threads[RP_N_TASK_QUEUES];
    struct events events = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, m->done,
                            false};
    int started = RP_QUEUE_COMPUTE + 1, error = 0;
    for (int q = 0; q < RP_N_TASK_QUEUES; q++) {
        queues[q] = (struct queue_thread){.m = *m,
                                          .events = &events,
                                          .queue = (enum rp_task_queue)q,
                                          .failed = m->tg->tasks.n};
        queues[q].m.err = &queues[q].err;
        queues[q].m.n_values = 0;
    }
    for (; started < RP_N_TASK_QUEUES && error == 0; started += error == 0)
        error = pthread_create(&threads[started], NULL, run_queue, &queues[started]);
    if (error != 0) /* let the threads that were started end */
        for (size_t task = 0; task < m->tg->tasks.n; task++)
            signal_event(&(struct queue_thread){.events = &events, .rc = RP_ENV}, task);
    else
        run_queue(&queues[RP_QUEUE_COMPUTE]);
    while (--started > RP_QUEUE_COMPUTE)
        pthread_join(threads[started], NULL);
    pthread_mutex_destroy(&events.lock);
    pthread_cond_destroy(&events.changed);
    if (error != 0)
        return rp_fail(m->err, RP_ENV, "replay: no thread: %s", strerror(error));
    return merge_results(m, queues);
}

/* The first two are deterministic, so they run first and find the same fault each time. */
static const struct {
    const char *description;
    rp_rc (*run)(struct machine *m);
} orders[] = {
    {"as early as they may be", copies_first},
    {"as late as they may be", copies_last},
    {"on threads of their own", in_threads},
};

/* ---- the whole ---- */

static rp_rc check_kept(struct machine *m) {
    const struct rp_graph *g = m->g;
    rp_rc rc = RP_OK;
    for (uint32_t k = 0; k < g->n_keep && rc == RP_OK; k++) {
        uint32_t x = g->keep[k];
        if (!m->tg->on_device[x])
            return rp_fail(m->err, RP_NO,
                           "replay: tensor %u \"%.80s\" is to be kept and not there", x,
                           g->tensors[x].name);
        rc = check_value(m, m->device, m->tg->final[x], x, m->right.last[x], m->tg->tasks.n,
                         "keeps");
    }
    for (uint32_t x = 0; x < g->n_tensors && rc == RP_OK; x++)
        if (m->tg->listed[x])
            rc = check_value(m, m->host, m->tg->host[x], x, m->right.last[x],
                             m->tg->tasks.n, "leaves on the host");
    return rc;
}

static void reset(struct machine *m, size_t order) {
    const struct rp_task_graph *tg = m->tg;
    for (size_t k = 0; k < tg->n_device_cells; k++)
        m->device[k] = UNWRITTEN;
    for (size_t k = 0; k < tg->n_host_cells; k++)
        m->host[k] = UNWRITTEN;
    for (size_t k = 0; k < tg->tasks.n; k++)
        m->done[k] = false;
    for (uint32_t x = 0; x < m->g->n_tensors; x++)
        if (tg->listed[x])
            fill(m->host, tg->host[x], first_value(m->g, x));
        else if (m->g->tensors[x].producer == RP_NONE)
            fill(m->device, tg->final[x], first_value(m->g, x));
    m->next[RP_QUEUE_COMPUTE] = m->next[RP_QUEUE_D2H] = m->next[RP_QUEUE_H2D] = 0;
    m->order = orders[order].description;
}

rp_rc rp_hash_replay(const struct rp_graph *g, const struct rp_task_graph *tg,
                     struct rp_replay *r, struct rp_err *err) {
    struct machine m = {.g = g, .tg = tg, .right = run_reference(g), .err = err};
    m.device = rp_calloc(tg->n_device_cells, sizeof *m.device);
    m.host = rp_calloc(tg->n_host_cells, sizeof *m.host);
    m.done = rp_calloc(tg->tasks.n, sizeof *m.done);
    *r = (struct rp_replay){.n_device_cells = tg->n_device_cells,
                            .n_host_cells = tg->n_host_cells};
    for (size_t k = 0; k < tg->tasks.n; k++) {
        r->n_runs += tg->tasks.at[k].kind == RP_RUN;
        r->n_copies += rp_task_queue_of(tg->tasks.at[k].kind) != RP_QUEUE_COMPUTE;
    }
    rp_rc rc = RP_OK;
    const size_t n_orders = r->n_copies > 0 ? 3 : 2;
    while (r->n_orders < n_orders && rc == RP_OK) {
        reset(&m, r->n_orders);
        rc = orders[r->n_orders].run(&m);
        if (rc == RP_OK)
            rc = check_kept(&m);
        r->n_orders++;
    }
    r->n_values = m.n_values;
    free_reference(&m.right);
    free(m.device);
    free(m.host);
    free(m.done);
    return rc;
}
