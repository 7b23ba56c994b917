#include "solve/incremental/incremental_timeline.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/numbers.h"
#include "solve/incremental/incremental_flip.h"
#include "solve/incremental/incremental_internal.h"

enum { MAX_INTERVALS = RP_MAX_DIRTY, MAX_STALLED = 16 };

/* A copy under way: its end in the clock of an interval, with the move and without it. */
struct pending {
    double end_ns, old_end_ns;
};

struct pending_list { /* in the order in which they were begun */
    RP_VEC(struct pending);
};

/* A run or a free of stage t that waits for a copy of x. */
struct stalled {
    uint32_t x, t;
    double wait_ns;
    bool in; /* the copy is a swap-in */
};

struct interval { /* stages first..end-1 */
    uint32_t first, end;
};

struct rp_incremental_simulation {
    /* What the last evaluation found, in the stages of its intervals. */
    double *stage_stall_ns, *d2h_backlog_ns, *h2d_backlog_ns, *swap_out_end_ns;
    double stall_ns;
    struct interval intervals[MAX_INTERVALS];
    uint32_t n_intervals;
    struct stalled stalled[MAX_STALLED];
    uint32_t n_stalled;
    /* Working memory: when copies end, 0 unless one is under way. */
    double *ready_ns, *host_ready_ns;    /* per tensor */
    struct rp_id_list waits, host_waits; /* where these are not 0 */
    struct pending_list pending_in, pending_out;
};

void rp_incremental_timeline_init(struct rp_incremental *s) {
    struct rp_incremental_simulation *c = rp_calloc(1, sizeof *c);
    size_t n = (size_t)s->n_stages + 1;
    c->stage_stall_ns = rp_calloc(n, sizeof *c->stage_stall_ns);
    c->d2h_backlog_ns = rp_calloc(n, sizeof *c->d2h_backlog_ns);
    c->h2d_backlog_ns = rp_calloc(n, sizeof *c->h2d_backlog_ns);
    c->swap_out_end_ns = rp_calloc(s->n_tensors, sizeof *c->swap_out_end_ns);
    c->ready_ns = rp_calloc(s->n_tensors, sizeof *c->ready_ns);
    c->host_ready_ns = rp_calloc(s->n_tensors, sizeof *c->host_ready_ns);
    s->simulation = c;
}

void rp_incremental_timeline_fini(struct rp_incremental *s) {
    struct rp_incremental_simulation *c = s->simulation;
    if (c == NULL)
        return;
    free(c->stage_stall_ns);
    free(c->d2h_backlog_ns);
    free(c->h2d_backlog_ns);
    free(c->swap_out_end_ns);
    free(c->ready_ns);
    free(c->host_ready_ns);
    free(c->waits.at);
    free(c->host_waits.at);
    free(c->pending_in.at);
    free(c->pending_out.at);
    free(c);
}

/* ---- one interval of stages ---- */

/* The clocks of an interval, from the beginning of its first stage. */
struct walk {
    struct rp_incremental *s;
    struct rp_incremental_swaps *w;
    struct rp_incremental_simulation *c;
    double now_ns, old_ns; /* the compute queue, and what it was without the move */
    double d2h_ns, h2d_ns; /* when the copy queues are free */
};

/* Stage t waits for a copy of x, which ends at `until`. */
static void wait_for(struct walk *k, uint32_t t, uint32_t x, double until, bool in) {
    struct rp_incremental_simulation *c = k->c;
    if (until <= k->now_ns)
        return;
    if (c->n_stalled < MAX_STALLED)
        c->stalled[c->n_stalled++] = (struct stalled){x, t, until - k->now_ns, in};
    k->now_ns = until;
}

static void set_ready(double *ready, struct rp_id_list *set, uint32_t x, double at) {
    if (ready[x] == 0)
        rp_push(set, x);
    ready[x] = at;
}

static void clear_ready(double *ready, struct rp_id_list *set) {
    while (set->n > 0)
        ready[set->at[--set->n]] = 0;
}

