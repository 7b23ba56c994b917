#include "policy/source_stays.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/numbers.h"

void rp_source_stays_init(struct rp_source_stays *s, const struct rp_graph *g) {
    *s = (struct rp_source_stays){0};
    s->on_host = rp_calloc(g->n_tensors, sizeof *s->on_host);
}

void rp_source_stays_fini(struct rp_source_stays *s) {
    free(s->on_host);
    free(s->list.at);
    *s = (struct rp_source_stays){0};
}

enum { NS_PER_STEP = 100 }; /* about */

struct walk {
    const struct rp_source_stay *stays;
    uint32_t n_stays;
    struct rp_recorder *r;
    uint64_t limit_bytes;
    uint32_t due;           /* stays before this one have been triggered */
    bool *begun;            /* per stay */
    uint32_t first_waiting; /* all stays before this one have begun */
    /* Stays that are copied out, and that end, after each run: lists through `next`. */
    uint32_t *outs, *next_out, *ends, *next_end;
    struct {
        RP_VEC(uint32_t);
    } leaving;   /* sources that are to be freed when their copies have ended */
    size_t left; /* how many of these are gone */
};

/* ---- room ---- */

static void free_next(struct walk *w) {
    uint32_t x = w->leaving.at[w->left++];
    if (x != RP_NONE)
        rp_recorder_source_free(w->r, x);
}

/* Frees what has left without making the compute queue wait. */
static void free_what_has_left(struct walk *w) {
    while (w->left < w->leaving.n &&
           (w->leaving.at[w->left] == RP_NONE ||
            w->r->time.host_ready_ns[w->leaving.at[w->left]] <= w->r->time.compute_ns))
        free_next(w);
}

static bool has_room(const struct walk *w, uint64_t bytes) {
    return w->r->live_bytes + bytes <= w->limit_bytes;
}

/* Waits for copies out until there is room, or nothing is left to wait for. */
static void make_room(struct walk *w, uint64_t bytes) {
    while (!has_room(w, bytes) && w->left < w->leaving.n)
        free_next(w);
}

/* If x has not been freed since its last stay, it is not. */
static bool stays_on(struct walk *w, uint32_t x) {
    for (size_t k = w->left; k < w->leaving.n; k++)
        if (w->leaving.at[k] == x) {
            w->leaving.at[k] = RP_NONE;
            return true;
        }
    return false;
}

/* ---- stays ---- */

static void begin_stay(struct walk *w, uint32_t s) {
    w->begun[s] = true;
    if (!stays_on(w, w->stays[s].source))
        rp_recorder_source_in(w->r, w->stays[s].source);
}

static bool is_on_device(const struct walk *w, uint32_t s) {
    return w->r->source_on_device[w->stays[s].source];
}

/* What the run at position i needs, then what has been triggered, as far as there is room.
 */
static void begin_stays(struct walk *w, uint32_t i) {
    while (w->due < w->n_stays && w->stays[w->due].trigger <= i)
        w->due++;
    for (uint32_t s = w->first_waiting; s < w->due; s++)
        if (!w->begun[s] && w->stays[s].first <= i) {
            make_room(w, rp_recorder_source_bytes(w->r, w->stays[s].source));
            begin_stay(w, s);
        }
    while (w->first_waiting < w->due) {
        uint32_t s = w->first_waiting;
        uint64_t bytes = rp_recorder_source_bytes(w->r, w->stays[s].source);
        /* On the device: its last stay has not ended. */
        if (!w->begun[s] && (is_on_device(w, s) || !has_room(w, bytes)))
            return;
        if (!w->begun[s])
            begin_stay(w, s);
        w->first_waiting++;
    }
}

static void end_stays(struct walk *w, uint32_t i) {
    for (uint32_t s = w->outs[i]; s != RP_NONE; s = w->next_out[s])
        rp_recorder_source_out(w->r, w->stays[s].source);
    for (uint32_t s = w->ends[i]; s != RP_NONE; s = w->next_end[s])
        if (w->stays[s].out != RP_NONE)
            rp_push(&w->leaving, w->stays[s].source);
        else
            rp_recorder_source_free(w->r, w->stays[s].source);
}

/* ---- the walk ---- */

static int by_trigger(const void *a, const void *b) {
    const struct rp_source_stay *s = a, *t = b;
    if (s->trigger != t->trigger)
        return s->trigger < t->trigger ? -1 : 1;
    if (s->first != t->first)
        return s->first < t->first ? -1 : 1;
    return (s->source > t->source) - (s->source < t->source);
}

static void link_stays(struct walk *w, uint32_t n_runs) {
    for (uint32_t i = 0; i <= n_runs; i++)
        w->outs[i] = w->ends[i] = RP_NONE;
    for (uint32_t s = w->n_stays; s-- > 0;) {
        const struct rp_source_stay *stay = &w->stays[s];
        uint32_t end = stay->last;
        if (stay->out != RP_NONE) {
            w->next_out[s] = w->outs[stay->out];
            w->outs[stay->out] = s;
            end = rp_max_u32(end, stay->out);
        }
        w->next_end[s] = w->ends[end];
        w->ends[end] = s;
    }
}

static void walk_steps(struct walk *w, const struct rp_plan *steps, uint32_t n_runs,
                       const uint32_t *tensor_here) {
    uint32_t i = 0;
    for (size_t k = 0; k < steps->steps.n && !rp_stop_after(w->r->stop, NS_PER_STEP); k++) {
        const struct rp_step *step = &steps->steps.at[k];
        if (step->kind == RP_FREE) {
            rp_recorder_free(w->r, tensor_here[step->id]);
            continue;
        }
        free_what_has_left(w);
        begin_stays(w, i);
        make_room(w, rp_recorder_run_bytes(w->r, step->id));
        rp_recorder_run(w->r, step->id);
        end_stays(w, i++);
    }
    if (i == n_runs)
        begin_stays(w, n_runs); /* what must be there at the end */
}

void rp_source_stays_record(struct rp_source_stays *s, const struct rp_plan *steps,
                            uint64_t limit_bytes, struct rp_recorder *r) {
    const struct rp_instance *p = r->p;
    uint32_t n = (uint32_t)s->list.n, n_runs = 0;
    uint32_t *tensor_here = rp_calloc(p->graph->n_tensors, sizeof *tensor_here);
    for (uint32_t x = 0; x < p->n_tensors; x++)
        tensor_here[p->tensor_of[x]] = x;
    for (size_t k = 0; k < steps->steps.n; k++)
        n_runs += steps->steps.at[k].kind == RP_RUN;
    if (n > 0)
        qsort(s->list.at, n, sizeof *s->list.at, by_trigger);
    struct walk w = {.stays = s->list.at, .n_stays = n, .r = r, .limit_bytes = limit_bytes};
    w.begun = rp_calloc(n, sizeof *w.begun);
    w.outs = rp_calloc((size_t)n_runs + 1, sizeof *w.outs);
    w.ends = rp_calloc((size_t)n_runs + 1, sizeof *w.ends);
    w.next_out = rp_calloc(n, sizeof *w.next_out);
    w.next_end = rp_calloc(n, sizeof *w.next_end);
    link_stays(&w, n_runs);
    rp_recorder_clear(r);
    for (uint32_t x = 0; x < p->graph->n_tensors; x++)
        if (s->on_host[x])
            rp_recorder_source_home(r, x);
    walk_steps(&w, steps, n_runs, tensor_here);
    free(tensor_here);
    free(w.begun);
    free(w.outs);
    free(w.ends);
    free(w.next_out);
    free(w.next_end);
    free(w.leaving.at);
}
