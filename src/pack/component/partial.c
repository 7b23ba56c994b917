#include "pack/component/partial.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/random.h"

/* Items by section, and where each section's first item is. */
static void index_sections(struct rp_partial *s) {
    const struct rp_pack_component *p = s->p;
    uint32_t m = p->n_sections, n_live = 0;
    for (uint32_t t = 0, i = 0; t <= m; t++) {
        while (i < p->n && p->items[i].lo < t)
            i++;
        s->first[t] = i;
    }
    for (uint32_t t = 0; t < m; t++) {
        s->live_at[t] = n_live;
        n_live += s->n_live[t];
    }
    s->live_at[m] = n_live;
    s->live = rp_calloc(n_live, sizeof *s->live);
    uint32_t *fill = rp_calloc(m, sizeof *fill);
    for (uint32_t i = 0; i < p->n; i++)
        for (uint32_t t = p->items[i].lo; t < p->items[i].hi; t++)
            s->live[s->live_at[t] + fill[t]++] = i;
    free(fill);
}

void rp_partial_init(struct rp_partial *s, const struct rp_pack_component *p,
                     struct rp_pack_work *work) {
    uint32_t n = p->n, m = p->n_sections;
    *s = (struct rp_partial){.p = p, .work = work};
    s->floor = rp_calloc(m, sizeof *s->floor);
    s->unplaced_size = rp_calloc(m, sizeof *s->unplaced_size);
    s->n_live = rp_calloc(m, sizeof *s->n_live);
    s->n_crossing = rp_calloc(m + 1, sizeof *s->n_crossing);
    s->hash = rp_calloc(m, sizeof *s->hash);
    s->failures = rp_calloc(m, sizeof *s->failures);
    s->first = rp_calloc(m + 1, sizeof *s->first);
    s->live_at = rp_calloc(m + 1, sizeof *s->live_at);
    s->floor_item = rp_calloc(m, sizeof *s->floor_item);
    s->low = rp_calloc(n, sizeof *s->low);
    s->offset = rp_calloc(n, sizeof *s->offset);
    s->skipped_at = rp_calloc(n, sizeof *s->skipped_at);
    s->tag = rp_calloc(n, sizeof *s->tag);
    s->n_floors = rp_calloc(n, sizeof *s->n_floors);
    s->placed = rp_calloc(n, sizeof *s->placed);
    uint64_t random = 0;
    for (uint32_t i = 0; i < n; i++) {
        s->tag[i] = rp_splitmix64(&random);
        s->skipped_at[i] = RP_NOT_SKIPPED;
        for (uint32_t t = p->items[i].lo; t < p->items[i].hi; t++) {
            s->unplaced_size[t] += p->items[i].size;
            s->n_live[t]++;
            s->n_crossing[t] += t > p->items[i].lo;
            s->hash[t] ^= s->tag[i];
        }
    }
    index_sections(s);
    for (uint32_t t = 0; t < m; t++) {
        s->floor_item[t] = s->live[s->live_at[t]];
        s->n_floors[s->floor_item[t]]++;
    }
}

void rp_partial_fini(struct rp_partial *s) {
    free(s->floor);
    free(s->unplaced_size);
    free(s->n_live);
    free(s->n_crossing);
    free(s->hash);
    free(s->failures);
    free(s->first);
    free(s->live);
    free(s->live_at);
    free(s->floor_item);
    free(s->low);
    free(s->offset);
    free(s->skipped_at);
    free(s->tag);
    free(s->n_floors);
    free(s->placed);
    free(s->trail.at);
    free(s->skipped.at);
    free(s->stale.at);
}

static void set(struct rp_partial *s, uint64_t *at, uint64_t value) {
    struct rp_partial_change c = {at, *at};
    rp_push(&s->trail, c);
    *at = value;
}

struct rp_partial_mark rp_partial_mark(const struct rp_partial *s) {
    return (struct rp_partial_mark){s->trail.n, s->skipped.n};
}

