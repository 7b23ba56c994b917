#include "solve/milp/interval_point.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/numbers.h"
#include "model/timeline.h"

/* The time in which a tensor has storage, in stages. */
struct life {
    uint32_t x;
    bool copied_in;       /* else a run made it */
    uint32_t begin, end;  /* the stages in which it gets and, if so, loses it */
    bool is_read;         /* by a run that has a column, or by the end of the step */
    uint32_t first, last; /* the stages of the first and the last of these reads */
    bool copied_out;      /* a copy out began in it */
    size_t serial;        /* lives in the order in which they begin */
};

struct reader {
    const struct rp_instance *p;
    const struct rp_interval_model *m; /* or NULL */
    struct rp_interval_program *q;
    uint32_t *op, *tensor; /* per op and tensor of the graph: the instance's */
    RP_VEC(struct life) lives;
    size_t *now; /* per tensor: 1 + index of its life, 0: it has no storage */
    uint32_t t;  /* the stage */
    uint64_t moment_ns;
    bool readable;
};

static void set(struct reader *r, enum rp_interval_kind kind, uint32_t t, uint32_t id) {
    r->q->at[kind][rp_interval_cell(r->p, kind, t, id)] = 1;
}

/* ---- from steps to lives ---- */

static void begin_life(struct reader *r, uint32_t x, bool copied_in) {
    struct life life = {
        .x = x, .copied_in = copied_in, .begin = r->t, .serial = r->lives.n};
    if (r->now[x] != 0)
        return;
    rp_push(&r->lives, life);
    r->now[x] = r->lives.n;
}

static void end_life(struct reader *r, uint32_t x) {
    r->lives.at[r->now[x] - 1].end = r->t;
    r->now[x] = 0;
}

static void read_life(struct reader *r, uint32_t x) {
    struct life *life = &r->lives.at[r->now[x] - 1];
    if (!life->is_read)
        life->first = r->t;
    life->is_read = true;
    life->last = r->t;
}

static void run(struct reader *r, uint32_t j, uint64_t end_ns) {
    const struct rp_instance *p = r->p;
    if (j == r->t)
        r->q->d_ns[r->t] = end_ns - p->time_ns[j] - r->moment_ns;
    else if (j > r->t)
        r->readable = false;
    if (!r->readable)
        return;
    if (r->m == NULL || rp_interval_at(r->m, RP_INTERVAL_R, r->t, j) != RP_COL_ZERO) {
        set(r, RP_INTERVAL_R, r->t, j);
        for (uint32_t k = p->input_start[j]; k < p->input_start[j + 1]; k++)
            read_life(r, p->inputs[k]);
    }
    for (uint32_t x = p->output_start[j]; x < p->output_start[j + 1]; x++)
        begin_life(r, x, false);
    if (j == r->t) {
        r->t++;
        r->moment_ns = end_ns;
    }
}

static void step(struct reader *r, const struct rp_step *s, uint64_t compute_ns) {
    uint32_t x = s->kind == RP_RUN ? RP_NONE : r->tensor[s->id];
    if (s->kind == RP_RUN)
        run(r, r->op[s->id], compute_ns);
    else if (x == RP_NONE)
        r->readable = false; /* a source is copied */
    else if (s->kind == RP_FREE)
        end_life(r, x);
    else if (s->kind == RP_SWAP_IN)
        begin_life(r, x, true);
    else
        r->lives.at[r->now[x] - 1].copied_out = true;
}

/* `end` is no step: it runs once all that is kept has come in. */
static void read_at_end(struct reader *r, struct rp_timeline *timeline) {
    for (uint32_t x = 0; x < r->p->n_tensors; x++)
        if (r->p->kept[x])
            rp_timeline_wait(timeline, r->p->tensor_of[x]);
    run(r, r->p->n_ops - 1, timeline->compute_ns);
}

