#include "solve/search.h"

#include <math.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "solve/state.h"

/* The price starts where all overflow together costs this share of the step, */
static const double FIRST_PRICE = 0.03;
/* and over the whole run can rise or fall by e to this power. */
static const double PRICE_RATE = 18;

struct search {
    struct rp_state s;
    const struct rp_problem *p;
    uint64_t random;
    struct { /* flips since the best schedule; unused once that has been stored */
        struct rp_flip *at;
        size_t n, cap;
    } journal;
    bool best_stored;
    double price;       /* ns per byte of overflow, summed over stages */
    double temperature; /* ns */
    double hot, cold;   /* its first and last values */
    double progress;    /* share of the work done when they were last set */
    double best_time, best_over;
};

/* xorshift64*: Vigna, "An experimental exploration of Marsaglia's xorshift generators". */
static inline uint64_t next_random(struct search *a) {
    a->random ^= a->random >> 12;
    a->random ^= a->random << 25;
    a->random ^= a->random >> 27;
    return a->random * 2685821657736338717u;
}

static inline uint32_t below(struct search *a, uint32_t n) {
    return (uint32_t)((next_random(a) >> 32) * n >> 32);
}

static inline double unit(struct search *a) {
    return (double)(next_random(a) >> 11) * 0x1p-53;
}

/* The gap of tensor x around row t: rows between two touches. False if there is none. */
static bool find_gap(const struct search *a, uint32_t x, uint32_t t, uint32_t *first,
                     uint32_t *last) {
    uint32_t before = rp_state_touch_before(&a->s, x, t), from;
    if (before == RP_NONE)
        return false;
    from = rp_state_touch_from(&a->s, x, t);
    if (from == RP_NONE) {
        if (!a->p->kept[x] && !rp_state_held(&a->s, t, x))
            return false;
        from = a->s.n - 1;
    }
    *first = before + 1;
    *last = from;
    return true;
}

/* The last row from `first` to `last` in which all inputs of op j are held; 0 if none. */
static uint32_t last_at_hand(const struct search *a, uint32_t j, uint32_t first,
                             uint32_t last) {
    const struct rp_problem *p = a->p;
    for (size_t i = last / 64 + 1; i-- > first / 64;) {
        uint64_t w = ~(uint64_t)0;
        if (i == last / 64)
            w >>= 63 - last % 64;
        for (uint32_t k = p->input_start[j]; k < p->input_start[j + 1]; k++)
            w &= a->s.held[(size_t)p->inputs[k] * a->s.words + i];
        if (w != 0) {
            uint32_t t = (uint32_t)(i * 64 + 63 - (unsigned)__builtin_clzll(w));
            return t >= first ? t : 0;
        }
    }
    return 0;
}

/* The row to which x has to be held so that its copy out, begun when it is first made, is
 * over when it is freed, judged by the queue as it is. */
static uint32_t copied_by(const struct search *a, uint32_t x) {
    const struct rp_copies *c = &a->s.copies;
    uint32_t p = a->p->producer[x], t = p + 1;
    double end = rp_state_swapped(&a->s, x)
                     ? c->out_end[x] - a->s.stage_time[p] - c->stall[p]
                     : c->d2h[t] + (double)a->p->out_ns[x];
    for (; end > 0 && t < a->s.n; t++)
        end -= a->s.stage_time[t] + c->stall[t];
    return t;
}

/* The last stage from `first` to `last` in which a swap-in of x can begin and be over by
 * stage `last`, judged by the queue as it is; `haste` >= 1 multiplies the copy's time. */
static uint32_t arrives_by(const struct search *a, uint32_t x, uint32_t first,
                           uint32_t last, double haste) {
    const struct rp_copies *c = &a->s.copies;
    double room = 0, takes = (double)a->p->in_ns[x] * haste;
    uint32_t t = last;
    for (; t > first && c->h2d[t] + takes > room; t--)
        room += a->s.stage_time[t - 1] + c->stall[t - 1];
    return t;
}

