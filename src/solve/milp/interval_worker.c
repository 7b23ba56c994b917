#include "solve/milp/interval_worker.h"

#include <stdlib.h>
#include <sys/socket.h>

#include "base/log.h"
#include "base/mem.h"
#include "solve/child/child.h"
#include "solve/milp/interval_point.h"

/* What both processes see. */
struct shared {
    uint64_t proved_ns; /* so far */
    double x[];
};

struct rp_interval_worker {
    struct rp_interval_model model; /* empty if it looks at windows only */
    struct rp_interval_proof proof; /* for the process, which has a copy of all memory */
    struct rp_interval_options o;
    struct rp_child child;
    struct shared *shared;
    bool done;
    struct rp_interval_result result;
};

static void serve(void *arg, int socket) {
    struct rp_interval_worker *w = arg;
    struct rp_interval_result r;
    rp_interval_prove(&w->proof, &w->o, w->shared->x, &r);
    r.seconds = rp_process_seconds();
    send(socket, &r, sizeof r, MSG_NOSIGNAL);
}

static size_t shared_bytes(const struct rp_interval_worker *w) {
    return sizeof *w->shared + w->model.n_cols * sizeof *w->shared->x;
}

/* Frees `w`, and returns NULL, if it cannot be started. */
static struct rp_interval_worker *start(struct rp_interval_worker *w,
                                        const struct rp_interval_options *o) {
    w->o = *o;
    w->o.stop = NULL;
    w->shared = rp_shared_memory(shared_bytes(w));
    if (w->shared != NULL) {
        w->o.proved_ns = &w->shared->proved_ns;
        if (rp_child_start(&w->child, serve, w))
            return w;
    }
    rp_shared_memory_free(w->shared, shared_bytes(w));
    rp_interval_model_fini(&w->model);
    free(w);
    return NULL;
}

struct rp_interval_worker *rp_interval_worker_start(const struct rp_instance *p,
                                                    uint64_t horizon_ns,
                                                    const struct rp_interval_scope *scope,
                                                    const struct rp_interval_options *o) {
    struct rp_interval_worker *w = rp_calloc(1, sizeof *w);
    rp_interval_model_init_within(&w->model, p, horizon_ns, scope);
    w->proof.whole = &w->model;
    return start(w, o);
}

struct rp_interval_worker *
rp_interval_worker_start_proof(const struct rp_instance *p, uint64_t plan_ns,
                               const uint64_t *d_ns, bool whole,
                               const struct rp_interval_options *o) {
    struct rp_interval_worker *w = rp_calloc(1, sizeof *w);
    if (whole)
        rp_interval_model_init(&w->model, p, plan_ns - 1);
    w->proof = (struct rp_interval_proof){whole ? &w->model : NULL, p, plan_ns, d_ns};
    return start(w, o);
}

const uint64_t *rp_interval_worker_proved_ns(const struct rp_interval_worker *w) {
    return &w->shared->proved_ns;
}

bool rp_interval_worker_wait(struct rp_interval_worker *w, double seconds,
                             struct rp_interval_result *r) {
    if (!w->done) {
        enum rp_child_answer answer =
            rp_child_wait(&w->child, seconds, &w->result, sizeof w->result);
        if (answer == RP_CHILD_SILENT)
            return false;
        w->done = true;
        if (answer == RP_CHILD_GONE)
            w->result =
                (struct rp_interval_result){.bound_ns = *rp_interval_worker_proved_ns(w)};
    }
    *r = w->result;
    return true;
}

void rp_interval_worker_schedule(const struct rp_interval_worker *w,
                                 struct rp_schedule *s) {
    rp_interval_schedule(&w->model, w->shared->x, s);
}

void rp_interval_worker_end(struct rp_interval_worker *w) {
    if (w == NULL)
        return;
    rp_child_end(&w->child);
    rp_shared_memory_free(w->shared, shared_bytes(w));
    rp_interval_model_fini(&w->model);
    free(w);
}
