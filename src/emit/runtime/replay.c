/* SPDX-License-Identifier: MIT
 *
 * replay: a plan carried out on the CPU, each queue a thread, an event behind each step. */
#include "replay.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ALIGNMENT 512 /* of memory, as on a GPU */
#define POISON 0xff   /* every float of these bytes is not a number */

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Exactly `bytes`, so that a tool sees what goes beyond. */
static char *get_memory(uint64_t bytes) {
    void *at = NULL;
    if (bytes > SIZE_MAX / 2 || posix_memalign(&at, ALIGNMENT, bytes > 0 ? bytes : 1) != 0)
        return NULL;
    memset(at, POISON, bytes);
    return at;
}

/* ---- the truth ---- */

static void call(const struct replay_op *op, const void *const *in, void *const *out) {
    ((rp_kernel_fn *)op->run)(op->args, in, out);
}

static uint32_t most_operands(const struct replay_program *p) {
    uint32_t most = 1;
    for (uint32_t i = 0; i < p->n_ops; i++)
        if (p->ops[i].n_in + p->ops[i].n_out > most)
            most = p->ops[i].n_in + p->ops[i].n_out;
    return most;
}

static bool get_outputs(const struct replay_program *p, const struct replay_op *op,
                        void **at) {
    for (uint32_t k = 0; k < op->n_out; k++) {
        const uint32_t x = p->ends[op->ends + op->n_in + k];
        at[x] = get_memory(p->tensors[x].bytes);
        if (at[x] == NULL)
            return false;
    }
    return true;
}

static void add_up_outputs(const struct replay_program *p, const struct replay_op *op,
                           void *const *at, uint64_t *sums) {
    for (uint32_t k = 0; k < op->n_out; k++) {
        const uint32_t x = p->ends[op->ends + op->n_in + k];
        sums[x] = rp_checksum(at[x], p->tensors[x].bytes);
    }
}

/* last[x]: the last op that has x, after which it is not needed. */
static void run_each_once(const struct replay_program *p, struct replay_truth *t, void **at,
                          const void **operands, const uint32_t *last, bool *good) {
    for (uint32_t i = 0; i < p->n_ops && *good; i++) {
        const struct replay_op *op = &p->ops[i];
        *good = get_outputs(p, op, at);
        for (uint32_t k = 0; k < op->n_in + op->n_out; k++)
            operands[k] = at[p->ends[op->ends + k]];
        const uint64_t before = now_ns();
        if (*good)
            call(op, operands, (void *const *)(const void *)(operands + op->n_in));
        t->time_ns += now_ns() - before;
        if (*good)
            add_up_outputs(p, op, at, t->sums);
        for (uint32_t k = 0; k < op->n_in + op->n_out; k++) {
            const uint32_t x = p->ends[op->ends + k];
            if (last[x] == i && t->sources[x] == NULL) {
                free(at[x]);
                at[x] = NULL;
            }
        }
    }
}

static bool fill_sources(const struct replay_program *p, struct replay_truth *t,
                         void **at) {
    for (uint32_t x = 0; x < p->n_tensors; x++) {
        if (p->tensors[x].fill == REPLAY_NO_FILL)
            continue;
        at[x] = t->sources[x] = get_memory(p->tensors[x].bytes);
        if (at[x] == NULL)
            return false;
        rp_fill_values(&p->fills[p->tensors[x].fill], at[x]);
        t->sums[x] = rp_checksum(at[x], p->tensors[x].bytes);
    }
    return true;
}