static void undo_trips(struct search *a, uint32_t x, uint32_t first, uint32_t last) {
    for (uint32_t t = first; t <= last && rp_state_swapped(&a->s, x); t++)
        if (rp_state_brought(&a->s, t, x))
            rp_state_flip_trip(&a->s, x, t, false);
}

/* Swaps x over its gap, rows first..last, which stage `last` needs: x stays until it is
 * copied out, and comes back as late as seems early enough. */
static bool swap_gap(struct search *a, uint32_t x, uint32_t first, uint32_t last) {
    uint32_t die = below(a, 8);
    uint32_t in = die == 0 ? first + below(a, last - first + 1)
                           : arrives_by(a, x, first, last, 1 + 0.25 * (double)(die / 2));
    uint32_t free_at = below(a, 8) == 0 ? first - 1 : copied_by(a, x);
    if (in <= a->p->producer[x])
        return false;
    free_at = free_at >= in ? in - 1 : free_at;
    if (free_at >= first)
        rp_state_flip(&a->s, x, first, free_at, true);
    rp_state_flip(&a->s, x, free_at < first ? first : free_at + 1, in, false);
    rp_state_flip_trip(&a->s, x, in, true);
    for (uint32_t t = first; t <= last; t++)
        if (t != in && rp_state_brought(&a->s, t, x))
            rp_state_flip_trip(&a->s, x, t, false);
    if (in < last)
        rp_state_flip(&a->s, x, in + 1, last, true);
    return true;
}

static bool may_swap(const struct search *a, uint32_t x) {
    return a->p->out_ns != NULL && a->p->bytes[x] > 0;
}

/* For what the run of op j in stage t would have to make first: by chance hold it, or leave
 * it to be made, and so on for its own inputs. */
static void provide_inputs(struct search *a, uint32_t j, uint32_t t, int depth) {
    for (uint32_t k = a->p->input_start[j]; k < a->p->input_start[j + 1]; k++) {
        uint32_t y = a->p->inputs[k];
        if (rp_state_held(&a->s, t, y) || rp_state_brought(&a->s, t, y))
            continue;
        if (depth == 0 || below(a, 2))
            rp_state_flip(&a->s, y, rp_state_touch_before(&a->s, y, t) + 1, t, true);
        else
            provide_inputs(a, a->p->producer[y], t, depth - 1);
    }
}

/* Drops the gap rows first..last of x: all of it, all of it while its op's inputs are held
 * to its end, or as far as these inputs are held already. */
static bool drop_gap(struct search *a, uint32_t x, uint32_t first, uint32_t last) {
    uint32_t j = a->p->producer[x], end = last;
    if (may_swap(a, x) && (!a->p->recompute[j] || below(a, 12) == 0))
        return swap_gap(a, x, first, last);
    uint32_t die = below(a, 4);
    if (!a->p->recompute[j])
        return false;
    if (die == 0)
        end = first + below(a, last - first + 1);
    else if (die == 1)
        end = last_at_hand(a, j, first, last);
    if (end < first)
        return false;
    undo_trips(a, x, first, last);
    rp_state_flip(&a->s, x, first, end, false);
    if (die == 0 || die == 3)
        provide_inputs(a, j, end, (int)below(a, 4));
    return true;
}

/* Toggles the gap around row t of x. */
static bool toggle_gap(struct search *a, uint32_t x, uint32_t t) {
    uint32_t first, last;
    if (t <= a->p->producer[x] || t >= a->s.n || !find_gap(a, x, t, &first, &last))
        return false;
    if (rp_state_held(&a->s, t, x))
        return drop_gap(a, x, first, last);
    rp_state_flip(&a->s, x, first, last, true);
    return true;
}

/* A random use: stage *t, a run in it, a tensor that run makes or reads. */
static uint32_t random_use(struct search *a, uint32_t *t) {
    const struct rp_problem *p = a->p;
    *t = below(a, a->s.n);
    const struct rp_list *runs = &a->s.stage_runs[*t];
    uint32_t j = runs->at[below(a, runs->n)];
    uint32_t n_in = p->input_start[j + 1] - p->input_start[j];
    uint32_t n_out = p->output_start[j + 1] - p->output_start[j];
    if (n_in + n_out == 0)
        return RP_NONE;
    uint32_t k = below(a, n_in + n_out);
    return k < n_in ? p->inputs[p->input_start[j] + k] : p->output_start[j] + k - n_in;
}

