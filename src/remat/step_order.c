/* SPDX-License-Identifier: MIT
 *
 * order: the steps walked once, as a runtime would: where every tensor is, and which copy
 * or run each step waits for. The edges are those of the format's time line, and one more:
 * a run that rewrites a tensor waits for a copy out of it, which might see half of it. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "remat/remat_internal.h"

#define NO_STEP SIZE_MAX

struct whereabouts {
    bool on_device, on_host;
    uint64_t at, host_at;
    size_t swap_in, swap_out; /* the copies that made it so, or NO_STEP */
};

struct walk {
    remat *r;
    struct whereabouts *tensors;
    bool *ran;                                     /* per op */
    size_t compute;                                /* the latest step of that queue */
    size_t waited[REMAT_N_QUEUES][REMAT_N_QUEUES]; /* by, for: 1 + the latest step */
    struct remat_error *error;
    size_t step;
};

static bool wrong(const struct walk *w, const char *rule) {
    const struct remat_step *s = &w->r->steps[w->step];
    return remat_say(w->error, "plan: steps[%zu] \"%.80s\": %s", w->step, s->name, rule);
}

static bool wrong_tensor(const struct walk *w, uint32_t x, const char *rule) {
    return remat_say(w->error, "plan: steps[%zu]: tensor %" PRIu32 " \"%.80s\" %s", w->step,
                     x, w->r->tensors[x].name, rule);
}

/* ---- waits ---- */

/* Queues are in order: having waited for a step is having waited for all before it. */
static bool add_wait(struct walk *w, size_t step) {
    const enum remat_queue by = w->r->steps[w->step].queue;
    if (step == NO_STEP || w->r->steps[step].queue == by)
        return true;
    size_t *waited = &w->waited[by][w->r->steps[step].queue];
    if (*waited > step)
        return true;
    *waited = step + 1;
    w->r->steps[step].awaited = true;
    w->r->step_waits[w->step].n++;
    return REMAT_PUSH(&w->r->waits, step) || wrong(w, "no memory");
}

/* ---- places ---- */

/* In a plan with addresses `at` must be one, else none may be given. */
static bool place(const struct walk *w, uint64_t at, uint64_t bytes, uint64_t room) {
    const uint64_t alignment = w->r->totals.alignment_bytes;
    const uint64_t rounded = (bytes + alignment - 1) / alignment * alignment;
    if (!w->r->totals.addressed)
        return at == REMAT_NOWHERE ? true : wrong(w, "an address, in a plan without");
    if (at == REMAT_NOWHERE)
        return wrong(w, "an address is missing");
    if (at % alignment != 0)
        return wrong(w, "an address off the alignment");
    if (at > room || rounded > room - at)
        return wrong(w, "an address beyond the end of its memory");
    return true;
}

static bool arrive(struct walk *w, uint32_t x, uint64_t at) {
    struct whereabouts *t = &w->tensors[x];
    if (!place(w, at, w->r->tensors[x].bytes, w->r->totals.arena_bytes))
        return false;
    t->on_device = true;
    t->at = at;
    t->swap_in = NO_STEP;
    return true;
}

static bool add_operand(struct walk *w, uint32_t x) {
    const struct remat_operand operand = {x, w->tensors[x].at};
    w->r->step_operands[w->step].n++;
    return REMAT_PUSH(&w->r->operands, operand) || wrong(w, "no memory");
}

/* ---- steps ---- */

static bool add_output(struct walk *w, uint32_t x, uint64_t at) {
    struct whereabouts *t = &w->tensors[x];
    if (!t->on_device)
        return arrive(w, x, at) && add_operand(w, x);
    if (at != REMAT_NOWHERE)
        return wrong_tensor(w, x, "has a new address, but is on the device already");
    return add_wait(w, t->swap_in) && add_wait(w, t->swap_out) && add_operand(w, x);
}

static bool add_run(struct walk *w, struct remat_step *s) {
    remat *r = w->r;
    const struct remat_op_ends *ends = &r->op_ends[s->id];
    const struct remat_span given = r->step_given[w->step];
    if (w->ran[s->id] && !ends->recompute)
        return wrong(w, "runs again, though its recompute is false");
    if (given.n != (r->totals.addressed ? ends->outputs.n : 0))
        return wrong(w, "not one address an output");
    for (size_t k = 0; k < ends->inputs.n; k++) {
        const uint32_t x = r->ends.at[ends->inputs.first + k];
        if (!w->tensors[x].on_device)
            return wrong_tensor(w, x, "is read, but not on the device");
        if (!add_wait(w, w->tensors[x].swap_in) || !add_operand(w, x))
            return false;
    }
    for (size_t k = 0; k < ends->outputs.n; k++)
        if (!add_output(w, r->ends.at[ends->outputs.first + k],
                        given.n > 0 ? r->given.at[given.first + k] : REMAT_NOWHERE))
            return false;
    s->n_inputs = (uint32_t)ends->inputs.n;
    s->n_outputs = (uint32_t)ends->outputs.n;
    s->workspace_bytes = ends->workspace_bytes;
    s->again = w->ran[s->id];
    w->ran[s->id] = true;
    if (s->workspace_bytes == 0)
        return s->workspace_at == REMAT_NOWHERE ? true
                                                : wrong(w, "a workspace the op has not");
    return place(w, s->workspace_at, s->workspace_bytes, r->totals.arena_bytes);
}

