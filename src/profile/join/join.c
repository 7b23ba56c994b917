#include "profile/join/join.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/mem.h"
#include "base/numbers.h"
#include "profile/join/link_fit.h"
#include "profile/join/names.h"
#include "profile/join/quartiles.h"
#include "profile/join/runs.h"

/* CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL: the program waited for the device. That also
 * happens without tracing, and does not change how long the work takes. */
enum { OVERHEAD_QUEUE_FULL = 6 << 16 };

/* From the first start of a step's work to its last end, and the time in it in which
 * nothing ran. */
struct span {
    uint64_t begin_ns, end_ns, idle_ns;
    bool used; /* the step has work */
};

struct join {
    const struct rp_graph *g;
    const struct rp_trace *t; /* the current one */
    uint32_t process;
    struct rp_op_index index;
    struct rp_joined_costs *c;
    struct rp_err *err;
    RP_VEC(struct rp_piece) pieces;
    struct rp_name_list unknown_ranges;
    RP_VEC(uint64_t) step_ns, idle_ns; /* per used step */
    uint64_t *temporary; /* per op: the most that a run both allocated and released */
    uint64_t device;
    bool has_device;

    /* Of the current trace. */
    uint32_t *owner;    /* per range: its op, or that of the nearest range around it */
    bool *named;        /* per range: its own name is the op's */
    bool *captured;     /* per range: nodes of a CUDA graph were created in it */
    uint64_t *ends;     /* per overhead: the latest end of it and those before */
    struct span *spans; /* per step */
};

/* ---- ranges and steps ---- */

static size_t range_index(const struct rp_trace *t, uint64_t id) {
    const struct rp_trace_range *r = rp_trace_range_of(t, id);
    return r ? (size_t)(r - t->ranges.at) : SIZE_MAX;
}

/* A parent has a lower id, so it comes first. */
static void find_owners(struct join *j) {
    const struct rp_trace *t = j->t;
    for (size_t i = 0; i < t->ranges.n; i++) {
        const struct rp_trace_range *r = &t->ranges.at[i];
        j->owner[i] = rp_op_index_find(&j->index, r->name);
        j->named[i] = j->owner[i] != RP_NONE;
        if (j->owner[i] == RP_NONE && r->parent != 0)
            j->owner[i] = j->owner[range_index(t, r->parent)];
        if (j->owner[i] == RP_NONE && !rp_is_link_section(r->name))
            rp_push(&j->unknown_ranges, r->name);
    }
    for (size_t i = 0; i < t->nodes.n; i++) {
        size_t r = range_index(t, t->nodes.at[i].value);
        if (r != SIZE_MAX)
            j->captured[r] = true;
    }
}

/* The step's index if the step is used, SIZE_MAX otherwise. The first of several steps is
 * not used: it loads modules and fills caches. */
