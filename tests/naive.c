#include "naive.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

typedef unsigned __int128 wide; /* wide enough for all sums here */

/* The lifetime of a tensor (RP_NONE: of a workspace) in memory, from step `born` until
 * before step `dies`, at lo..hi. */
struct lifetime {
    uint32_t tensor;
    size_t born, dies;
    wide lo, hi, size;
};

struct lifetimes {
    struct lifetime *at;
    size_t n, cap;
};

struct naive {
    const struct rp_graph *g;
    const struct rp_plan *p;
    struct lifetimes device, host;
    wide *start, *end; /* per step */
    wide stall, again, swapped_in, swapped_out;
};

static struct lifetime *find_lifetime(const struct lifetimes *s, uint32_t x, size_t step) {
    for (size_t k = 0; k < s->n; k++)
        if (s->at[k].tensor == x && s->at[k].born <= step && step < s->at[k].dies)
            return &s->at[k];
    return NULL;
}

static bool among(uint32_t x, const uint32_t *list, uint32_t n) {
    for (uint32_t k = 0; k < n; k++)
        if (list[k] == x)
            return true;
    return false;
}

/* Is x a source that lives on the host under this plan? */
static bool listed(const struct naive *v, uint32_t x) {
    for (size_t k = 0; k < v->p->homes.n; k++)
        if (v->p->homes.at[k].tensor == x)
            return true;
    return false;
}

/* May x leave the device? */
static bool movable(const struct naive *v, uint32_t x) {
    return x < v->g->n_tensors && (v->g->tensors[x].producer != RP_NONE || listed(v, x));
}

static uint64_t fixed_bytes(const struct naive *v) {
    uint64_t sum = 0;
    for (uint32_t x = 0; x < v->g->n_tensors; x++)
        sum += movable(v, x) ? 0 : v->g->tensors[x].bytes;
    return sum;
}

/* Does step k run an op that updates x? */
static bool updates(const struct naive *v, size_t k, uint32_t x) {
    const struct rp_step *s = &v->p->steps.at[k];
    return s->kind == RP_RUN && s->id < v->g->n_ops &&
           among(x, v->g->ops[s->id].updates, v->g->ops[s->id].n_updates);
}

/* Is there a host copy of x, or one under way, that is up to date before this step? */
static bool current(const struct naive *v, uint32_t x, size_t step) {
    while (step-- > 0) {
        const struct rp_step *s = &v->p->steps.at[step];
        if (updates(v, step, x))
            return false;
        if (s->kind == RP_SWAP_OUT && s->id == x)
            return true;
    }
    return listed(v, x);
}

/* Rule 7 for op i, which runs in this step and reads or updates x. */
static bool right_version(const struct naive *v, uint32_t i, uint32_t x, size_t step) {
    size_t want = 0, found = 0;
    for (uint32_t j = 0; j < i; j++)
        want += among(x, v->g->ops[j].updates, v->g->ops[j].n_updates);
    while (step-- > 0)
        found += updates(v, step, x);
    return want == found;
}

static void add_lifetime(struct naive *v, struct lifetimes *s, uint32_t x, uint64_t bytes,
                         uint64_t at, size_t born, size_t dies) {
    uint64_t unit = v->p->addressed ? v->g->device.alignment_bytes : 1;
    wide size = ((wide)bytes + unit - 1) / unit * unit;
    struct lifetime lifetime = {x, born, dies, at, at + size, size};
    rp_push(s, lifetime);
}

/* There must be an address if and only if one is needed. */
static bool address_fits(const struct naive *v, uint64_t at, bool needed) {
    return (at != RP_NO_ADDRESS) == (needed && v->p->addressed) &&
           (at == RP_NO_ADDRESS || at % v->g->device.alignment_bytes == 0);
}

static bool can_read(const struct naive *v, uint32_t i, uint32_t x, size_t step) {
    return (!movable(v, x) || find_lifetime(&v->device, x, step)) &&
           right_version(v, i, x, step);
}

