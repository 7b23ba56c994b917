#include "solve/milp/interval_join.h"

#include <stdlib.h>

#include "base/mem.h"
#include "solve/milp/interval_point.h"
#include "solve/milp/interval_worker.h"

#define POLL_SECONDS 0.2
/* In units: a process. Cells of a table per unit: the rows. */
#define PROCESS_WORK 4000
#define CELLS_PER_UNIT 16

struct join {
    const struct rp_instance *p;
    bool *is_open; /* per tensor */
    struct rp_interval_program q[2];
    struct rp_interval_scope scope;
};

uint64_t rp_interval_join_least_work(const struct rp_instance *p) {
    return PROCESS_WORK + rp_interval_cells(p, RP_INTERVAL_S) / CELLS_PER_UNIT;
}

/* ---- what both programs say ---- */

static uint8_t at(const struct join *c, int k, enum rp_interval_kind kind, uint32_t t,
                  uint32_t id) {
    return c->q[k].at[kind][rp_interval_cell(c->p, kind, t, id)];
}

static bool agree(const struct join *c, enum rp_interval_kind kind, uint32_t t,
                  uint32_t id) {
    return at(c, 0, kind, t, id) == at(c, 1, kind, t, id);
}

static bool either(const struct join *c, enum rp_interval_kind kind, uint32_t t,
                   uint32_t id) {
    return at(c, 0, kind, t, id) || at(c, 1, kind, t, id);
}

/* Does either program change it from stage t - 1 to t? */
static bool changes(const struct join *c, enum rp_interval_kind kind, uint32_t t,
                    uint32_t id) {
    return at(c, 0, kind, t, id) != at(c, 0, kind, t - 1, id) ||
           at(c, 1, kind, t, id) != at(c, 1, kind, t - 1, id);
}

/* ---- which tensors are open ---- */

/* Marks the tensors in which both differ. */
static void compare(struct join *c) {
    for (int kind = RP_INTERVAL_S; kind <= RP_INTERVAL_O; kind++)
        for (uint32_t t = 0; t <= c->p->n_ops + 1; t++)
            for (uint32_t x = 0; x < c->p->n_tensors; x++)
                c->is_open[x] = c->is_open[x] || !agree(c, kind, t, x);
}

/* Leaves `most` of them marked. */
static void choose_open(struct join *c, uint32_t most, uint64_t random,
                        struct rp_interval_join_result *r) {
    uint32_t *differ = rp_calloc(c->p->n_tensors, sizeof *differ), n = 0;
    compare(c);
    for (uint32_t x = 0; x < c->p->n_tensors; x++)
        if (c->is_open[x])
            differ[n++] = x;
    for (uint32_t k = most; k < n; k++)
        c->is_open[differ[(random % n + k) % n]] = false;
    r->n_differ = n;
    r->n_open = n < most ? n : most;
    free(differ);
}

static bool makes_open(const struct join *c, uint32_t j) {
    bool open = false;
    for (uint32_t x = c->p->output_start[j]; x < c->p->output_start[j + 1]; x++)
        open = open || c->is_open[x];
    return open;
}

/* ---- the scope ---- */

static void set(struct join *c, enum rp_interval_kind kind, uint32_t t, uint32_t id,
                enum rp_interval_known known) {
    c->scope.known[kind][rp_interval_cell(c->p, kind, t, id)] = (uint8_t)known;
}

static void set_value(struct join *c, enum rp_interval_kind kind, uint32_t t, uint32_t id) {
    set(c, kind, t, id, at(c, 0, kind, t, id) ? RP_INTERVAL_ONE : RP_INTERVAL_ZERO);
}

static void set_open(struct join *c, enum rp_interval_kind kind, uint32_t t, uint32_t id,
                     bool open) {
    set(c, kind, t, id, open ? RP_INTERVAL_OPEN : RP_INTERVAL_AS_BEFORE);
}

static void set_runs(struct join *c) {
    for (uint32_t j = 0; j < c->p->n_ops; j++) {
        bool open = makes_open(c, j);
        for (uint32_t t = 0; t <= c->p->n_ops; t++)
            if (!open || agree(c, RP_INTERVAL_R, t, j))
                set_value(c, RP_INTERVAL_R, t, j);
    }
}