static void reverse(struct pending_list *p) {
    for (size_t a = 0, b = p->n; a + 1 < b; a++) {
        struct pending x = p->at[a];
        p->at[a] = p->at[--b];
        p->at[b] = x;
    }
}

/* Adds a copy that ends at `end`, counted from the beginning of the interval, if it is
 * under way there. True if no copy that was begun before it can be under way: copies end in
 * the order in which they were begun. */
static bool add_pending(struct pending_list *p, double *ready, struct rp_id_list *set,
                        uint32_t x, double end) {
    if (end <= 0)
        return true;
    if (!(end > 0)) /* NAN: begun by this move, and over before this interval */
        return false;
    struct pending pending = {end, end};
    rp_push(p, pending);
    set_ready(ready, set, x, end);
    return false;
}

/* Finds the copies under way as stage t begins. They are the same as without the move. */
static void find_pending(struct walk *k, uint32_t t) {
    const struct rp_instance *p = k->s->p;
    const struct rp_incremental_swaps *w = k->w;
    struct rp_incremental_simulation *c = k->c;
    double since = 0; /* from the beginning of stage e to that of stage t */
    bool no_in = w->h2d_backlog_ns[t] == 0, no_out = w->d2h_backlog_ns[t] == 0;
    c->pending_in.n = c->pending_out.n = 0;
    for (uint32_t e = t; e-- > 0 && !(no_in && no_out);) {
        const struct rp_swap_ins *l = &w->swap_ins[e];
        since += k->s->stage_ns[e] + w->stage_stall_ns[e];
        for (uint32_t i = l->n; i-- > 0 && !no_in;)
            no_in = add_pending(&c->pending_in, c->ready_ns, &c->waits, l->at[i].x,
                                l->at[i].end_ns - since);
        if (w->n_swap_outs[e] == 0)
            continue;
        for (uint32_t x = p->output_start[e + 1]; x-- > p->output_start[e] && !no_out;)
            if (rp_incremental_copied_out(k->s, x))
                no_out = add_pending(&c->pending_out, c->host_ready_ns, &c->host_waits, x,
                                     w->swap_out_end_ns[x] - since);
    }
    reverse(&c->pending_in);
    reverse(&c->pending_out);
}

/* The copies under way are those without the move. NANs are equal to nothing. */
static bool same_pending(const struct pending_list *p, double now, double old) {
    for (size_t i = p->n; i-- > 0;) {
        const struct pending *x = &p->at[i];
        if (x->end_ns <= now && !(x->old_end_ns > old))
            return true;
        if (!(x->end_ns - now == x->old_end_ns - old))
            return false;
    }
    return true;
}

/* From the beginning of stage t on, all but the dirty stages are as without the move. */
static bool as_before(const struct walk *k, uint32_t t) {
    return rp_max_double(k->d2h_ns - k->now_ns, 0) == k->w->d2h_backlog_ns[t] &&
           rp_max_double(k->h2d_ns - k->now_ns, 0) == k->w->h2d_backlog_ns[t] &&
           same_pending(&k->c->pending_in, k->now_ns, k->old_ns) &&
           same_pending(&k->c->pending_out, k->now_ns, k->old_ns);
}

static bool uses(const struct rp_instance *p, uint32_t j, uint32_t x) {
    for (uint32_t k = p->input_start[j]; k < p->input_start[j + 1]; k++)
        if (p->inputs[k] == x)
            return true;
    return p->producer[x] == j;
}

/* The last of `runs` that reads or makes x; RP_NONE: none. */
static uint32_t last_use(const struct rp_instance *p, const uint32_t *runs, uint32_t n_runs,
                         uint32_t x) {
    while (n_runs-- > 0)
        if (uses(p, runs[n_runs], x))
            return runs[n_runs];
    return RP_NONE;
}

/* What stage t frees after run j (RP_NONE: before all runs) waits for its copy out. Its
 * swap-ins are over: run j has waited for them, and none comes before its first free. */