static bool toggle_at_use(struct search *a) {
    uint32_t t, x = random_use(a, &t);
    return x != RP_NONE && toggle_gap(a, x, t + below(a, 2));
}

static bool toggle_anywhere(struct search *a) {
    uint32_t x = below(a, a->s.m), j = a->p->producer[x];
    return j + 1 < a->s.n && toggle_gap(a, x, j + 1 + below(a, a->s.n - j - 1));
}

/* A tensor that is made again: *t the stage, RP_NONE if the random look finds none. */
static uint32_t random_remake(struct search *a, uint32_t *t) {
    for (int tries = 0; tries < 8; tries++) {
        *t = below(a, a->s.n);
        const struct rp_list *runs = &a->s.stage_runs[*t];
        if (runs->n < 2)
            continue;
        uint32_t j = runs->at[below(a, runs->n - 1)];
        uint32_t n_out = a->p->output_start[j + 1] - a->p->output_start[j];
        return a->p->output_start[j] + below(a, n_out);
    }
    return RP_NONE;
}

/* Hold one tensor that is made again, and drop another one that is held meanwhile. */
static bool exchange(struct search *a) {
    uint32_t t, first, last, x = random_remake(a, &t);
    if (x == RP_NONE || rp_state_held(&a->s, t, x) || !find_gap(a, x, t, &first, &last))
        return false;
    uint32_t row = first + below(a, last - first + 1);
    for (int tries = 0; tries < 16; tries++) {
        uint32_t y = below(a, a->s.m);
        if (y != x && rp_state_held(&a->s, row, y)) {
            rp_state_flip(&a->s, x, first, last, true);
            return toggle_gap(a, y, row);
        }
    }
    return false;
}

/* Make a tensor again earlier, where an input of its op is at hand, and hold it till then.
 */
static bool remake_earlier(struct search *a) {
    uint32_t t, x = random_remake(a, &t), j;
    if (x == RP_NONE || rp_state_held(&a->s, t, x))
        return false;
    j = a->p->producer[x];
    uint32_t n_in = a->p->input_start[j + 1] - a->p->input_start[j];
    if (n_in == 0)
        return false;
    uint32_t y = a->p->inputs[a->p->input_start[j] + below(a, n_in)];
    uint32_t at = rp_state_touch_before(&a->s, y, t);
    uint32_t before = rp_state_touch_before(&a->s, x, t);
    if (at == RP_NONE || at <= before)
        return false;
    rp_state_flip(&a->s, x, at + 1, t, true);
    if (below(a, 2))
        provide_inputs(a, j, at, (int)below(a, 3));
    return true;
}

/* Move a checkpoint: hold a tensor that is made again instead of one that its op reads, or
 * that one's sibling, over the rows they share. */
static bool shift_checkpoint(struct search *a) {
    uint32_t t, first, last, x = random_remake(a, &t), j;
    if (x == RP_NONE || rp_state_held(&a->s, t, x) || !find_gap(a, x, t, &first, &last))
        return false;
    j = a->p->producer[x];
    uint32_t n_in = a->p->input_start[j + 1] - a->p->input_start[j];
    if (n_in == 0)
        return false;
    uint32_t y = a->p->inputs[a->p->input_start[j] + below(a, n_in)];
    rp_state_flip(&a->s, x, first, last, true);
    if (!rp_state_held(&a->s, t, y) || !a->p->recompute[a->p->producer[y]])
        return true;
    uint32_t from = rp_state_touch_before(&a->s, y, t) + 1;
    uint32_t end = rp_state_touch_from(&a->s, y, t + 1);
    rp_state_flip(&a->s, y, from, below(a, 2) || end == RP_NONE ? t : end, false);
    return true;
}