static bool collect_run(struct naive *v, size_t step) {
    const struct rp_step *s = &v->p->steps.at[step];
    if (s->id >= v->g->n_ops)
        return false;
    const struct rp_op *op = &v->g->ops[s->id];
    uint64_t unit = v->p->addressed ? v->g->device.alignment_bytes : 1;
    uint64_t workspace = (op->workspace_bytes + unit - 1) / unit * unit;
    bool ok = s->has_at ? v->p->addressed && s->n_at == op->n_outputs
                        : !v->p->addressed || op->n_outputs == 0;
    for (uint32_t k = 0; k < op->n_inputs; k++)
        ok = ok && can_read(v, s->id, op->inputs[k], step);
    for (uint32_t k = 0; k < op->n_updates; k++)
        ok = ok && can_read(v, s->id, op->updates[k], step);
    for (uint32_t k = 0; ok && k < op->n_outputs; k++) {
        uint32_t x = op->outputs[k];
        uint64_t at = s->has_at ? v->p->at.at[s->at + k] : RP_NO_ADDRESS;
        bool fresh = find_lifetime(&v->device, x, step) == NULL;
        ok = address_fits(v, at, fresh);
        if (fresh)
            add_lifetime(v, &v->device, x, v->g->tensors[x].bytes, at, step, SIZE_MAX);
        else if (op->cannot_rewrite)
            workspace += (v->g->tensors[x].bytes + unit - 1) / unit * unit;
    }
    ok = ok && address_fits(v, s->address, workspace > 0);
    add_lifetime(v, &v->device, RP_NONE, workspace, workspace > 0 ? s->address : 0, step,
                 step + 1);
    return ok;
}

/* A tensor has one range of the host slab for good. */
static bool add_host_range(struct naive *v, uint32_t x, uint64_t at, size_t step) {
    struct lifetime *there = find_lifetime(&v->host, x, step);
    if (there != NULL)
        return !v->p->addressed || there->lo == at;
    add_lifetime(v, &v->host, x, v->g->tensors[x].bytes, at, step, SIZE_MAX);
    return true;
}

static bool collect_homes(struct naive *v) {
    for (size_t k = 0; k < v->p->homes.n; k++) {
        const struct rp_plan_home *h = &v->p->homes.at[k];
        if (h->tensor >= v->g->n_tensors ||
            v->g->tensors[h->tensor].home == RP_HOME_DEVICE ||
            find_lifetime(&v->host, h->tensor, 0) != NULL ||
            !address_fits(v, h->host_at, true))
            return false;
        add_host_range(v, h->tensor, h->host_at, 0);
    }
    for (uint32_t x = 0; x < v->g->n_tensors; x++)
        if (v->g->tensors[x].home == RP_HOME_HOST && !listed(v, x))
            return false;
    return true;
}

static bool collect_move(struct naive *v, size_t step) {
    const struct rp_step *s = &v->p->steps.at[step];
    const struct rp_device *d = &v->g->device;
    uint32_t x = s->id;
    if (!movable(v, x))
        return false;
    struct lifetime *here = find_lifetime(&v->device, x, step);
    uint64_t bytes = v->g->tensors[x].bytes;
    if (s->kind == RP_FREE) {
        if (here != NULL)
            here->dies = step;
        return here != NULL && s->address == RP_NO_ADDRESS && !v->g->tensors[x].held &&
               (!listed(v, x) || current(v, x, step));
    }
    bool ok = d->d2h_bytes_per_s > 0 && d->h2d_bytes_per_s > 0 &&
              address_fits(v, s->address, true);
    if (s->kind == RP_SWAP_OUT) {
        v->swapped_out += bytes;
        return ok && here != NULL && !current(v, x, step) &&
               add_host_range(v, x, s->address, step);
    }
    v->swapped_in += bytes;
    add_lifetime(v, &v->device, x, bytes, s->address, step, SIZE_MAX);
    return ok && here == NULL && current(v, x, step);
}

/* Lifetimes that share a step share no byte, and all end within `capacity`. */
static bool do_not_overlap(const struct naive *v, const struct lifetimes *s,
                           wide capacity) {
    for (size_t a = 0; v->p->addressed && a < s->n; a++) {
        const struct lifetime *p = &s->at[a];
        if (p->hi > capacity)
            return false;
        for (size_t b = 0; b < a; b++) {
            const struct lifetime *q = &s->at[b];
            bool together = p->born < q->dies && q->born < p->dies;
            bool empty = p->lo == p->hi || q->lo == q->hi;
            if (together && !empty && p->lo < q->hi && q->lo < p->hi)
                return false;
        }
    }
    return true;
}

static wide peak(const struct naive *v) {
    wide max = 0;
    for (size_t step = 0; step < v->p->steps.n; step++) {
        wide sum = 0;
        for (size_t k = 0; k < v->device.n; k++)
            if (v->device.at[k].born <= step && step < v->device.at[k].dies)
                sum += v->device.at[k].size;
        max = sum > max ? sum : max;
    }
    return max + fixed_bytes(v);
}

/* Where the last byte of these lifetimes ends. */
static wide end_of(const struct lifetimes *s) {
    wide end = 0;
    for (size_t k = 0; k < s->n; k++)
        end = s->at[k].hi > end ? s->at[k].hi : end;
    return end;
}

