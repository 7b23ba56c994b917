#include "judge.h"

static int64_t later(int64_t a, int64_t b) {
    return a > b ? a : b;
}

static bool is_source(const struct ck_judge *j, int64_t x) {
    return j->g->tensors[x].producer == CK_NONE;
}

/* Rules 2 and 7, for the inputs or the updates of an op. *ready: when all are complete. */
static bool inputs_ready(struct ck_judge *j, int i, const struct ck_list *list,
                         const int *updates_before, int64_t *ready) {
    for (int k = 0; k < list->n; k++) {
        const struct ck_state_of_tensor *t = &j->x[list->at[k]];
        if (!t->on_device && (t->listed || !is_source(j, list->at[k])))
            return ck_broken(j, "op %d: tensor %d is not on the device", i,
                             (int)list->at[k]);
        if (t->updates != updates_before[k])
            return ck_broken(j, "op %d: tensor %d was updated %d times", i,
                             (int)list->at[k], t->updates);
        *ready = later(*ready, t->ready_ns);
    }
    return true;
}

/* Rule 1, and the order of ordered ops. */
static bool may_run(struct ck_judge *j, int i) {
    const struct ck_op *op = &j->g->ops[i];
    if (j->runs[i] > 0)
        return !op->once || ck_broken(j, "op %d may run only once", i);
    if (op->ordered && i < j->last_ordered)
        return ck_broken(j, "op %d is ordered and comes late", i);
    if (op->ordered)
        j->last_ordered = i;
    return true;
}

/* Notes what kind of plan this is, for rule 11. */
static void classify_run(struct ck_judge *j, int i) {
    struct ck_figures *f = j->f;
    if (j->runs[i] > 0) {
        f->reruns = true;
        /* The ops between two first runs come in the order of their first runs, which is
         * the graph's as long as given_order holds; otherwise we do not say. None comes
         * after the last first run. */
        bool at_end = j->last_first == j->g->n_ops - 1;
        f->schedule = f->schedule && i > j->last_in_stage && !at_end;
        j->last_in_stage = i;
        return;
    }
    f->given_order = f->given_order && i > j->last_first;
    j->last_first = i;
    j->last_in_stage = -1;
}

/* `at` has an address for each output that is not on the device, and null for the others.
 * *kept: what those take that the op cannot write where they lie. */
static bool outputs_named(struct ck_judge *j, const struct ck_step *s, int64_t *kept) {
    const struct ck_op *op = &j->g->ops[s->id];
    bool named = j->p->addressed && op->outputs.n > 0;
    if ((s->has_at != named && (s->at.n > 0 || named || !j->p->addressed)) ||
        (named && s->at.n != op->outputs.n))
        return ck_broken(j, "at has %d addresses for %d outputs", s->at.n, op->outputs.n);
    for (int k = 0; k < op->outputs.n; k++) {
        int x = (int)op->outputs.at[k];
        int64_t size;
        if (!j->x[x].on_device)
            continue;
        if (named && s->at.at[k] != CK_NO_ADDRESS)
            return ck_broken(j, "tensor %d is on the device already", x);
        if (!op->rewrites &&
            (!ck_size(j, j->g->tensors[x].bytes, &size) || !ck_sum(j, kept, size)))
            return false;
    }
    return true;
}

/* Storage for the outputs that are not on the device. */
static bool take_outputs(struct ck_judge *j, const struct ck_step *s, int64_t *kept) {
    const struct ck_op *op = &j->g->ops[s->id];
    if (!outputs_named(j, s, kept))
        return false;
    for (int k = 0; k < op->outputs.n; k++) {
        int x = (int)op->outputs.at[k];
        if (j->x[x].on_device)
            continue;
        j->x[x].ready_ns = -1; /* made by this run */
        if (!ck_allocate(j, x, j->p->addressed ? s->at.at[k] : CK_ABSENT))
            return false;
    }
    return true;
}

/* Rule 8: a copy out of a tensor that is updated must end first. */
static int64_t after_copies(const struct ck_judge *j, const struct ck_op *op, int64_t ns) {
    for (int k = 0; k < op->updates.n; k++)
        if (j->x[op->updates.at[k]].copied)
            ns = later(ns, j->x[op->updates.at[k]].copied_ns);
    return ns;
}

/* Rule 2: no swap-in of an output is under way, also if the op leaves it alone. */
static bool outputs_at_rest(struct ck_judge *j, int i, int64_t start) {
    const struct ck_op *op = &j->g->ops[i];
    for (int k = 0; k < op->outputs.n; k++)
        if (j->x[op->outputs.at[k]].ready_ns > start)
            return ck_broken(j, "op %d: a swap-in of tensor %d is under way", i,
                             (int)op->outputs.at[k]);
    return true;
}

