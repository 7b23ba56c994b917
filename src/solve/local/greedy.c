#include "solve/local/greedy.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/numbers.h"
#include "solve/core/params.h"
#include "solve/core/warm_start.h"

enum {
    NS_PER_TENSOR = 4, /* about, of one search for a victim */
    MAX_DEPTH = 30000  /* of runs that wait for others: a dead end, and 4 MB of stack */
};

struct greedy {
    const struct rp_instance *p;
    struct rp_plan plan;
    uint32_t stage;  /* first runs so far */
    uint32_t *next;  /* per tensor: its first reader from `stage` on, as index in readers */
    uint32_t *pins;  /* per tensor: runs in progress that need it */
    bool *on_device; /* per tensor */
    double *begin_ns; /* per op: when it first runs if nothing runs again */
    uint64_t live_bytes;
    size_t n_runs;
    uint32_t depth; /* of run */
    struct rp_stop *stop;
};

/* A step also remembers the instance's number of its op or tensor, in `at`. */
static void push_step(struct greedy *w, enum rp_step_kind kind, uint32_t id,
                      uint32_t local) {
    struct rp_step step = {.kind = kind, .id = id, .at = local, .address = RP_NO_ADDRESS};
    rp_push(&w->plan.steps, step);
}

static void drop(struct greedy *w, uint32_t x) {
    push_step(w, RP_FREE, w->p->tensor_of[x], x);
    w->on_device[x] = false;
    w->live_bytes -= w->p->bytes[x];
}

/* The stage that needs x next, not counting what is made again. n_ops: only the end needs
 * it; RP_NONE: nothing does. */
static uint32_t next_use(struct greedy *w, uint32_t x) {
    const struct rp_instance *p = w->p;
    uint32_t *k = &w->next[x];
    while (*k < p->reader_start[x + 1] && p->readers[*k] < w->stage)
        ++*k;
    if (*k < p->reader_start[x + 1])
        return p->readers[*k];
    return p->kept[x] ? p->n_ops : RP_NONE;
}

/* What it takes to run op j again, with the ops that make its missing inputs. */
static double recompute_ns(const struct greedy *w, uint32_t j) {
    const struct rp_instance *p = w->p;
    double ns = (double)p->time_ns[j] + 1;
    for (uint32_t k = p->input_start[j]; k < p->input_start[j + 1]; k++)
        if (!w->on_device[p->inputs[k]])
            ns += (double)p->time_ns[p->producer[p->inputs[k]]];
    return ns;
}

/* Drops the tensor with the best score. False if nothing can go, or no time is left. */
static bool evict(struct greedy *w) {
    const struct rp_instance *p = w->p;
    uint32_t victim = RP_NONE;
    double best = -1, now = w->begin_ns[w->stage];
    if (rp_stop_after(w->stop, NS_PER_TENSOR * p->n_tensors))
        return false;
    for (uint32_t x = 0; x < p->n_tensors && p->producer[x] < w->stage; x++) {
        if (!w->on_device[x] || w->pins[x] > 0 || p->bytes[x] == 0 || p->irreplaceable[x])
            continue;
        uint32_t use = next_use(w, x);
        double score = (double)p->bytes[x] / recompute_ns(w, p->producer[x]);
        score *=
            use == RP_NONE ? 1e6 * (w->begin_ns[p->n_ops] + 1) : w->begin_ns[use] - now + 1;
        if (score > best) {
            best = score;
            victim = x;
        }
    }
    if (victim != RP_NONE)
        drop(w, victim);
    return victim != RP_NONE;
}

/* Runs op j, and before it what makes its missing inputs. The caller pins the outputs that
 * it needs. */
static bool run(struct greedy *w, uint32_t j) {
    const struct rp_instance *p = w->p;
    bool ok = ++w->depth <= MAX_DEPTH &&
              ++w->n_runs <= (size_t)MAX_GREEDY_RUNS_PER_OP * p->n_ops &&
              w->stage <= rp_max_u32(j, p->last_stage[j]);
    uint32_t pinned = p->input_start[j];
    for (; ok && pinned < p->input_start[j + 1]; pinned++) {
        uint32_t x = p->inputs[pinned];
        ok = w->on_device[x] || run(w, p->producer[x]);
        w->pins[x]++;
    }
    uint64_t need = p->workspace_bytes[j];
    for (uint32_t x = p->output_start[j]; x < p->output_start[j + 1]; x++) {
        need += w->on_device[x] ? p->shadow_bytes[x] : p->bytes[x];
        w->pins[x]++;
    }
    while (ok && w->live_bytes + need > p->limit_bytes)
        ok = evict(w);
    if (ok)
        push_step(w, RP_RUN, p->op_of[j], j);
    for (uint32_t x = p->output_start[j]; x < p->output_start[j + 1]; x++) {
        w->live_bytes += !ok || w->on_device[x] ? 0 : p->bytes[x];
        w->on_device[x] = w->on_device[x] || ok;
        w->pins[x]--;
    }
    while (pinned-- > p->input_start[j])
        w->pins[p->inputs[pinned]]--;
    w->depth--;
    return ok;
}

/* Drops the tensors that the runs from step `from` on used and nothing needs any more. */
static void drop_unneeded(struct greedy *w, size_t from) {
    const struct rp_instance *p = w->p;
    size_t n = w->plan.steps.n;
    for (size_t i = from; i < n; i++) {
        if (w->plan.steps.at[i].kind != RP_RUN)
            continue;
        uint32_t j = w->plan.steps.at[i].at;
        for (uint32_t k = p->input_start[j]; k < p->input_start[j + 1]; k++)
            if (w->on_device[p->inputs[k]] && next_use(w, p->inputs[k]) == RP_NONE)
                drop(w, p->inputs[k]);
        for (uint32_t x = p->output_start[j]; x < p->output_start[j + 1]; x++)
            if (w->on_device[x] && next_use(w, x) == RP_NONE)
                drop(w, x);
    }
}

static bool run_all(struct greedy *w) {
    const struct rp_instance *p = w->p;
    bool ok = true;
    for (uint32_t t = 0; t < p->n_ops && ok; t++) {
        size_t from = w->plan.steps.n;
        ok = run(w, t);
        w->stage = t + 1;
        if (ok)
            drop_unneeded(w, from);
    }
    for (uint32_t x = 0; x < p->n_tensors && ok; x++)
        ok = !p->kept[x] || w->on_device[x] || run(w, p->producer[x]);
    return ok;
}

bool rp_schedule_greedy(const struct rp_instance *p, struct rp_stop *stop,
                        struct rp_schedule *s) {
    struct greedy w = {.p = p, .stop = stop};
    w.next = rp_calloc(p->n_tensors, sizeof *w.next);
    w.pins = rp_calloc(p->n_tensors, sizeof *w.pins);
    w.on_device = rp_calloc(p->n_tensors, sizeof *w.on_device);
    w.begin_ns = rp_calloc((size_t)p->n_ops + 1, sizeof *w.begin_ns);
    for (uint32_t x = 0; x < p->n_tensors; x++)
        w.next[x] = p->reader_start[x];
    for (uint32_t i = 0; i < p->n_ops; i++)
        w.begin_ns[i + 1] = w.begin_ns[i] + (double)p->time_ns[i];
    bool ok = run_all(&w) && rp_schedule_from_plan(p, &w.plan, s);
    rp_plan_fini(&w.plan);
    free(w.next);
    free(w.pins);
    free(w.on_device);
    free(w.begin_ns);
    return ok;
}
