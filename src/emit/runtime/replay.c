/* SPDX-License-Identifier: MIT
 *
 * replay: executes a plan on the CPU. Each queue is a thread. */
#include "replay.h"

#include <inttypes.h>
#include <pthread.h>

#include "expected.h"
#include "program.h"

/* ---- synchronization ---- */

struct machine {
    const struct replay_program *p;
    const struct replay_schedule *s;
    const struct replay_expected *expected;
    enum replay_order order;
    char *arena, *slab;
    void **fixed;     /* per source that stays on the device: its storage */
    void **sources;   /* per source: this, or its place in the slab */
    bool *updated;    /* per source: an op writes it */
    uint32_t present; /* the training step, from 0 on */

    pthread_mutex_t lock; /* protects all following fields */
    pthread_cond_t changed;
    bool *done;                 /* per step */
    bool idle[REPLAY_N_QUEUES]; /* the queue waits for steps that are not done */
    bool finished[REPLAY_N_QUEUES];
    bool stop; /* a comparison failed: other steps are skipped */
    struct replay_result *result;
};

struct queue {
    struct machine *m;
    int number;
    const void **operands;
};

static int queue_of(const struct replay_step *s) {
    return s->what == REPLAY_SWAP_OUT  ? REPLAY_D2H
           : s->what == REPLAY_SWAP_IN ? REPLAY_H2D
                                       : REPLAY_COMPUTE;
}

static bool waits_are_done(const struct machine *m, const struct replay_step *s) {
    for (uint32_t k = 0; k < s->n_waits; k++)
        if (!m->done[m->s->waits[s->waits + k]])
            return false;
    return true;
}

/* Idle or finished. */
static bool is_blocked(const struct machine *m, int queue) {
    return m->idle[queue] || m->finished[queue];
}

/* In the extreme orders one queue runs at a time: a queue waits until those before it
 * cannot proceed. */
static bool may_proceed(const struct machine *m, int queue) {
    for (int q = 0; q < REPLAY_N_QUEUES; q++) {
        const bool before = m->order == REPLAY_COPIES_FIRST  ? q > queue
                            : m->order == REPLAY_COPIES_LAST ? q < queue
                                                             : false;
        if (before && !is_blocked(m, q))
            return false;
    }
    return true;
}

static void set_idle(struct machine *m, int queue, bool idle) {
    if (m->idle[queue] != idle) {
        m->idle[queue] = idle;
        pthread_cond_broadcast(&m->changed);
    }
}

/* Waits until the step may begin. False if it must be skipped. */
static bool wait_to_begin(struct machine *m, const struct replay_step *s, int queue) {
    pthread_mutex_lock(&m->lock);
    for (;;) {
        const bool ready = waits_are_done(m, s);
        set_idle(m, queue, !ready);
        if (ready && (m->stop || may_proceed(m, queue)))
            break;
        pthread_cond_wait(&m->changed, &m->lock);
    }
    const bool run = !m->stop;
    pthread_mutex_unlock(&m->lock);
    return run;
}

/* Queues that were idle count as ready until they have checked their waits again. */
static void mark_done(struct machine *m, uint32_t step) {
    pthread_mutex_lock(&m->lock);
    m->done[step] = true;
    memset(m->idle, 0, sizeof m->idle);
    pthread_cond_broadcast(&m->changed);
    pthread_mutex_unlock(&m->lock);
}

static void end_queue(struct machine *m, int queue) {
    pthread_mutex_lock(&m->lock);
    m->finished[queue] = true;
    pthread_cond_broadcast(&m->changed);
    pthread_mutex_unlock(&m->lock);
}

/* Compares tensor x at `at` with its expected checksum. The first difference is reported.
 */
static void check(struct machine *m, uint32_t x, const void *at, uint64_t expected,
                  const char *who, const char *verb) {
    const uint64_t sum = checksum(m->p, x, at);
    char when[48] = "";
    pthread_mutex_lock(&m->lock);
    m->result->n_checked++;
    if (sum != expected && !m->stop) {
        m->stop = true;
        if (m->expected->n_steps > 1)
            snprintf(when, sizeof when, "training step %" PRIu32 ": ", m->present + 1);
        snprintf(m->result->wrong, sizeof m->result->wrong,
                 "%s%.140s %s tensor %" PRIu32
                 " \"%.140s\": its bits differ from the un-rematerialized run's",
                 when, who, verb, x, m->p->tensors[x].name);
    }
    pthread_mutex_unlock(&m->lock);
}

