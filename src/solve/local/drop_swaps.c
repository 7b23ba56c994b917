#include "solve/local/drop_swaps.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "model/timeline.h"
#include "solve/core/plan_claims.h"
#include "solve/incremental/incremental.h"

/* ns for a byte over the limit: more than any time saved is worth. */
static const double PRICE = 1e9;

/* x is swapped in, in stage t; or it is a source on the host that may stay on the device,
 * and t is RP_NONE. */
struct candidate {
    uint64_t bytes;
    uint32_t x, t;
};

struct candidates {
    RP_VEC(struct candidate);
};

/* A call costs the same for all sizes, and small tensors need the least room. */
static int smallest_first(const void *left, const void *right) {
    const struct candidate *a = left, *b = right;
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? -1 : 1;
    if (a->x != b->x)
        return a->x < b->x ? -1 : 1;
    return (a->t > b->t) - (a->t < b->t);
}

static void list_sources(const struct rp_incremental *s, uint64_t max_bytes,
                         struct candidates *list) {
    const struct rp_instance *p = s->p;
    for (uint32_t x = 0; x < p->n_homes; x++)
        if (!p->lives_on_host[x] && p->bytes[x] <= max_bytes && !rp_incremental_stays(s, x))
            rp_push(list, ((struct candidate){p->bytes[x], x, RP_NONE}));
}

static void list_swap_ins(const struct rp_incremental *s, uint64_t max_bytes,
                          struct candidates *list) {
    for (uint32_t t = 0; t < s->n_stages; t++)
        for (uint32_t k = 0; k < s->swaps.swap_ins[t].n; k++) {
            uint32_t x = s->swaps.swap_ins[t].at[k].x;
            if (s->p->bytes[x] <= max_bytes)
                rp_push(list, ((struct candidate){s->p->bytes[x], x, t}));
        }
}

/* Flips what lets the source stay, or holds the tensor from its last use before stage t.
 * False if there is no such use. */
static bool flip(struct rp_incremental *s, const struct candidate *c) {
    if (c->t == RP_NONE) {
        rp_incremental_flip_stay(s, c->x, true);
        return true;
    }
    uint32_t before = rp_incremental_use_before(s, c->x, c->t);
    if (before == RP_NONE || (c->x < s->p->n_homes && before == 0))
        return false;
    rp_incremental_flip(s, c->x, before + 1, c->t, true);
    return true;
}

/* Does without the candidate. False, with nothing changed, if that costs time or memory. */
static bool hold_instead(struct rp_incremental *s, const struct candidate *c,
                         double max_time_ns) {
    rp_incremental_begin(s);
    if (flip(s, c) && rp_incremental_evaluate(s, PRICE, max_time_ns - s->time_ns, false)) {
        rp_incremental_commit(s);
        return true;
    }
    rp_incremental_undo(s);
    return false;
}

/* Does without as many of the candidates as can be. Returns how many. */
static size_t hold_all(struct rp_incremental *s, struct candidates *list,
                       double max_time_ns, struct rp_stop *stop) {
    size_t n = 0;
    if (list->n > 0)
        qsort(list->at, list->n, sizeof *list->at, smallest_first);
    for (size_t k = 0; k < list->n && !rp_stop_now(stop); k++)
        n += hold_instead(s, &list->at[k], max_time_ns);
    list->n = 0;
    return n;
}

/* Stores the state's schedule. False if it is no better than one that costs c. */
static bool store(const struct rp_incremental *state, const struct rp_cost *c,
                  struct rp_schedule *fewer) {
    rp_incremental_store(state, fewer);
    struct rp_cost now = rp_schedule_cost(state->p, fewer);
    return now.sound && now.time_ns <= c->time_ns &&
           now.peak_bytes <= state->p->limit_bytes && now.host_bytes <= c->host_bytes;
}

bool rp_drop_swaps(const struct rp_instance *p, uint64_t max_bytes, struct rp_stop *stop,
                   const struct rp_schedule *s, struct rp_schedule *fewer) {
    struct rp_incremental state;
    size_t n = 0;
    if (rp_stop_now(stop) || p->out_ns == NULL || !rp_schedule_swaps(s))
        return false;
    struct rp_cost c = rp_schedule_cost_until(p, s, stop);
    if (!c.sound || c.peak_bytes > p->limit_bytes)
        return false;
    rp_incremental_init(&state, p);
    struct candidates list = {0};
    bool loaded = rp_incremental_load_until(&state, s, stop);
    double max_time_ns = state.time_ns + 0.25; /* sums are rounded */
    if (loaded) {
        list_sources(&state, max_bytes, &list);
        n += hold_all(&state, &list, max_time_ns, stop);
        list_swap_ins(&state, max_bytes, &list);
        n += hold_all(&state, &list, max_time_ns, stop);
    }
    bool better = n > 0 && !rp_stop_interrupted(stop) && store(&state, &c, fewer);
    rp_incremental_fini(&state);
    free(list.at);
    return better;
}