static void walk(struct reader *r, const struct rp_plan *plan) {
    const struct rp_instance *p = r->p;
    struct rp_timeline timeline;
    rp_timeline_init(&timeline, p->graph);
    for (size_t i = 0; i < plan->steps.n && r->readable; i++) {
        rp_timeline_step(&timeline, &plan->steps.at[i]);
        step(r, &plan->steps.at[i], timeline.compute_ns);
    }
    if (r->readable && p->has_end)
        read_at_end(r, &timeline);
    r->readable = r->readable && r->t == p->n_ops;
    if (r->readable) {
        r->q->time_ns = rp_timeline_end(&timeline);
        r->q->d_ns[p->n_ops] = r->q->time_ns - r->moment_ns;
        for (uint32_t x = 0; x < p->n_tensors; x++)
            if (r->now[x] != 0 && p->kept[x])
                read_life(r, x);
    }
    rp_timeline_fini(&timeline);
}

/* ---- from lives to the tables ---- */

static void hold(struct reader *r, const struct life *life, uint32_t last) {
    for (uint32_t t = life->begin + 1; t <= last; t++)
        set(r, RP_INTERVAL_S, t, life->x);
}

static void write_life(struct reader *r, const struct life *life) {
    if (!life->is_read || r->p->bytes[life->x] == 0)
        return; /* a tensor of no bytes is always there */
    hold(r, life, life->last);
    if (!life->copied_in)
        return;
    for (uint32_t t = life->begin + 1; t <= life->first; t++)
        set(r, RP_INTERVAL_F, t, life->x);
    set(r, RP_INTERVAL_U, life->first, life->x);
}

/* O of x, from its lives lives[0 .. n-1] in order. */
static void write_copy_out(struct reader *r, const struct life *lives, size_t n) {
    bool is_used = false;
    size_t k = 0;
    for (size_t i = 0; i < n; i++)
        is_used = is_used || (lives[i].copied_in && lives[i].is_read);
    if (!is_used || r->p->bytes[lives[0].x] == 0)
        return;
    while (!lives[k].copied_out)
        k++;
    for (;; k++) {
        hold(r, &lives[k], lives[k].end);
        /* The next life that matters. */
        size_t next = k + 1;
        while (next < n && lives[next].copied_in && !lives[next].is_read)
            next++;
        if (next == n || lives[next].copied_in || lives[next].begin != lives[k].end)
            break;
        k = next - 1;
    }
    for (uint32_t t = lives[k].end; t <= r->p->n_ops; t++)
        set(r, RP_INTERVAL_O, t, lives[k].x);
}

static int by_tensor(const void *a, const void *b) {
    const struct life *l = a, *m = b;
    if (l->x != m->x)
        return l->x < m->x ? -1 : 1;
    return (l->serial > m->serial) - (l->serial < m->serial);
}

static void write_lives(struct reader *r) {
    struct life *lives = r->lives.at;
    for (size_t i = 0, n; i < r->lives.n; i += n) {
        for (n = 0; i + n < r->lives.n && lives[i + n].x == lives[i].x; n++)
            write_life(r, &lives[i + n]);
        write_copy_out(r, lives + i, n);
    }
}

static uint32_t *invert(const uint32_t *of, uint32_t n, uint32_t n_of) {
    uint32_t *inverse = rp_calloc(n_of, sizeof *inverse);
    for (uint32_t i = 0; i < n_of; i++)
        inverse[i] = RP_NONE;
    for (uint32_t i = 0; i < n; i++)
        if (of[i] != RP_NONE)
            inverse[of[i]] = i;
    return inverse;
}

bool rp_interval_program_read(const struct rp_instance *p,
                              const struct rp_interval_model *m, const struct rp_plan *plan,
                              struct rp_interval_program *q) {
    struct reader r = {.p = p, .m = m, .q = q, .readable = true};
    *q = (struct rp_interval_program){.instance = p};
    for (int kind = 0; kind < RP_INTERVAL_D; kind++)
        q->at[kind] = rp_calloc(rp_interval_cells(p, kind), sizeof *q->at[kind]);
    q->d_ns = rp_calloc((size_t)p->n_ops + 1, sizeof *q->d_ns);
    r.op = invert(p->op_of, p->n_ops, p->graph->n_ops);
    r.tensor = invert(p->tensor_of, p->n_tensors, p->graph->n_tensors);
    r.now = rp_calloc(p->n_tensors, sizeof *r.now);
    walk(&r, plan);
    if (r.readable) {
        qsort(r.lives.at, r.lives.n, sizeof *r.lives.at, by_tensor);
        write_lives(&r);
    }
    free(r.op);
    free(r.tensor);
    free(r.now);
    free(r.lives.at);
    return r.readable;
}