/* Drops, or holds, all tensors of a short run of ops across one row. */
static bool toggle_segment(struct search *a) {
    uint32_t t = 1 + below(a, a->s.n - 1), width = 2 + below(a, 10);
    uint32_t x0 = below(a, a->s.m), first, last;
    bool held = false, any = false;
    if (a->p->producer[x0] >= t)
        return false;
    for (uint32_t x = x0; x < a->s.m && x < x0 + width; x++) {
        uint32_t j = a->p->producer[x];
        if (j >= t)
            break;
        if (!any)
            held = rp_state_held(&a->s, t, x);
        if (rp_state_held(&a->s, t, x) != held || (held && !a->p->recompute[j]))
            continue;
        if (find_gap(a, x, t, &first, &last)) {
            if (held)
                drop_gap(a, x, first, last);
            else
                rp_state_flip(&a->s, x, first, last, true);
            any = true;
        }
    }
    return any;
}

/* Drop one large tensor, and hold with the room it leaves some that are made again. */
static bool one_for_many(struct search *a) {
    uint32_t t, first, last, y = random_use(a, &t);
    if (y == RP_NONE || ++t >= a->s.n || !rp_state_held(&a->s, t, y) ||
        !find_gap(a, y, t, &first, &last) || !drop_gap(a, y, first, last))
        return false;
    uint64_t room = a->p->bytes[y];
    for (int tries = 0; tries < 12 && room > 0; tries++) {
        uint32_t at, from, to, x = random_remake(a, &at);
        if (x == RP_NONE || x == y || a->p->bytes[x] > room ||
            rp_state_held(&a->s, at, x) || !find_gap(a, x, at, &from, &to) || to < first ||
            from > last)
            continue;
        rp_state_flip(&a->s, x, from, to, true);
        room -= a->p->bytes[x];
    }
    return true;
}

/* Hold one tensor that is made again, and drop others until their room suffices. */
static bool many_for_one(struct search *a) {
    uint32_t t, first, last, x = random_remake(a, &t);
    if (x == RP_NONE || rp_state_held(&a->s, t, x) || !find_gap(a, x, t, &first, &last))
        return false;
    uint64_t need = a->p->bytes[x], found = 0;
    rp_state_flip(&a->s, x, first, last, true);
    for (int tries = 0; tries < 24 && found < need; tries++) {
        uint32_t y = below(a, a->s.m), row = first + below(a, last - first + 1), from, to;
        if (y == x || a->p->bytes[y] > need || !rp_state_held(&a->s, row, y) ||
            !find_gap(a, y, row, &from, &to) || !drop_gap(a, y, from, to))
            continue;
        found += a->p->bytes[y];
    }
    return true;
}

/* Drops something where memory is short. */
static bool relieve(struct search *a) {
    uint32_t t = below(a, a->s.n), n = 0;
    while (a->s.over[t] <= 0 && n++ < a->s.n)
        t = t + 1 < a->s.n ? t + 1 : 0;
    if (a->s.over[t] <= 0)
        return false;
    for (int tries = 0; tries < 32; tries++) {
        uint32_t x = below(a, a->s.m);
        if (rp_state_held(&a->s, t, x))
            return toggle_gap(a, x, t);
    }
    return false;
}

/* A swap that is there: x, and its stage *t; RP_NONE if the random look finds none. */
static uint32_t random_trip(struct search *a, uint32_t *t) {
    const struct rp_trips *trips = a->s.copies.trips;
    *t = below(a, a->s.n);
    for (uint32_t tries = 0; tries < 64 && *t < a->s.n; tries++, ++*t)
        if (trips[*t].n > 0)
            return trips[*t].at[below(a, trips[*t].n)].x;
    return RP_NONE;
}

/* Begin a swap-in earlier or later. */
static bool shift_trip(struct search *a) {
    uint32_t t, x = random_trip(a, &t), first, last, to;
    if (x == RP_NONE || !find_gap(a, x, t, &first, &last) || last < t)
        return false;
    uint32_t die = below(a, 4), far = 1 + below(a, 1 + below(a, 16));
    if (die == 0)
        to = arrives_by(a, x, first, last, 1 + 0.5 * unit(a));
    else if (die == 1)
        to = t + far <= last ? t + far : last;
    else
        to = t >= first + far ? t - far : first;
    if (to == t || to <= a->p->producer[x])
        return false;
    rp_state_flip(&a->s, x, to < t ? to : t, to < t ? t : to, false);
    rp_state_flip_trip(&a->s, x, to, true);
    rp_state_flip_trip(&a->s, x, t, false);
    if (to < last)
        rp_state_flip(&a->s, x, to + 1, last, true);
    return true;
}

