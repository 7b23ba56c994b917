#include "solve/search/construct_homes.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/numbers.h"
#include "solve/local/greedy.h"
#include "solve/search/copy_ahead.h"
#include "solve/search/keep_sources.h"

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
    struct rp_home_settings best_settings;
    RP_VEC(struct rp_home_settings) tried;
};

/* ---- which sources stay ---- */

/* What many ops use would have to come often. Of the rest, what is used late would leave
 * copies for the end, when there is little to hide them behind. But if only that stays,
 * runs at the end have no copies to hide: see choose_among. */
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

/* The end of the candidates with as many uses as number i, and their bytes. */
static size_t end_of_group(const struct passes *k, size_t i, double *bytes) {
    uint32_t n_uses = k->candidates[i].n_uses;
    *bytes = 0;
    for (; i < k->n_candidates && k->candidates[i].n_uses == n_uses; i++)
        *bytes += (double)k->p->bytes[k->candidates[i].x];
    return i;
}

/* Of a group of `bytes`: `late` in order, and then, up to `room`, as much of each stretch
 * as of any other. Returns the bytes that stay. */
static double choose_among(struct passes *k, size_t i, size_t end, double bytes,
                           double room, double late) {
    double left = room, rest = bytes, share = room / bytes;
    for (; i < end; i++) {
        uint32_t x = k->candidates[i].x;
        double size = (double)k->p->bytes[x];
        bool in_order = room - left + size <= late;
        k->stays[x] = size <= left && (in_order || left >= share * rest);
        left -= k->stays[x] ? size : 0;
        rest -= size;
        if (in_order && rest > 0)
            share = left / rest;
    }
    return room - left;
}

static void choose(struct passes *k, const struct rp_home_settings *pass) {
    const struct rp_instance *p = k->p;
    double room = pass->stay * (double)p->limit_bytes, bytes;
    for (uint32_t x = 0; x < p->n_homes; x++)
        k->stays[x] = false;
    for (size_t i = 0, end; i < k->n_candidates; i = end) {
        end = end_of_group(k, i, &bytes);
        double late = bytes <= room ? bytes : pass->late * room;
        room -= choose_among(k, i, end, bytes, room, late);
    }
}

static uint64_t bytes_that_stay(const struct passes *k) {
    uint64_t bytes = 0;
    for (uint32_t x = 0; x < k->p->n_homes; x++)
        bytes += k->stays[x] ? k->p->bytes[x] : 0;
    return bytes;
}

/* ---- passes ---- */

/* True if the schedule is the fastest so far. */
static bool try_pass(struct passes *k, const struct rp_home_settings *pass) {
    const struct rp_instance *p = k->p;
    struct rp_instance lower = *p;
    choose(k, pass);
    uint64_t rest = p->limit_bytes - bytes_that_stay(k);
    lower.limit_bytes -= (uint64_t)(pass->ahead * (double)rest);
    k->w->statistics.method[RP_GREEDY].calls++;
    if (rp_context_stopped(k->w) ||
        !rp_schedule_greedy(&lower, k->stays, &k->w->stop, &k->now))
        return false;
    rp_schedule_copy_ahead(p, &k->now);
    struct rp_cost c = rp_schedule_cost(p, &k->now);
    bool fits =
        c.sound && c.peak_bytes <= p->limit_bytes && c.host_bytes <= p->host_limit_bytes;
    rp_log(2, "pass: stay %.4f, late %.4f, ahead %.4f: %s, %" PRIu64 " ns", pass->stay,
           pass->late, pass->ahead, fits ? "fits" : "does not fit", c.time_ns);
    if (!fits || c.time_ns >= k->best_ns)
        return false;
    k->best_ns = c.time_ns;
    rp_schedule_copy(k->best, &k->now);
    return true;
}

/* ---- which passes ---- */

/* Tries a pass with these settings unless it was tried before. True if it is the best. */
static bool try_settings(struct passes *k, struct rp_home_settings settings) {
    const struct rp_home_settings *a = &settings;
    if (a->stay < 0 || a->stay >= 1 || a->late < 0 || a->late > 1 || a->ahead > 0.5)
        return false;
    for (size_t i = 0; i < k->tried.n; i++) {
        const struct rp_home_settings *b = &k->tried.at[i];
        if (a->stay == b->stay && a->late == b->late && a->ahead == b->ahead)
            return false;
    }
    rp_push(&k->tried, settings);
    if (!try_pass(k, a))
        return false;
    k->best_settings = settings;
    return true;
}

/* Tries the neighbours of the best settings so far. True if one is better. */
static bool try_neighbors(struct passes *k, double step) {
    static const struct rp_home_settings direction[] = {
        {.stay = 1}, {.stay = -1}, {.ahead = 1}, {.ahead = -1}, {.late = 1}, {.late = -1}};
    bool better = false;
    for (size_t i = 0; i < sizeof direction / sizeof *direction; i++) {
        const struct rp_home_settings *d = &direction[i];
        struct rp_home_settings s = k->best_settings;
        s.stay += d->stay * step;
        s.late += d->late * 2 * step;
        s.ahead *= exp2(d->ahead);
        better = try_settings(k, s) || better;
    }
    return better;
}

/* A pattern search (Hooke and Jeeves 1961). */
static void search_settings(struct passes *k) {
    k->best_settings = (struct rp_home_settings){.stay = 0.5, .late = 0.5, .ahead = 0.1};
    if (!try_settings(k, k->best_settings))
        try_settings(k, (struct rp_home_settings){.ahead = 0.02});
    for (double step = 0.25; step > 1e-3 && k->n_candidates > 0; step /= 2)
        while (try_neighbors(k, step))
            ;
}

bool rp_construct_homes(struct rp_context *w, struct rp_space *space,
                        const struct rp_instance *p, struct rp_schedule *s) {
    struct passes k = {.w = w, .p = p, .best = s, .best_ns = UINT64_MAX};
    list_candidates(&k);
    k.stays = rp_calloc(p->n_homes, sizeof *k.stays);
    rp_schedule_empty(p, &k.now);
    if (space->home_settings.ahead > 0)
        try_settings(&k, space->home_settings);
    else
        search_settings(&k);
    if (k.best_ns < UINT64_MAX) {
        space->home_settings = k.best_settings;
        rp_schedule_keep_sources(p, &w->stop, s);
    }
    rp_schedule_fini(&k.now);
    free(k.stays);
    free(k.candidates);
    free(k.tried.at);
    return k.best_ns < UINT64_MAX;
}