/* ---- plans ---- */

/* A tensor is freed in step `from`, and swapped in in step `to`. */
struct absence {
    uint64_t bytes;
    size_t from, to;
};

struct stay {
    const struct rp_graph *g;
    const struct rp_plan *plan;
    uint64_t limit_bytes;
    uint64_t *used_bytes;            /* per step, see plan_claims.h */
    bool *dropped;                   /* per step: frees and swap-ins */
    RP_VEC(struct absence) absences; /* the largest first */
    struct rp_step *left;            /* the steps that remain */
    size_t n_left;
};

static int largest_absence_first(const void *left, const void *right) {
    const struct absence *a = left, *b = right;
    if (a->bytes != b->bytes)
        return a->bytes < b->bytes ? 1 : -1;
    return (a->from > b->from) - (a->from < b->from);
}

static void list_absences(struct stay *s) {
    size_t *freed = rp_calloc(s->g->n_tensors, sizeof *freed); /* 1 + the step; 0: never */
    for (size_t i = 0; i < s->plan->steps.n; i++) {
        const struct rp_step *step = &s->plan->steps.at[i];
        if (step->kind == RP_FREE)
            freed[step->id] = i + 1;
        if (step->kind != RP_SWAP_IN || freed[step->id] == 0)
            continue;
        const struct rp_tensor *x = &s->g->tensors[step->id];
        if (x->producer != RP_NONE)
            rp_push(&s->absences, ((struct absence){x->bytes, freed[step->id] - 1, i}));
    }
    free(freed);
    if (s->absences.n > 0)
        qsort(s->absences.at, s->absences.n, sizeof *s->absences.at, largest_absence_first);
}

/* If there is room all the time, the tensor stays. */
static void stay_instead(struct stay *s, const struct absence *a) {
    for (size_t i = a->from + 1; i < a->to; i++)
        if (s->used_bytes[i] + a->bytes > s->limit_bytes)
            return;
    for (size_t i = a->from + 1; i < a->to; i++)
        s->used_bytes[i] += a->bytes;
    s->dropped[a->from] = s->dropped[a->to] = true;
}

/* Fills `left`: without copies out that no copy in follows. */
static void list_what_is_left(struct stay *s) {
    bool *wanted = rp_calloc(s->g->n_tensors, sizeof *wanted);
    size_t n_steps = s->plan->steps.n, at = n_steps;
    for (size_t i = n_steps; i-- > 0;) {
        const struct rp_step *step = &s->plan->steps.at[i];
        bool made = step->kind != RP_RUN && s->g->tensors[step->id].producer != RP_NONE;
        if (s->dropped[i] || (step->kind == RP_SWAP_OUT && made && !wanted[step->id]))
            continue;
        if (step->kind == RP_SWAP_IN)
            wanted[step->id] = true;
        s->left[--at] = *step;
    }
    s->n_left = n_steps - at;
    memmove(s->left, s->left + at, s->n_left * sizeof *s->left);
    free(wanted);
}

void rp_drop_plan_swaps(const struct rp_graph *g, uint64_t limit_bytes,
                        struct rp_plan *plan) {
    struct stay s = {.g = g, .plan = plan, .limit_bytes = limit_bytes};
    uint64_t time_ns = rp_steps_time_ns(g, plan->steps.at, plan->steps.n);
    s.used_bytes = rp_calloc(plan->steps.n, sizeof *s.used_bytes);
    s.dropped = rp_calloc(plan->steps.n, sizeof *s.dropped);
    s.left = rp_calloc(plan->steps.n, sizeof *s.left);
    rp_plan_used_bytes(g, plan, s.used_bytes);
    list_absences(&s);
    for (size_t k = 0; k < s.absences.n; k++)
        stay_instead(&s, &s.absences.at[k]);
    list_what_is_left(&s);
    if (rp_steps_time_ns(g, s.left, s.n_left) <= time_ns) {
        memcpy(plan->steps.at, s.left, s.n_left * sizeof *s.left);
        plan->steps.n = s.n_left;
    }
    free(s.used_bytes);
    free(s.dropped);
    free(s.left);
    free(s.absences.at);
}