/* Are arena_bytes and host_bytes what is used? */
static bool sizes_are_exact(const struct naive *v, wide peak_bytes) {
    wide host = 0;
    for (size_t k = 0; k < v->host.n; k++)
        host += v->host.at[k].size;
    if (v->p->addressed)
        return v->p->arena_bytes == end_of(&v->device) &&
               v->p->host_bytes == end_of(&v->host);
    return fixed_bytes(v) + (wide)v->p->arena_bytes == peak_bytes &&
           v->p->host_bytes == host;
}

static wide max_of(wide a, wide b) {
    return a > b ? a : b;
}

/* Does the run of step k write x: make it, unless it leaves it alone, or update it? */
static bool writes(const struct naive *v, size_t k, uint32_t x) {
    uint32_t i = v->p->steps.at[k].id;
    if (updates(v, k, x))
        return true;
    if (v->g->tensors[x].producer != i)
        return false;
    return !v->g->ops[i].cannot_rewrite || find_lifetime(&v->device, x, k)->born == k;
}

/* The end of the last step before `before` of kind `kind` on tensor x (or of the run that
 * writes x); 0 if there is none. */
static wide last_end(const struct naive *v, uint32_t x, size_t before,
                     enum rp_step_kind kind) {
    while (before-- > 0) {
        const struct rp_step *s = &v->p->steps.at[before];
        if (s->kind != kind)
            continue;
        if (kind == RP_RUN ? writes(v, before, x) : s->id == x)
            return v->end[before];
    }
    return 0;
}

/* The end of the last step before `before` on the same queue as `kind`. */
static wide queue_end(const struct naive *v, size_t before, enum rp_step_kind kind) {
    while (before-- > 0) {
        enum rp_step_kind other = v->p->steps.at[before].kind;
        bool copy = kind == RP_SWAP_OUT || kind == RP_SWAP_IN;
        if (copy ? other == kind : other == RP_RUN || other == RP_FREE)
            return v->end[before];
    }
    return 0;
}

static wide ready(const struct naive *v, uint32_t x, size_t step) {
    return max_of(last_end(v, x, step, RP_RUN), last_end(v, x, step, RP_SWAP_IN));
}

static wide copy_ns(const struct naive *v, uint32_t x, uint64_t per_s) {
    wide bytes = v->g->tensors[x].bytes;
    return v->g->device.copy_latency_ns + (bytes * 1000000000u + per_s - 1) / per_s;
}

static bool time_run(struct naive *v, size_t step) {
    const struct rp_op *op = &v->g->ops[v->p->steps.at[step].id];
    wide clock = queue_end(v, step, RP_RUN), start = clock;
    for (uint32_t k = 0; k < op->n_inputs; k++)
        if (movable(v, op->inputs[k]))
            start = max_of(start, ready(v, op->inputs[k], step));
    for (uint32_t k = 0; k < op->n_updates; k++)
        if (movable(v, op->updates[k]))
            start = max_of(start, max_of(ready(v, op->updates[k], step),
                                         last_end(v, op->updates[k], step, RP_SWAP_OUT)));
    v->start[step] = start;
    v->end[step] = start + op->time_ns;
    v->stall += start - clock;
    for (uint32_t k = 0; k < op->n_outputs; k++) {
        struct lifetime *here = find_lifetime(&v->device, op->outputs[k], step);
        if (here->born < step && ready(v, op->outputs[k], step) > start)
            return false;
    }
    return true;
}

static bool time_step(struct naive *v, size_t step) {
    const struct rp_step *s = &v->p->steps.at[step];
    const struct rp_device *d = &v->g->device;
    wide clock = queue_end(v, step, RP_RUN), start = clock;
    if (s->kind == RP_RUN)
        return time_run(v, step);
    if (s->kind == RP_FREE) {
        v->start[step] = v->end[step] =
            max_of(clock, last_end(v, s->id, step, RP_SWAP_OUT));
        v->stall += v->end[step] - clock;
        return ready(v, s->id, step) <= v->end[step];
    }
    start = max_of(start, queue_end(v, step, s->kind));
    bool out = s->kind == RP_SWAP_OUT;
    start =
        max_of(start, out ? ready(v, s->id, step) : last_end(v, s->id, step, RP_SWAP_OUT));
    v->start[step] = start;
    v->end[step] = start + copy_ns(v, s->id, out ? d->d2h_bytes_per_s : d->h2d_bytes_per_s);
    return true;
}

static size_t first_run(const struct naive *v, uint32_t i) {
    size_t k = 0;
    while (v->p->steps.at[k].kind != RP_RUN || v->p->steps.at[k].id != i)
        k++;
    return k;
}