/* ---- steps ---- */

static void *place(const struct machine *m, uint32_t x, uint64_t at) {
    return at == REPLAY_NOWHERE ? m->fixed[x] : (void *)(m->arena + at);
}

/* Compares what op i has just written, at q->operands. */
static void check_written(struct queue *q, const char *who, uint32_t i) {
    struct machine *m = q->m;
    const struct replay_op *op = &m->p->ops[i];
    const uint64_t *made = m->expected->made + m->present * n_ends(m->p);
    for (uint32_t e = op->ends + op->n_in; e < op->ends + op->n_in + op->n_out; e++)
        check(m, m->p->ends[e], q->operands[e - op->ends], made[e], who,
              is_source(m->p, m->p->ends[e]) ? "updates" : "makes");
}

static void execute_run(struct queue *q, const struct replay_step *s, uint32_t number) {
    struct machine *m = q->m;
    const struct replay_op *op = &m->p->ops[s->id];
    const uint64_t *where = &m->s->addresses[s->where];
    const uint32_t *ends = &m->p->ends[op->ends];
    char who[160];
    for (uint32_t k = 0; k < op->n_in + op->n_out; k++)
        q->operands[k] = place(m, ends[k], where[k]);
    if (op->workspace_bytes > 0)
        memset(m->arena + s->at, POISON, op->workspace_bytes);
    call(op, q->operands, (void *const *)(const void *)(q->operands + op->n_in));
    if (op->workspace_bytes > 0)
        memset(m->arena + s->at, POISON, op->workspace_bytes);
    snprintf(who, sizeof who, "steps[%" PRIu32 "]: op %" PRIu32 " \"%.100s\"", number,
             s->id, op->name);
    check_written(q, who, s->id);
}

static void execute_step(struct queue *q, const struct replay_step *s, uint32_t number) {
    struct machine *m = q->m;
    if (s->what == REPLAY_RUN)
        execute_run(q, s, number);
    else if (s->what == REPLAY_FREE)
        memset(m->arena + s->at, POISON, m->p->tensors[s->id].bytes);
    else if (s->what == REPLAY_SWAP_OUT)
        memcpy(m->slab + s->host_at, m->arena + s->at, m->p->tensors[s->id].bytes);
    else
        memcpy(m->arena + s->at, m->slab + s->host_at, m->p->tensors[s->id].bytes);
}

static void *run_queue(void *arg) {
    struct queue *q = arg;
    const struct replay_schedule *s = q->m->s;
    for (uint32_t k = 0; k < s->n_steps; k++)
        if (queue_of(&s->steps[k]) == q->number) {
            if (wait_to_begin(q->m, &s->steps[k], q->number))
                execute_step(q, &s->steps[k], k);
            mark_done(q->m, k);
        }
    end_queue(q->m, q->number);
    return NULL;
}

/* ---- one training step ---- */

/* Compares what is kept, and sources that ops update, where they are at the end. */
static void check_end(struct machine *m) {
    static const char who[] = "at the end: the step";
    const uint64_t *left = m->expected->left + (size_t)m->present * m->p->n_tensors;
    for (uint32_t k = 0; k < m->p->n_keep && !m->stop; k++) {
        const uint32_t x = m->p->keep[k];
        check(m, x, place(m, x, m->s->kept_at[k]), left[x], who, "keeps");
    }
    for (uint32_t x = 0; x < m->p->n_tensors && !m->stop; x++)
        if (m->updated[x])
            check(m, x, m->sources[x], left[x], who, "leaves");
}

static bool run_threads(struct machine *m, const void **operands) {
    struct queue queues[REPLAY_N_QUEUES];
    pthread_t threads[REPLAY_N_QUEUES];
    int n = 0;
    for (int k = 0; k < REPLAY_N_QUEUES; k++)
        queues[k] = (struct queue){m, k, operands};
    while (n < REPLAY_N_QUEUES &&
           pthread_create(&threads[n], NULL, run_queue, &queues[n]) == 0)
        n++;
    for (int k = n; k < REPLAY_N_QUEUES; k++) { /* no thread: skip its steps */
        pthread_mutex_lock(&m->lock);
        m->stop = true;
        pthread_mutex_unlock(&m->lock);
        run_queue(&queues[k]);
    }
    for (int k = 0; k < n; k++)
        pthread_join(threads[k], NULL);
    return n == REPLAY_N_QUEUES;
}

