#include "pack/partial.h"

#include <stdlib.h>

#include "base/mem.h"

/* Items by section, and where each section's first item is. */
static void index_sections(struct pack_partial *s) {
    const struct pack_component *p = s->p;
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

void rp_pack_partial_init(struct pack_partial *s, const struct pack_component *p,
                          struct pack_work *work) {
    uint32_t n = p->n, m = p->n_sections;
    *s = (struct pack_partial){.p = p, .work = work};
    s->floor = rp_calloc(m, sizeof *s->floor);
    s->rest = rp_calloc(m, sizeof *s->rest);
    s->n_live = rp_calloc(m, sizeof *s->n_live);
    s->n_cross = rp_calloc(m + 1, sizeof *s->n_cross);
    s->digest = rp_calloc(m, sizeof *s->digest);
    s->failures = rp_calloc(m, sizeof *s->failures);
    s->first = rp_calloc(m + 1, sizeof *s->first);
    s->live_at = rp_calloc(m + 1, sizeof *s->live_at);
    s->witness = rp_calloc(m, sizeof *s->witness);
    s->low = rp_calloc(n, sizeof *s->low);
    s->offset = rp_calloc(n, sizeof *s->offset);
    s->passed = rp_calloc(n, sizeof *s->passed);
    s->tag = rp_calloc(n, sizeof *s->tag);
    s->n_witnessed = rp_calloc(n, sizeof *s->n_witnessed);
    s->placed = rp_calloc(n, sizeof *s->placed);
    uint64_t random = 0;
    for (uint32_t i = 0; i < n; i++) {
        s->tag[i] = pack_random(&random);
        s->passed[i] = PACK_NOT_PASSED;
        for (uint32_t t = p->items[i].lo; t < p->items[i].hi; t++) {
            s->rest[t] += p->items[i].size;
            s->n_live[t]++;
            s->n_cross[t] += t > p->items[i].lo;
            s->digest[t] ^= s->tag[i];
        }
    }
    index_sections(s);
    for (uint32_t t = 0; t < m; t++) {
        s->witness[t] = s->live[s->live_at[t]];
        s->n_witnessed[s->witness[t]]++;
    }
}

void rp_pack_partial_fini(struct pack_partial *s) {
    free(s->floor);
    free(s->rest);
    free(s->n_live);
    free(s->n_cross);
    free(s->digest);
    free(s->failures);
    free(s->first);
    free(s->live);
    free(s->live_at);
    free(s->witness);
    free(s->low);
    free(s->offset);
    free(s->passed);
    free(s->tag);
    free(s->n_witnessed);
    free(s->placed);
    free(s->trail.at);
    free(s->passed_over.at);
    free(s->moved.at);
}

static void set(struct pack_partial *s, uint64_t *at, uint64_t value) {
    struct pack_change c = {at, *at};
    rp_push(&s->trail, c);
    *at = value;
}

struct pack_mark rp_pack_mark(const struct pack_partial *s) {
    return (struct pack_mark){s->trail.n, s->passed_over.n};
}

static void take_back(struct pack_partial *s, uint32_t item) {
    const struct pack_item *x = &s->p->items[item];
    s->placed[item] = false;
    for (uint32_t t = x->lo; t < x->hi; t++) {
        s->floor[t] = s->offset[item];
        s->rest[t] += x->size;
        s->n_live[t]++;
        s->n_cross[t] += t > x->lo;
        s->digest[t] ^= s->tag[item];
    }
}

void rp_pack_undo(struct pack_partial *s, struct pack_mark mark) {
    s->work->done += s->trail.n - mark.trail;
    while (s->trail.n > mark.trail) {
        struct pack_change c = s->trail.at[--s->trail.n];
        if (c.at == NULL)
            take_back(s, (uint32_t)c.old);
        else
            *c.at = c.old;
    }
    s->passed_over.n = mark.passed_over;
}

static void set_low(struct pack_partial *s, uint32_t item, uint64_t low) {
    set(s, &s->low[item], low);
    if (s->n_witnessed[item] > 0)
        rp_push(&s->moved, item);
}

/* An item that is live together with one that was put at [at, end). */
static void make_way(struct pack_partial *s, uint32_t item, uint64_t at, uint64_t end) {
    if (s->placed[item])
        return;
    if (s->low[item] < end)
        set_low(s, item, end);
    if (s->passed[item] != PACK_NOT_PASSED && at < s->passed[item] + s->p->items[item].size)
        set(s, &s->passed[item], PACK_NOT_PASSED);
}

void rp_pack_put(struct pack_partial *s, uint32_t item) {
    const struct pack_item *x = &s->p->items[item];
    uint64_t at = s->low[item], end = at + x->size;
    struct pack_change put = {NULL, item};
    rp_push(&s->trail, put);
    s->placed[item] = true;
    s->offset[item] = at;
    if (s->n_witnessed[item] > 0)
        rp_push(&s->moved, item);
    for (uint32_t t = x->lo; t < x->hi; t++) {
        s->floor[t] = end;
        s->rest[t] -= x->size;
        s->n_live[t]--;
        s->n_cross[t] -= t > x->lo;
        s->digest[t] ^= s->tag[item];
    }
    for (uint32_t k = s->live_at[x->lo]; k < s->live_at[x->lo + 1]; k++)
        make_way(s, s->live[k], at, end);
    for (uint32_t i = s->first[x->lo + 1]; i < s->first[x->hi]; i++)
        make_way(s, i, at, end);
    s->work->done += x->hi - x->lo + s->live_at[x->lo + 1] - s->live_at[x->lo] +
                     s->first[x->hi] - s->first[x->lo];
}

void rp_pack_skip_to(struct pack_partial *s, uint32_t t, uint64_t level) {
    uint64_t before = s->floor[t];
    set(s, &s->floor[t], level);
    for (uint32_t k = s->live_at[t]; k < s->live_at[t + 1]; k++) {
        uint32_t i = s->live[k];
        if (s->placed[i])
            continue;
        if (s->low[i] == before && s->passed[i] == PACK_NOT_PASSED) {
            set(s, &s->passed[i], before);
            rp_push(&s->passed_over, i);
        }
        if (s->low[i] < level)
            set_low(s, i, level);
    }
    s->work->done += s->live_at[t + 1] - s->live_at[t];
}

/* The item to come in section t with the least low; n_live[t] > 0. `before`, if not
 * PACK_NO_ITEM, is that of section t - 1. */
static uint32_t find_witness(struct pack_partial *s, uint32_t t, uint32_t before) {
    uint64_t least = UINT64_MAX;
    uint32_t witness = PACK_NO_ITEM;
    if (before != PACK_NO_ITEM && pack_covers(&s->p->items[before], t)) {
        /* the others that came from t - 1 are no lower */
        witness = before;
        least = s->low[before];
        for (uint32_t i = s->first[t]; i < s->first[t + 1]; i++)
            if (!s->placed[i] && s->low[i] < least) {
                least = s->low[i];
                witness = i;
            }
        s->work->done += s->first[t + 1] - s->first[t];
        return witness;
    }
    uint32_t k = s->live_at[t];
    for (; k < s->live_at[t + 1] && least > s->floor[t]; k++) {
        uint32_t i = s->live[k];
        if (!s->placed[i] && s->low[i] < least) {
            least = s->low[i];
            witness = i;
        }
    }
    s->work->done += k - s->live_at[t];
    return witness;
}

/* The witness of t has moved. False if the section is over the goal now. */
static bool settle_section(struct pack_partial *s, uint32_t t, uint32_t before) {
    uint32_t old = (uint32_t)s->witness[t], new = find_witness(s, t, before);
    if (new != old) {
        set(s, &s->witness[t], new);
        set(s, &s->n_witnessed[old], s->n_witnessed[old] - 1);
        set(s, &s->n_witnessed[new], s->n_witnessed[new] + 1);
    }
    if (s->low[new] > s->floor[t])
        set(s, &s->floor[t], s->low[new]);
    if (s->floor[t] + s->rest[t] <= s->goal)
        return true;
    s->failures[t]++;
    return false;
}

static bool settle_item(struct pack_partial *s, uint32_t item) {
    const struct pack_item *x = &s->p->items[item];
    uint32_t before = PACK_NO_ITEM;
    s->work->done += x->hi - x->lo;
    for (uint32_t t = x->lo; t < x->hi; t++) {
        if (s->witness[t] != item || s->n_live[t] == 0 ||
            (!s->placed[item] && s->low[item] <= s->floor[t])) {
            before = PACK_NO_ITEM;
            continue;
        }
        if (!settle_section(s, t, before))
            return false;
        before = (uint32_t)s->witness[t];
    }
    return true;
}

bool rp_pack_raise_floors(struct pack_partial *s) {
    bool ok = true;
    for (size_t k = 0; k < s->moved.n && ok; k++)
        ok = settle_item(s, s->moved.at[k]);
    s->moved.n = 0;
    return ok;
}

/* Can something still be put below `limit` where x is live? */
static bool can_block(struct pack_partial *s, const struct pack_item *x, uint64_t limit) {
    for (uint32_t t = x->lo; t < x->hi; t++) /* most often one look is enough */
        if (s->n_live[t] > 0 && s->floor[t] < limit) {
            const struct pack_item *y = &s->p->items[s->witness[t]];
            if (y != x && !s->placed[s->witness[t]] && s->low[s->witness[t]] < limit)
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

bool rp_pack_passes_hold(struct pack_partial *s, uint32_t begin, uint32_t end) {
    s->work->done += s->passed_over.n;
    for (size_t k = 0; k < s->passed_over.n; k++) {
        uint32_t i = s->passed_over.at[k];
        const struct pack_item *x = &s->p->items[i];
        if (s->placed[i] || s->passed[i] == PACK_NOT_PASSED || x->lo < begin || x->hi > end)
            continue;
        if (!can_block(s, x, s->passed[i] + x->size))
            return false;
    }
    return true;
}