static void take_out(struct rp_partial *s, uint32_t item) {
    const struct rp_pack_item *x = &s->p->items[item];
    s->placed[item] = false;
    for (uint32_t t = x->lo; t < x->hi; t++) {
        s->floor[t] = s->offset[item];
        s->unplaced_size[t] += x->size;
        s->n_live[t]++;
        s->n_crossing[t] += t > x->lo;
        s->hash[t] ^= s->tag[item];
    }
}

void rp_partial_undo(struct rp_partial *s, struct rp_partial_mark mark) {
    s->work->done += s->trail.n - mark.n_trail;
    while (s->trail.n > mark.n_trail) {
        struct rp_partial_change c = s->trail.at[--s->trail.n];
        if (c.at == NULL)
            take_out(s, (uint32_t)c.old);
        else
            *c.at = c.old;
    }
    s->skipped.n = mark.n_skipped;
}

static void set_low(struct rp_partial *s, uint32_t item, uint64_t low) {
    set(s, &s->low[item], low);
    if (s->n_floors[item] > 0)
        rp_push(&s->stale, item);
}

/* `item` is live together with one that was placed at [at, end). */
static void move_above(struct rp_partial *s, uint32_t item, uint64_t at, uint64_t end) {
    if (s->placed[item])
        return;
    if (s->low[item] < end)
        set_low(s, item, end);
    if (s->skipped_at[item] != RP_NOT_SKIPPED &&
        at < s->skipped_at[item] + s->p->items[item].size)
        set(s, &s->skipped_at[item], RP_NOT_SKIPPED);
}

void rp_partial_place(struct rp_partial *s, uint32_t item) {
    const struct rp_pack_item *x = &s->p->items[item];
    uint64_t at = s->low[item], end = at + x->size;
    struct rp_partial_change placed = {NULL, item};
    rp_push(&s->trail, placed);
    s->placed[item] = true;
    s->offset[item] = at;
    if (s->n_floors[item] > 0)
        rp_push(&s->stale, item);
    for (uint32_t t = x->lo; t < x->hi; t++) {
        s->floor[t] = end;
        s->unplaced_size[t] -= x->size;
        s->n_live[t]--;
        s->n_crossing[t] -= t > x->lo;
        s->hash[t] ^= s->tag[item];
    }
    for (uint32_t k = s->live_at[x->lo]; k < s->live_at[x->lo + 1]; k++)
        move_above(s, s->live[k], at, end);
    for (uint32_t i = s->first[x->lo + 1]; i < s->first[x->hi]; i++)
        move_above(s, i, at, end);
    s->work->done += x->hi - x->lo + s->live_at[x->lo + 1] - s->live_at[x->lo] +
                     s->first[x->hi] - s->first[x->lo];
}

void rp_partial_leave_gap(struct rp_partial *s, uint32_t t, uint64_t level) {
    uint64_t before = s->floor[t];
    set(s, &s->floor[t], level);
    for (uint32_t k = s->live_at[t]; k < s->live_at[t + 1]; k++) {
        uint32_t i = s->live[k];
        if (s->placed[i])
            continue;
        if (s->low[i] == before && s->skipped_at[i] == RP_NOT_SKIPPED) {
            set(s, &s->skipped_at[i], before);
            rp_push(&s->skipped, i);
        }
        if (s->low[i] < level)
            set_low(s, i, level);
    }
    s->work->done += s->live_at[t + 1] - s->live_at[t];
}

/* The unplaced item of section t with the least low; n_live[t] > 0. `before`, if not
 * RP_NO_ITEM, is that of section t - 1. */
