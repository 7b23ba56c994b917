#include "solve/search/perturb.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/random.h"
#include "solve/core/prune.h"

enum { MAX_DRAWS = 10, MAX_VICTIM_DRAWS = 200 };

/* Between the first runs of two ops that use a tensor and have no other between them. */
struct gap {
    uint32_t from, to;
};

struct perturbation {
    const struct rp_instance *p;
    uint64_t *random;
    uint64_t *since_start; /* per op: the times of the ops before it; n_ops + 1 */
    struct gap *gap;       /* per tensor: its longest */
    uint64_t *swapped;     /* a bit per tensor: it is swapped in somewhere */
    uint64_t *weight;      /* per tensor: how likely it is drawn */
};

/* ---- one tensor ---- */

static bool has(const uint64_t *bits, uint32_t x) {
    return bits[x / 64] >> (x % 64) & 1;
}

static uint64_t gap_ns(const struct perturbation *w, struct gap g) {
    return w->since_start[g.to] - w->since_start[g.from + 1];
}

static struct gap longest_gap(const struct perturbation *w, uint32_t x) {
    const struct rp_instance *p = w->p;
    uint32_t last = p->producer[x];
    struct gap best = {last, last + 1};
    for (uint32_t k = p->reader_start[x]; k < p->reader_start[x + 1]; k++) {
        struct gap g = {last, p->readers[k]};
        last = g.to;
        if (gap_ns(w, g) > gap_ns(w, best))
            best = g;
    }
    return best;
}

static bool can_be_made_again(const struct rp_instance *p, uint32_t x) {
    return !p->irreplaceable[x] && p->last_stage[p->producer[x]] == p->n_ops;
}

/* Nothing holds x in its gap, and nothing copies it in. */
static void drop_over_gap(const struct perturbation *w, uint32_t x, struct rp_schedule *s) {
    struct gap g = w->gap[x];
    rp_schedule_set(s, x, g.from + 1, g.to, false);
    for (uint32_t t = g.from + 1; t <= g.to; t++)
        rp_schedule_set_in(s, x, t, false);
}

/* x is there until its gap begins, and comes back just in time if the queue is idle. The
 * gap is longer than the copy. */
static void swap_over_gap(const struct perturbation *w, uint32_t x, struct rp_schedule *s) {
    struct gap g = w->gap[x];
    uint32_t in = g.to;
    while (gap_ns(w, (struct gap){in - 1, g.to}) < w->p->in_ns[x])
        in--;
    drop_over_gap(w, x, s);
    rp_schedule_set(s, x, w->p->producer[x] + 1, g.from, true);
    rp_schedule_set_in(s, x, in, true);
    rp_schedule_set(s, x, in + 1, g.to, true);
}

/* Instead of each of its copies in, x is held or made again. */
static void take_off_queue(const struct perturbation *w, uint32_t x,
                           struct rp_schedule *s) {
    bool hold = !can_be_made_again(w->p, x) || rp_random_below(w->random, 2) == 0;
    for (uint32_t t = s->n_stages; t-- > 0;) {
        if (!rp_swapped_in(s, t, x))
            continue;
        rp_schedule_set_in(s, x, t, false);
        for (uint32_t u = t; hold && u > w->p->producer[x] && !rp_held(s, u, x); u--)
            rp_schedule_set(s, x, u, u, true);
    }
}

/* ---- all tensors ---- */

static void look_at(struct perturbation *w) {
    const struct rp_instance *p = w->p;
    for (uint32_t t = 0; t < p->n_ops; t++)
        w->since_start[t + 1] = w->since_start[t] + p->time_ns[t];
    for (uint32_t x = 0; x < p->n_tensors; x++) {
        w->gap[x] = longest_gap(w, x);
        if (!p->kept[x] && gap_ns(w, w->gap[x]) > p->out_ns[x] + p->in_ns[x])
            w->weight[x] = has(w->swapped, x) ? p->bytes[x] / 2 : p->bytes[x];
    }
}

/* RP_NONE if there is none to draw. */
static uint32_t draw_tensor(const struct perturbation *w) {
    uint64_t total = 0;
    for (uint32_t x = 0; x < w->p->n_tensors; x++)
        total += w->weight[x];
    if (total == 0)
        return RP_NONE;
    uint64_t at = rp_xorshift64(w->random) % total;
    uint32_t x = 0;
    for (; at >= w->weight[x]; x++)
        at -= w->weight[x];
    return x;
}

/* Others make room for the copy of x. */
static void clear_queue(const struct perturbation *w, uint32_t x, struct rp_schedule *s) {
    const struct rp_instance *p = w->p;
    uint64_t *left = rp_schedule_swapped(s), freed_ns = 0;
    for (int k = 0; k < MAX_VICTIM_DRAWS && freed_ns < p->out_ns[x]; k++) {
        uint32_t y = rp_random_below(w->random, p->n_tensors);
        if (y == x || !has(left, y) || p->kept[y])
            continue;
        take_off_queue(w, y, s);
        left[y / 64] &= ~((uint64_t)1 << (y % 64));
        freed_ns += p->out_ns[y];
    }
    free(left);
}

static void change(const struct perturbation *w, uint32_t x, struct rp_schedule *s) {
    if (has(w->swapped, x) && can_be_made_again(w->p, x)) {
        drop_over_gap(w, x, s);
    } else {
        swap_over_gap(w, x, s);
        clear_queue(w, x, s);
    }
}

bool rp_perturb(const struct rp_instance *p, uint64_t *random, struct rp_stop *stop,
                const struct rp_schedule *from, struct rp_schedule *to) {
    struct perturbation w = {.p = p, .random = random};
    bool found = false;
    w.since_start = rp_calloc((size_t)p->n_ops + 1, sizeof *w.since_start);
    w.gap = rp_calloc(p->n_tensors, sizeof *w.gap);
    w.swapped = rp_schedule_swapped(from);
    w.weight = rp_calloc(p->n_tensors, sizeof *w.weight);
    look_at(&w);
    for (int k = 0; k < MAX_DRAWS && !found && !rp_stop_now(stop); k++) {
        uint32_t x = draw_tensor(&w);
        if (x == RP_NONE)
            break;
        rp_schedule_copy(to, from);
        change(&w, x, to);
        found = rp_schedule_prune_until(p, to, stop) &&
                rp_schedule_cost_until(p, to, stop).sound;
    }
    free(w.since_start);
    free(w.gap);
    free(w.swapped);
    free(w.weight);
    return found;
}
