#include "solve/construct/greedy.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/numbers.h"
#include "solve/core/params.h"
#include "solve/core/warm_start.h"

enum {
    NS_PER_TENSOR = 4, /* about, of one search for a victim */
    NS_PER_STAGE = 5000,
    MAX_DEPTH = 30000 /* of runs that wait for others: a dead end, and 4 MB of stack */
};

/* A nanosecond of a copy in, which other copies and runs may hide, in those of runs. */
static const double COPY_WEIGHT = 0.25;

struct ids {
    RP_VEC(uint32_t);
};

struct greedy {
    const struct rp_instance *p;
    const bool *stays; /* per version 0: its source stays on the device */
    struct rp_plan plan;
    uint32_t stage;  /* first runs so far */
    uint32_t *next;  /* per tensor: its first reader from `stage` on, as index in readers */
    uint32_t *pins;  /* per tensor: runs in progress that need it */
    bool *on_device; /* per tensor */
    double *begin_ns; /* per op: when it first runs if nothing runs again */
    /* Per op: the last stage in which it can run again with all that leads to it, because
     * updates overwrite what that reads. n_ops without such sources. */
    uint32_t *until;
    /* Per op, with such sources: what runs again before it, itself included, and after it
     * if it runs again, as things are. */
    double *before_ns, *after_ns;
    uint64_t live_bytes;
    /* Of sources: the clocks of the three queues, when copies of versions end, and the last
     * versions on the device that nothing but their copy out needs. */
    double compute_ns, in_ns, out_ns;
    double *ready_ns, *host_ready_ns;
    struct ids leaving;
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

/* x has a host copy, or will have one: it may be dropped and swapped in again. */
static bool on_host(const struct greedy *w, uint32_t x) {
    const struct rp_instance *p = w->p;
    return rp_is_version(p, x) && !w->stays[p->version_0[x]] &&
           (x < p->n_homes || rp_must_copy_out(p, x));
}

/* With sources that may live on the host, `until` says more than `irreplaceable`. */
static bool must_stay(const struct greedy *w, uint32_t x) {
    const struct rp_instance *p = w->p;
    if (rp_is_version(p, x))
        return !on_host(w, x);
    return p->n_homes > 0 ? p->pinned[x] : p->irreplaceable[x];
}

/* What it takes to swap x in, if it is dropped once it has been copied out. */
static double copy_cost_ns(const struct greedy *w, uint32_t x) {
    double wait_ns = rp_max_double(w->host_ready_ns[x] - w->compute_ns, 0);
    return 1 + wait_ns + COPY_WEIGHT * (double)w->p->in_ns[x];
}

/* What it takes to run op j again, with the ops that make its missing inputs. */
static double recompute_ns(const struct greedy *w, uint32_t j) {
    const struct rp_instance *p = w->p;
    double ns = (double)p->time_ns[j] + 1;
    if (p->n_homes > 0)
        return w->before_ns[j] + w->after_ns[j] + 1;
    for (uint32_t k = p->input_start[j]; k < p->input_start[j + 1]; k++)
        if (!w->on_device[p->inputs[k]])
            ns += (double)p->time_ns[p->producer[p->inputs[k]]];
    return ns;
}

/* Op j has an output that was dropped and is needed again. */
static bool runs_again(struct greedy *w, uint32_t j) {
    const struct rp_instance *p = w->p;
    for (uint32_t x = p->output_start[j]; x < p->output_start[j + 1]; x++)
        if (!w->on_device[x] && !rp_is_version(p, x) && next_use(w, x) != RP_NONE)
            return true;
    return false;
}

/* Finds before_ns and after_ns: the neighbourhood of Kirisame et al., but what several
 * paths share counts for each of them. Long chains of dropped tensors would make the step
 * wait while they run again, though all runs together have the time. */
static void find_neighborhoods(struct greedy *w) {
    const struct rp_instance *p = w->p;
    double all_ns = w->begin_ns[p->n_ops];
    for (uint32_t j = 0; j < w->stage; j++) {
        double ns = (double)p->time_ns[j];
        for (uint32_t k = p->input_start[j]; k < p->input_start[j + 1]; k++) {
            uint32_t x = p->inputs[k];
            if (!w->on_device[x])
                ns +=
                    rp_is_version(p, x) ? copy_cost_ns(w, x) : w->before_ns[p->producer[x]];
        }
        w->before_ns[j] = ns < all_ns ? ns : all_ns;
        w->after_ns[j] = 0;
    }
    for (uint32_t j = w->stage; j-- > 0;) {
        double ns = w->after_ns[j] + (double)p->time_ns[j];
        bool again = runs_again(w, j);
        for (uint32_t k = p->input_start[j]; k < p->input_start[j + 1] && again; k++) {
            double *after = &w->after_ns[p->producer[p->inputs[k]]];
            *after = *after + ns < all_ns ? *after + ns : all_ns;
        }
    }
}

/* Drops the tensor with the best score. False if nothing can go, or no time is left. */
static bool evict(struct greedy *w) {
    const struct rp_instance *p = w->p;
    uint32_t victim = RP_NONE;
    double best = -1, now = w->begin_ns[w->stage];
    if (rp_stop_after(w->stop, NS_PER_TENSOR * p->n_tensors))
        return false;
    if (p->n_homes > 0)
        find_neighborhoods(w);
    for (uint32_t x = 0; x < p->n_tensors && p->producer[x] < w->stage; x++) {
        if (!w->on_device[x] || w->pins[x] > 0 || p->bytes[x] == 0 || must_stay(w, x))
            continue;
        uint32_t use = next_use(w, x);
        if (use != RP_NONE && use > w->until[p->producer[x]] && !on_host(w, x))
            continue;
        double cost_ns =
            on_host(w, x) ? copy_cost_ns(w, x) : recompute_ns(w, p->producer[x]);
        double score = (double)p->bytes[x] / cost_ns;
        score *=
            use == RP_NONE ? 1e6 * (w->begin_ns[p->n_ops] + 1) : w->begin_ns[use] - now + 1;
        if (score > best) {
            best = score;
            victim = x;
        }
    }
    if (victim == RP_NONE)
        return false;
    if (on_host(w, victim))
        w->compute_ns = rp_max_double(w->compute_ns, w->host_ready_ns[victim]);
    drop(w, victim);
    return true;
}

static bool make_room(struct greedy *w, uint64_t bytes) {
    bool ok = true;
    while (ok && w->live_bytes + bytes > w->p->limit_bytes)
        ok = evict(w);
    return ok;
}

static bool swap_in(struct greedy *w, uint32_t x) {
    if (!make_room(w, w->p->bytes[x]))
        return false;
    push_step(w, RP_SWAP_IN, w->p->tensor_of[x], x);
    w->on_device[x] = true;
    w->live_bytes += w->p->bytes[x];
    w->in_ns = rp_max_double(w->in_ns, w->host_ready_ns[x]) + (double)w->p->in_ns[x];
    w->ready_ns[x] = w->in_ns;
    return true;
}

/* The clocks after op j has run. Versions that it made have replaced those before. */
static void advance(struct greedy *w, uint32_t j) {
    const struct rp_instance *p = w->p;
    for (uint32_t k = p->input_start[j]; k < p->input_start[j + 1]; k++) {
        uint32_t x = p->inputs[k];
        w->compute_ns = rp_max_double(w->compute_ns, w->ready_ns[x]);
        if (rp_last_row(p, x) == j)
            w->on_device[x] = false;
    }
    w->compute_ns += (double)p->time_ns[j];
    for (uint32_t x = p->output_start[j]; x < p->output_start[j + 1]; x++) {
        if (!rp_is_version(p, x))
            continue;
        w->on_device[x] = true;
        if (!on_host(w, x))
            continue;
        w->out_ns = rp_max_double(w->out_ns, w->compute_ns) + (double)p->out_ns[x];
        w->host_ready_ns[x] = w->out_ns;
    }
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
        ok = w->on_device[x] || (on_host(w, x) ? swap_in(w, x) : run(w, p->producer[x]));
        w->pins[x]++;
    }
    uint64_t need = p->workspace_bytes[j];
    for (uint32_t x = p->output_start[j]; x < p->output_start[j + 1]; x++) {
        need += rp_is_version(p, x) ? 0
                : w->on_device[x]   ? p->shadow_bytes[x]
                                    : p->bytes[x];
        w->pins[x]++;
    }
    ok = ok && make_room(w, need);
    if (ok) {
        if (rp_is_graph_op(p, j))
            push_step(w, RP_RUN, p->op_of[j], j);
        advance(w, j);
    }
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

/* Drops x if nothing needs it any more. A last version leaves once it is copied out. */
static void drop_if_unneeded(struct greedy *w, uint32_t x) {
    bool stays = rp_is_version(w->p, x) && !on_host(w, x);
    if (!w->on_device[x] || stays || next_use(w, x) != RP_NONE)
        return;
    if (on_host(w, x) && w->host_ready_ns[x] > w->compute_ns)
        rp_push(&w->leaving, x);
    else
        drop(w, x);
}

static void drop_copied_out(struct greedy *w) {
    size_t n = 0;
    for (size_t k = 0; k < w->leaving.n; k++) {
        uint32_t x = w->leaving.at[k];
        if (w->on_device[x] && w->host_ready_ns[x] > w->compute_ns)
            w->leaving.at[n++] = x;
        else if (w->on_device[x])
            drop(w, x);
    }
    w->leaving.n = n;
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
            drop_if_unneeded(w, p->inputs[k]);
        for (uint32_t x = p->output_start[j]; x < p->output_start[j + 1]; x++)
            drop_if_unneeded(w, x);
    }
}