/* Free what is swapped earlier or later than its copy out seems to need. */
static bool shift_free(struct search *a) {
    uint32_t t, x = random_trip(a, &t), j, end, to;
    if (x == RP_NONE)
        return false;
    j = a->p->producer[x];
    for (end = j; end < a->s.n && rp_state_held(&a->s, end + 1, x);)
        end++;
    uint32_t before = rp_state_touch_before(&a->s, x, end + 1);
    uint32_t most = rp_state_touch_from(&a->s, x, before + 1);
    most = most == RP_NONE ? a->s.n - 1 : most;
    uint32_t die = below(a, 3), far = 1 + below(a, 1 + below(a, 16));
    to = die == 0 ? copied_by(a, x) : die == 1 ? end + far : end - (far < end ? far : end);
    to = to < before ? before : to > most ? most : to;
    while (to > end && rp_state_brought(&a->s, to, x))
        to--;
    if (to == end)
        return false;
    rp_state_flip(&a->s, x, (to < end ? to : end) + 1, to < end ? end : to, to > end);
    return true;
}

/* Stop swapping a gap: hold it, or make x again. */
static bool end_trip(struct search *a) {
    uint32_t t, x = random_trip(a, &t), first, last;
    if (x == RP_NONE || !find_gap(a, x, t, &first, &last) || last < t)
        return false;
    rp_state_flip_trip(&a->s, x, t, false);
    bool again = a->p->recompute[a->p->producer[x]] && below(a, 2);
    rp_state_flip(&a->s, x, first, last, !again);
    if (again)
        provide_inputs(a, a->p->producer[x], last, (int)below(a, 4));
    return true;
}

/* Swap what is made again. */
static bool swap_remade(struct search *a) {
    uint32_t t, first, last, x = random_remake(a, &t);
    if (x == RP_NONE || rp_state_held(&a->s, t, x) || !may_swap(a, x) ||
        !find_gap(a, x, t, &first, &last))
        return false;
    return swap_gap(a, x, first, last);
}

/* Swap another tensor meanwhile instead of one that is swapped, which is held or made
 * again.
 */
static bool exchange_trip(struct search *a) {
    uint32_t t, x = random_trip(a, &t), first, last, from, to;
    if (x == RP_NONE || !find_gap(a, x, t, &first, &last) || last < t)
        return false;
    uint32_t row = first + below(a, last - first + 1);
    for (int tries = 0; tries < 16; tries++) {
        uint32_t y = below(a, a->s.m);
        if (y == x || a->p->producer[y] >= row || !may_swap(a, y) ||
            !find_gap(a, y, row, &from, &to))
            continue;
        rp_state_flip_trip(&a->s, x, t, false);
        bool again = a->p->recompute[a->p->producer[x]] && below(a, 2);
        rp_state_flip(&a->s, x, first, last, !again);
        return swap_gap(a, y, from, to);
    }
    return false;
}

static bool propose_swap(struct search *a) {
    uint32_t die = below(a, 8);
    if (below(a, 4) == 0)
        return exchange_trip(a);
    if (die < 3)
        return shift_trip(a);
    if (die < 4)
        return shift_free(a);
    if (die < 6)
        return end_trip(a);
    return swap_remade(a);
}

static bool propose(struct search *a) {
    uint32_t die = below(a, 100);
    rp_state_begin(&a->s);
    if (a->s.overflow > 0 && below(a, 4) == 0)
        return relieve(a);
    if (a->p->out_ns != NULL && below(a, 3) == 0)
        return propose_swap(a);
    if (die < 40)
        return toggle_at_use(a);
    if (die < 65)
        return toggle_anywhere(a);
    if (die < 75)
        return exchange(a);
    if (die < 85)
        return remake_earlier(a);
    if (die < 91)
        return shift_checkpoint(a);
    if (die < 94)
        return one_for_many(a);
    if (die < 96)
        return many_for_one(a);
    return toggle_segment(a);
}

