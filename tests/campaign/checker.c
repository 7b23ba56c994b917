#include "checker.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "judge.h"

bool ck_broken(struct ck_judge *j, const char *format, ...) {
    va_list list;
    if (j->why[0] != 0)
        return false;
    int n = j->step < 0 ? 0 : snprintf(j->why, 256, "steps[%d]: ", j->step);
    va_start(list, format);
    vsnprintf(j->why + n, 256 - (size_t)n, format, list);
    va_end(list);
    return false;
}

bool ck_sum(struct ck_judge *j, int64_t *sum, int64_t value) {
    if (value > CK_MAX - *sum)
        return ck_broken(j, "a sum overflows");
    *sum += value;
    return true;
}

/* How often each source was updated before each op that touches it: rule 7. */
static void count_updates(struct ck_judge *j) {
    const struct ck_graph *g = j->g;
    int *done = calloc((size_t)g->n_tensors + 1, sizeof *done);
    j->updates_before = calloc((size_t)g->n_ops + 1, sizeof *j->updates_before);
    for (int i = 0; i < g->n_ops; i++) {
        const struct ck_op *op = &g->ops[i];
        int n = op->inputs.n + op->updates.n;
        j->updates_before[i] = calloc((size_t)n + 1, sizeof *j->updates_before[i]);
        for (int k = 0; k < op->inputs.n; k++)
            j->updates_before[i][k] = done[op->inputs.at[k]];
        for (int k = 0; k < op->updates.n; k++)
            j->updates_before[i][op->inputs.n + k] = done[op->updates.at[k]]++;
    }
    free(done);
}

static void begin(struct ck_judge *j) {
    const struct ck_graph *g = j->g;
    j->step = j->last_ordered = j->last_first = j->last_in_stage = -1;
    j->x = calloc((size_t)g->n_tensors + 1, sizeof *j->x);
    j->runs = calloc((size_t)g->n_ops + 1, sizeof *j->runs);
    j->host_ranges = calloc((size_t)g->n_tensors + 1, sizeof *j->host_ranges);
    count_updates(j);
    *j->f = (struct ck_figures){.given_order = true, .schedule = true};
}

static void end(struct ck_judge *j) {
    for (int i = 0; i < j->g->n_ops; i++)
        free(j->updates_before[i]);
    free(j->updates_before);
    free(j->host_ranges);
    free(j->runs);
    free(j->x);
}

/* The sources that live on the host, and the fixed bytes of the others. */
static bool place_sources(struct ck_judge *j) {
    for (int k = 0; k < j->p->n_homes; k++) {
        int x = j->p->homes[k].tensor;
        if (x >= j->g->n_tensors || j->g->tensors[x].producer != CK_NONE)
            return ck_broken(j, "homes[%d] is no source", k);
        if (j->x[x].listed || j->g->tensors[x].home == CK_DEVICE)
            return ck_broken(j, "homes[%d] does not live on the host", k);
        j->x[x].listed = j->x[x].copied = true;
        if (!ck_host_range(j, x, j->p->homes[k].host_at))
            return false;
    }
    for (int x = 0; x < j->g->n_tensors; x++) {
        const struct ck_tensor *t = &j->g->tensors[x];
        if (t->producer != CK_NONE || j->x[x].listed)
            continue;
        if (t->home == CK_HOST)
            return ck_broken(j, "tensor %d lives on the host", x);
        if (!ck_sum(j, &j->fixed, t->bytes))
            return false;
    }
    return true;
}

/* Rules 1, 4 and 9, when all steps are done. */
static bool ends_well(struct ck_judge *j) {
    const struct ck_graph *g = j->g;
    for (int i = 0; i < g->n_ops; i++)
        if (j->runs[i] == 0)
            return ck_broken(j, "op %d never runs", i);
    for (int x = 0; x < g->n_tensors; x++) {
        const struct ck_state_of_tensor *t = &j->x[x];
        bool there = t->on_device || (g->tensors[x].producer == CK_NONE && !t->listed);
        if (g->tensors[x].kept && !there)
            return ck_broken(j, "tensor %d is not there at the end", x);
        if (t->listed && t->stale)
            return ck_broken(j, "the host copy of tensor %d is out of date", x);
    }
    return true;
}