void rp_interval_program_fini(struct rp_interval_program *q) {
    for (int kind = 0; kind < RP_INTERVAL_D; kind++)
        free(q->at[kind]);
    free(q->d_ns);
    *q = (struct rp_interval_program){0};
}

/* ---- from the tables to the point ---- */

/* Does the program do what no program within the horizon does? */
static bool lacks_column(const struct rp_interval_model *m,
                         const struct rp_interval_program *q) {
    for (int kind = RP_INTERVAL_F; kind <= RP_INTERVAL_O; kind++)
        for (size_t i = 0; i < rp_interval_cells(m->instance, kind); i++)
            if (q->at[kind][i] && m->at[kind][i] == RP_COL_ZERO)
                return true;
    return false;
}

/* The least V that the runs ask for. */
static void write_available(const struct rp_interval_model *m,
                            struct rp_interval_program *q) {
    const struct rp_instance *p = m->instance;
    uint8_t *run = q->at[RP_INTERVAL_R], *available = q->at[RP_INTERVAL_V];
    for (uint32_t x = 0; x < p->n_tensors; x++)
        for (uint32_t t = p->n_ops; t > p->producer[x]; t--) {
            bool read = (t == p->n_ops && p->kept[x]) ||
                        available[rp_interval_cell(p, RP_INTERVAL_V, t + 1, x)];
            for (uint32_t k = p->reader_start[x]; k < p->reader_start[x + 1]; k++)
                read = read || run[rp_interval_cell(p, RP_INTERVAL_R, t, p->readers[k])];
            available[rp_interval_cell(p, RP_INTERVAL_V, t, x)] =
                read && !run[rp_interval_cell(p, RP_INTERVAL_R, t, p->producer[x])];
        }
}

bool rp_interval_program_of_schedule(const struct rp_instance *p,
                                     const struct rp_schedule *s,
                                     struct rp_interval_program *q) {
    struct rp_plan plan = {0};
    rp_schedule_steps(p, s, NULL, &plan);
    bool ok = rp_interval_program_read(p, NULL, &plan, q);
    rp_plan_fini(&plan);
    return ok;
}

bool rp_interval_point(const struct rp_interval_model *m, const struct rp_plan *plan,
                       double *v) {
    struct rp_interval_program q;
    bool ok = rp_interval_program_read(m->instance, m, plan, &q) &&
              q.time_ns <= m->horizon_ns && !lacks_column(m, &q);
    write_available(m, &q);
    for (uint32_t j = 0; j < m->n_cols; j++) {
        const struct rp_interval_col *c = &m->col[j];
        v[j] = c->kind == RP_INTERVAL_D
                   ? (double)q.d_ns[c->t] * m->time_scale
                   : q.at[c->kind][rp_interval_cell(m->instance, c->kind, c->t, c->id)];
    }
    rp_interval_program_fini(&q);
    return ok;
}

void rp_interval_schedule(const struct rp_interval_model *m, const double *v,
                          struct rp_schedule *s) {
    const struct rp_instance *p = m->instance;
    for (uint32_t x = 0; x < p->n_tensors; x++)
        for (uint32_t t = 1; t <= p->n_ops; t++) {
            bool held = rp_interval_value(m, RP_INTERVAL_S, t, x, v) > 0.5 ||
                        (t == p->n_ops && p->kept[x]);
            double begun = rp_interval_value(m, RP_INTERVAL_F, t + 1, x, v) -
                           rp_interval_value(m, RP_INTERVAL_F, t, x, v) +
                           rp_interval_value(m, RP_INTERVAL_U, t, x, v);
            rp_schedule_set(s, x, t, t, held);
            if (t < p->n_ops)
                rp_schedule_set_in(s, x, t, !held && begun > 0.5);
        }
}