static void simulate_frees(struct walk *k, uint32_t t, uint32_t j, const uint32_t *runs,
                           uint32_t n_runs) {
    const struct rp_instance *p = k->s->p;
    const struct rp_id_list *closes = &k->s->closes[t];
    for (uint32_t i = 0; i < closes->n; i++) {
        uint32_t x = closes->at[i];
        if (k->c->host_ready_ns[x] > k->now_ns && last_use(p, runs, n_runs, x) == j)
            wait_for(k, t, x, k->c->host_ready_ns[x], false);
    }
    for (uint32_t x = p->output_start[t]; j == t && x < p->output_start[t + 1]; x++)
        if (!rp_incremental_held(k->s, t + 1, x))
            wait_for(k, t, x, k->c->host_ready_ns[x], false);
}

static void simulate_swap_ins(struct walk *k, uint32_t t, double begin) {
    struct rp_swap_ins *l = &k->w->swap_ins[t];
    struct rp_incremental_simulation *c = k->c;
    for (uint32_t i = 0; i < l->n; i++) {
        struct rp_swap_in *in = &l->at[i];
        k->h2d_ns =
            rp_max_double(rp_max_double(k->h2d_ns, k->now_ns), c->host_ready_ns[in->x]);
        k->h2d_ns += (double)k->s->p->in_ns[in->x];
        in->new_end_ns = k->h2d_ns - begin;
        set_ready(c->ready_ns, &c->waits, in->x, k->h2d_ns);
        struct pending pending = {k->h2d_ns, k->old_ns + in->end_ns};
        rp_push(&c->pending_in, pending);
    }
}

static void simulate_swap_outs(struct walk *k, uint32_t t, double begin) {
    const struct rp_instance *p = k->s->p;
    struct rp_incremental_simulation *c = k->c;
    for (uint32_t x = p->output_start[t]; x < p->output_start[t + 1]; x++) {
        if (!rp_incremental_copied_out(k->s, x))
            continue;
        k->d2h_ns = rp_max_double(k->d2h_ns, k->now_ns) + (double)p->out_ns[x];
        c->swap_out_end_ns[x] = k->d2h_ns - begin;
        set_ready(c->host_ready_ns, &c->host_waits, x, k->d2h_ns);
        struct pending pending = {k->d2h_ns, k->old_ns + k->w->swap_out_end_ns[x]};
        rp_push(&c->pending_out, pending);
    }
}

/* Stage t while copies are under way. False if it is not sound. */
static bool simulate_stage(struct walk *k, uint32_t t, const uint32_t *runs,
                           uint32_t n_runs) {
    const struct rp_instance *p = k->s->p;
    const double *ready = k->c->ready_ns;
    double begin = k->now_ns;
    if (k->d2h_ns > k->now_ns)
        simulate_frees(k, t, RP_NONE, runs, n_runs);
    simulate_swap_ins(k, t, begin);
    for (uint32_t a = 0; a < n_runs; a++) {
        uint32_t j = runs[a];
        for (uint32_t i = p->input_start[j]; i < p->input_start[j + 1]; i++)
            wait_for(k, t, p->inputs[i], ready[p->inputs[i]], true);
        for (uint32_t x = p->output_start[j]; x < p->output_start[j + 1] && j != t; x++)
            if (ready[x] > k->now_ns)
                return false;
        k->now_ns += (double)p->time_ns[j];
        if (j == t && k->w->n_swap_outs[t] > 0)
            simulate_swap_outs(k, t, begin);
        if (k->d2h_ns > k->now_ns)
            simulate_frees(k, t, j, runs, n_runs);
    }
    return true;
}

/* Advances the clocks over stage t, whose runs take runs_ns. `d` has its new runs; it is
 * NULL if they are the old ones. */
