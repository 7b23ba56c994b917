/* The time line of a state, stage by stage (docs/formats.md, "The time line").
 *
 * All clocks here count from the beginning of some stage, so that a change early in the
 * step does not touch what is known of later stages. A move is judged in stretches: from a
 * stage that it changes, as long as queues or copies on their way differ from what they
 * were, relative to the compute clock; then on to the next stage that it changes. While
 * both copy queues are idle nothing is on its way, so stretches are short where copies are
 * few.
 *
 * Times are integers in doubles: sums are exact below 2^53 ns, about 100 days.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "solve/local/incremental.h"

static double later(double a, double b) {
    return a > b ? a : b;
}

void rp_incremental_timeline_init(struct rp_incremental *s) {
    struct rp_copy_state *c = &s->copies;
    size_t n = (size_t)s->n + 1;
    c->brought = rp_calloc((size_t)s->m * s->words, sizeof *c->brought);
    c->trips = rp_calloc(n, sizeof *c->trips);
    c->n_trips = rp_calloc(s->m, sizeof *c->n_trips);
    c->n_outs = rp_calloc(n, sizeof *c->n_outs);
    c->out_end = rp_calloc(s->m, sizeof *c->out_end);
    c->new_out_end = rp_calloc(s->m, sizeof *c->new_out_end);
    c->stall = rp_calloc(n, sizeof *c->stall);
    c->d2h = rp_calloc(n, sizeof *c->d2h);
    c->h2d = rp_calloc(n, sizeof *c->h2d);
    c->new_stall = rp_calloc(n, sizeof *c->new_stall);
    c->new_d2h = rp_calloc(n, sizeof *c->new_d2h);
    c->new_h2d = rp_calloc(n, sizeof *c->new_h2d);
    c->ready = rp_calloc(s->m, sizeof *c->ready);
    c->host_ready = rp_calloc(s->m, sizeof *c->host_ready);
}

void rp_incremental_timeline_fini(struct rp_incremental *s) {
    struct rp_copy_state *c = &s->copies;
    for (uint32_t t = 0; t < s->n && c->trips != NULL; t++)
        free(c->trips[t].at);
    free(c->brought);
    free(c->trips);
    free(c->n_trips);
    free(c->n_outs);
    free(c->out_end);
    free(c->new_out_end);
    free(c->stall);
    free(c->d2h);
    free(c->h2d);
    free(c->new_stall);
    free(c->new_d2h);
    free(c->new_h2d);
    free(c->ready);
    free(c->host_ready);
    free(c->waits.at);
    free(c->host_waits.at);
    free(c->out.at);
    free(c->in.at);
}

/* ---- trips ---- */

void rp_incremental_apply_swap_in(struct rp_incremental *s, struct rp_flip *f) {
    struct rp_copy_state *c = &s->copies;
    struct rp_swap_ins *l = &c->trips[f->first];
    uint32_t k = 0, x = f->x, producer = s->p->producer[x];
    c->brought[(size_t)x * s->words + f->first / 64] ^= (uint64_t)1 << (f->first % 64);
    while (k < l->n && l->at[k].x > x)
        k++;
    if (f->value) {
        struct rp_swap_in trip = {.x = x, .end = f->in_end};
        rp_push(l, trip);
        memmove(&l->at[k + 1], &l->at[k], (l->n - 1 - k) * sizeof *l->at);
        l->at[k] = trip;
    } else {
        f->in_end = l->at[k].end;
        memmove(&l->at[k], &l->at[k + 1], (--l->n - k) * sizeof *l->at);
    }
    if (c->n_trips[x] == !f->value) { /* the first trip, or the last one goes */
        if (!f->value)
            f->out_end = c->out_end[x];
        c->out_end[x] = f->out_end;
        c->n_swapped += f->value ? 1 : (uint32_t)-1;
        c->n_outs[producer] += f->value ? 1 : (uint32_t)-1;
        c->host_bytes += f->value ? s->p->bytes[x] : -s->p->bytes[x];
    }
    c->n_trips[x] += f->value ? 1 : (uint32_t)-1;
}

void rp_incremental_timeline_load_swap_ins(struct rp_incremental *s,
                                           const struct rp_schedule *from) {
    struct rp_copy_state *c = &s->copies;
    memset(c->brought, 0, (size_t)s->m * s->words * sizeof *c->brought);
    memset(c->n_trips, 0, s->m * sizeof *c->n_trips);
    memset(c->n_outs, 0, s->n * sizeof *c->n_outs);
    c->n_swapped = 0;
    c->host_bytes = 0;
    for (uint32_t t = 0; t < s->n; t++) {
        c->trips[t].n = 0;
        for (size_t i = from->ins != NULL ? from->words : 0; i-- > 0;)
            for (uint64_t rest = from->ins[(size_t)t * from->words + i]; rest != 0;) {
                uint32_t high = 63 - (uint32_t)__builtin_clzll(rest);
                struct rp_flip f = {.x = (uint32_t)(i * 64) + high,
                                    .first = t,
                                    .value = true,
                                    .trip = true};
                rest ^= (uint64_t)1 << high;
                rp_incremental_apply_swap_in(s, &f);
            }
    }
}