static void finish_run(struct ck_judge *j, const struct ck_op *op) {
    for (int k = 0; k < op->outputs.n; k++) {
        struct ck_state_of_tensor *t = &j->x[op->outputs.at[k]];
        if (op->rewrites || t->ready_ns < 0)
            t->ready_ns = j->compute;
        t->made = true;
    }
    for (int k = 0; k < op->updates.n; k++) {
        struct ck_state_of_tensor *t = &j->x[op->updates.at[k]];
        t->ready_ns = j->compute;
        t->stale = true;
        t->updates++;
    }
}

static bool run(struct ck_judge *j, const struct ck_step *s) {
    int i = s->id;
    int64_t ready = 0, kept = 0;
    if (i >= j->g->n_ops)
        return ck_broken(j, "there is no op %d", i);
    const struct ck_op *op = &j->g->ops[i];
    if (!may_run(j, i) || !inputs_ready(j, i, &op->inputs, j->updates_before[i], &ready) ||
        !inputs_ready(j, i, &op->updates, j->updates_before[i] + op->inputs.n, &ready) ||
        !take_outputs(j, s, &kept) || !ck_sum(j, &kept, op->workspace_bytes) ||
        !ck_note_peak(j, kept, s->address))
        return false;
    int64_t start = after_copies(j, op, later(j->compute, ready));
    if (!outputs_at_rest(j, i, start) || !ck_sum(j, &j->stall, start - j->compute) ||
        (j->runs[i] > 0 && !ck_sum(j, &j->recompute, op->time_ns)))
        return false;
    j->compute = start;
    if (!ck_sum(j, &j->compute, op->time_ns))
        return false;
    classify_run(j, i);
    finish_run(j, op);
    j->runs[i]++;
    return true;
}

static bool free_tensor(struct ck_judge *j, int x) {
    struct ck_state_of_tensor *t = &j->x[x];
    if (!t->on_device)
        return ck_broken(j, "free: tensor %d is not on the device", x);
    if (j->g->tensors[x].held)
        return ck_broken(j, "free: tensor %d is held", x);
    if (t->listed && t->stale)
        return ck_broken(j, "free: the host copy of tensor %d is out of date", x);
    if (t->copied && t->copied_ns > j->compute) {
        j->stall += t->copied_ns - j->compute;
        j->compute = t->copied_ns;
    }
    if (t->ready_ns > j->compute)
        return ck_broken(j, "free: tensor %d is under way", x);
    ck_release(j, x);
    return true;
}

/* The end of a copy that starts at *queue or later; *queue becomes that. */
static bool copy(struct ck_judge *j, int x, int64_t start, int64_t rate, int64_t *queue) {
    __int128 bytes = j->g->tensors[x].bytes;
    __int128 ns = (bytes * 1000000000 + rate - 1) / rate;
    if (ns > CK_MAX)
        return ck_broken(j, "the time of a copy overflows");
    *queue = later(*queue, start);
    return ck_sum(j, queue, j->g->latency_ns) && ck_sum(j, queue, (int64_t)ns);
}

static bool swap_out(struct ck_judge *j, int x, int64_t address) {
    struct ck_state_of_tensor *t = &j->x[x];
    if (!t->on_device)
        return ck_broken(j, "swap_out: tensor %d is not on the device", x);
    if (t->copied && !(t->listed && t->stale))
        return ck_broken(j, "swap_out: tensor %d has a host copy", x);
    if (t->listed ? address != (j->p->addressed ? t->host_at : CK_ABSENT)
                  : !ck_host_range(j, x, address))
        return ck_broken(j, "swap_out: another host range");
    if (!copy(j, x, later(j->compute, t->ready_ns), j->g->d2h, &j->d2h))
        return false;
    t->copied = true;
    t->stale = false;
    t->copied_ns = j->d2h;
    return true;
}

static bool swap_in(struct ck_judge *j, int x, int64_t address) {
    struct ck_state_of_tensor *t = &j->x[x];
    if (!t->copied || t->stale)
        return ck_broken(j, "swap_in: tensor %d has no host copy", x);
    if (t->on_device)
        return ck_broken(j, "swap_in: tensor %d is on the device", x);
    if (!ck_allocate(j, x, address) || !ck_note_peak(j, 0, CK_ABSENT) ||
        !copy(j, x, later(j->compute, t->copied_ns), j->g->h2d, &j->h2d))
        return false;
    t->ready_ns = j->h2d;
    return true;
}

bool ck_step(struct ck_judge *j, const struct ck_step *s) {
    if (s->kind == CK_RUN)
        return run(j, s);
    if (s->id >= j->g->n_tensors)
        return ck_broken(j, "there is no tensor %d", s->id);
    if (is_source(j, s->id) && !j->x[s->id].listed)
        return ck_broken(j, "tensor %d is a source", s->id);
    if (s->kind == CK_FREE)
        return free_tensor(j, s->id);
    if (j->g->h2d == 0 || j->g->d2h == 0)
        return ck_broken(j, "the device has no bandwidths");
    j->f->swaps = true;
    return s->kind == CK_SWAP_OUT ? swap_out(j, s->id, s->address)
                                  : swap_in(j, s->id, s->address);
}