static size_t used_step(const struct rp_trace *t, uint64_t number) {
    for (size_t low = t->steps.n > 1, high = t->steps.n; low < high;) {
        size_t middle = low + (high - low) / 2;
        const struct rp_trace_step *s = &t->steps.at[middle];
        if (s->number == number)
            return s->end_ns != 0 ? middle : SIZE_MAX;
        if (s->number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return SIZE_MAX;
}

static rp_rc check_steps(const struct join *j) {
    const struct rp_trace *t = j->t;
    for (size_t i = 1; i < t->steps.n; i++) {
        const struct rp_trace_step *a = &t->steps.at[i - 1], *b = &t->steps.at[i];
        if (a->end_ns != 0 && b->begin_ns >= a->end_ns)
            continue;
        return rp_fail(j->err, RP_INPUT,
                       "process %" PRIu64 ": step %" PRIu64 " (thread %" PRIu64
                       ") begins before step %" PRIu64 " (thread %" PRIu64
                       ") ends, but steps must not overlap",
                       t->pid, b->number, b->thread, a->number, a->thread);
    }
    return RP_OK;
}

/* The step that the range began in, or whose own range it is; 0 for none. */
static uint64_t step_of_range(const struct rp_trace *t, uint64_t id) {
    const struct rp_trace_range *r = rp_trace_range_of(t, id);
    if (r != NULL)
        return r->step;
    for (size_t i = 0; i < t->steps.n && id != 0; i++)
        if (t->steps.at[i].range == id)
            return t->steps.at[i].number;
    return 0;
}

/* The step at the time of the call, for work that was launched outside every range. */
static uint64_t step_of_call(const struct rp_trace *t, const struct rp_trace_call *call) {
    for (size_t i = 0; call != NULL && i < t->steps.n; i++)
        if (call->start_ns >= t->steps.at[i].begin_ns &&
            call->start_ns < t->steps.at[i].end_ns)
            return t->steps.at[i].number;
    return 0;
}

static void mark_runs(struct join *j) {
    const struct rp_trace *t = j->t;
    for (size_t i = 0; i < t->ranges.n; i++) {
        const struct rp_trace_range *r = &t->ranges.at[i];
        if (!j->named[i] || j->captured[i])
            continue;
        if (t->steps.n > 0 && used_step(t, r->step) == SIZE_MAX)
            continue;
        struct rp_piece p = {.op = j->owner[i],
                             .process = j->process,
                             .key = t->steps.n > 0 ? r->step : r->id};
        rp_push(&j->pieces, p);
        struct rp_op_cost *cost = &j->c->ops[p.op];
        cost->states_workspace |= r->has_workspace;
        if (r->has_workspace)
            cost->workspace_bytes = rp_max_u64(cost->workspace_bytes, r->workspace_bytes);
    }
}

/* ---- memory ---- */

/* The index of the nearest range, i or one around it, that names an op itself. */
static size_t named_range(const struct join *j, size_t i) {
    while (!j->named[i])
        i = range_index(j->t, j->t->ranges.at[i].parent);
    return i;
}

/* Workspaces that ops allocate themselves, in the runs that are used. */
static void add_workspaces(struct join *j) {
    const struct rp_trace *t = j->t;
    size_t *run = rp_calloc(t->ranges.n + 1, sizeof *run);
    uint64_t *bytes = rp_calloc(t->ranges.n + 1, sizeof *bytes);
    for (size_t i = 0; i < t->ranges.n; i++) {
        const bool used = t->steps.n == 0 || used_step(t, t->ranges.at[i].step) != SIZE_MAX;
        run[i] = used && j->owner[i] != RP_NONE ? named_range(j, i) : SIZE_MAX;
    }
    rp_temporary_memory(t, run, bytes);
    for (size_t i = 0; i < t->ranges.n; i++)
        if (j->named[i])
            j->temporary[j->owner[i]] = rp_max_u64(j->temporary[j->owner[i]], bytes[i]);
    free(run);
    free(bytes);
}

static void add_memory(struct join *j) {
    const struct rp_trace *t = j->t;
    bool *used = rp_calloc(t->steps.n + 1, sizeof *used);
    for (size_t i = 0; i < t->steps.n; i++)
        used[i] = used_step(t, t->steps.at[i].number) != SIZE_MAX;
    rp_held_memory_add(t, used, &j->c->memory);
    add_workspaces(j);
    free(used);
}

/* ---- work ---- */

static bool is_held_up(const struct join *j, const struct rp_trace_call *call) {
    const struct rp_trace *t = j->t;
    if (call == NULL)
        return false;
    size_t low = 0, high = t->overheads.n; /* finds the first that starts after the call */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (t->overheads.at[middle].start_ns < call->end_ns)
            low = middle + 1;
        else
            high = middle;
    }
    while (low > 0 && j->ends[low - 1] > call->start_ns) {
        const struct rp_trace_overhead *o = &t->overheads.at[--low];
        if (o->kind != OVERHEAD_QUEUE_FULL && o->end_ns > call->start_ns &&
            (o->thread == 0 || o->thread == call->thread))
            return true;
    }
    return false;
}

static bool has_stamps(const struct rp_trace_work *w) {
    return w->end_ns != 0 && w->start_ns <= w->end_ns;
}

/* Work comes by start. */
static void extend(struct span *s, const struct rp_trace_work *w) {
    if (!s->used)
        *s = (struct span){w->start_ns, w->start_ns, 0, true};
    if (w->start_ns > s->end_ns)
        s->idle_ns += w->start_ns - s->end_ns; /* no more than the span */
    s->end_ns = rp_max_u64(s->end_ns, w->end_ns);
}

static rp_rc check_device(struct join *j, const struct rp_trace_work *w) {
    if (!j->has_device) {
        j->device = w->device;
        j->has_device = true;
    }
    if (j->device == w->device)
        return RP_OK;
    return rp_fail(j->err, RP_ENV,
                   "process %" PRIu64 " ran ops on devices %" PRIu64 " and %" PRIu64
                   "; let it use one (CUDA_VISIBLE_DEVICES)",
                   j->t->pid, j->device, w->device);
}

static rp_rc join_work(struct join *j, const struct rp_trace_work *w) {
    const struct rp_trace *t = j->t;
    const struct rp_trace_call *call = rp_trace_call_of(t, w->correlation);
    uint64_t owner, launcher = rp_trace_launcher(t, w, &owner);
    size_t step = SIZE_MAX, range = range_index(t, owner);
    if (t->steps.n > 0) {
        step = used_step(t, launcher ? step_of_range(t, launcher) : step_of_call(t, call));
        if (step == SIZE_MAX)
            return RP_OK;
        if (has_stamps(w))
            extend(&j->spans[step], w);
    }
    uint64_t ns = has_stamps(w) ? w->end_ns - w->start_ns : 0;
    if (range == SIZE_MAX || j->owner[range] == RP_NONE) {
        if (step != SIZE_MAX)
            rp_add_capped(&j->c->outside_ns, ns);
        return RP_OK;
    }
    rp_add_capped(&j->c->inside_ns, ns);
    struct rp_piece p = {
        .op = j->owner[range],
        .process = j->process,
        .start_ns = w->start_ns,
        .end_ns = w->end_ns,
        .correlation = w->correlation,
        .what = owner != launcher ? RP_PIECE_OF_GRAPH : RP_PIECE_WORK,
        .no_stamp = !has_stamps(w),
        .held_up = is_held_up(j, call),
    };
    if (t->steps.n > 0)
        p.key = t->steps.at[step].number;
    else
        p.key = p.what == RP_PIECE_OF_GRAPH ? w->correlation | (uint64_t)1 << 63
                                            : t->ranges.at[named_range(j, range)].id;
    rp_push(&j->pieces, p);
    return check_device(j, w);
}

/* Time in which two ops ran at once. Works are sorted by start, and so are the pieces. */
static void count_side_by_side(struct join *j, size_t first) {
    const struct rp_piece *last = NULL;
    for (size_t i = first; i < j->pieces.n; i++) {
        const struct rp_piece *p = &j->pieces.at[i];
        if (p->what == RP_PIECE_MARK || p->no_stamp)
            continue;
        if (last != NULL && last->op != p->op && p->start_ns < last->end_ns) {
            uint64_t end_ns = rp_min_u64(p->end_ns, last->end_ns);
            rp_add_capped(&j->c->side_by_side_ns, end_ns - p->start_ns);
        }
        if (last == NULL || p->end_ns > last->end_ns)
            last = p;
    }
}

static void close_steps(struct join *j) {
    for (size_t i = 0; i < j->t->steps.n; i++) {
        if (used_step(j->t, j->t->steps.at[i].number) == SIZE_MAX)
            continue;
        const struct span *s = &j->spans[i];
        j->c->n_steps++;
        if (!s->used)
            continue;
        rp_push(&j->step_ns, s->end_ns - s->begin_ns);
        rp_push(&j->idle_ns, s->idle_ns);
    }
}

static rp_rc name_device(struct join *j) {
    const struct rp_trace_device *d =
        j->has_device ? rp_trace_device_of(j->t, j->device) : NULL;
    if (d == NULL)
        return RP_OK;
    if (j->c->device != NULL && strcmp(j->c->device, d->name) != 0)
        return rp_fail(j->err, RP_ENV, "ops ran on two kinds of device: %.80s and %.80s",
                       j->c->device, d->name);
    if (j->c->device == NULL) {
        j->c->device = rp_strdup(d->name);
        j->c->memory_bytes = d->memory_bytes;
    }
    return RP_OK;
}

static rp_rc join_trace(struct join *j) {
    const struct rp_trace *t = j->t;
    j->owner = rp_calloc(t->ranges.n + 1, sizeof *j->owner);
    j->named = rp_calloc(t->ranges.n + 1, sizeof *j->named);
    j->captured = rp_calloc(t->ranges.n + 1, sizeof *j->captured);
    j->ends = rp_calloc(t->overheads.n + 1, sizeof *j->ends);
    j->spans = rp_calloc(t->steps.n + 1, sizeof *j->spans);
    j->has_device = false;
    for (size_t i = 0; i < t->overheads.n; i++) {
        uint64_t before = i > 0 ? j->ends[i - 1] : 0;
        j->ends[i] = rp_max_u64(before, t->overheads.at[i].end_ns);
    }
    rp_rc rc = check_steps(j);
    find_owners(j);
    if (rc == RP_OK) {
        mark_runs(j);
        add_memory(j);
    }
    size_t first = j->pieces.n;
    for (size_t i = 0; i < t->works.n && rc == RP_OK; i++)
        rc = join_work(j, &t->works.at[i]);
    if (rc == RP_OK) {
        count_side_by_side(j, first);
        close_steps(j);
        rc = name_device(j);
    }
    free(j->owner);
    free(j->named);
    free(j->captured);
    free(j->ends);
    free(j->spans);
    return rc;
}

/* ---- sums and medians ---- */

static void summarize(struct join *j) {
    for (uint32_t i = 0; i < j->c->n_ops; i++) {
        struct rp_op_cost *cost = &j->c->ops[i];
        rp_add_capped(&j->c->sum_ns, cost->median_ns);
        if (!cost->states_workspace)
            cost->workspace_bytes = j->temporary[i];
    }
    if (j->step_ns.n == 0)
        return;
    j->c->step_ns = rp_quartiles_of(j->step_ns.at, j->step_ns.n).median;
    j->c->idle_ns = rp_quartiles_of(j->idle_ns.at, j->idle_ns.n).median;
}

/* ---- what cannot be used ---- */

static rp_rc check_coverage(struct join *j, const char *file) {
    struct rp_name_list missing = {0};
    bool *seen = rp_calloc(j->g->n_ops + 1, sizeof *seen);
    for (size_t i = 0; i < j->pieces.n; i++)
        seen[j->pieces.at[i].op] = true;
    for (uint32_t i = 0; i < j->g->n_ops; i++)
        if (!seen[i])
            rp_push(&missing, j->g->ops[i].name);
    free(seen);
    if (missing.n == 0)
        return RP_OK;
    char *text = rp_name_list_text(&missing, 8, NULL);
    rp_rc rc = rp_fail(j->err, RP_INPUT, "%s: %zu of %" PRIu32 " ops have no range: %s",
                       file, missing.n, j->g->n_ops, text);
    free(text);
    free(missing.at);
    return rc;
}

static rp_rc check_work(const struct join *j) {
    for (uint32_t i = 0; i < j->g->n_ops; i++)
        if (j->c->ops[i].n_pieces > 0)
            return RP_OK;
    return rp_fail(j->err, RP_ENV,
                   "CUPTI recorded no work of the device in the ops' ranges");
}

/* RP_ENV if the trace is incomplete. A process that marked no ranges is not relevant. */
static rp_rc check_trace(const struct rp_trace *t, bool *relevant, struct rp_err *err) {
    *relevant = t->ranges.n > 0 || t->steps.n > 0;
    if (!*relevant)
        return RP_OK;
    const char *why = NULL;
    if (t->error != NULL)
        why = t->error;
    else if (!t->complete)
        why = "its trace is incomplete: it was killed or called _exit";
    else if (t->cupti_version == 0)
        why = "it marked ranges but did not start the CUDA driver";
    else if (t->torn > 0)
        why = "a CUPTI buffer ended in the middle of a record";
    if (why != NULL)
        return rp_fail(err, RP_ENV, "process %" PRIu64 ": %s", t->pid, why);
    if (t->dropped > 0)
        return rp_fail(err, RP_ENV,
                       "process %" PRIu64 ": CUPTI dropped %" PRIu64
                       " records, so measurements may be incomplete; run fewer steps",
                       t->pid, t->dropped);
    return RP_OK;
}

static rp_rc fail_unmeasured(const struct rp_trace *traces, size_t n, struct rp_err *err) {
    for (size_t i = 0; i < n; i++)
        if (traces[i].error != NULL)
            return rp_fail(err, RP_ENV, "process %" PRIu64 ": %s", traces[i].pid,
                           traces[i].error);
    return rp_fail(err, RP_ENV,
                   "no process marked a range; put ops into NVTX ranges named 'rp:OP'");
}

rp_rc rp_join_traces(const struct rp_graph *g, const char *graph_file,
                     const struct rp_trace *traces, size_t n_traces,
                     struct rp_joined_costs *c, struct rp_err *err) {
    struct join j = {.g = g, .c = c, .err = err};
    j.temporary = rp_calloc(g->n_ops + 1, sizeof *j.temporary);
    uint64_t *process_ids = rp_calloc(n_traces + 1, sizeof *process_ids);
    *c = (struct rp_joined_costs){.n_ops = g->n_ops};
    c->ops = rp_calloc(g->n_ops + 1, sizeof *c->ops);
    rp_rc rc = rp_op_index_build(g, graph_file, &j.index, err);
    for (size_t i = 0; i < n_traces && rc == RP_OK; i++) {
        bool relevant;
        process_ids[i] = traces[i].pid;
        rc = check_trace(&traces[i], &relevant, err);
        if (rc != RP_OK || !relevant)
            continue;
        j.t = &traces[i];
        j.process = (uint32_t)i;
        c->n_processes++;
        c->cupti_version = traces[i].cupti_version;
        rc = join_trace(&j);
    }
    if (rc == RP_OK && c->n_processes == 0)
        rc = fail_unmeasured(traces, n_traces, err);
    if (rc == RP_OK)
        rc = check_coverage(&j, graph_file);
    if (rc == RP_OK)
        rc = rp_op_costs_build(g, j.pieces.at, j.pieces.n, process_ids, c->ops, &c->runs,
                               err);
    if (rc == RP_OK)
        rc = check_work(&j);
    if (rc == RP_OK)
        summarize(&j);
    if (j.unknown_ranges.n > 0)
        c->unknown_ranges = rp_name_list_text(&j.unknown_ranges, 4, &c->n_unknown_ranges);
    free(process_ids);
    free(j.temporary);
    free(j.pieces.at);
    free(j.unknown_ranges.at);
    free(j.step_ns.at);
    free(j.idle_ns.at);
    rp_op_index_fini(&j.index);
    if (rc != RP_OK)
        rp_joined_costs_fini(c);
    return rc;
}

void rp_joined_costs_fini(struct rp_joined_costs *c) {
    free(c->ops);
    free(c->device);
    free(c->unknown_ranges);
    *c = (struct rp_joined_costs){0};
}
