/* SPDX-License-Identifier: MIT */
#include "remat/step_order.h"

#include <inttypes.h>
#include <stdlib.h>

#define NO_STEP SIZE_MAX

struct location {
    bool on_device, on_host; /* on_host: there is a host copy that is up to date */
    uint64_t at, host_at;
    size_t swap_in, swap_out; /* the steps that copied it there, or NO_STEP */
    uint32_t n_updates;       /* so far */
};

struct walk {
    remat *r;
    struct location *tensors;
    bool *has_run;       /* per op */
    size_t last_compute; /* the latest step of the compute queue, or NO_STEP */
    /* waited[a][b]: 1 + the latest step of queue b that a step of queue a has waited for */
    size_t waited[REMAT_N_QUEUES][REMAT_N_QUEUES];
    struct remat_error *error;
    size_t step;
};

static bool fail(const struct walk *w, const char *rule) {
    const struct remat_step *s = &w->r->steps[w->step];
    return remat_fail(w->error, "plan: steps[%zu] \"%.80s\": %s", w->step, s->name, rule);
}

static bool fail_tensor(const struct walk *w, uint32_t x, const char *rule) {
    return remat_fail(w->error, "plan: steps[%zu]: tensor %" PRIu32 " \"%.80s\" %s",
                      w->step, x, w->r->tensors[x].name, rule);
}

/* ---- waits ---- */

/* Queues run in order. So after a wait for a step, all earlier steps of its queue have
 * ended too, and need no wait. */
static bool add_wait(struct walk *w, size_t step) {
    const enum remat_queue queue = w->r->steps[w->step].queue;
    if (step == NO_STEP || w->r->steps[step].queue == queue)
        return true;
    size_t *waited = &w->waited[queue][w->r->steps[step].queue];
    if (*waited > step)
        return true;
    *waited = step + 1;
    w->r->steps[step].awaited = true;
    w->r->step_waits[w->step].n++;
    return REMAT_PUSH(&w->r->waits, step) || fail(w, "no memory");
}

/* ---- addresses ---- */

static uint64_t round_up(const remat *r, uint64_t bytes) {
    const uint64_t alignment = r->totals.alignment_bytes;
    return (bytes + alignment - 1) / alignment * alignment;
}

/* In a plan with addresses `at` must be one, in a memory of `capacity` bytes. Without
 * addresses it must be REMAT_NOWHERE. NULL if it is so, else what is wrong. */
static const char *wrong_address(const remat *r, uint64_t at, uint64_t bytes,
                                 uint64_t capacity) {
    const uint64_t alignment = r->totals.alignment_bytes;
    const uint64_t rounded = round_up(r, bytes);
    if (!r->totals.addressed)
        return at == REMAT_NOWHERE ? NULL : "an address, in a plan without";
    if (at == REMAT_NOWHERE)
        return "an address is missing";
    if (at % alignment != 0)
        return "an address off the alignment";
    if (at > capacity || rounded > capacity - at)
        return "an address beyond the end of its memory";
    return NULL;
}

static bool check_address(const struct walk *w, uint64_t at, uint64_t bytes,
                          uint64_t capacity) {
    const char *wrong = wrong_address(w->r, at, bytes, capacity);
    return wrong == NULL || fail(w, wrong);
}

static bool enter_device(struct walk *w, uint32_t x, uint64_t at) {
    struct location *l = &w->tensors[x];
    if (!check_address(w, at, w->r->tensors[x].bytes, w->r->totals.arena_bytes))
        return false;
    l->on_device = true;
    l->at = at;
    return true;
}

static bool add_operand_at(struct walk *w, uint32_t x, uint64_t at) {
    const struct remat_operand operand = {x, at};
    w->r->step_operands[w->step].n++;
    return REMAT_PUSH(&w->r->operands, operand) || fail(w, "no memory");
}

static bool add_operand(struct walk *w, uint32_t x) {
    return add_operand_at(w, x, w->tensors[x].at);
}

/* ---- runs ---- */

/* The bytes of the outputs that the op leaves as they are: it makes them a second time in
 * its workspace, behind its own. The sum fits, since that of all sizes does. */
static uint64_t left_bytes(const struct walk *w, const struct remat_op_details *details) {
    uint64_t bytes = 0;
    for (size_t k = 0; !details->rewrites && k < details->outputs.n; k++) {
        const uint32_t x = w->r->ends.at[details->outputs.first + k].tensor;
        if (w->tensors[x].on_device)
            bytes += round_up(w->r, w->r->tensors[x].bytes);
    }
    return bytes;
}

static bool check_workspace(const struct walk *w, const struct remat_step *s,
                            const struct remat_op_details *details) {
    const uint64_t left = left_bytes(w, details), own = details->workspace_bytes;
    if (own == 0 && left == 0)
        return s->workspace_at == REMAT_NOWHERE || fail(w, "a workspace the op has not");
    if (left > w->r->totals.arena_bytes && w->r->totals.addressed)
        return fail(w, "an address beyond the end of its memory");
    return check_address(w, s->workspace_at, round_up(w->r, own) + left,
                         w->r->totals.arena_bytes);
}

