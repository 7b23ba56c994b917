#include "policy/source_rule.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/numbers.h"
#include "policy/chen.h"
#include "policy/network_layers.h"
#include "policy/phases.h"
#include "policy/source_stays.h"

/* One attempt: the steps of the ops, and where their units begin. */
struct attempt {
    const struct rp_instance *p;
    const struct rp_source_rule *rule;
    const struct rp_plan *steps;
    struct rp_source_stays stays;
    uint32_t *op;                    /* per run: op */
    uint32_t n_runs, backward;       /* the first run of the backward pass */
    uint32_t *unit;                  /* per run: its unit, ascending */
    uint32_t *unit_begin, *unit_end; /* per unit: the first and last run that uses a
                                        streamed source */
    uint32_t n_units;
};

static bool is_streamed(const struct attempt *a, uint32_t x) {
    const struct rp_tensor *t = &a->p->graph->tensors[x];
    return t->producer == RP_NONE && t->home != RP_HOME_DEVICE &&
           (t->kind == RP_STATE ||
            (t->kind == RP_PARAMETER && a->rule->streams_parameters));
}

/* The k-th source or tensor that an op reads or updates. */
static uint32_t touched(const struct rp_op *op, uint32_t k) {
    return k < op->n_inputs ? op->inputs[k] : op->updates[k - op->n_inputs];
}

static const struct rp_op *op_at(const struct attempt *a, uint32_t i) {
    return &a->p->graph->ops[a->op[i]];
}

/* The bytes of the streamed sources that run i uses. *any becomes true if there are some.
 */
static uint64_t streamed_bytes(const struct attempt *a, uint32_t i, bool *any) {
    const struct rp_op *op = op_at(a, i);
    uint64_t bytes = 0;
    for (uint32_t k = 0; k < op->n_inputs + op->n_updates; k++)
        if (is_streamed(a, touched(op, k))) {
            bytes += a->p->graph->tensors[touched(op, k)].bytes;
            *any = true;
        }
    return bytes;
}

/* ---- units ---- */

static void list_runs(struct attempt *a) {
    for (size_t k = 0; k < a->steps->steps.n; k++) {
        const struct rp_step *step = &a->steps->steps.at[k];
        if (step->kind != RP_RUN)
            continue;
        if (a->backward == RP_NONE && a->p->graph->ops[step->id].phase == RP_BACKWARD)
            a->backward = a->n_runs;
        a->op[a->n_runs++] = step->id;
    }
    if (a->backward == RP_NONE)
        a->backward = 0;
}

/* Does run i, which uses streamed sources, begin a unit? `bytes` is what the present unit
 * uses so far. */
static bool begins_unit(const struct attempt *a, const uint32_t *layer, uint32_t i,
                        uint32_t last, uint64_t bytes) {
    switch (a->rule->unit) {
    case RP_UNIT_UPDATE:
        return true;
    case RP_UNIT_LAYER:
        return layer[i] != layer[last];
    case RP_UNIT_BUCKET:
        break;
    }
    return a->rule->bucket_bytes > 0 && bytes >= a->rule->bucket_bytes;
}

static void find_units(struct attempt *a) {
    uint32_t *layer = rp_layers_of_runs(a->p, a->op, a->n_runs);
    uint64_t bytes = 0;
    uint32_t last = RP_NONE; /* run that uses streamed sources */
    for (uint32_t i = 0; i < a->n_runs; i++) {
        bool any = false;
        uint64_t more = streamed_bytes(a, i, &any);
        if (any && (last == RP_NONE || begins_unit(a, layer, i, last, bytes))) {
            a->unit_begin[a->n_units++] = i;
            bytes = 0;
        }
        a->unit[i] = a->n_units > 0 ? a->n_units - 1 : 0;
        if (!any)
            continue;
        a->unit_end[a->unit[i]] = last = i;
        bytes += more;
    }
    free(layer);
}

/* ---- stays ---- */

/* The run with which the sources of unit u come in, if the window is that wide. */
static uint32_t trigger_of(const struct attempt *a, uint32_t u, uint64_t window) {
    uint32_t start = a->rule->from_backward ? a->backward : 0;
    uint32_t trigger = u >= window ? a->unit_begin[u - window] : start;
    return rp_min_u32(rp_max_u32(trigger, start), a->unit_begin[u]);
}

/* Run i uses x. `present` is x's present stay, SIZE_MAX if it has none. */
static void use(struct attempt *a, uint32_t x, uint32_t i, bool updates, uint64_t window,
                size_t *present) {
    bool streamed = is_streamed(a, x);
    struct rp_source_stay *stay = *present < SIZE_MAX ? &a->stays.list.at[*present] : NULL;
    if (stay == NULL || (streamed && a->unit[stay->first] != a->unit[i])) {
        struct rp_source_stay begins = {x, streamed ? trigger_of(a, a->unit[i], window) : 0,
                                        i, i, RP_NONE};
        *present = a->stays.list.n;
        rp_push(&a->stays.list, begins);
        stay = &a->stays.list.at[*present];
    }
    stay->last = i;
    if (updates)
        stay->out = streamed && a->rule->out_together ? a->unit_end[a->unit[i]] : i;
}