static void find_until(struct greedy *w) {
    const struct rp_instance *p = w->p;
    for (uint32_t j = 0; j < p->n_ops; j++) {
        w->until[j] = p->n_homes > 0 ? p->last_stage[j] : p->n_ops;
        for (uint32_t k = p->input_start[j]; k < p->input_start[j + 1]; k++)
            if (!rp_is_version(p, p->inputs[k]))
                w->until[j] = rp_min_u32(w->until[j], w->until[p->producer[p->inputs[k]]]);
    }
}

static void begin_homes(struct greedy *w) {
    const struct rp_instance *p = w->p;
    for (uint32_t x = 0; x < p->n_homes; x++) {
        struct rp_plan_home home = {.tensor = p->tensor_of[x], .host_at = RP_NO_ADDRESS};
        w->on_device[x] = w->stays[x];
        if (w->on_device[x])
            w->live_bytes += p->bytes[x];
        else
            rp_push(&w->plan.homes, home);
    }
    w->stage = p->n_homes > 0;
}

static bool run_all(struct greedy *w) {
    const struct rp_instance *p = w->p;
    bool ok = true;
    begin_homes(w);
    find_until(w);
    for (uint32_t t = w->stage; t < p->n_ops && ok; t++) {
        drop_copied_out(w);
        size_t from = w->plan.steps.n;
        ok = run(w, t) && !rp_stop_after(w->stop, NS_PER_STAGE);
        w->stage = t + 1;
        if (ok)
            drop_unneeded(w, from);
    }
    for (uint32_t x = 0; x < p->n_tensors && ok; x++)
        ok = !p->kept[x] || w->on_device[x] ||
             (on_host(w, x) ? swap_in(w, x) : run(w, p->producer[x]));
    return ok;
}

