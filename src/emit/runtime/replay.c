/* SPDX-License-Identifier: MIT
 *
 * replay: executes a plan on the CPU. Each queue is a thread. */
#include "replay.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ALIGNMENT 512 /* of memory, as on a GPU */
#define POISON 0xff   /* a float of these bytes is NaN */

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Allocates exactly `bytes`, so that memory checkers see accesses beyond. */
static char *allocate(uint64_t bytes) {
    void *at = NULL;
    if (bytes > SIZE_MAX / 2 || posix_memalign(&at, ALIGNMENT, bytes > 0 ? bytes : 1) != 0)
        return NULL;
    memset(at, POISON, bytes);
    return at;
}

/* ---- expected checksums ---- */

static void call(const struct replay_op *op, const void *const *in, void *const *out) {
    ((rp_kernel_fn *)op->run)(op->args, in, out);
}

static uint32_t max_operands(const struct replay_program *p) {
    uint32_t max = 1;
    for (uint32_t i = 0; i < p->n_ops; i++)
        if (p->ops[i].n_in + p->ops[i].n_out > max)
            max = p->ops[i].n_in + p->ops[i].n_out;
    return max;
}

static bool allocate_outputs(const struct replay_program *p, const struct replay_op *op,
                             void **at) {
    for (uint32_t k = 0; k < op->n_out; k++) {
        const uint32_t x = p->ends[op->ends + op->n_in + k];
        at[x] = allocate(p->tensors[x].bytes);
        if (at[x] == NULL)
            return false;
    }
    return true;
}

static void checksum_outputs(const struct replay_program *p, const struct replay_op *op,
                             void *const *at, uint64_t *sums) {
    for (uint32_t k = 0; k < op->n_out; k++) {
        const uint32_t x = p->ends[op->ends + op->n_in + k];
        sums[x] = rp_checksum(at[x], p->tensors[x].bytes);
    }
}

/* last[x] is the last op with operand x. After it x is not needed. */
static void run_each_once(const struct replay_program *p, struct replay_expected *t,
                          void **at, const void **operands, const uint32_t *last,
                          bool *good) {
    for (uint32_t i = 0; i < p->n_ops && *good; i++) {
        const struct replay_op *op = &p->ops[i];
        *good = allocate_outputs(p, op, at);
        for (uint32_t k = 0; k < op->n_in + op->n_out; k++)
            operands[k] = at[p->ends[op->ends + k]];
        const uint64_t before = now_ns();
        if (*good)
            call(op, operands, (void *const *)(const void *)(operands + op->n_in));
        t->time_ns += now_ns() - before;
        if (*good)
            checksum_outputs(p, op, at, t->sums);
        for (uint32_t k = 0; k < op->n_in + op->n_out; k++) {
            const uint32_t x = p->ends[op->ends + k];
            if (last[x] == i && t->sources[x] == NULL) {
                free(at[x]);
                at[x] = NULL;
            }
        }
    }
}

static bool fill_sources(const struct replay_program *p, struct replay_expected *t,
                         void **at) {
    for (uint32_t x = 0; x < p->n_tensors; x++) {
        if (p->tensors[x].fill == REPLAY_NO_FILL)
            continue;
        at[x] = t->sources[x] = allocate(p->tensors[x].bytes);
        if (at[x] == NULL)
            return false;
        rp_fill_values(&p->fills[p->tensors[x].fill], at[x]);
        t->sums[x] = rp_checksum(at[x], p->tensors[x].bytes);
    }
    return true;
}

bool replay_expected_build(const struct replay_program *p, struct replay_expected *t) {
    void **at = calloc(p->n_tensors + 1, sizeof *at);
    uint32_t *last = calloc(p->n_tensors + 1, sizeof *last);
    const void **operands = calloc(max_operands(p), sizeof *operands);
    *t = (struct replay_expected){calloc(p->n_tensors + 1, sizeof *t->sums),
                                  calloc(p->n_tensors + 1, sizeof *t->sources), 0};
    bool good = at != NULL && last != NULL && operands != NULL && t->sums != NULL &&
                t->sources != NULL && fill_sources(p, t, at);
    if (good) {
        for (uint32_t i = 0; i < p->n_ops; i++)
            for (uint32_t k = 0; k < p->ops[i].n_in + p->ops[i].n_out; k++)
                last[p->ends[p->ops[i].ends + k]] = i;
        run_each_once(p, t, at, operands, last, &good);
    }
    for (uint32_t x = 0; at != NULL && t->sources != NULL && x < p->n_tensors; x++)
        if (t->sources[x] == NULL)
            free(at[x]);
    free(at);
    free(last);
    free(operands);
    return good;
}