static void choose_homes(struct attempt *a) {
    const struct rp_graph *g = a->p->graph;
    for (uint32_t x = 0; x < g->n_tensors; x++)
        a->stays.on_host[x] = g->tensors[x].home == RP_HOME_HOST || is_streamed(a, x);
}

/* What is kept is there at the end: it stays from its last use on. */
static void keep(struct attempt *a, uint32_t x, size_t *present) {
    if (*present == SIZE_MAX) {
        struct rp_source_stay begins = {x, a->n_runs, a->n_runs, a->n_runs, RP_NONE};
        rp_push(&a->stays.list, begins);
    } else {
        a->stays.list.at[*present].last = a->n_runs;
    }
}

static void choose_stays(struct attempt *a, uint64_t window) {
    const struct rp_graph *g = a->p->graph;
    size_t *present = rp_calloc(g->n_tensors, sizeof *present);
    for (uint32_t x = 0; x < g->n_tensors; x++)
        present[x] = SIZE_MAX;
    for (uint32_t i = 0; i < a->n_runs; i++) {
        const struct rp_op *op = op_at(a, i);
        for (uint32_t k = 0; k < op->n_inputs + op->n_updates; k++)
            if (a->stays.on_host[touched(op, k)])
                use(a, touched(op, k), i, k >= op->n_inputs, window,
                    &present[touched(op, k)]);
    }
    for (uint32_t x = 0; x < g->n_tensors; x++)
        if (a->stays.on_host[x] && g->kept[x])
            keep(a, x, &present[x]);
    free(present);
}

/* ---- attempts ---- */

/* The bytes for all but the sources that stay on the device. */
static uint64_t limit_of(const struct attempt *a, const struct rp_policy_options *o) {
    const struct rp_graph *g = a->p->graph;
    uint64_t fixed = g->fixed_bytes;
    for (uint32_t x = 0; x < g->n_tensors; x++)
        if (a->stays.on_host[x] && g->tensors[x].home == RP_HOME_ANY)
            fixed -= g->tensors[x].bytes;
    return o->budget_bytes > fixed ? o->budget_bytes - fixed : 0;
}

/* Records the steps with the stays. Returns whether they fit. */
static bool record_attempt(const struct rp_instance *p, const struct rp_policy_options *o,
                           const struct rp_source_rule *rule, uint64_t window,
                           const struct rp_plan *steps, struct rp_recorder *r) {
    size_t n = steps->steps.n;
    struct attempt a = {.p = p, .rule = rule, .steps = steps, .backward = RP_NONE};
    rp_source_stays_init(&a.stays, p->graph);
    a.op = rp_calloc(n, sizeof *a.op);
    a.unit = rp_calloc(n, sizeof *a.unit);
    a.unit_begin = rp_calloc(n, sizeof *a.unit_begin);
    a.unit_end = rp_calloc(n, sizeof *a.unit_end);
    list_runs(&a);
    find_units(&a);
    choose_homes(&a);
    choose_stays(&a, window);
    uint64_t limit_bytes = limit_of(&a, o);
    rp_source_stays_record(&a.stays, steps, limit_bytes, r);
    rp_source_stays_fini(&a.stays);
    free(a.op);
    free(a.unit);
    free(a.unit_begin);
    free(a.unit_end);
    return r->peak_bytes <= limit_bytes;
}

static void record_base(bool checkpoint, struct rp_recorder *base) {
    struct rp_schedule s;
    if (!checkpoint) {
        rp_recorder_keep_all(base);
        return;
    }
    rp_schedule_empty(base->p, &s);
    rp_chen_sqrt_schedule(base->p, base->stop, &s);
    rp_recorder_schedule(base, &s);
    rp_schedule_fini(&s);
}

void rp_source_rule_record(const struct rp_instance *p, const struct rp_policy_options *o,
                           const struct rp_source_rule *rule,
                           const struct rp_stream_options *stream, struct rp_recorder *r) {
    uint64_t allowed = o->no_recompute ? RP_CHECKPOINT_NONE : stream->checkpoint;
    bool fits = false;
    r->alignment = o->addressed ? p->graph->device.alignment_bytes : 1;
    for (int checkpoint = 0; checkpoint < 2 && !fits; checkpoint++) {
        struct rp_recorder base;
        if (allowed == (checkpoint ? RP_CHECKPOINT_NONE : RP_CHECKPOINT_SQRT))
            continue;
        rp_recorder_init(&base, p);
        base.stop = r->stop;
        record_base(checkpoint, &base);
        uint64_t window = stream->window;
        fits = record_attempt(p, o, rule, window, &base.plan, r);
        while (!fits && window > 0 && !rp_stop_now(r->stop))
            fits = record_attempt(p, o, rule, window /= 2, &base.plan, r);
        rp_recorder_fini(&base);
    }
}