static uint32_t find_floor_item(struct rp_partial *s, uint32_t t, uint32_t before) {
    uint64_t min_low = UINT64_MAX;
    uint32_t found = RP_NO_ITEM;
    if (before != RP_NO_ITEM && rp_is_live(&s->p->items[before], t)) {
        /* The other items that are live in t - 1 too are no lower. */
        found = before;
        min_low = s->low[before];
        for (uint32_t i = s->first[t]; i < s->first[t + 1]; i++)
            if (!s->placed[i] && s->low[i] < min_low) {
                min_low = s->low[i];
                found = i;
            }
        s->work->done += s->first[t + 1] - s->first[t];
        return found;
    }
    uint32_t k = s->live_at[t];
    for (; k < s->live_at[t + 1] && min_low > s->floor[t]; k++) {
        uint32_t i = s->live[k];
        if (!s->placed[i] && s->low[i] < min_low) {
            min_low = s->low[i];
            found = i;
        }
    }
    s->work->done += k - s->live_at[t];
    return found;
}

/* The floor item of t is stale. False if the section is over the goal now. */
static bool update_floor(struct rp_partial *s, uint32_t t, uint32_t before) {
    uint32_t old = (uint32_t)s->floor_item[t], new = find_floor_item(s, t, before);
    if (new != old) {
        set(s, &s->floor_item[t], new);
        set(s, &s->n_floors[old], s->n_floors[old] - 1);
        set(s, &s->n_floors[new], s->n_floors[new] + 1);
    }
    if (s->low[new] > s->floor[t])
        set(s, &s->floor[t], s->low[new]);
    if (s->floor[t] + s->unplaced_size[t] <= s->goal)
        return true;
    s->failures[t]++;
    return false;
}

static bool update_floors_of(struct rp_partial *s, uint32_t item) {
    const struct rp_pack_item *x = &s->p->items[item];
    uint32_t before = RP_NO_ITEM;
    s->work->done += x->hi - x->lo;
    for (uint32_t t = x->lo; t < x->hi; t++) { /* of those that it is the floor item of */
        if (s->floor_item[t] != item || s->n_live[t] == 0 ||
            (!s->placed[item] && s->low[item] <= s->floor[t])) {
            before = RP_NO_ITEM;
            continue;
        }
        if (!update_floor(s, t, before))
            return false;
        before = (uint32_t)s->floor_item[t];
    }
    return true;
}

bool rp_partial_raise_floors(struct rp_partial *s) {
    bool ok = true;
    for (size_t k = 0; k < s->stale.n && ok; k++)
        ok = update_floors_of(s, s->stale.at[k]);
    s->stale.n = 0;
    return ok;
}

/* Can another item still be placed below `limit` where x is live? */
static bool can_block(struct rp_partial *s, const struct rp_pack_item *x, uint64_t limit) {
    for (uint32_t t = x->lo; t < x->hi; t++) /* this mostly finds one */
        if (s->n_live[t] > 0 && s->floor[t] < limit) {
            const struct rp_pack_item *y = &s->p->items[s->floor_item[t]];
            if (y != x && !s->placed[s->floor_item[t]] && s->low[s->floor_item[t]] < limit)
                return true;
        }
    s->work->done += x->hi - x->lo;
    for (uint32_t k = s->live_at[x->lo]; k < s->live_at[x->lo + 1]; k++)
        if (!s->placed[s->live[k]] && s->low[s->live[k]] < limit &&
            &s->p->items[s->live[k]] != x)
            return true;
    for (uint32_t i = s->first[x->lo + 1]; i < s->first[x->hi]; i++)
        if (!s->placed[i] && s->low[i] < limit)
            return true;
    s->work->done += s->first[x->hi] - s->first[x->lo];
    return false;
}

bool rp_partial_is_dominated(struct rp_partial *s, uint32_t begin, uint32_t end) {
    s->work->done += s->skipped.n;
    for (size_t k = 0; k < s->skipped.n; k++) {
        uint32_t i = s->skipped.at[k];
        const struct rp_pack_item *x = &s->p->items[i];
        if (s->placed[i] || s->skipped_at[i] == RP_NOT_SKIPPED || x->lo < begin ||
            x->hi > end)
            continue;
        if (!can_block(s, x, s->skipped_at[i] + x->size))
            return true;
    }
    return false;
}
