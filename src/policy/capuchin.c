/* capuchin: Peng et al., "Capuchin: Tensor-based GPU Memory Management for Deep Learning",
 * ASPLOS 2020.
 *
 * One measured step gives the accesses of each tensor. Of two consecutive ones across the
 * peak, the free time FT is what is left between them when the copies out and in are taken
 * off. Tensors with FT >= 0 are swapped, the largest FT first, since that costs nothing;
 * then, one at a time, whichever of swapping (-FT) and recomputing (the closure's time)
 * costs less, by memory saved per second, MSPS (section 4.4, algorithms 1 and 2), until the
 * required memory is saved. A swap-in is triggered ahead of the access by the time it
 * takes; feedback moves the trigger (section 4.5).
 *
 * Interpretation: a copy out has to be done when the peak comes, one in cannot begin before
 * it is over; copies that were decided on before are ahead in the queues, and what does not
 * fit is exposed. What feedback finds out by running, the packing of swap-ins
 * works out beforehand (rp_gap_actions_schedule_ins). Costs are on the clock of first runs.
 */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "policy/gap_actions.h"
#include "policy/policy.h"

struct capuchin {
    const struct rp_instance *p;
    struct rp_recorder *t;
    struct rp_gap_actions f;
    double *start;        /* per stage, and the end */
    struct rp_gaps swaps; /* decided on */
    uint64_t *peak;       /* per stage */
    uint32_t *need;       /* per gap */
};

static int by_begin(const void *a, const void *b) {
    const struct rp_gap *g = a, *h = b;
    return (g->begin > h->begin) - (g->begin < h->begin);
}

static int by_use_backwards(const void *a, const void *b) {
    const struct rp_gap *g = a, *h = b;
    return (g->use < h->use) - (g->use > h->use);
}

/* When the copies out of all swaps over stage t are done at the latest, and when those in
 * have to begin at the earliest, with `gap` among them. */
static double room_at(const struct capuchin *w, const struct rp_gap *gap, uint32_t t) {
    struct rp_gaps all = {0};
    double out = 0, in = w->start[w->p->n_ops];
    for (size_t k = 0; k < w->swaps.n; k++)
        if (w->swaps.at[k].begin < t && t < w->swaps.at[k].use)
            rp_push(&all, w->swaps.at[k]);
    rp_push(&all, *gap);
    qsort(all.at, all.n, sizeof *all.at, by_begin);
    for (size_t k = 0; k < all.n; k++)
        out = fmax(out, w->start[all.at[k].begin + 1]) +
              (double)rp_copy_out_ns(w->p, all.at[k].x);
    qsort(all.at, all.n, sizeof *all.at, by_use_backwards);
    for (size_t k = 0; k < all.n; k++)
        in = fmin(in, w->start[all.at[k].use]) - (double)rp_copy_in_ns(w->p, all.at[k].x);
    free(all.at);
    return fmin(w->start[t] - out, in - w->start[t + 1]);
}

/* Time left over between the two uses when the copies are taken off, ns, and beside the
 * link's other work around stage t; negative: exposed. */
static double free_time(const struct capuchin *w, const struct rp_gap *gap, uint32_t t) {
    double from = w->start[gap->begin + 1], until = w->start[gap->use];
    double copies = (double)(rp_copy_out_ns(w->p, gap->x) + rp_copy_in_ns(w->p, gap->x));
    double own = until - from - copies, beside = room_at(w, gap, t);
    return beside < 0 ? fmin(own, beside) : own;
}

/* All gaps over stage t that are kept, cheapest first: key is ns a byte, or, where swapping
 * is free, minus the free time. */
static void list_candidates(const struct capuchin *w, uint32_t t, struct rp_gaps *gaps,
                            uint8_t *best) {
    const struct rp_instance *p = w->p;
    gaps->n = 0;
    for (uint32_t x = 0; x < p->n_tensors && p->producer[x] < t; x++) {
        uint32_t e = rp_gap_ending_from(p, x, t + 1);
        if (e == p->reader_start[x + 1] || p->bytes[x] == 0 || w->f.fate[e] != RP_KEEP ||
            !rp_gap_covers(p, x, e, t))
            continue;
        struct rp_gap gap = {
            .x = x, .e = e, .begin = rp_gap_begin(p, x, e), .use = p->readers[e]};
        uint64_t ns = rp_remake_ns(p, &w->f, x, e);
        double remake = ns == UINT64_MAX ? INFINITY : (double)ns;
        double ft = rp_may_swap(p) ? free_time(w, &gap, t) : -INFINITY;
        best[e] = ft >= 0 || -ft < remake ? RP_SWAP : RP_REMAKE;
        if (ft < 0 && isinf(ft) && isinf(remake))
            continue;
        gap.key = ft >= 0 ? -ft : fmin(-ft, remake) / (double)p->bytes[x];
        rp_push(gaps, gap);
    }
    rp_gaps_sort(gaps);
}

static uint32_t fullest_stage(const struct capuchin *w) {
    uint32_t best = 0;
    for (uint32_t t = 1; t < w->p->n_ops; t++)
        if (w->peak[t] > w->peak[best])
            best = t;
    return best;
}

static void emit(struct capuchin *w) {
    rp_gap_actions_needs(&w->f, w->t, w->need);
    rp_gap_actions_schedule_ins(w->p, &w->f, w->need);
    rp_gap_actions_emit_patient(&w->f, w->t, w->peak);
}

/* Settles the fate of as much as stage t is over the limit by. False: nothing is left. */
static bool save(struct capuchin *w, uint32_t t, struct rp_gaps *gaps, uint8_t *best) {
    uint64_t excess = w->peak[t] - w->p->limit_bytes, saved = 0;
    list_candidates(w, t, gaps, best);
    for (size_t k = 0; k < gaps->n && saved < excess; k++) {
        const struct rp_gap *gap = &gaps->at[k];
        /* What was swapped since makes this one's estimate too good: next time. */
        if (best[gap->e] == RP_SWAP && gap->key <= 0 && saved > 0 &&
            free_time(w, gap, t) < 0)
            continue;
        w->f.fate[gap->e] = best[gap->e];
        if (best[gap->e] == RP_SWAP)
            rp_push(&w->swaps, *gap);
        saved += w->p->bytes[gap->x];
    }
    return saved > 0;
}

void rp_record_capuchin(const struct rp_instance *p, const struct rp_policy_options *o,
                        struct rp_recorder *t) {
    enum { ROUNDS = 400 };
    struct capuchin w = {.p = p, .t = t};
    struct rp_gaps gaps = {0};
    uint8_t *best = rp_calloc(p->reader_start[p->n_tensors], sizeof *best);
    (void)o;
    rp_gap_actions_init(p, &w.f);
    w.start = rp_calloc((size_t)p->n_ops + 1, sizeof *w.start);
    w.peak = rp_calloc((size_t)p->n_ops + 1, sizeof *w.peak);
    w.need = rp_calloc(p->reader_start[p->n_tensors], sizeof *w.need);
    for (uint32_t i = 0; i < p->n_ops; i++)
        w.start[i + 1] = w.start[i] + (double)p->time_ns[i];
    rp_gap_actions_emit(&w.f, t, w.peak);
    for (int k = 0; k < ROUNDS && t->peak_bytes > p->limit_bytes; k++) {
        if (!save(&w, fullest_stage(&w), &gaps, best))
            break;
        emit(&w);
    }
    free(gaps.at);
    free(best);
    free(w.start);
    free(w.swaps.at);
    free(w.peak);
    free(w.need);
    rp_gap_actions_fini(&w.f);
}
