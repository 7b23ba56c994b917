#include "solve/construct/construct_homes.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/numbers.h"
#include "solve/construct/copy_ahead.h"
#include "solve/construct/greedy.h"
#include "solve/construct/keep_sources.h"

/* A source that may stay on the device. */
struct candidate {
    uint32_t x; /* version 0 */
    uint32_t n_uses, last_use;
};

struct passes {
    struct rp_context *w;
    const struct rp_instance *p;
    struct candidate *late, *used; /* in two orders */
    size_t n_candidates;
    bool *stays; /* per version 0 */
    struct rp_schedule now, *best;
    struct rp_cost cost; /* of the best; not sound: none fits yet */
    struct rp_home_settings best_settings;
    RP_VEC(struct rp_home_settings) tried;
};

/* ---- which sources stay ---- */

/* What is used late would leave copies for the end, when there is little to hide them
 * behind. */
static int late_first(const void *left, const void *right) {
    const struct candidate *a = left, *b = right;
    if (a->last_use != b->last_use)
        return a->last_use > b->last_use ? -1 : 1;
    return (a->x > b->x) - (a->x < b->x);
}

/* What many ops use would have to come often. */
static int most_used_first(const void *left, const void *right) {
    const struct candidate *a = left, *b = right;
    if (a->n_uses != b->n_uses)
        return a->n_uses > b->n_uses ? -1 : 1;
    return late_first(left, right);
}

static void list_candidates(struct passes *k) {
    const struct rp_instance *p = k->p;
    k->late = rp_calloc(p->n_homes, sizeof *k->late);
    k->used = rp_calloc(p->n_homes, sizeof *k->used);
    for (uint32_t x = 0; x < p->n_homes; x++) {
        struct candidate c = {.x = x};
        for (uint32_t v = x; v != RP_NONE; v = p->next_version[v]) {
            c.n_uses += p->reader_start[v + 1] - p->reader_start[v];
            c.last_use = rp_instance_last_need(p, v);
        }
        if (!p->lives_on_host[x] && c.n_uses > 0)
            k->late[k->n_candidates++] = c;
    }
    if (k->n_candidates == 0)
        return;
    memcpy(k->used, k->late, k->n_candidates * sizeof *k->used);
    qsort(k->late, k->n_candidates, sizeof *k->late, late_first);
    qsort(k->used, k->n_candidates, sizeof *k->used, most_used_first);
}

static void choose_late(struct passes *k, uint64_t room) {
    const struct rp_instance *p = k->p;
    for (size_t i = 0; i < k->n_candidates; i++) {
        uint32_t x = k->late[i].x;
        k->stays[x] = p->bytes[x] <= room;
        room -= k->stays[x] ? p->bytes[x] : 0;
    }
}

/* Those with as many uses as number i, as far as they do not stay yet. Returns where they
 * end. */
static size_t find_group(const struct passes *k, size_t i, uint64_t *bytes) {
    uint32_t n_uses = k->used[i].n_uses;
    *bytes = 0;
    for (; i < k->n_candidates && k->used[i].n_uses == n_uses; i++)
        *bytes += k->stays[k->used[i].x] ? 0 : k->p->bytes[k->used[i].x];
    return i;
}

/* Of a group, as much stays of each stretch of the step as of any other. Were it only what
 * is used late, the runs at the end would have no copies to hide. */
static void choose_evenly(struct passes *k, size_t i, size_t end, uint64_t bytes,
                          uint64_t room) {
    double share = (double)room / (double)bytes;
    for (; i < end; i++) {
        uint32_t x = k->used[i].x;
        uint64_t size = k->p->bytes[x];
        if (k->stays[x])
            continue;
        k->stays[x] = size <= room && (double)room >= share * (double)bytes;
        room -= k->stays[x] ? size : 0;
        bytes -= size;
    }
}

static uint64_t bytes_that_stay(const struct passes *k) {
    uint64_t bytes = 0;
    for (uint32_t x = 0; x < k->p->n_homes; x++)
        bytes += k->stays[x] ? k->p->bytes[x] : 0;
    return bytes;
}

static void choose(struct passes *k, const struct rp_home_settings *pass) {
    double room = pass->stay * (double)k->p->limit_bytes;
    uint64_t bytes;
    choose_late(k, (uint64_t)(pass->late * room));
    for (size_t i = 0, end; i < k->n_candidates; i = end) {
        end = find_group(k, i, &bytes);
        choose_evenly(k, i, end, bytes, (uint64_t)room - bytes_that_stay(k));
    }
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
    rp_schedule_copy_ahead(p, &k->w->stop, &k->now);
    double begin = rp_seconds();
    struct rp_cost c = rp_schedule_cost_until(p, &k->now, &k->w->stop);
    rp_context_reserve(k->w, rp_seconds() - begin);
    bool fits = rp_cost_fits(p, &c);
    rp_log(2, "pass: stay %.4f, late %.4f, ahead %.4f: %s, %" PRIu64 " ns", pass->stay,
           pass->late, pass->ahead, fits ? "fits" : "does not fit", c.time_ns);
    if (!fits || (k->cost.sound && c.time_ns >= k->cost.time_ns))
        return false;
    k->cost = c;
    rp_schedule_exchange(k->best, &k->now);
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

/* Tries the neighbours of the best settings so far: if all sources live on the host, the
 * first two. True if one is better. */
static bool try_neighbors(struct passes *k, double step) {
    static const struct rp_home_settings direction[] = {
        {.ahead = 1}, {.ahead = -1}, {.stay = 1}, {.stay = -1}, {.late = 1}, {.late = -1}};
    size_t n = k->n_candidates > 0 ? sizeof direction / sizeof *direction : 2;
    bool better = false;
    for (size_t i = 0; i < n; i++) {
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
    for (double step = 0.25; step > 1e-3; step /= 2)
        while (try_neighbors(k, step))
            ;
}

bool rp_construct_homes(struct rp_context *w, struct rp_space *space,
                        const struct rp_instance *p, struct rp_schedule *s,
                        struct rp_cost *cost) {
    struct passes k = {.w = w, .p = p, .best = s};
    list_candidates(&k);
    k.stays = rp_calloc(p->n_homes, sizeof *k.stays);
    rp_schedule_empty(p, &k.now);
    if (space->home_settings.ahead > 0)
        try_settings(&k, space->home_settings);
    else
        search_settings(&k);
    if (k.cost.sound) {
        space->home_settings = k.best_settings;
        rp_schedule_keep_sources(p, &w->stop, s, &k.cost);
    }
    *cost = k.cost;
    rp_schedule_fini(&k.now);
    free(k.stays);
    free(k.late);
    free(k.used);
    free(k.tried.at);
    return k.cost.sound;
}