enum { JOURNAL_MOST = 1 << 20 };

/* Stores the best schedule: the present one with the journal undone. */
static void store_best(struct search *a, struct rp_schedule *best) {
    if (a->best_stored)
        return;
    rp_state_store(&a->s, best);
    while (a->journal.n > 0) {
        const struct rp_flip *f = &a->journal.at[--a->journal.n];
        if (f->trip)
            rp_schedule_set_in(best, f->x, f->first, !f->value);
        else
            rp_schedule_set(best, f->x, f->first, f->last, !f->value);
    }
    a->best_stored = true;
}

/* Commits the move; `improves`: what results is the best so far. */
static void commit(struct search *a, bool improves, struct rp_schedule *best) {
    if (improves) {
        a->journal.n = 0;
        a->best_stored = false;
    } else if (!a->best_stored) {
        if (a->journal.n > JOURNAL_MOST)
            store_best(a, best);
        for (uint32_t k = 0; k < a->s.n_flips && !a->best_stored; k++)
            rp_push(&a->journal, a->s.flips[k]);
    }
    rp_state_commit(&a->s);
}

/* Temperature and price at the share `progress` of the work. The price follows the
 * overflow: up while there is some, down while there is none. */
static void cool(struct search *a, double progress) {
    double step = PRICE_RATE * (progress - a->progress);
    a->temperature = a->hot * pow(a->cold / a->hot, progress);
    a->price *= exp(a->s.overflow > 0 ? step : -step);
    a->progress = progress;
}

/* One move: proposed, judged, taken or not. */
static void step(struct search *a, struct rp_schedule *best, struct rp_search_result *r) {
    struct rp_state *s = &a->s;
    r->moves++;
    s->work += 8 + s->words / 4;
    s->patient = a->p->out_ns != NULL && below(a, 5) > 0;
    if (!propose(a) || !rp_state_judge(s, a->price, -a->temperature * log(1 - unit(a)))) {
        rp_state_undo(s);
        return;
    }
    r->accepted++;
    bool improves = s->new_overflow > 0
                        ? a->best_time == INFINITY && s->new_overflow < a->best_over
                        : s->new_time < a->best_time;
    if (improves) {
        a->best_over = s->new_overflow;
        a->best_time = s->new_overflow > 0 ? INFINITY : s->new_time;
    }
    commit(a, improves, best);
}

static void begin(struct search *a, const struct rp_problem *p,
                  const struct rp_search_options *o, const struct rp_schedule *start) {
    double mean = (double)p->graph->total_time_ns / (p->n_ops + 1.0);
    a->p = p;
    a->random = o->seed * 0x9e3779b97f4a7c15u + 0x1234567;
    a->hot = mean * o->start_heat;
    a->cold = mean * 1e-3;
    rp_state_init(&a->s, p);
    rp_state_load(&a->s, start);
    a->best_over = a->s.overflow;
    a->best_time = a->s.overflow > 0 ? INFINITY : a->s.time;
    a->best_stored = true;
    a->price = FIRST_PRICE * a->s.time / (a->s.overflow + 1);
}

void rp_search(const struct rp_problem *p, const struct rp_search_options *o,
               struct rp_schedule *best, struct rp_search_result *r) {
    struct search *a = rp_calloc(1, sizeof *a);
    double start = rp_seconds();
    *r = (struct rp_search_result){0};
    begin(a, p, o, best);
    while (p->n_ops > 1 && p->n_tensors > 0 && a->s.work < o->work) {
        if (r->moves % 256 == 0)
            cool(a, (double)a->s.work / (double)o->work);
        if (r->moves % 4096 == 0 && o->stop(o->stop_arg)) {
            r->stopped = true;
            break;
        }
        step(a, best, r);
    }
    store_best(a, best);
    r->found = a->best_time < INFINITY;
    r->time = a->best_time;
    r->work = a->s.work;
    r->seconds = rp_seconds() - start;
    rp_state_fini(&a->s);
    free(a->journal.at);
    free(a);
}