/* ---- one stretch of stages ---- */

struct stretch {
    struct rp_incremental *s;
    struct rp_copy_state *c;
    double now, old; /* the compute clock, and what it was before the move */
    double d2h, h2d; /* when the queues are free */
};

/* Stage t waits for a copy of x. */
static void wait_for(struct stretch *w, uint32_t t, uint32_t x, double until, bool in) {
    if (until <= w->now)
        return;
    if (w->c->n_late < RP_MAX_STALLED)
        w->c->late[w->c->n_late++] = (struct rp_stalled){x, t, until - w->now, in};
    w->now = until;
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

static void reverse(struct rp_pendings *p) {
    for (size_t a = 0, b = p->n; a + 1 < b; a++) {
        struct rp_pending x = p->at[a];
        p->at[a] = p->at[--b];
        p->at[b] = x;
    }
}

/* True once nothing that was begun earlier can be on its way: it ends in the order in which
 * it was begun. `end` counts from where the stretch begins. */
static bool note_pending(struct rp_pendings *p, double *ready, struct rp_id_list *set,
                         uint32_t x, double end) {
    if (end <= 0)
        return true;
    if (!(end > 0)) /* begun by this move, and over before this stretch */
        return false;
    struct rp_pending pending = {end, end};
    rp_push(p, pending);
    set_ready(ready, set, x, end);
    return false;
}

/* What is on its way as stage t begins: the same as before the move. */
static void find_pendings(struct stretch *w, uint32_t t) {
    const struct rp_instance *p = w->s->p;
    struct rp_copy_state *c = w->c;
    double since = 0; /* from the beginning of stage e to that of stage t */
    bool no_in = c->h2d[t] == 0, no_out = c->d2h[t] == 0;
    c->in.n = c->out.n = 0;
    for (uint32_t e = t; e-- > 0 && !(no_in && no_out);) {
        since += w->s->stage_time[e] + c->stall[e];
        for (uint32_t k = c->trips[e].n; k-- > 0 && !no_in;)
            no_in = note_pending(&c->in, c->ready, &c->waits, c->trips[e].at[k].x,
                                 c->trips[e].at[k].end - since);
        if (c->n_outs[e] == 0)
            continue;
        for (uint32_t x = p->output_start[e + 1]; x-- > p->output_start[e] && !no_out;)
            if (c->n_trips[x] > 0)
                no_out = note_pending(&c->out, c->host_ready, &c->host_waits, x,
                                      c->out_end[x] - since);
    }
    reverse(&c->in);
    reverse(&c->out);
}

/* Nothing on its way differs from what it was. NANs are equal to nothing. */
static bool same_pendings(const struct rp_pendings *p, double now, double old) {
    for (size_t k = p->n; k-- > 0;) {
        const struct rp_pending *x = &p->at[k];
        if (x->end <= now && !(x->old_end > old))
            return true;
        if (!(x->end - now == x->old_end - old))
            return false;
    }
    return true;
}

/* All that comes after stage t begins is as it was, but for the stages in `dirty`. */
static bool as_before(const struct stretch *w, uint32_t t) {
    return later(w->d2h - w->now, 0) == w->c->d2h[t] &&
           later(w->h2d - w->now, 0) == w->c->h2d[t] &&
           same_pendings(&w->c->in, w->now, w->old) &&
           same_pendings(&w->c->out, w->now, w->old);
}

static bool touches(const struct rp_instance *p, uint32_t j, uint32_t x) {
    for (uint32_t k = p->input_start[j]; k < p->input_start[j + 1]; k++)
        if (p->inputs[k] == x)
            return true;
    return p->producer[x] == j;
}

/* The last of `runs` that reads or makes x; RP_NONE: none. */
static uint32_t last_touch(const struct rp_instance *p, const uint32_t *runs,
                           uint32_t n_runs, uint32_t x) {
    while (n_runs-- > 0)
        if (touches(p, runs[n_runs], x))
            return runs[n_runs];
    return RP_NONE;
}

/* What stage t lets go of after run j (RP_NONE: before all runs) waits for its copy out. */
static bool do_frees(struct stretch *w, uint32_t t, uint32_t j, const uint32_t *runs,
                     uint32_t n_runs) {
    const struct rp_instance *p = w->s->p;
    const struct rp_id_list *closes = &w->s->closes[t];
    for (uint32_t k = 0; k < closes->n; k++) {
        uint32_t x = closes->at[k];
        if (w->c->host_ready[x] <= w->now || last_touch(p, runs, n_runs, x) != j)
            continue;
        wait_for(w, t, x, w->c->host_ready[x], false);
        if (w->c->ready[x] > w->now)
            return false;
    }
    for (uint32_t x = p->output_start[t]; j == t && x < p->output_start[t + 1]; x++)
        if (!rp_incremental_held(w->s, t + 1, x))
            wait_for(w, t, x, w->c->host_ready[x], false);
    return true;
}

static void begin_trips(struct stretch *w, uint32_t t, double begin) {
    struct rp_swap_ins *l = &w->c->trips[t];
    for (uint32_t k = 0; k < l->n; k++) {
        struct rp_swap_in *trip = &l->at[k];
        w->h2d = later(later(w->h2d, w->now), w->c->host_ready[trip->x]);
        w->h2d += (double)w->s->p->in_ns[trip->x];
        trip->new_end = w->h2d - begin;
        set_ready(w->c->ready, &w->c->waits, trip->x, w->h2d);
        struct rp_pending pending = {w->h2d, w->old + trip->end};
        rp_push(&w->c->in, pending);
    }
}

static void begin_outs(struct stretch *w, uint32_t t, double begin) {
    const struct rp_instance *p = w->s->p;
    struct rp_copy_state *c = w->c;
    for (uint32_t x = p->output_start[t]; x < p->output_start[t + 1]; x++) {
        if (c->n_trips[x] == 0)
            continue;
        w->d2h = later(w->d2h, w->now) + (double)p->out_ns[x];
        c->new_out_end[x] = w->d2h - begin;
        set_ready(c->host_ready, &c->host_waits, x, w->d2h);
        struct rp_pending pending = {w->d2h, w->old + c->out_end[x]};
        rp_push(&c->out, pending);
    }
}

/* Stage t while copies are on their way. Its time is already known. */
static bool do_stage(struct stretch *w, uint32_t t, const uint32_t *runs, uint32_t n_runs) {
    const struct rp_instance *p = w->s->p;
    double begin = w->now;
    if (w->d2h > w->now && !do_frees(w, t, RP_NONE, runs, n_runs))
        return false;
    begin_trips(w, t, begin);
    for (uint32_t a = 0; a < n_runs; a++) {
        uint32_t j = runs[a];
        for (uint32_t k = p->input_start[j]; k < p->input_start[j + 1]; k++)
            wait_for(w, t, p->inputs[k], w->c->ready[p->inputs[k]], true);
        for (uint32_t x = p->output_start[j]; x < p->output_start[j + 1] && j != t; x++)
            if (w->c->ready[x] > w->now)
                return false;
        w->now += (double)p->time_ns[j];
        if (j == t && w->c->n_outs[t] > 0)
            begin_outs(w, t, begin);
        if (w->d2h > w->now && !do_frees(w, t, j, runs, n_runs))
            return false;
    }
    return true;
}

/* Simulates from stage `first` until all is as before; *n_done rises by the dirty stages
 * passed. */
static bool do_stretch(struct rp_incremental *s, uint32_t first, uint32_t *n_done) {
    struct rp_copy_state *c = &s->copies;
    uint32_t t = first;
    struct stretch w = {.s = s, .c = c, .d2h = c->d2h[t], .h2d = c->h2d[t]};
    bool sound = true;
    find_pendings(&w, t);
    for (; t < s->n && sound; t++) {
        const struct rp_dirty *d =
            s->dirty_of[t] != 0 ? &s->dirty[s->dirty_of[t] - 1] : NULL;
        double begin = w.now, takes = d != NULL ? d->time : s->stage_time[t];
        if (d != NULL)
            ++*n_done;
        else if (t > first && as_before(&w, t))
            break;
        if (w.d2h <= w.now && w.h2d <= w.now && c->trips[t].n == 0 && c->n_outs[t] == 0)
            w.now += takes;
        else if (d != NULL)
            sound = do_stage(&w, t, s->scratch_runs.at + d->run0, d->n_runs);
        else
            sound = do_stage(&w, t, s->stage_runs[t].at, s->stage_runs[t].n);
        w.old += s->stage_time[t] + c->stall[t];
        c->new_stall[t] = w.now - begin - takes;
        c->new_stalls += c->new_stall[t] - c->stall[t];
        c->new_d2h[t + 1] = later(w.d2h - w.now, 0);
        c->new_h2d[t + 1] = later(w.h2d - w.now, 0);
    }
    if (t == s->n)
        c->new_stalls += later(c->new_d2h[t], c->new_h2d[t]) - later(c->d2h[t], c->h2d[t]);
    s->work += (t - first) / 2;
    c->stretches[c->n_stretches].first = first;
    c->stretches[c->n_stretches++].last = t;
    clear_ready(c->ready, &c->waits);
    clear_ready(c->host_ready, &c->host_waits);
    return sound;
}

/* ---- the whole ---- */

bool rp_incremental_timeline_evaluate(struct rp_incremental *s) {
    uint32_t stages[RP_MAX_DIRTY], n = s->n_dirty, next = 0;
    for (uint32_t k = 0; k < n; k++) { /* few of them: insertion sort */
        uint32_t t = s->dirty[k].t, i = k;
        for (; i > 0 && stages[i - 1] > t; i--)
            stages[i] = stages[i - 1];
        stages[i] = t;
    }
    s->copies.n_stretches = s->copies.n_late = 0;
    s->copies.new_stalls = s->copies.stalls;
    while (next < n)
        if (!do_stretch(s, stages[next], &next))
            return false;
    return true;
}

static double stage_takes(const struct rp_incremental *s, uint32_t t) {
    return s->stage_time[t] + s->copies.stall[t];
}

/* x stays about so much longer after stage t, but not until it comes back. */
static void free_later(struct rp_incremental *s, const struct rp_stalled *l) {
    uint32_t to = l->t + 1;
    double room = 0;
    while (to + 1 < s->n && room < l->wait && !rp_incremental_swapped_in(s, to + 1, l->x))
        room += stage_takes(s, to++);
    if (to < s->n && !rp_incremental_swapped_in(s, to, l->x))
        rp_incremental_flip(s, l->x, l->t + 1, to, true);
}

/* x comes in about so much earlier, but not before it has left. */
static void bring_earlier(struct rp_incremental *s, const struct rp_stalled *l) {
    uint32_t from = l->t, to;
    double room = 0;
    while (from > s->p->producer[l->x] && !rp_incremental_swapped_in(s, from, l->x))
        from--;
    for (to = from; to > s->p->producer[l->x] + 1 &&
                    !rp_incremental_held(s, to - 1, l->x) && room < l->wait;)
        room += stage_takes(s, --to);
    if (from == s->p->producer[l->x] || to == from)
        return;
    rp_incremental_flip_swap_in(s, l->x, to, true);
    rp_incremental_flip(s, l->x, to + 1, from, true);
}

void rp_incremental_timeline_relieve(struct rp_incremental *s) {
    for (uint32_t k = 0; k < s->copies.n_late && !s->broken; k++)
        if (s->copies.late[k].in)
            bring_earlier(s, &s->copies.late[k]);
        else
            free_later(s, &s->copies.late[k]);
}

void rp_incremental_timeline_commit(struct rp_incremental *s) {
    struct rp_copy_state *c = &s->copies;
    for (uint32_t i = 0; i < c->n_stretches; i++)
        for (uint32_t t = c->stretches[i].first; t < c->stretches[i].last; t++) {
            c->stall[t] = c->new_stall[t];
            c->d2h[t + 1] = c->new_d2h[t + 1];
            c->h2d[t + 1] = c->new_h2d[t + 1];
            for (uint32_t k = 0; k < c->trips[t].n; k++)
                c->trips[t].at[k].end = c->trips[t].at[k].new_end;
            for (uint32_t x = s->p->output_start[t];
                 c->n_outs[t] > 0 && x < s->p->output_start[t + 1]; x++)
                c->out_end[x] = c->new_out_end[x];
        }
    c->stalls = c->new_stalls;
}

void rp_incremental_timeline_load(struct rp_incremental *s) {
    struct rp_copy_state *c = &s->copies;
    size_t n = (size_t)s->n + 1;
    memset(c->stall, 0, n * sizeof *c->stall);
    memset(c->d2h, 0, n * sizeof *c->d2h);
    memset(c->h2d, 0, n * sizeof *c->h2d);
    for (uint32_t t = 0; t < s->n; t++)
        for (uint32_t k = 0; k < c->trips[t].n; k++)
            c->trips[t].at[k].end = NAN;
    for (uint32_t x = 0; x < s->m; x++)
        c->out_end[x] = NAN;
    c->stalls = c->new_stalls = 0;
    c->n_stretches = 0;
    /* Stages without trips or outs are as they are assumed to be. */
    for (uint32_t t = 0; t < s->n; t++)
        if (c->trips[t].n > 0 || c->n_outs[t] > 0) {
            uint32_t none = 0;
            c->n_stretches = c->n_late = 0;
            do_stretch(s, t, &none);
            rp_incremental_timeline_commit(s);
            t = c->stretches[0].last - 1;
        }
}
