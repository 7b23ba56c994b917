#include "solve/search/construct_homes.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/numbers.h"
#include "solve/local/greedy.h"
#include "solve/search/copy_ahead.h"

/* One pass. */
struct pass {
    double stay;  /* this share of the limit is for sources that stay */
    double ahead; /* this share of the rest is left for copies ahead of time */
};

/* A source that may stay on the device. */
struct candidate {
    uint32_t x; /* version 0 */
    uint32_t n_uses, last_use;
};

struct passes {
    struct rp_context *w;
    const struct rp_instance *p;
    struct candidate *candidates; /* best first */
    size_t n_candidates;
    bool *stays; /* per version 0 */
    struct rp_schedule now, *best;
    uint64_t best_ns; /* UINT64_MAX: none fits yet */
};

/* ---- which sources stay ---- */

/* What many ops use would have to come often. Of the rest, what is used late would leave
 * copies for the end, when there is little to hide them behind. */
static int best_first(const void *left, const void *right) {
    const struct candidate *a = left, *b = right;
    if (a->n_uses != b->n_uses)
        return a->n_uses > b->n_uses ? -1 : 1;
    if (a->last_use != b->last_use)
        return a->last_use > b->last_use ? -1 : 1;
    return (a->x > b->x) - (a->x < b->x);
}

static void list_candidates(struct passes *k) {
    const struct rp_instance *p = k->p;
    k->candidates = rp_calloc(p->n_homes, sizeof *k->candidates);
    for (uint32_t x = 0; x < p->n_homes; x++) {
        struct candidate c = {.x = x};
        for (uint32_t v = x; v != RP_NONE; v = p->next_version[v]) {
            c.n_uses += p->reader_start[v + 1] - p->reader_start[v];
            c.last_use = rp_instance_last_need(p, v);
        }
        if (!p->lives_on_host[x] && c.n_uses > 0)
            k->candidates[k->n_candidates++] = c;
    }
    if (k->n_candidates > 0)
        qsort(k->candidates, k->n_candidates, sizeof *k->candidates, best_first);
}

static void choose(struct passes *k, double share) {
    const struct rp_instance *p = k->p;
    double room = share * (double)p->limit_bytes;
    for (uint32_t x = 0; x < p->n_homes; x++)
        k->stays[x] = false;
    for (size_t i = 0; i < k->n_candidates; i++) {
        uint32_t x = k->candidates[i].x;
        k->stays[x] = (double)p->bytes[x] <= room;
        room -= k->stays[x] ? (double)p->bytes[x] : 0;
    }
}

static uint64_t bytes_that_stay(const struct passes *k) {
    uint64_t bytes = 0;
    for (uint32_t x = 0; x < k->p->n_homes; x++)
        bytes += k->stays[x] ? k->p->bytes[x] : 0;
    return bytes;
}

/* ---- passes ---- */

/* Returns the time of the schedule, UINT64_MAX if there is none that fits. */
static uint64_t try_pass(struct passes *k, const struct pass *pass) {
    const struct rp_instance *p = k->p;
    struct rp_instance lower = *p;
    choose(k, pass->stay);
    uint64_t rest = p->limit_bytes - bytes_that_stay(k);
    lower.limit_bytes -= (uint64_t)(pass->ahead * (double)rest);
    k->w->statistics.method[RP_GREEDY].calls++;
    if (rp_context_stopped(k->w) ||
        !rp_schedule_greedy(&lower, k->stays, &k->w->stop, &k->now))
        return UINT64_MAX;
    rp_schedule_copy_ahead(p, &k->now);
    struct rp_cost c = rp_schedule_cost(p, &k->now);
    bool fits =
        c.sound && c.peak_bytes <= p->limit_bytes && c.host_bytes <= p->host_limit_bytes;
    rp_log(2, "pass: stay %.4f, ahead %.2f: %s, %" PRIu64 " ns", pass->stay, pass->ahead,
           fits ? "fits" : "does not fit", c.time_ns);
    if (!fits)
        return UINT64_MAX;
    if (c.time_ns < k->best_ns) {
        k->best_ns = c.time_ns;
        rp_schedule_copy(k->best, &k->now);
    }
    return c.time_ns;
}

/* The best time with this share for sources that stay. */
static uint64_t try_share(struct passes *k, double stay) {
    static const double ahead[] = {0.03, 0.12, 0.3};
    uint64_t best_ns = UINT64_MAX;
    for (size_t i = 0; i < sizeof ahead / sizeof *ahead; i++) {
        struct pass pass = {stay, ahead[i]};
        best_ns = rp_min_u64(best_ns, try_pass(k, &pass));
    }
    return best_ns;
}

/* More stays as long as that is faster, by steps that halve. Returns the best share. */
static double try_shares(struct passes *k) {
    double best = 0;
    uint64_t best_ns = try_share(k, best);
    for (double step = 0.5; step > 0.01 && k->n_candidates > 0; step /= 2)
        for (int side = -1; side <= 1; side += 2) {
            double stay = best + side * step;
            uint64_t ns = stay > 0 && stay < 1 ? try_share(k, stay) : UINT64_MAX;
            if (ns >= best_ns)
                continue;
            best_ns = ns;
            best = stay;
        }
    return best;
}

bool rp_construct_homes(struct rp_context *w, struct rp_space *space,
                        const struct rp_instance *p, struct rp_schedule *s) {
    struct passes k = {.w = w, .p = p, .best = s, .best_ns = UINT64_MAX};
    list_candidates(&k);
    k.stays = rp_calloc(p->n_homes, sizeof *k.stays);
    rp_schedule_empty(p, &k.now);
    if (space->stay_share >= 0)
        try_share(&k, space->stay_share);
    else
        space->stay_share = try_shares(&k);
    rp_schedule_fini(&k.now);
    free(k.stays);
    free(k.candidates);
    return k.best_ns < UINT64_MAX;
}