bool rp_schedule_greedy(const struct rp_instance *p, const bool *stays,
                        struct rp_stop *stop, struct rp_schedule *s) {
    struct greedy w = {.p = p, .stays = stays, .stop = stop};
    w.ready_ns = rp_calloc(p->n_tensors, sizeof *w.ready_ns);
    w.host_ready_ns = rp_calloc(p->n_tensors, sizeof *w.host_ready_ns);
    w.next = rp_calloc(p->n_tensors, sizeof *w.next);
    w.pins = rp_calloc(p->n_tensors, sizeof *w.pins);
    w.on_device = rp_calloc(p->n_tensors, sizeof *w.on_device);
    w.begin_ns = rp_calloc((size_t)p->n_ops + 1, sizeof *w.begin_ns);
    w.until = rp_calloc(p->n_ops, sizeof *w.until);
    w.before_ns = rp_calloc(p->n_ops, sizeof *w.before_ns);
    w.after_ns = rp_calloc(p->n_ops, sizeof *w.after_ns);
    for (uint32_t x = 0; x < p->n_tensors; x++)
        w.next[x] = p->reader_start[x];
    for (uint32_t i = 0; i < p->n_ops; i++)
        w.begin_ns[i + 1] = w.begin_ns[i] + (double)p->time_ns[i];
    bool ok = run_all(&w) && rp_schedule_from_plan(p, &w.plan, stop, s);
    rp_plan_fini(&w.plan);
    free(w.next);
    free(w.pins);
    free(w.on_device);
    free(w.begin_ns);
    free(w.until);
    free(w.before_ns);
    free(w.after_ns);
    free(w.ready_ns);
    free(w.host_ready_ns);
    free(w.leaving.at);
    return ok;
}