bool replay_find_truth(const struct replay_program *p, struct replay_truth *t) {
    void **at = calloc(p->n_tensors + 1, sizeof *at);
    uint32_t *last = calloc(p->n_tensors + 1, sizeof *last);
    const void **operands = calloc(most_operands(p), sizeof *operands);
    *t = (struct replay_truth){calloc(p->n_tensors + 1, sizeof *t->sums),
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

void replay_forget(const struct replay_program *p, struct replay_truth *t) {
    for (uint32_t x = 0; t->sources != NULL && x < p->n_tensors; x++)
        free(t->sources[x]);
    free(t->sources);
    free(t->sums);
    *t = (struct replay_truth){NULL, NULL, 0};
}

/* ---- the machine ---- */

struct machine {
    const struct replay_program *p;
    const struct replay_schedule *s;
    const struct replay_truth *truth;
    enum replay_order order;
    char *arena, *slab;

    pthread_mutex_t lock; /* over what follows */
    pthread_cond_t changed;
    bool *done;                 /* per step */
    bool idle[REPLAY_N_QUEUES]; /* waits for steps that are not done */
    bool over[REPLAY_N_QUEUES];
    bool stop; /* something was wrong: the rest only passes */
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

static bool waits_are_over(const struct machine *m, const struct replay_step *s) {
    for (uint32_t k = 0; k < s->n_waits; k++)
        if (!m->done[m->s->waits[s->waits + k]])
            return false;
    return true;
}

static bool rests(const struct machine *m, int queue) {
    return m->idle[queue] || m->over[queue];
}

/* Has this queue's turn come? Either side gives way until the other cannot go on. */
static bool turn_has_come(const struct machine *m, int queue) {
    if (m->order == REPLAY_COPIES_FIRST && queue == REPLAY_COMPUTE)
        return rests(m, REPLAY_D2H) && rests(m, REPLAY_H2D);
    if (m->order == REPLAY_COPIES_LAST && queue != REPLAY_COMPUTE)
        return rests(m, REPLAY_COMPUTE);
    return true;
}

static void set_idle(struct machine *m, int queue, bool idle) {
    if (m->idle[queue] != idle) {
        m->idle[queue] = idle;
        pthread_cond_broadcast(&m->changed);
    }
}

/* True if the step shall be carried out. */
static bool await(struct machine *m, const struct replay_step *s, int queue) {
    pthread_mutex_lock(&m->lock);
    for (;;) {
        const bool may = waits_are_over(m, s);
        set_idle(m, queue, !may);
        if (may && (m->stop || turn_has_come(m, queue)))
            break;
        pthread_cond_wait(&m->changed, &m->lock);
    }
    const bool go = !m->stop;
    pthread_mutex_unlock(&m->lock);
    return go;
}

/* A step whose waiters were idle leaves them so until they look: their turn is now. */
static void announce(struct machine *m, uint32_t step) {
    pthread_mutex_lock(&m->lock);
    m->done[step] = true;
    memset(m->idle, 0, sizeof m->idle);
    pthread_cond_broadcast(&m->changed);
    pthread_mutex_unlock(&m->lock);
}

static void end_queue(struct machine *m, int queue) {
    pthread_mutex_lock(&m->lock);
    m->over[queue] = true;
    pthread_cond_broadcast(&m->changed);
    pthread_mutex_unlock(&m->lock);
}

/* The first that is found is what is told. */
static void check(struct machine *m, uint32_t x, const void *at, const char *who,
                  const char *verb) {
    const struct replay_tensor *t = &m->p->tensors[x];
    const uint64_t sum = rp_checksum(at, t->bytes);
    pthread_mutex_lock(&m->lock);
    m->result->n_checked++;
    if (sum != m->truth->sums[x] && !m->stop) {
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
    return at == REPLAY_NOWHERE ? m->truth->sources[x] : (void *)(m->arena + at);
}

static void do_run(struct queue *q, const struct replay_step *s, uint32_t number) {
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

static void do_step(struct queue *q, const struct replay_step *s, uint32_t number) {
    struct machine *m = q->m;
    if (s->what == REPLAY_RUN)
        do_run(q, s, number);
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
            if (await(q->m, &s->steps[k], q->number))
                do_step(q, &s->steps[k], k);
            announce(q->m, k);
        }
    end_queue(q->m, q->number);
    return NULL;
}

/* ---- the whole ---- */

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
    for (int k = n; k < REPLAY_N_QUEUES; k++) { /* no thread: pass its steps */
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
                enum replay_order order, const struct replay_truth *t,
                struct replay_result *result) {
    struct machine m = {.p = p, .s = s, .truth = t, .order = order, .result = result};
    const void **operands = calloc(most_operands(p), sizeof *operands);
    *result = (struct replay_result){0, 0, ""};
    m.arena = get_memory(s->arena_bytes);
    m.slab = get_memory(s->host_bytes);
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