/* Nothing but sources goes from step to step. False if there are no threads. */
static bool run_training_step(struct machine *m, const void **operands) {
    memset(m->arena, POISON, m->s->arena_bytes);
    memset(m->done, 0, m->s->n_steps * sizeof *m->done);
    memset(m->idle, 0, sizeof m->idle);
    memset(m->finished, 0, sizeof m->finished);
    const uint64_t before = now_ns();
    const bool good = run_threads(m, operands);
    m->result->time_ns += now_ns() - before;
    if (good)
        check_end(m);
    return good;
}

/* ---- all of them ---- */

/* Where sources are between training steps, and their first content. */
static bool load_sources(struct machine *m) {
    for (uint32_t k = 0; k < m->s->n_homes; k++)
        m->sources[m->s->homes[k].tensor] = m->slab + m->s->homes[k].host_at;
    for (uint32_t x = 0; x < m->p->n_tensors; x++) {
        if (!is_source(m->p, x))
            continue;
        if (m->sources[x] == NULL)
            m->sources[x] = m->fixed[x] = allocate(m->p->tensors[x].bytes);
        if (m->sources[x] == NULL)
            return false;
        fill_source(m->p, x, m->sources[x]);
    }
    return true;
}

static void find_updated(struct machine *m) {
    for (uint32_t i = 0; i < m->p->n_ops; i++) {
        const struct replay_op *op = &m->p->ops[i];
        for (uint32_t e = op->ends + op->n_in; e < op->ends + op->n_in + op->n_out; e++)
            m->updated[m->p->ends[e]] = is_source(m->p, m->p->ends[e]);
    }
}

static bool machine_init(struct machine *m) {
    const size_t n = m->p->n_tensors + (size_t)1;
    m->arena = allocate(m->s->arena_bytes);
    m->slab = allocate(m->s->host_bytes);
    m->done = calloc(m->s->n_steps + (size_t)1, sizeof *m->done);
    m->sources = calloc(n, sizeof *m->sources);
    m->fixed = calloc(n, sizeof *m->fixed);
    m->updated = calloc(n, sizeof *m->updated);
    pthread_mutex_init(&m->lock, NULL);
    pthread_cond_init(&m->changed, NULL);
    if (m->arena == NULL || m->slab == NULL || m->done == NULL || m->sources == NULL ||
        m->fixed == NULL || m->updated == NULL)
        return false;
    find_updated(m);
    return load_sources(m);
}

static void machine_fini(struct machine *m) {
    for (uint32_t x = 0; m->fixed != NULL && x < m->p->n_tensors; x++)
        free(m->fixed[x]);
    pthread_cond_destroy(&m->changed);
    pthread_mutex_destroy(&m->lock);
    free(m->sources);
    free(m->fixed);
    free(m->updated);
    free(m->arena);
    free(m->slab);
    free(m->done);
}

bool replay_run(const struct replay_program *p, const struct replay_schedule *s,
                enum replay_order order, const struct replay_expected *t,
                struct replay_result *result) {
    struct machine m = {.p = p, .s = s, .expected = t, .order = order, .result = result};
    const void **operands = calloc(max_operands(p), sizeof *operands);
    *result = (struct replay_result){0, 0, ""};
    bool good = machine_init(&m) && operands != NULL;
    if (!good)
        snprintf(result->wrong, sizeof result->wrong,
                 "no memory for an arena of %" PRIu64 " and a slab of %" PRIu64 " bytes",
                 s->arena_bytes, s->host_bytes);
    for (; good && m.present < t->n_steps && !m.stop; m.present++) {
        good = run_training_step(&m, operands);
        if (!good)
            snprintf(result->wrong, sizeof result->wrong, "no thread for a queue");
    }
    if (m.present > 0)
        result->time_ns /= m.present;
    machine_fini(&m);
    free(operands);
    return good;
}
