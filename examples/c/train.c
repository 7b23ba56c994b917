/* Trains network.h under a plan: ./train graph.json plan.json. All that the step makes lies
 * in one arena of the plan's size, and what it copies away in one slab in place of the
 * host. The momentum of the weights lives in the slab: the plan copies it into the arena
 * for its update, and back. The plan's three queues are three threads. */
#include <math.h>
#include <pthread.h>
#include <remat.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "network.h"

static const remat *plan;
static char *arena, *slab;
static float *sources[A]; /* between training steps */

/* ---- the ops ---- */

typedef float rows[WIDTH];

/* Where an operand lies: sources that stay on the device are not in the arena. */
static void *at(const struct remat_operand *o) {
    return o->at != REMAT_NOWHERE ? (void *)(arena + o->at) : (void *)sources[o->tensor];
}

static void forward(rows *in, rows *weights, rows *out) {
    for (int b = 0; b < BATCH; b++)
        for (int i = 0; i < WIDTH; i++) {
            float sum = 0;
            for (int k = 0; k < WIDTH; k++)
                sum += in[b][k] * weights[k][i];
            out[b][i] = tanhf(sum);
        }
}

static void squared_error(rows *in, rows *wanted, float *loss, rows *grad) {
    *loss = 0;
    for (int b = 0; b < BATCH; b++)
        for (int i = 0; i < WIDTH; i++) {
            grad[b][i] = (in[b][i] - wanted[b][i]) / BATCH;
            *loss += 0.5f * BATCH * grad[b][i] * grad[b][i];
        }
}

static void backward(rows *in, rows *out, rows *weights, rows *grad, rows *grad_in,
                     rows *grad_weights) {
    memset(grad_in, 0, ROWS_BYTES);
    memset(grad_weights, 0, WEIGHTS_BYTES);
    for (int b = 0; b < BATCH; b++)
        for (int i = 0; i < WIDTH; i++) {
            float g = grad[b][i] * (1 - out[b][i] * out[b][i]);
            for (int k = 0; k < WIDTH; k++) {
                grad_in[b][k] += g * weights[k][i];
                grad_weights[k][i] += g * in[b][k];
            }
        }
}

static void update(const float *grad, float *weights, float *momentum) {
    for (int i = 0; i < WIDTH * WIDTH; i++) {
        momentum[i] = 0.9f * momentum[i] + grad[i];
        weights[i] -= 0.1f * momentum[i];
    }
}

static void carry_out(const struct remat_step *s) {
    const struct remat_operand *in = s->inputs, *out = s->outputs, *both = s->updates;
    if (s->what == REMAT_SWAP_OUT)
        memcpy(slab + s->host_at, arena + s->at, s->bytes);
    else if (s->what == REMAT_SWAP_IN)
        memcpy(arena + s->at, slab + s->host_at, s->bytes);
    else if (s->what == REMAT_RUN && s->id < LOSS_OP)
        forward(at(&in[0]), at(&in[1]), at(&out[0]));
    else if (s->what == REMAT_RUN && s->id == LOSS_OP)
        squared_error(at(&in[0]), at(&in[1]), at(&out[0]), at(&out[1]));
    else if (s->what == REMAT_RUN && s->n_updates > 0)
        update(at(&in[0]), at(&both[0]), at(&both[1]));
    else if (s->what == REMAT_RUN)
        backward(at(&in[0]), at(&in[1]), at(&in[2]), at(&in[3]), at(&out[0]), at(&out[1]));
}

/* ---- the queues ---- */

static bool *ended; /* per step */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;

/* Carries out the steps of one queue in order, each when those that it waits for have
 * ended. */
static void *serve(void *argument) {
    enum remat_queue queue = *(enum remat_queue *)argument;
    for (size_t n = 0; n < remat_totals(plan)->n_steps; n++) {
        const struct remat_step *s = remat_step(plan, n);
        if (s->queue != queue)
            continue;
        pthread_mutex_lock(&lock);
        for (size_t k = 0; k < s->n_waits; k++)
            while (!ended[s->waits[k]])
                pthread_cond_wait(&changed, &lock);
        pthread_mutex_unlock(&lock);
        carry_out(s);
        pthread_mutex_lock(&lock);
        ended[n] = true;
        pthread_cond_broadcast(&changed);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static void train_once(void) {
    enum remat_queue queues[REMAT_N_QUEUES] = {REMAT_COMPUTE, REMAT_D2H, REMAT_H2D};
    pthread_t threads[REMAT_N_QUEUES];
    memset(ended, 0, remat_totals(plan)->n_steps * sizeof *ended);
    for (int q = 0; q < REMAT_N_QUEUES; q++)
        pthread_create(&threads[q], NULL, serve, &queues[q]);
    for (int q = 0; q < REMAT_N_QUEUES; q++)
        pthread_join(threads[q], NULL);
}

/* Finds a place for each source, where it is before a training step and after it. */
static bool place_sources(void) {
    for (uint32_t t = 0; t < A; t++) {
        const struct remat_tensor *source = remat_tensor(plan, t);
        sources[t] = source->on_host ? (float *)(void *)(slab + source->host_at)
                                     : malloc(source->bytes);
        if (sources[t] == NULL)
            return false;
        memset(sources[t], 0, source->bytes);
    }
    return true;
}

static void fill_sources(void) {
    srand(1);
    for (int i = 0; i < BATCH * WIDTH; i++)
        sources[X][i] = (float)rand() / (float)RAND_MAX - 0.5f;
    for (int i = 0; i < BATCH * WIDTH; i++) /* the neighbour in the same row */
        sources[TARGET][i] = sources[X][i / WIDTH * WIDTH + (i + 1) % WIDTH];
    for (int k = 0; k < LAYERS; k++)
        for (int i = 0; i < WIDTH * WIDTH; i++)
            sources[W + k][i] = 0.6f * ((float)rand() / (float)RAND_MAX - 0.5f);
}

static void free_sources(void) {
    for (uint32_t t = 0; t < A; t++)
        if (!remat_tensor(plan, t)->on_host)
            free(sources[t]);
}

int main(int argc, char **argv) {
    struct remat_error error = {"usage: train GRAPH PLAN"};
    remat *r = argc == 3 ? remat_load(argv[1], argv[2], &error) : NULL;
    if (r == NULL)
        return fprintf(stderr, "%s\n", error.text), 1;
    const struct remat_totals *t = remat_totals(plan = r);
    arena = malloc(t->arena_bytes + 1);
    slab = malloc(t->host_bytes + 1);
    ended = malloc(t->n_steps + 1);
    if (arena == NULL || slab == NULL || ended == NULL || !place_sources())
        return fprintf(stderr, "out of memory\n"), 1;
    fill_sources();
    fprintf(stderr, "arena %.0f KiB, host %.0f KiB\n", (double)t->arena_bytes / 1024,
            (double)t->host_bytes / 1024);
    for (int step = 0; step < 100; step++) {
        train_once();
        printf("step %d: loss %.9g\n", step,
               *(float *)(arena + remat_tensor(r, LOSS)->last));
    }
    free_sources();
    free(arena);
    free(slab);
    free(ended);
    remat_close(r);
    return 0;
}
