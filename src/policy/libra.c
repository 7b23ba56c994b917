/* libra: the hybrid of recomputation and swapping of that name, as far as it is described
 * to us: profile the peak; estimate for each tensor alive there how much memory it gives
 * back; recompute first; where a tensor's recompute chain makes a new peak itself, swap it
 * instead; refine greedily until the budget holds.
 *
 * Interpretation: candidates are taken by the time their closure takes for each byte. A
 * chain makes a new peak if the fullest stage is one in which it runs; then the tensor of
 * most bytes remade there is swapped. Refinement goes over what was given up, the dearest
 * first, and keeps again what the budget has room for after all.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "policy/gap_actions.h"
#include "policy/policy.h"

enum { EVALUATIONS = 2000000 }; /* stages evaluated by all refinement */

struct libra {
    const struct rp_instance *p;
    struct rp_recorder *t;
    struct rp_gap_actions f;
    uint64_t *peak; /* per stage */
    uint32_t *need; /* per gap */
};

static void emit(struct libra *w) {
    rp_gap_actions_needs(&w->f, w->t, w->need);
    rp_gap_actions_schedule_ins(w->p, &w->f, w->need);
    rp_gap_actions_emit_patient(&w->f, w->t, w->peak);
}

static uint32_t fullest_stage(const struct libra *w) {
    uint32_t best = 0;
    for (uint32_t t = 1; t < w->p->n_ops; t++)
        if (w->peak[t] > w->peak[best])
            best = t;
    return best;
}

/* The largest tensor whose chain runs in stage t becomes a swap. */
static bool swap_chain(struct libra *w, uint32_t t) {
    const struct rp_instance *p = w->p;
    uint32_t best = RP_NONE;
    uint64_t most = 0;
    for (uint32_t x = 0; x < p->n_tensors && rp_may_swap(p); x++) {
        uint32_t e = rp_gap_ending_from(p, x, t);
        if (e == p->reader_start[x + 1] || w->f.fate[e] != RP_REMAKE || w->need[e] != t ||
            p->bytes[x] <= most)
            continue;
        best = e;
        most = p->bytes[x];
    }
    if (best != RP_NONE)
        w->f.fate[best] = RP_SWAP;
    return best != RP_NONE;
}

/* Kept gaps over stage t, the cheapest to make again for their bytes first. */
static void list_kept(const struct libra *w, uint32_t t, struct rp_gaps *gaps) {
    const struct rp_instance *p = w->p;
    gaps->n = 0;
    for (uint32_t x = 0; x < p->n_tensors && p->producer[x] < t; x++) {
        uint32_t e = rp_gap_ending_from(p, x, t + 1);
        if (e == p->reader_start[x + 1] || p->bytes[x] == 0 || w->f.fate[e] != RP_KEEP ||
            !rp_gap_covers(p, x, e, t))
            continue;
        uint64_t ns = rp_remake_ns(p, &w->f, x, e);
        if (ns == UINT64_MAX && !rp_may_swap(p))
            continue;
        struct rp_gap gap = {.x = x, .e = e, .key = (double)ns / (double)p->bytes[x]};
        rp_push(gaps, gap);
    }
    rp_gaps_sort(gaps);
}

static bool give_up(struct libra *w, struct rp_gaps *gaps, struct rp_gaps *given) {
    uint32_t t = fullest_stage(w);
    uint64_t excess = w->peak[t] - w->p->limit_bytes, saved = 0;
    if (swap_chain(w, t))
        return true;
    list_kept(w, t, gaps);
    for (size_t k = 0; k < gaps->n && saved < excess; k++) {
        struct rp_gap gap = gaps->at[k];
        bool can = rp_remake_ns(w->p, &w->f, gap.x, gap.e) != UINT64_MAX;
        w->f.fate[gap.e] = can ? RP_REMAKE : RP_SWAP;
        gap.key = -gap.key * (double)w->p->bytes[gap.x];
        rp_push(given, gap);
        saved += w->p->bytes[gap.x];
    }
    return saved > 0;
}

static void refine(struct libra *w, struct rp_gaps *given) {
    uint64_t time = rp_recorder_time(w->t);
    size_t most = EVALUATIONS / (w->p->n_ops + 1) + 1;
    bool changed = false;
    rp_gaps_sort(given);
    for (size_t k = 0; k < given->n && k < most; k++) {
        uint8_t was = w->f.fate[given->at[k].e];
        w->f.fate[given->at[k].e] = RP_KEEP;
        emit(w);
        changed = w->t->peak_bytes > w->p->limit_bytes || rp_recorder_time(w->t) > time;
        if (changed)
            w->f.fate[given->at[k].e] = was;
        else
            time = rp_recorder_time(w->t);
    }
    if (changed)
        emit(w);
}

void rp_record_libra(const struct rp_instance *p, const struct rp_policy_options *o,
                     struct rp_recorder *t) {
    struct libra w = {.p = p, .t = t};
    struct rp_gaps gaps = {0}, given = {0};
    (void)o;
    rp_gap_actions_init(p, &w.f);
    w.peak = rp_calloc((size_t)p->n_ops + 1, sizeof *w.peak);
    w.need = rp_calloc(p->reader_start[p->n_tensors], sizeof *w.need);
    rp_gap_actions_emit(&w.f, t, w.peak);
    bool short_of = t->peak_bytes > p->limit_bytes;
    for (size_t k = 0; t->peak_bytes > p->limit_bytes; k++) {
        if (k > EVALUATIONS / (p->n_ops + 1) || !give_up(&w, &gaps, &given))
            break;
        emit(&w);
    }
    if (short_of && t->peak_bytes <= p->limit_bytes)
        refine(&w, &given);
    free(gaps.at);
    free(given.at);
    free(w.peak);
    free(w.need);
    rp_gap_actions_fini(&w.f);
}