/* Do first runs of ordered ops come in the graph's order? All ops run. */
static bool ordered(const struct naive *v) {
    for (uint32_t i = 0; i < v->g->n_ops; i++)
        for (uint32_t j = 0; j < i && v->g->ops[i].ordered; j++)
            if (v->g->ops[j].ordered && first_run(v, j) > first_run(v, i))
                return false;
    return true;
}

/* Each op runs at least once, run-once ops exactly once, and kept tensors are there at the
 * end. */
static bool complete(struct naive *v) {
    for (uint32_t i = 0; i < v->g->n_ops; i++) {
        size_t n = 0;
        for (size_t k = 0; k < v->p->steps.n; k++)
            n += v->p->steps.at[k].kind == RP_RUN && v->p->steps.at[k].id == i;
        if (n == 0 || (n > 1 && (!v->g->ops[i].recompute || v->g->ops[i].n_updates > 0)))
            return false;
        v->again += (wide)(n - 1) * v->g->ops[i].time_ns;
    }
    for (uint32_t k = 0; k < v->g->n_keep; k++)
        if (movable(v, v->g->keep[k]) &&
            !find_lifetime(&v->device, v->g->keep[k], SIZE_MAX - 1))
            return false;
    for (uint32_t x = 0; x < v->g->n_tensors; x++)
        if (listed(v, x) && !current(v, x, v->p->steps.n))
            return false;
    return ordered(v);
}

static bool check(struct naive *v, struct rp_claims *facts) {
    const struct rp_plan *p = v->p;
    wide peak_bytes = 0, time = 0;
    if (!collect_homes(v))
        return false;
    for (size_t step = 0; step < p->steps.n; step++)
        if (!(p->steps.at[step].kind == RP_RUN ? collect_run : collect_move)(v, step))
            return false;
    for (size_t step = 0; step < p->steps.n; step++) {
        if (!time_step(v, step))
            return false;
        time = max_of(time, v->end[step]);
    }
    peak_bytes = peak(v);
    if (!complete(v) || time > INT64_MAX || v->swapped_in > INT64_MAX ||
        v->swapped_out > INT64_MAX || peak_bytes > p->budget_bytes ||
        !do_not_overlap(v, &v->device, p->arena_bytes) ||
        !do_not_overlap(v, &v->host, p->host_bytes))
        return false;
    if (p->addressed ? (wide)fixed_bytes(v) + p->arena_bytes > p->budget_bytes
                     : fixed_bytes(v) + (wide)p->arena_bytes != peak_bytes)
        return false;
    if (!p->version_1 && !sizes_are_exact(v, peak_bytes))
        return false;
    *facts = (struct rp_claims){.time_ns = (uint64_t)time,
                                .baseline_time_ns = v->g->total_time_ns,
                                .recompute_ns = (uint64_t)v->again,
                                .stall_ns = (uint64_t)v->stall,
                                .peak_bytes = (uint64_t)peak_bytes,
                                .proof = time == 0 ? RP_PROOF_OPTIMAL : RP_PROOF_NONE};
    return strcmp(p->graph_name, v->g->name) == 0 &&
           strcmp(p->graph_sha256, v->g->sha256) == 0;
}

bool rp_naive_steps(const struct rp_graph *g, const struct rp_plan *p,
                    struct rp_claims *facts) {
    struct naive v = {.g = g, .p = p};
    v.start = rp_calloc(p->steps.n, sizeof *v.start);
    v.end = rp_calloc(p->steps.n, sizeof *v.end);
    *facts = (struct rp_claims){0};
    bool ok = check(&v, facts);
    free(v.start);
    free(v.end);
    free(v.device.at);
    free(v.host.at);
    return ok;
}

static bool proof_follows(const struct rp_claims *c) {
    if (c->proof == RP_PROOF_OPTIMAL || c->lower_bound_ns == c->time_ns)
        return c->proof == RP_PROOF_OPTIMAL && c->lower_bound_ns == c->time_ns;
    return (c->proof == RP_PROOF_BOUNDED) == (c->lower_bound_ns > c->baseline_time_ns);
}

bool rp_naive_valid(const struct rp_graph *g, const struct rp_plan *p) {
    struct rp_claims f;
    const struct rp_claims *c = &p->claims;
    return rp_naive_steps(g, p, &f) && c->time_ns == f.time_ns &&
           c->baseline_time_ns == f.baseline_time_ns && c->recompute_ns == f.recompute_ns &&
           c->stall_ns == f.stall_ns && c->peak_bytes == f.peak_bytes &&
           c->lower_bound_ns <= f.time_ns && (p->version_1 || proof_follows(c));
}