/* *left_at is where in the workspace the next output goes that the op leaves as it is. */
static bool add_output(struct walk *w, uint32_t x, uint64_t at, uint64_t *left_at) {
    struct location *l = &w->tensors[x];
    if (!l->on_device)
        return enter_device(w, x, at) && add_operand(w, x);
    if (at != REMAT_NOWHERE)
        return fail_tensor(w, x, "has a new address, but is on the device already");
    if (w->r->op_details[w->r->steps[w->step].id].rewrites)
        return add_wait(w, l->swap_in) && add_wait(w, l->swap_out) && add_operand(w, x);
    if (!add_operand_at(w, x, *left_at))
        return false;
    if (*left_at != REMAT_NOWHERE)
        *left_at += round_up(w->r, w->r->tensors[x].bytes);
    return true;
}

/* The op must find a source after the updates of the ops before it, and no others. */
static bool add_read(struct walk *w, struct remat_end end) {
    const struct location *l = &w->tensors[end.tensor];
    if (!l->on_device)
        return fail_tensor(w, end.tensor, "is read, but not on the device");
    if (l->n_updates != end.n_updates)
        return fail_tensor(w, end.tensor,
                           l->n_updates < end.n_updates
                               ? "is read before an update that must come first"
                               : "is read after an update that must come later");
    return add_wait(w, l->swap_in) && add_operand(w, end.tensor);
}

/* A copy out must have ended, or it takes old and new bytes. The host copy of a source that
 * lives on the host is out of date afterwards. */
static bool add_update(struct walk *w, struct remat_end end) {
    struct location *l = &w->tensors[end.tensor];
    if (!add_read(w, end) || !add_wait(w, l->swap_out))
        return false;
    l->n_updates++;
    l->on_host = false;
    return true;
}

static bool add_operands(struct walk *w, const struct remat_step *s,
                         const struct remat_op_details *details) {
    const remat *r = w->r;
    const struct remat_span addresses = r->step_addresses[w->step];
    uint64_t left_at = s->workspace_at;
    bool good = check_workspace(w, s, details);
    if (left_at != REMAT_NOWHERE)
        left_at += round_up(r, details->workspace_bytes);
    for (size_t k = 0; good && k < details->inputs.n; k++)
        good = add_read(w, r->ends.at[details->inputs.first + k]);
    for (size_t k = 0; good && k < details->outputs.n; k++)
        good = add_output(w, r->ends.at[details->outputs.first + k].tensor,
                          addresses.n > 0 ? r->addresses.at[addresses.first + k]
                                          : REMAT_NOWHERE,
                          &left_at);
    for (size_t k = 0; good && k < details->updates.n; k++)
        good = add_update(w, r->ends.at[details->updates.first + k]);
    return good;
}

static bool add_run(struct walk *w, struct remat_step *s) {
    remat *r = w->r;
    const struct remat_op_details *details = &r->op_details[s->id];
    if (w->has_run[s->id] && !details->recompute)
        return fail(w, "runs again, though its recompute is false");
    if (w->has_run[s->id] && details->updates.n > 0)
        return fail(w, "runs again, though it updates tensors");
    if (r->step_addresses[w->step].n != (r->totals.addressed ? details->outputs.n : 0))
        return fail(w, "not one address an output");
    if (!add_operands(w, s, details))
        return false;
    s->n_inputs = (uint32_t)details->inputs.n;
    s->n_outputs = (uint32_t)details->outputs.n;
    s->n_updates = (uint32_t)details->updates.n;
    s->workspace_bytes = details->workspace_bytes;
    s->again = w->has_run[s->id];
    w->has_run[s->id] = true;
    return true;
}

/* ---- the other steps ---- */

static bool add_free(struct walk *w, struct remat_step *s) {
    struct location *l = &w->tensors[s->id];
    if (!l->on_device)
        return fail(w, "is freed, but not on the device");
    if (w->r->tensors[s->id].on_host && !l->on_host)
        return fail(w, "is freed, though its host copy is out of date");
    l->on_device = false;
    s->at = l->at;
    return add_wait(w, l->swap_out) && add_wait(w, l->swap_in);
}

static bool add_swap_out(struct walk *w, struct remat_step *s) {
    struct location *l = &w->tensors[s->id];
    const struct remat_tensor *t = &w->r->tensors[s->id];
    if (!l->on_device)
        return fail(w, "is swapped out, but not on the device");
    if (l->on_host)
        return fail(w, t->on_host ? "is swapped out, but its host copy is up to date"
                                  : "is swapped out a second time");
    if (!check_address(w, s->host_at, s->bytes, w->r->totals.host_bytes))
        return false;
    if (t->on_host && s->host_at != t->host_at)
        return fail(w, "is swapped out to another place than its home");
    l->on_host = true;
    l->host_at = s->host_at;
    l->swap_out = w->step;
    s->at = l->at;
    return add_wait(w, w->last_compute);
}