static bool may_run(const struct join *c, uint32_t t, uint32_t j) {
    return c->scope.known[RP_INTERVAL_R][rp_interval_cell(c->p, RP_INTERVAL_R, t, j)] !=
           RP_INTERVAL_ZERO;
}

/* May stage t make or read x? */
static bool may_touch(const struct join *c, uint32_t t, uint32_t x) {
    const struct rp_instance *p = c->p;
    bool touch = may_run(c, t, p->producer[x]);
    for (uint32_t k = p->reader_start[x]; k < p->reader_start[x + 1] && !touch; k++)
        touch = may_run(c, t, p->readers[k]);
    return touch;
}

/* All of x is as the first program has it. */
static void close_tensor(struct join *c, uint32_t x) {
    for (int kind = RP_INTERVAL_S; kind <= RP_INTERVAL_O; kind++)
        for (uint32_t t = 0; t <= c->p->n_ops + 1; t++)
            set_value(c, kind, t, x);
}

/* Copies of x begin, end, and free it where they do in either program. Else it may be
 * dropped where it is made or read. */
static void open_tensor(struct join *c, uint32_t x) {
    for (uint32_t first = c->p->producer[x] + 1, t = first; t <= c->p->n_ops + 1; t++) {
        bool out = changes(c, RP_INTERVAL_O, t, x);
        bool was_due = t > first && changes(c, RP_INTERVAL_O, t - 1, x);
        bool was_read = either(c, RP_INTERVAL_U, t - 1, x);
        bool in = changes(c, RP_INTERVAL_F, t, x) || was_read;
        set(c, RP_INTERVAL_U, t, x,
            either(c, RP_INTERVAL_U, t, x) ? RP_INTERVAL_OPEN : RP_INTERVAL_ZERO);
        set_open(c, RP_INTERVAL_O, t, x, out);
        set_open(c, RP_INTERVAL_F, t, x, in);
        set_open(c, RP_INTERVAL_S, t, x,
                 t == first || was_due || in || may_touch(c, t - 1, x));
    }
}

static void set_scope(struct join *c) {
    for (int kind = 0; kind < RP_INTERVAL_V; kind++)
        c->scope.known[kind] =
            rp_calloc(rp_interval_cells(c->p, kind), sizeof *c->scope.known[kind]);
    set_runs(c);
    for (uint32_t x = 0; x < c->p->n_tensors; x++) {
        if (c->is_open[x])
            open_tensor(c, x);
        else
            close_tensor(c, x);
    }
}

/* ---- the program ---- */

static void solve(struct join *c, const struct rp_interval_join_options *o,
                  struct rp_schedule *child, struct rp_interval_join_result *r) {
    struct rp_interval_result found;
    struct rp_interval_options options = {.engine = o->engine, .work = o->work};
    bool answered = false;
    struct rp_interval_worker *w =
        rp_interval_worker_start(c->p, o->below_ns - 1, &c->scope, &options);
    while (w != NULL && !answered && !rp_stop_now(o->stop))
        answered = rp_interval_worker_wait(w, POLL_SECONDS, &found);
    r->found = answered && found.found;
    r->solved = answered && found.finished;
    /* A process that died does not say what it has done. */
    r->work += answered && found.work > 0 ? found.work : o->work;
    if (r->found)
        rp_interval_worker_schedule(w, child);
    rp_interval_worker_end(w);
}

struct rp_interval_join_result rp_interval_join(const struct rp_instance *p,
                                                const struct rp_interval_join_options *o,
                                                const struct rp_schedule *a,
                                                const struct rp_schedule *b,
                                                struct rp_schedule *child) {
    struct join c = {.p = p, .is_open = rp_calloc(p->n_tensors, sizeof *c.is_open)};
    struct rp_interval_join_result r = {.work = rp_interval_join_least_work(p)};
    if (rp_interval_program_of_schedule(p, a, &c.q[0]) &&
        rp_interval_program_of_schedule(p, b, &c.q[1])) {
        choose_open(&c, o->most_open, o->random, &r);
        set_scope(&c);
        solve(&c, o, child, &r);
    }
    for (int kind = 0; kind < RP_INTERVAL_V; kind++)
        free(c.scope.known[kind]);
    for (int k = 0; k < 2; k++)
        rp_interval_program_fini(&c.q[k]);
    free(c.is_open);
    return r;
}