static bool advance(struct walk *k, uint32_t t, const struct rp_dirty_stage *d,
                    double runs_ns) {
    const struct rp_incremental *s = k->s;
    bool idle = k->d2h_ns <= k->now_ns && k->h2d_ns <= k->now_ns;
    if (idle && k->w->swap_ins[t].n == 0 && k->w->n_swap_outs[t] == 0) {
        k->now_ns += runs_ns;
        return true;
    }
    if (d != NULL)
        return simulate_stage(k, t, s->move->runs.at + d->first_run, d->n_runs);
    return simulate_stage(k, t, s->stage_runs[t].at, s->stage_runs[t].n);
}

/* Simulates from stage `first` until all is as before. Adds the number of dirty stages it
 * passes to *n_done. False if a stage is not sound. */
static bool simulate_interval(struct rp_incremental *s, uint32_t first, uint32_t *n_done) {
    struct rp_incremental_swaps *w = &s->swaps;
    struct rp_incremental_simulation *c = s->simulation;
    const struct rp_incremental_move *m = s->move;
    uint32_t t = first;
    struct walk k = {.s = s,
                     .w = w,
                     .c = c,
                     .d2h_ns = w->d2h_backlog_ns[t],
                     .h2d_ns = w->h2d_backlog_ns[t]};
    bool sound = true;
    find_pending(&k, t);
    for (; t < s->n_stages && sound; t++) {
        const struct rp_dirty_stage *d =
            m->dirty_of[t] != 0 ? &m->dirty[m->dirty_of[t] - 1] : NULL;
        double begin = k.now_ns, runs_ns = d != NULL ? d->time_ns : s->stage_ns[t];
        if (d != NULL)
            ++*n_done;
        else if (t > first && as_before(&k, t))
            break;
        sound = advance(&k, t, d, runs_ns);
        k.old_ns += s->stage_ns[t] + w->stage_stall_ns[t];
        c->stage_stall_ns[t] = k.now_ns - begin - runs_ns;
        c->stall_ns += c->stage_stall_ns[t] - w->stage_stall_ns[t];
        c->d2h_backlog_ns[t + 1] = rp_max_double(k.d2h_ns - k.now_ns, 0);
        c->h2d_backlog_ns[t + 1] = rp_max_double(k.h2d_ns - k.now_ns, 0);
    }
    if (t == s->n_stages)
        c->stall_ns += rp_max_double(c->d2h_backlog_ns[t], c->h2d_backlog_ns[t]) -
                       rp_max_double(w->d2h_backlog_ns[t], w->h2d_backlog_ns[t]);
    s->work += t - first;
    c->intervals[c->n_intervals++] = (struct interval){first, t};
    clear_ready(c->ready_ns, &c->waits);
    clear_ready(c->host_ready_ns, &c->host_waits);
    return sound;
}

/* ---- the whole ---- */

bool rp_incremental_timeline_evaluate(struct rp_incremental *s, double *stall_ns) {
    struct rp_incremental_simulation *c = s->simulation;
    uint32_t stages[RP_MAX_DIRTY], n = s->move->n_dirty, next = 0;
    for (uint32_t k = 0; k < n; k++) { /* few of them: insertion sort */
        uint32_t t = s->move->dirty[k].t, i = k;
        for (; i > 0 && stages[i - 1] > t; i--)
            stages[i] = stages[i - 1];
        stages[i] = t;
    }
    c->n_intervals = c->n_stalled = 0;
    c->stall_ns = s->swaps.stall_ns;
    while (next < n)
        if (!simulate_interval(s, stages[next], &next))
            return false;
    *stall_ns = c->stall_ns;
    return true;
}

static double stage_takes(const struct rp_incremental *s, uint32_t t) {
    return s->stage_ns[t] + s->swaps.stage_stall_ns[t];
}

/* Holds x longer after stage t, by about the time waited, but not up to the stage that
 * swaps it in again. */
