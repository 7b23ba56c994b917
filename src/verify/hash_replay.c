#include "verify/hash_replay.h"

#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* What cells hold that hold no value. No digest equals one but by a chance of 2^-64. */
#define UNWRITTEN 0xe0e0e0e0e0e0e0e0u
#define TAKEN 0xe1e1e1e1e1e1e1e1u
#define FREED 0xe2e2e2e2e2e2e2e2u
#define WORKSPACE 0xe3e3e3e3e3e3e3e3u
#define EMPTY 0xe4e4e4e4e4e4e4e4u /* the value of a tensor of 0 bytes: it has no cells */

struct machine {
    const struct rp_graph *g;
    const struct rp_task_graph *prog;
    const uint64_t *values; /* per tensor: what it must be */
    uint64_t *device, *host;
    bool *done;               /* per task */
    size_t next[RP_N_QUEUES]; /* per queue: its first task that is not done */
    const char *schedule;     /* in words */
    size_t n_values;          /* compared so far */
    struct rp_err *err;
};

/* ---- digests ---- */

/* The finalizer of splitmix64 over both words. */
static uint64_t mix(uint64_t a, uint64_t b) {
    uint64_t z = a * 0x9e3779b97f4a7c15u + b + 0x632be59bd9b4e019u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static uint64_t source_value(uint32_t x) {
    return mix(1, x);
}

static uint64_t op_start(uint32_t i) {
    return mix(2, i);
}

/* ---- the un-rematerialized step ---- */

static uint64_t *reference_values(const struct rp_graph *g) {
    uint64_t *values = rp_calloc(g->n_tensors, sizeof *values);
    for (uint32_t x = 0; x < g->n_tensors; x++)
        values[x] = g->tensors[x].bytes > 0 ? source_value(x) : EMPTY;
    for (uint32_t i = 0; i < g->n_ops; i++) {
        const struct rp_op *op = &g->ops[i];
        uint64_t digest = op_start(i);
        for (uint32_t k = 0; k < op->n_inputs; k++)
            digest = mix(digest, values[op->inputs[k]]);
        for (uint32_t k = 0; k < op->n_outputs; k++)
            if (g->tensors[op->outputs[k]].bytes > 0)
                values[op->outputs[k]] = mix(digest, k);
    }
    return values;
}

/* ---- cells ---- */

/* Where a wait is missing, threads meet in a cell: then some value is read, as on a GPU. */
static uint64_t peek(const uint64_t *cell) {
    return __atomic_load_n(cell, __ATOMIC_RELAXED);
}

static void fill(uint64_t *cells, struct rp_region region, uint64_t with) {
    for (size_t k = 0; k < region.n; k++)
        __atomic_store_n(&cells[region.first + k], with, __ATOMIC_RELAXED);
}

/* What the region holds: the right value if all of it does, else the first wrong cell. */
static uint64_t look(const uint64_t *cells, struct rp_region region, uint64_t right) {
    for (size_t k = 0; k < region.n; k++) {
        const uint64_t found = peek(&cells[region.first + k]);
        if (found != right)
            return found;
    }
    return right;
}

/* What a wrong cell holds, for people. */
static void describe(const struct machine *m, uint64_t cell, char *text, size_t size) {
    static const struct {
        uint64_t mark;
        const char *words;
    } marks[] = {{UNWRITTEN, "memory never written"},
                 {TAKEN, "memory taken and not yet written"},
                 {FREED, "freed memory"},
                 {WORKSPACE, "some op's workspace"}};
    snprintf(text, size, "a wrong value");
    for (size_t k = 0; k < sizeof marks / sizeof marks[0]; k++)
        if (cell == marks[k].mark)
            snprintf(text, size, "%s", marks[k].words);
    for (uint32_t x = 0; x < m->g->n_tensors; x++)
        if (cell == m->values[x])
            snprintf(text, size, "tensor %u \"%.80s\"", x, m->g->tensors[x].name);
}

/* Where a message points: a step and, for a run, its op. */
static void place(const struct machine *m, size_t task, char *text, size_t size) {
    const struct rp_task *t = &m->prog->tasks.at[task];
    if (task == m->prog->tasks.n)
        snprintf(text, size, "at the end: the step");
    else if (t->kind == RP_RUN)
        snprintf(text, size, "steps[%zu]: op %u \"%.80s\"", task, t->id,
                 m->g->ops[t->id].name);
    else
        snprintf(text, size, "steps[%zu]: the copy", task);
}

/* Does the region hold tensor x as it must be? `verb` says what `task` does with it. */
static rp_rc expect(struct machine *m, const uint64_t *cells, struct rp_region region,
                    uint32_t x, size_t task, const char *verb) {
    uint64_t cell = look(cells, region, m->values[x]);
    m->n_values++;
    if (cell == m->values[x])
        return RP_OK;
    char where[128], found[128];
    place(m, task, where, sizeof where);
    describe(m, cell, found, sizeof found);
    return rp_fail(m->err, RP_NO,
                   "replay, copies %s: %s %s tensor %u \"%.80s\": it finds %s", m->schedule,
                   where, verb, x, m->g->tensors[x].name, found);
}

/* ---- tasks ---- */

/* Outputs and workspace are overwritten first: an op may write to both before it has read
 * its last input, and to its workspace until its end. */
static rp_rc do_run(struct machine *m, size_t task) {
    const struct rp_task *t = &m->prog->tasks.at[task];
    const struct rp_op *op = &m->g->ops[t->id];
    const struct rp_region *in = &m->prog->regions.at[t->regions];
    const struct rp_region *out = in + op->n_inputs, *workspace = out + op->n_outputs;
    uint64_t digest = op_start(t->id);
    rp_rc rc = RP_OK;
    for (uint32_t k = 0; k < op->n_outputs; k++)
        if (out[k].fresh)
            fill(m->device, out[k], TAKEN);
    fill(m->device, *workspace, WORKSPACE);
    for (uint32_t k = 0; k < op->n_inputs && rc == RP_OK; k++) {
        rc = expect(m, m->device, in[k], op->inputs[k], task, "reads");
        digest = mix(digest, in[k].n > 0 ? peek(&m->device[in[k].first]) : EMPTY);
    }
    for (uint32_t k = 0; k < op->n_outputs; k++)
        fill(m->device, out[k], mix(digest, k));
    fill(m->device, *workspace, WORKSPACE);
    for (uint32_t k = 0; k < op->n_outputs && rc == RP_OK; k++)
        rc = expect(m, m->device, out[k], op->outputs[k], task, "has made");
    return rc;
}

static rp_rc do_copy(struct machine *m, size_t task) {
    const struct rp_task *t = &m->prog->tasks.at[task];
    const struct rp_region *device = &m->prog->regions.at[t->regions], *host = device + 1;
    bool out = t->kind == RP_SWAP_OUT;
    struct rp_region from = out ? *device : *host;
    const uint64_t *cells = out ? m->device : m->host;
    rp_rc rc = expect(m, cells, from, t->id, task,
                      out ? "takes from the device" : "takes from the host");
    if (from.n > 0)
        fill(out ? m->host : m->device, out ? *host : *device, peek(&cells[from.first]));
    return rc;
}

static rp_rc do_task(struct machine *m, size_t task) {
    const struct rp_task *t = &m->prog->tasks.at[task];
    if (t->kind == RP_RUN)
        return do_run(m, task);
    if (t->kind != RP_FREE)
        return do_copy(m, task);
    fill(m->device, m->prog->regions.at[t->regions], FREED);
    return RP_OK;
}

/* ---- schedules ---- */

/* The first task of queue q that is not done, or the number of tasks. */
static size_t head(struct machine *m, enum rp_queue q) {
    const struct rp_task_graph *prog = m->prog;
    while (m->next[q] < prog->tasks.n &&
           (m->done[m->next[q]] || rp_queue_of(prog->tasks.at[m->next[q]].kind) != q))
        m->next[q]++;
    return m->next[q];
}

static bool may_start(const struct machine *m, size_t task) {
    const struct rp_task *t = &m->prog->tasks.at[task];
    for (size_t k = 0; k < t->n_waits; k++)
        if (!m->done[m->prog->waits.at[t->waits + k]])
            return false;
    return true;
}

static rp_rc do_head(struct machine *m, size_t task) {
    m->done[task] = true;
    return do_task(m, task);
}

/* A copy begins the moment its waits are over. */
static rp_rc copies_first(struct machine *m) {
    static const enum rp_queue order[] = {RP_D2H, RP_H2D, RP_COMPUTE};
    rp_rc rc = RP_OK;
    for (unsigned k = 0; k < RP_N_QUEUES && rc == RP_OK;) {
        size_t task = head(m, order[k]);
        bool go = task < m->prog->tasks.n && may_start(m, task);
        if (go)
            rc = do_head(m, task);
        k = go ? 0 : k + 1;
    }
    return rc;
}

/* All tasks of a queue up to `task`, and before each what it waits for. Waits are for
 * earlier steps and a copy's for compute tasks that are done, or for one more copy: the
 * depth is at most three. */
static rp_rc bring_about(struct machine *m, size_t task) {
    rp_rc rc = RP_OK;
    while (!m->done[task] && rc == RP_OK) {
        size_t first = head(m, rp_queue_of(m->prog->tasks.at[task].kind));
        const struct rp_task *t = &m->prog->tasks.at[first];
        for (size_t k = 0; k < t->n_waits && rc == RP_OK; k++)
            rc = bring_about(m, m->prog->waits.at[t->waits + k]);
        if (rc == RP_OK)
            rc = do_head(m, first);
    }
    return rc;
}

/* A copy begins only when a run, a free or the end can wait no longer. */
static rp_rc copies_last(struct machine *m) {
    rp_rc rc = RP_OK;
    for (unsigned q = 0; q < RP_N_QUEUES; q++)
        for (size_t task; rc == RP_OK && (task = head(m, q)) < m->prog->tasks.n;)
            rc = bring_about(m, task);
    return rc;
}

/* ---- threads: each queue its own, and an event for each task ---- */

struct events {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool *done; /* per task, under the lock */
    bool stop;  /* some task went wrong: the others only pass */
};

struct queue_thread {
    struct machine m; /* its own error and count; memory is shared */
    struct rp_err err;
    struct events *events;
    enum rp_queue queue;
    size_t failed; /* the task, or the number of tasks */
    rp_rc rc;
};

/* Until all that `task` waits for is done; true if it shall still be carried out. */
static bool await(struct queue_thread *q, size_t task) {
    const struct rp_task *t = &q->m.prog->tasks.at[task];
    struct events *e = q->events;
    pthread_mutex_lock(&e->lock);
    for (size_t k = 0; k < t->n_waits; k++)
        while (!e->done[q->m.prog->waits.at[t->waits + k]])
            pthread_cond_wait(&e->changed, &e->lock);
    const bool go = !e->stop;
    pthread_mutex_unlock(&e->lock);
    return go;
}

static void announce(struct queue_thread *q, size_t task) {
    struct events *e = q->events;
    pthread_mutex_lock(&e->lock);
    e->done[task] = true;
    e->stop = e->stop || q->rc != RP_OK;
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
}

/* Now and then the others get ahead, by the task's number. */
static void *run_queue(void *arg) {
    struct queue_thread *q = arg;
    const struct rp_task_graph *prog = q->m.prog;
    for (size_t task = 0; task < prog->tasks.n; task++) {
        if (rp_queue_of(prog->tasks.at[task].kind) != q->queue)
            continue;
        if (await(q, task)) {
            if (mix(q->queue, task) % 4 == 0)
                sched_yield();
            q->rc = do_task(&q->m, task);
            if (q->rc != RP_OK)
                q->failed = task;
        }
        announce(q, task);
    }
    return NULL;
}

/* The first wrong step of those found; which ones are found may depend on the race. */
static rp_rc gather(struct machine *m, const struct queue_thread *queues) {
    const struct queue_thread *first = &queues[0];
    for (int q = 0; q < RP_N_QUEUES; q++) {
        m->n_values += queues[q].m.n_values;
        if (queues[q].failed < first->failed)
            first = &queues[q];
    }
    return first->rc == RP_OK ? RP_OK : rp_fail(m->err, first->rc, "%s", first->err.msg);
}

static rp_rc in_threads(struct machine *m) {
    struct queue_thread queues[RP_N_QUEUES];
    pthread_t threads[RP_N_QUEUES];
    struct events events = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, m->done,
                            false};
    int started = RP_COMPUTE + 1, error = 0;
    for (int q = 0; q < RP_N_QUEUES; q++) {
        queues[q] = (struct queue_thread){.m = *m,
                                          .events = &events,
                                          .queue = (enum rp_queue)q,
                                          .failed = m->prog->tasks.n};
        queues[q].m.err = &queues[q].err;
        queues[q].m.n_values = 0;
    }
    for (; started < RP_N_QUEUES && error == 0; started += error == 0)
        error = pthread_create(&threads[started], NULL, run_queue, &queues[started]);
    if (error != 0) /* what has begun waits for nobody */
        for (size_t task = 0; task < m->prog->tasks.n; task++)
            announce(&(struct queue_thread){.events = &events, .rc = RP_ENV}, task);
    else
        run_queue(&queues[RP_COMPUTE]);
    while (--started > RP_COMPUTE)
        pthread_join(threads[started], NULL);
    pthread_mutex_destroy(&events.lock);
    pthread_cond_destroy(&events.changed);
    if (error != 0)
        return rp_fail(m->err, RP_ENV, "replay: no thread: %s", strerror(error));
    return gather(m, queues);
}