static bool add_up(struct ck_judge *j) {
    struct ck_figures *f = j->f;
    int64_t time = j->compute, peak = j->peak, baseline = 0;
    time = j->d2h > time ? j->d2h : time;
    time = j->h2d > time ? j->h2d : time;
    for (int i = 0; i < j->g->n_ops; i++)
        baseline += j->g->ops[i].time_ns; /* checked when the graph was read */
    if (!ck_sum(j, &peak, j->fixed))
        return false;
    f->time_ns = (uint64_t)time;
    f->baseline_time_ns = (uint64_t)baseline;
    f->recompute_ns = (uint64_t)j->recompute;
    f->stall_ns = (uint64_t)j->stall;
    f->peak_bytes = (uint64_t)peak;
    f->fixed_bytes = (uint64_t)j->fixed;
    f->arena_bytes = (uint64_t)(j->p->addressed ? j->arena_used : j->peak);
    f->host_bytes = (uint64_t)(j->p->addressed ? j->host_used : j->host_sum);
    f->budget_bytes = (uint64_t)j->p->budget;
    f->lower_bound_ns = (uint64_t)j->p->bound_ns;
    f->addressed = j->p->addressed;
    f->bound_for = j->p->bound_for;
    f->schedule = f->schedule && f->given_order;
    return f->complete = true;
}

/* Rules 5 and 10: the sizes. In version 1 they may be larger than what is used, except
 * that of the arena in a plan without addresses, where host_bytes says nothing. */
static bool sizes_hold(struct ck_judge *j) {
    const struct ck_plan *p = j->p;
    int64_t arena = p->addressed ? j->arena_used : j->peak, total = p->arena;
    int64_t host = p->addressed ? j->host_used : j->host_sum;
    bool exact = p->version == 2;
    if (!ck_sum(j, &total, j->fixed))
        return false;
    if (total > p->budget)
        return ck_broken(j, "fixed bytes and arena are over the budget");
    if (exact || !p->addressed ? arena != p->arena : arena > p->arena)
        return ck_broken(j, "arena_bytes is %lld", (long long)arena);
    if (exact ? host != p->host : p->addressed && host > p->host)
        return ck_broken(j, "host_bytes is %lld", (long long)host);
    return true;
}

static bool claim(struct ck_judge *j, const char *name, uint64_t is, int64_t claimed) {
    return (int64_t)is == claimed || ck_broken(j, "%s is %lld", name, (long long)is);
}

/* Rules 6 and 10. */
static bool claims_hold(struct ck_judge *j) {
    const struct ck_plan *p = j->p;
    const struct ck_figures *f = j->f;
    const char *proof = p->bound_ns == p->time_ns      ? "optimal"
                        : p->bound_ns > p->baseline_ns ? "bounded"
                                                       : "none";
    if (!claim(j, "time_ns", f->time_ns, p->time_ns) ||
        !claim(j, "baseline_time_ns", f->baseline_time_ns, p->baseline_ns) ||
        !claim(j, "recompute_ns", f->recompute_ns, p->recompute_ns) ||
        !claim(j, "stall_ns", f->stall_ns, p->stall_ns) ||
        !claim(j, "peak_bytes", f->peak_bytes, p->peak))
        return false;
    if (p->bound_ns > p->time_ns)
        return ck_broken(j, "the bound is above the time");
    return p->version == 1 || strcmp(proof, p->proof) == 0 ||
           ck_broken(j, "proof is %s", proof);
}

static bool judge(struct ck_judge *j) {
    const struct ck_plan *p = j->p;
    if (strcmp(p->sha256, j->g->sha256) != 0)
        return ck_broken(j, "another graph");
    if (strcmp(p->graph_name, j->g->name) != 0)
        return ck_broken(j, "a graph of another name");
    if (!place_sources(j))
        return false;
    for (j->step = 0; j->step < p->n_steps; j->step++)
        if (!ck_step(j, &p->steps[j->step]))
            return false;
    j->step = -1;
    return ends_well(j) && add_up(j) && sizes_hold(j) && claims_hold(j);
}

enum ck_verdict ck_check(const char *graph_path, const char *plan_path,
                         struct ck_figures *figures, char why[256]) {
    struct ck_graph g;
    struct ck_plan p = {0};
    enum ck_verdict verdict = CK_BAD_FILE;
    *figures = (struct ck_figures){0};
    if (ck_read_graph(graph_path, &g, why) && ck_read_plan(plan_path, &p, why)) {
        struct ck_judge j = {.g = &g, .p = &p, .why = why, .f = figures};
        begin(&j);
        verdict = judge(&j) ? CK_VALID : CK_INVALID;
        end(&j);
    }
    ck_free_plan(&p);
    ck_free_graph(&g);
    return verdict;
}

bool ck_check_graph(const char *graph_path, char why[256]) {
    struct ck_graph g;
    bool good = ck_read_graph(graph_path, &g, why);
    ck_free_graph(&g);
    return good;
}