static bool add_free(struct walk *w, struct remat_step *s) {
    struct whereabouts *t = &w->tensors[s->id];
    if (!t->on_device)
        return wrong(w, "is freed, but not on the device");
    t->on_device = false;
    s->at = t->at;
    return add_wait(w, t->swap_out) && add_wait(w, t->swap_in);
}

static bool add_swap_out(struct walk *w, struct remat_step *s) {
    struct whereabouts *t = &w->tensors[s->id];
    if (!t->on_device || t->on_host)
        return wrong(w, t->on_host ? "is swapped out a second time"
                                   : "is swapped out, but not on the device");
    if (!place(w, s->host_at, s->bytes, w->r->totals.host_bytes))
        return false;
    t->on_host = true;
    t->host_at = s->host_at;
    t->swap_out = w->step;
    s->at = t->at;
    return add_wait(w, w->compute);
}

static bool add_swap_in(struct walk *w, struct remat_step *s) {
    struct whereabouts *t = &w->tensors[s->id];
    if (!t->on_host || t->on_device)
        return wrong(w, t->on_host ? "is swapped in, but on the device already"
                                   : "is swapped in, but has no host copy");
    if (!arrive(w, s->id, s->at))
        return false;
    s->host_at = t->host_at;
    t->swap_in = w->step;
    return add_wait(w, w->compute) && add_wait(w, t->swap_out);
}

static bool add_step(struct walk *w) {
    remat *r = w->r;
    struct remat_step *s = &r->steps[w->step];
    r->step_operands[w->step].first = r->operands.n;
    r->step_waits[w->step].first = r->waits.n;
    bool good;
    if (s->what == REMAT_RUN)
        good = add_run(w, s);
    else if (r->tensors[s->id].source)
        good = wrong(w, "is a source, which stays where it is");
    else
        good = s->what == REMAT_FREE       ? add_free(w, s)
               : s->what == REMAT_SWAP_OUT ? add_swap_out(w, s)
                                           : add_swap_in(w, s);
    if (s->queue == REMAT_COMPUTE)
        w->compute = w->step;
    return good;
}

/* ---- the whole ---- */

static bool finish(const struct walk *w) {
    remat *r = w->r;
    for (uint32_t i = 0; i < r->totals.n_ops; i++)
        if (!w->ran[i])
            return remat_say(w->error, "plan: steps: op %" PRIu32 " \"%.80s\" never runs",
                             i, r->ops[i].name);
    for (uint32_t k = 0; k < r->totals.n_keep; k++) {
        const uint32_t x = r->keep[k];
        if (!w->tensors[x].on_device)
            return remat_say(w->error,
                             "plan: steps: tensor %" PRIu32
                             " \"%.80s\" is to be kept, but not there at the end",
                             x, r->tensors[x].name);
        r->tensors[x].last = w->tensors[x].at;
    }
    for (size_t k = 0; k < r->totals.n_steps; k++) {
        struct remat_step *s = &r->steps[k];
        s->n_waits = r->step_waits[k].n;
        if (s->n_waits > 0)
            s->waits = r->waits.at + r->step_waits[k].first;
        if (r->step_operands[k].n > 0) {
            s->inputs = r->operands.at + r->step_operands[k].first;
            s->outputs = s->inputs + s->n_inputs;
        }
    }
    return true;
}

bool remat_order(remat *r, struct remat_error *error) {
    struct walk w = {.r = r, .compute = NO_STEP, .error = error};
    bool good = true;
    w.tensors = calloc(r->totals.n_tensors + 1, sizeof *w.tensors);
    w.ran = calloc(r->totals.n_ops + 1, sizeof *w.ran);
    if (w.tensors == NULL || w.ran == NULL)
        good = remat_say(error, "plan: no memory");
    for (uint32_t x = 0; good && x < r->totals.n_tensors; x++)
        w.tensors[x] = (struct whereabouts){.on_device = r->tensors[x].source,
                                            .at = REMAT_NOWHERE,
                                            .swap_in = NO_STEP,
                                            .swap_out = NO_STEP};
    for (; good && w.step < r->totals.n_steps; w.step++)
        good = add_step(&w);
    good = good && finish(&w);
    free(w.tensors);
    free(w.ran);
    return good;
}
