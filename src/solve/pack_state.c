#include "solve/pack_state.h"

#include <stdlib.h>

#include "base/mem.h"

/* Items by section, and where each section's first item is. */
static void index_sections(struct pack_state *s) {
    const struct pack_part *p = s->p;
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

void rp_pack_state_init(struct pack_state *s, const struct pack_part *p,
                        struct pack_work *work) {
    uint32_t n = p->n, m = p->n_sections;
    *s = (struct pack_state){.p = p, .work = work};
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
    for (uint32_t t = 0; t < m; t++)
        s->witness[t] = s->live[s->live_at[t]];
}

void rp_pack_state_fini(struct pack_state *s) {
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
    free(s->placed);
    free(s->trail.at);
    free(s->passed_over.at);
}

static void set(struct pack_state *s, uint64_t *at, uint64_t value) {
    struct pack_change c = {at, *at};
    rp_push(&s->trail, c);
    *at = value;
}

struct pack_mark rp_pack_mark(const struct pack_state *s) {
    return (struct pack_mark){s->trail.n, s->passed_over.n};
}

static void take_back(struct pack_state *s, uint32_t item) {
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

void rp_pack_undo(struct pack_state *s, struct pack_mark mark) {
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

/* An item that is live together with one that was put at [at, end). */
static void make_way(struct pack_state *s, uint32_t item, uint64_t at, uint64_t end) {
    if (s->placed[item])
        return;
    if (s->low[item] < end)
        set(s, &s->low[item], end);
    if (s->passed[item] != PACK_NOT_PASSED && at < s->passed[item] + s->p->items[item].size)
        set(s, &s->passed[item], PACK_NOT_PASSED);
}

void rp_pack_put(struct pack_state *s, uint32_t item) {
    const struct pack_item *x = &s->p->items[item];
    uint64_t at = s->low[item], end = at + x->size;
    struct pack_change put = {NULL, item};
    rp_push(&s->trail, put);
    s->placed[item] = true;
    s->offset[item] = at;
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

void rp_pack_raise(struct pack_state *s, uint32_t t, uint64_t level) {
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
            set(s, &s->low[i], level);
    }
    s->work->done += s->live_at[t + 1] - s->live_at[t];
}

/* Makes witness[t] the item to come with the least low. */
static void find_witness(struct pack_state *s, uint32_t t) {
    uint64_t least = UINT64_MAX;
    for (uint32_t k = s->live_at[t]; k < s->live_at[t + 1] && least > s->floor[t]; k++) {
        uint32_t i = s->live[k];
        s->work->done++;
        if (!s->placed[i] && s->low[i] < least) {
            least = s->low[i];
            s->witness[t] = i;
        }
    }
}

bool rp_pack_settle(struct pack_state *s, uint32_t begin, uint32_t end) {
    s->work->done += end - begin;
    for (uint32_t t = begin; t < end; t++) {
        if (s->n_live[t] == 0)
            continue;
        if (s->placed[s->witness[t]] || s->low[s->witness[t]] > s->floor[t])
            find_witness(s, t);
        if (s->low[s->witness[t]] > s->floor[t])
            set(s, &s->floor[t], s->low[s->witness[t]]);
        if (s->floor[t] + s->rest[t] > s->goal) {
            s->failures[t]++;
            return false;
        }
    }
    return true;
}

/* Can something still be put below `limit` where x is live? */
static bool can_block(struct pack_state *s, const struct pack_item *x, uint64_t limit) {
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

bool rp_pack_passes_hold(struct pack_state *s, uint32_t begin, uint32_t end) {
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