static bool add_swap_in(struct walk *w, struct remat_step *s) {
    struct location *l = &w->tensors[s->id];
    if (!l->on_host)
        return fail(w, w->r->tensors[s->id].on_host
                           ? "is swapped in, but its host copy is out of date"
                           : "is swapped in, but has no host copy");
    if (l->on_device)
        return fail(w, "is swapped in, but on the device already");
    if (!enter_device(w, s->id, s->at))
        return false;
    s->host_at = l->host_at;
    l->swap_in = w->step;
    return add_wait(w, w->last_compute) && add_wait(w, l->swap_out);
}

static bool add_step(struct walk *w) {
    remat *r = w->r;
    struct remat_step *s = &r->steps[w->step];
    r->step_operands[w->step].first = r->operands.n;
    r->step_waits[w->step].first = r->waits.n;
    bool good;
    if (s->what == REMAT_RUN)
        good = add_run(w, s);
    else if (r->tensors[s->id].source && !r->tensors[s->id].on_host)
        good = fail(w, "is a source, which stays where it is");
    else
        good = s->what == REMAT_FREE       ? add_free(w, s)
               : s->what == REMAT_SWAP_OUT ? add_swap_out(w, s)
                                           : add_swap_in(w, s);
    if (s->queue == REMAT_COMPUTE)
        w->last_compute = w->step;
    return good;
}

/* ---- the whole ---- */

/* Where every tensor is when the step begins. */
static bool start(struct walk *w) {
    const remat *r = w->r;
    for (uint32_t x = 0; x < r->totals.n_tensors; x++) {
        const struct remat_tensor *t = &r->tensors[x];
        const char *wrong =
            t->on_host ? wrong_address(r, t->host_at, t->bytes, r->totals.host_bytes)
                       : NULL;
        if (wrong != NULL)
            return remat_fail(w->error, "plan: homes: tensor %" PRIu32 " \"%.80s\": %s", x,
                              t->name, wrong);
        w->tensors[x] = (struct location){.on_device = t->source && !t->on_host,
                                          .on_host = t->on_host,
                                          .at = REMAT_NOWHERE,
                                          .host_at = t->host_at,
                                          .swap_in = NO_STEP,
                                          .swap_out = NO_STEP};
    }
    return true;
}

/* What must hold when it ends. */
static bool check_end(const struct walk *w) {
    const remat *r = w->r;
    for (uint32_t i = 0; i < r->totals.n_ops; i++)
        if (!w->has_run[i])
            return remat_fail(w->error, "plan: steps: op %" PRIu32 " \"%.80s\" never runs",
                              i, r->ops[i].name);
    for (uint32_t k = 0; k < r->totals.n_keep; k++) {
        const uint32_t x = r->keep[k];
        if (!w->tensors[x].on_device)
            return remat_fail(w->error,
                              "plan: steps: tensor %" PRIu32
                              " \"%.80s\" is to be kept, but not there at the end",
                              x, r->tensors[x].name);
    }
    for (uint32_t x = 0; x < r->totals.n_tensors; x++)
        if (r->tensors[x].on_host && !w->tensors[x].on_host)
            return remat_fail(w->error,
                              "plan: steps: the host copy of tensor %" PRIu32
                              " \"%.80s\" is out of date at the end",
                              x, r->tensors[x].name);
    return true;
}

/* Nothing grows from here on, so pointers can be set. */
static void finish(const struct walk *w) {
    remat *r = w->r;
    for (uint32_t k = 0; k < r->totals.n_keep; k++)
        r->tensors[r->keep[k]].last = w->tensors[r->keep[k]].at;
    for (size_t k = 0; k < r->totals.n_steps; k++) {
        struct remat_step *s = &r->steps[k];
        s->n_waits = r->step_waits[k].n;
        if (s->n_waits > 0)
            s->waits = r->waits.at + r->step_waits[k].first;
        if (r->step_operands[k].n > 0) {
            s->inputs = r->operands.at + r->step_operands[k].first;
            s->outputs = s->inputs + s->n_inputs;
            s->updates = s->outputs + s->n_outputs;
        }
    }
}

bool remat_order(remat *r, struct remat_error *error) {
    struct walk w = {.r = r, .last_compute = NO_STEP, .error = error};
    bool good = true;
    w.tensors = calloc(r->totals.n_tensors + 1, sizeof *w.tensors);
    w.has_run = calloc(r->totals.n_ops + 1, sizeof *w.has_run);
    if (w.tensors == NULL || w.has_run == NULL)
        good = remat_fail(error, "plan: no memory");
    good = good && start(&w);
    for (; good && w.step < r->totals.n_steps; w.step++)
        good = add_step(&w);
    good = good && check_end(&w);
    if (good)
        finish(&w);
    free(w.tensors);
    free(w.has_run);
    return good;
}