void replay_expected_fini(const struct replay_program *p, struct replay_expected *t) {
    for (uint32_t x = 0; t->sources != NULL && x < p->n_tensors; x++)
        free(t->sources[x]);
    free(t->sources);
    free(t->sums);
    *t = (struct replay_expected){NULL, NULL, 0};
}

/* ---- synchronization ---- */

struct machine {
    const struct replay_program *p;
    const struct replay_schedule *s;
    const struct replay_expected *expected;
    enum replay_order order;
    char *arena, *slab;

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

/* In the extreme orders one side waits until the other side cannot proceed. */
static bool may_proceed(const struct machine *m, int queue) {
    if (m->order == REPLAY_COPIES_FIRST && queue == REPLAY_COMPUTE)
        return is_blocked(m, REPLAY_D2H) && is_blocked(m, REPLAY_H2D);
    if (m->order == REPLAY_COPIES_LAST && queue != REPLAY_COMPUTE)
        return is_blocked(m, REPLAY_COMPUTE);
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
static void check(struct machine *m, uint32_t x, const void *at, const char *who,
                  const char *verb) {
    const struct replay_tensor *t = &m->p->tensors[x];
    const uint64_t sum = rp_checksum(at, t->bytes);
    pthread_mutex_lock(&m->lock);
    m->result->n_checked++;
    if (sum != m->expected->sums[x] && !m->stop) {
        m->stop = true;
        snprintf(m->result->wrong, sizeof m->result->wrong,
                 "%.140s %s tensor %" PRIu32
                 " \"%.140s\": its bits differ from the un-rematerialized run's",
                 who, verb, x, t->name);
    }
    pthread_mutex_unlock(&m->lock);
}

/* ---- steps ---- */

static void *place(const struct machine *m, uint32_t x, uint64_t at) {
    return at == REPLAY_NOWHERE ? m->expected->sources[x] : (void *)(m->arena + at);
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
    for (uint32_t k = op->n_in; k < op->n_in + op->n_out; k++)
        check(m, ends[k], q->operands[k], who, "makes");
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

/* ---- the whole schedule ---- */

static void check_kept(struct machine *m) {
    for (uint32_t k = 0; k < m->p->n_keep && !m->stop; k++) {
        const uint32_t x = m->p->keep[k];
        check(m, x, place(m, x, m->s->kept_at[k]), "at the end: the step", "keeps");
    }
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

bool replay_run(const struct replay_program *p, const struct replay_schedule *s,
                enum replay_order order, const struct replay_expected *t,
                struct replay_result *result) {
    struct machine m = {.p = p, .s = s, .expected = t, .order = order, .result = result};
    const void **operands = calloc(max_operands(p), sizeof *operands);
    *result = (struct replay_result){0, 0, ""};
    m.arena = allocate(s->arena_bytes);
    m.slab = allocate(s->host_bytes);
    m.done = calloc(s->n_steps + 1, sizeof *m.done);
    bool good = operands != NULL && m.arena != NULL && m.slab != NULL && m.done != NULL;
    if (!good)
        snprintf(result->wrong, sizeof result->wrong,
                 "no memory for an arena of %" PRIu64 " and a slab of %" PRIu64 " bytes",
                 s->arena_bytes, s->host_bytes);
    if (good) {
        pthread_mutex_init(&m.lock, NULL);
        pthread_cond_init(&m.changed, NULL);
        const uint64_t before = now_ns();
        good = run_threads(&m, operands);
        result->time_ns = now_ns() - before;
        if (good)
            check_kept(&m);
        else
            snprintf(result->wrong, sizeof result->wrong, "no thread for a queue");
        pthread_cond_destroy(&m.changed);
        pthread_mutex_destroy(&m.lock);
    }
    free(operands);
    free(m.arena);
    free(m.slab);
    free(m.done);
    return good;
}