static void free_later(struct rp_incremental *s, const struct stalled *l) {
    uint32_t to = l->t + 1;
    double room = 0;
    while (to + 1 < s->n_stages && room < l->wait_ns &&
           !rp_incremental_swapped_in(s, to + 1, l->x))
        room += stage_takes(s, to++);
    if (to < s->n_stages && !rp_incremental_swapped_in(s, to, l->x))
        rp_incremental_flip(s, l->x, l->t + 1, to, true);
}

/* Swaps x in earlier, by about the time waited, but not while it is still held. */
static void swap_in_earlier(struct rp_incremental *s, const struct stalled *l) {
    uint32_t from = l->t, to, producer = s->p->producer[l->x];
    double room = 0;
    while (from > producer && !rp_incremental_swapped_in(s, from, l->x))
        from--;
    for (to = from;
         to > producer + 1 && !rp_incremental_held(s, to - 1, l->x) && room < l->wait_ns;)
        room += stage_takes(s, --to);
    if (from == producer || to == from)
        return;
    rp_incremental_flip_swap_in(s, l->x, to, true);
    rp_incremental_flip(s, l->x, to + 1, from, true);
}

bool rp_incremental_timeline_shift(struct rp_incremental *s) {
    const struct rp_incremental_simulation *c = s->simulation;
    for (uint32_t k = 0; k < c->n_stalled && !s->infeasible; k++)
        if (c->stalled[k].in)
            swap_in_earlier(s, &c->stalled[k]);
        else
            free_later(s, &c->stalled[k]);
    return c->n_stalled > 0;
}

static void commit_stage(struct rp_incremental *s, uint32_t t) {
    const struct rp_incremental_simulation *c = s->simulation;
    struct rp_incremental_swaps *w = &s->swaps;
    w->stage_stall_ns[t] = c->stage_stall_ns[t];
    w->d2h_backlog_ns[t + 1] = c->d2h_backlog_ns[t + 1];
    w->h2d_backlog_ns[t + 1] = c->h2d_backlog_ns[t + 1];
    for (uint32_t k = 0; k < w->swap_ins[t].n; k++)
        w->swap_ins[t].at[k].end_ns = w->swap_ins[t].at[k].new_end_ns;
    for (uint32_t x = s->p->output_start[t];
         w->n_swap_outs[t] > 0 && x < s->p->output_start[t + 1]; x++)
        w->swap_out_end_ns[x] = c->swap_out_end_ns[x];
}

void rp_incremental_timeline_commit(struct rp_incremental *s) {
    const struct rp_incremental_simulation *c = s->simulation;
    for (uint32_t i = 0; i < c->n_intervals; i++)
        for (uint32_t t = c->intervals[i].first; t < c->intervals[i].end; t++)
            commit_stage(s, t);
    s->swaps.stall_ns = c->stall_ns;
}

static void clear_times(struct rp_incremental *s) {
    struct rp_incremental_swaps *w = &s->swaps;
    size_t n = (size_t)s->n_stages + 1;
    memset(w->stage_stall_ns, 0, s->n_stages * sizeof *w->stage_stall_ns);
    memset(w->d2h_backlog_ns, 0, n * sizeof *w->d2h_backlog_ns);
    memset(w->h2d_backlog_ns, 0, n * sizeof *w->h2d_backlog_ns);
    for (uint32_t x = 0; x < s->n_tensors; x++)
        w->swap_out_end_ns[x] = NAN;
    w->stall_ns = s->simulation->stall_ns = 0;
}

void rp_incremental_timeline_load(struct rp_incremental *s) {
    struct rp_incremental_simulation *c = s->simulation;
    clear_times(s);
    /* Stages without copies need no simulation: all of their times are 0. */
    for (uint32_t t = 0; t < s->n_stages; t++)
        if (s->swaps.swap_ins[t].n > 0 || s->swaps.n_swap_outs[t] > 0) {
            uint32_t n_done = 0;
            c->n_intervals = c->n_stalled = 0;
            simulate_interval(s, t, &n_done);
            rp_incremental_timeline_commit(s);
            t = c->intervals[0].end - 1;
        }
}