/* The first two are always the same, so that what they find is. */
static const struct {
    const char *words;
    rp_rc (*run)(struct machine *m);
} schedules[] = {
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
        if (!m->prog->there[x])
            return rp_fail(m->err, RP_NO,
                           "replay: tensor %u \"%.80s\" is to be kept and not there", x,
                           g->tensors[x].name);
        rc = expect(m, m->device, m->prog->last[x], x, m->prog->tasks.n, "keeps");
    }
    return rc;
}

static void load(struct machine *m, size_t schedule) {
    const struct rp_task_graph *prog = m->prog;
    for (size_t k = 0; k < prog->device_cells; k++)
        m->device[k] = UNWRITTEN;
    for (size_t k = 0; k < prog->host_cells; k++)
        m->host[k] = UNWRITTEN;
    for (size_t k = 0; k < prog->tasks.n; k++)
        m->done[k] = false;
    for (uint32_t x = 0; x < m->g->n_tensors; x++)
        if (m->g->tensors[x].producer == RP_NONE)
            fill(m->device, prog->last[x], m->values[x]);
    m->next[RP_COMPUTE] = m->next[RP_D2H] = m->next[RP_H2D] = 0;
    m->schedule = schedules[schedule].words;
}

rp_rc rp_hash_replay(const struct rp_graph *g, const struct rp_task_graph *prog,
                     struct rp_replay *r, struct rp_err *err) {
    uint64_t *values = reference_values(g);
    struct machine m = {.g = g, .prog = prog, .values = values, .err = err};
    m.device = rp_calloc(prog->device_cells, sizeof *m.device);
    m.host = rp_calloc(prog->host_cells, sizeof *m.host);
    m.done = rp_calloc(prog->tasks.n, sizeof *m.done);
    *r = (struct rp_replay){.device_cells = prog->device_cells,
                            .host_cells = prog->host_cells};
    for (size_t k = 0; k < prog->tasks.n; k++) {
        r->n_runs += prog->tasks.at[k].kind == RP_RUN;
        r->n_copies += rp_queue_of(prog->tasks.at[k].kind) != RP_COMPUTE;
    }
    rp_rc rc = RP_OK;
    const size_t n_schedules = r->n_copies > 0 ? 3 : 2;
    while (r->n_schedules < n_schedules && rc == RP_OK) {
        load(&m, r->n_schedules);
        rc = schedules[r->n_schedules].run(&m);
        if (rc == RP_OK)
            rc = check_kept(&m);
        r->n_schedules++;
    }
    r->n_values = m.n_values;
    free(values);
    free(m.device);
    free(m.host);
    free(m.done);
    return rc;
}

rp_rc rp_verify_replay(const struct rp_graph *g, const struct rp_plan *p,
                       struct rp_replay *r, struct rp_err *err) {
    struct rp_task_graph prog;
    *r = (struct rp_replay){0};
    rp_rc rc = rp_task_graph_build(g, p, &prog, err);
    if (rc == RP_OK)
        rc = rp_hash_replay(g, &prog, r, err);
    if (rc == RP_OK)
        rc = rp_task_graph_check_waits(g, &prog, err);
    rp_task_graph_fini(&prog);
    return rc;
}
