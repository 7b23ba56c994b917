/* Exact search for a placement at or below a goal.
 *
 * A branching works on one section t of a valley: a run of sections with equal floors
 * between higher ones. The lowest item to come in t either lies on the floor, and then it
 * is one of the items whose whole life is in the valley, or the floor of t can be raised to
 * the next level at which an item of t could rest. So the branches are few, they are
 * complete, and the section with the fewest is taken, whichever valley it is in: forced
 * moves come first. The placements considered are the ones in which every item rests on
 * another or on the ground ("canonical solutions" in M. D. Moffitt, "MiniMalloc: A
 * Lightweight Memory Allocator for Hardware-Accelerated Machine Learning", ASPLOS 2023,
 * which also splits what has fallen apart and prunes by section sums, but orders all
 * placements by offset).
 *
 * The time to a solution varies wildly with the order of the branches, so the search is
 * restarted with other orders after a number of nodes that follows Luby's sequence (Luby,
 * Sinclair, Zuckerman, "Optimal speedup of Las Vegas algorithms", 1993). What is learned
 * from one attempt to the next is where it failed: sections that were over the goal often
 * are branched on early, as in "Boosting systematic search by weighting constraints"
 * (Boussemart, Hemery, Lecoutre, Sais, 2004).
 */
#include <stdlib.h>

#include "base/mem.h"
#include "pack/partial.h"

enum choose_by { BY_FAILURES, BY_SLACK };

struct valley {
    uint32_t begin, end; /* sections */
    uint64_t wall;       /* the lower of the floors beside it; UINT64_MAX: none */
};

/* Where to branch in a valley, and what was known of the valley when that was found. */
struct pick {
    uint64_t key;
    uint64_t score; /* the lower the better; 0: forced */
    uint32_t section;
    bool may_raise;
};

struct pack_branch_bound {
    struct pack_partial state;
    enum choose_by choose_by;
    uint32_t *rank;     /* by item: lower is tried first */
    struct pick *picks; /* by first section of a valley: the last one found */
    uint32_t *change;   /* by section, scratch, all 0 */
    struct {
        uint32_t *at;
        size_t n, cap;
    } branches; /* of all open nodes */
    uint64_t nodes, max_nodes;
    uint32_t depth;
};

/* Deep enough for every part that is searched, small enough for the stack. */
enum { MAX_DEPTH = 20000, MAX_ITEMS = 10000 };
#define MAX_LIVE UINT64_C(30000000)

static enum pack_found solve(struct pack_branch_bound *q, uint32_t begin, uint32_t end);

static uint64_t score(const struct pack_branch_bound *q, uint32_t t, uint32_t options,
                      uint64_t slack) {
    uint64_t parts = slack / (q->state.goal / 1024 + 1); /* slack in 1024ths of the goal */
    if (options <= 1)
        return 0;
    if (q->choose_by == BY_SLACK)
        return ((uint64_t)options << 7) + parts;
    return ((uint64_t)options << 20) / (q->state.failures[t] + 1) + 1;
}

/* The best section of a valley to branch on, by what is known inside it. */
static struct pick rate(struct pack_branch_bound *q, const struct valley *v) {
    const struct pack_partial *s = &q->state;
    struct pick best = {.score = UINT64_MAX};
    uint64_t smallest = UINT64_MAX;
    uint32_t n = 0;
    for (uint32_t i = s->first[v->begin]; i < s->first[v->end]; i++) {
        const struct pack_item *x = &s->p->items[i];
        if (s->placed[i] || x->hi > v->end)
            continue;
        q->change[x->lo]++;
        q->change[x->hi]--; /* wraps; the running count does not */
        if (x->size < smallest)
            smallest = x->size;
    }
    for (uint32_t t = v->begin; t < v->end; t++) {
        uint64_t slack = s->goal - s->floor[t] - s->rest[t];
        bool may_raise =
            smallest <= slack || (v->wall != UINT64_MAX && v->wall - s->floor[t] <= slack);
        n += q->change[t];
        q->change[t] = 0;
        uint64_t value = score(q, t, n + may_raise, slack);
        if (value < best.score)
            best = (struct pick){0, value, t, may_raise};
    }
    q->change[v->end] = 0;
    s->work->done += s->first[v->end] - s->first[v->begin] + v->end - v->begin;
    return best;
}

/* The next level at which the lowest item to come in section t could rest if not on the
 * floor; UINT64_MAX if there is none. An item whose life is inside the valley can rest on
 * one that is not live in t; the others begin at the valley's walls or higher. */
static uint64_t next_level(const struct pack_branch_bound *q, const struct valley *v,
                           uint32_t t) {
    const struct pack_partial *s = &q->state;
    uint64_t level = UINT64_MAX;
    uint32_t lo = t, hi = t + 1; /* span of the items inside the valley */
    for (uint32_t k = s->live_at[t]; k < s->live_at[t + 1]; k++) {
        const struct pack_item *x = &s->p->items[s->live[k]];
        if (s->placed[s->live[k]])
            continue;
        if (x->lo < v->begin || x->hi > v->end) {
            if (s->low[s->live[k]] < level)
                level = s->low[s->live[k]];
            continue;
        }
        lo = x->lo < lo ? x->lo : lo;
        hi = x->hi > hi ? x->hi : hi;
    }
    for (uint32_t k = s->live_at[lo]; k < s->live_at[lo + 1]; k++) {
        uint32_t i = s->live[k];
        if (!s->placed[i] && !pack_covers(&s->p->items[i], t) &&
            s->low[i] + s->p->items[i].size < level)
            level = s->low[i] + s->p->items[i].size;
    }
    for (uint32_t i = s->first[lo + 1]; i < s->first[hi]; i++)
        if (!s->placed[i] && !pack_covers(&s->p->items[i], t) &&
            s->low[i] + s->p->items[i].size < level)
            level = s->low[i] + s->p->items[i].size;
    s->work->done += s->live_at[t + 1] - s->live_at[t] + s->live_at[lo + 1] -
                     s->live_at[lo] + s->first[hi] - s->first[lo];
    return level;
}

static uint64_t mix(uint64_t key, uint64_t x) {
    return (key ^ x) * UINT64_C(0x9e3779b97f4a7c15) ^ (key >> 29);
}

/* The valley that starts at *t (of a component that ends at `end`), or false if the run of
 * equal floors there is none. *t moves on; *key tells valleys apart. */
static bool next_valley(const struct pack_branch_bound *q, uint32_t begin, uint32_t end,
                        uint32_t *t, struct valley *v, uint64_t *key) {
    const struct pack_partial *s = &q->state;
    uint64_t floor = s->floor[*t];
    *v = (struct valley){*t, *t, UINT64_MAX};
    *key = floor;
    for (; *t < end && s->floor[*t] == floor; ++*t)
        *key = mix(*key, s->digest[*t]);
    v->end = *t;
    if (v->begin > begin)
        v->wall = s->floor[v->begin - 1];
    if (v->end < end && s->floor[v->end] < v->wall)
        v->wall = s->floor[v->end];
    *key = mix(*key, v->wall);
    return v->wall > floor;
}

struct branching {
    struct valley valley;
    uint32_t section;
    uint64_t level; /* to raise it to; UINT64_MAX: not possible */
};

/* The section to branch on in the component [begin, end). */
static struct branching choose(struct pack_branch_bound *q, uint32_t begin, uint32_t end) {
    struct branching best = {.level = UINT64_MAX};
    uint64_t best_score = UINT64_MAX, key;
    struct valley v;
    q->state.work->done += end - begin;
    for (uint32_t t = begin; t < end && best_score > 0;) {
        if (!next_valley(q, begin, end, &t, &v, &key))
            continue;
        struct pick *pick = &q->picks[v.begin];
        if (pick->key != key) {
            *pick = rate(q, &v);
            pick->key = key;
        }
        if (pick->score >= best_score)
            continue;
        best = (struct branching){v, pick->section, UINT64_MAX};
        best_score = pick->score;
        if (pick->may_raise) {
            uint64_t level = next_level(q, &v, pick->section);
            if (level != UINT64_MAX &&
                level + q->state.rest[pick->section] <= q->state.goal)
                best.level = level;
        }
    }
    return best;
}

/* Pushes the items that can lie on the floor of the section, by rank. */
static void list_branches(struct pack_branch_bound *q, const struct branching *b) {
    const struct pack_partial *s = &q->state;
    size_t first = q->branches.n;
    for (uint32_t k = s->live_at[b->section]; k < s->live_at[b->section + 1]; k++) {
        uint32_t i = s->live[k];
        const struct pack_item *x = &s->p->items[i];
        if (s->placed[i] || x->lo < b->valley.begin || x->hi > b->valley.end)
            continue;
        rp_push(&q->branches, i);
        uint32_t *at = q->branches.at + q->branches.n - 1;
        for (; at > q->branches.at + first && q->rank[at[-1]] > q->rank[i]; at--)
            *at = at[-1];
        *at = i;
    }
    s->work->done += s->live_at[b->section + 1] - s->live_at[b->section];
}

/* A component: sections [begin, end), settled, that items to come hold together. */
static enum pack_found branch(struct pack_branch_bound *q, uint32_t begin, uint32_t end) {
    struct pack_partial *s = &q->state;
    if (++q->nodes > q->max_nodes || s->work->done >= s->work->limit ||
        q->depth >= MAX_DEPTH)
        return PACK_STOPPED;
    if (!rp_pack_passes_hold(s, begin, end))
        return PACK_NO;
    struct branching b = choose(q, begin, end);
    size_t first = q->branches.n;
    enum pack_found found = PACK_NO;
    list_branches(q, &b);
    size_t last = q->branches.n;
    q->depth++;
    for (size_t k = first; k < last && found == PACK_NO; k++) {
        struct pack_mark mark = rp_pack_mark(s);
        rp_pack_put(s, q->branches.at[k]);
        found = solve(q, begin, end);
        if (found != PACK_YES)
            rp_pack_undo(s, mark);
    }
    if (found == PACK_NO && b.level != UINT64_MAX) {
        struct pack_mark mark = rp_pack_mark(s);
        rp_pack_skip_to(s, b.section, b.level);
        found = solve(q, begin, end);
        if (found != PACK_YES)
            rp_pack_undo(s, mark);
    }
    q->depth--;
    q->branches.n = first;
    return found;
}

/* Places all items to come in sections [begin, end), one component after the other: they
 * have nothing to do with each other. What was placed is undone by the caller. */
static enum pack_found solve(struct pack_branch_bound *q, uint32_t begin, uint32_t end) {
    const struct pack_partial *s = &q->state;
    enum pack_found found = PACK_YES;
    if (!rp_pack_raise_floors(&q->state))
        return PACK_NO;
    while (begin < end && found == PACK_YES) {
        uint32_t stop = begin + 1;
        while (stop < end && s->n_cross[stop] > 0)
            stop++;
        if (s->n_live[begin] > 0)
            found = branch(q, begin, stop);
        begin = stop;
    }
    return found;
}

/* One attempt from an empty arena. What was found stays in state.offset. */
static enum pack_found attempt(struct pack_branch_bound *q, uint64_t goal,
                               uint64_t max_nodes) {
    struct pack_mark mark = rp_pack_mark(&q->state);
    q->state.goal = goal;
    q->nodes = 0;
    q->max_nodes = max_nodes;
    enum pack_found found = solve(q, 0, q->state.p->n_sections);
    rp_pack_undo(&q->state, mark);
    return found;
}

/* Orders in which branches are tried: the larger key first. */
enum order { LARGE, AREA, LONG, LONG_FLAT, N_ORDERS };

struct key {
    unsigned __int128 value;
    uint32_t item;
};

static int by_value(const void *x, const void *y) {
    const struct key *a = x, *b = y;
    if (a->value != b->value)
        return a->value > b->value ? -1 : 1;
    return a->item < b->item ? -1 : a->item > b->item;
}

/* With `random`, every key is multiplied by a factor of 1/2 .. 3/2. */
static void set_rank(struct pack_branch_bound *q, enum order order, uint64_t *random) {
    const struct pack_component *p = q->state.p;
    struct key *keys = rp_calloc(p->n, sizeof *keys);
    for (uint32_t i = 0; i < p->n; i++) {
        uint64_t length = p->items[i].hi - p->items[i].lo, size = p->items[i].size;
        unsigned __int128 key = size;
        if (order == LONG)
            key = length;
        else if (order == LONG_FLAT) /* the larger of two equally long ones first */
            key = ((unsigned __int128)length << 64) + size;
        else if (order == AREA)
            key = (unsigned __int128)length * size;
        keys[i].item = i;
        keys[i].value = random == NULL ? key : key * (512 + pack_random(random) % 1024);
    }
    qsort(keys, p->n, sizeof *keys, by_value);
    for (uint32_t i = 0; i < p->n; i++)
        q->rank[keys[i].item] = i;
    free(keys);
}

/* 1 1 2 1 1 2 4 1 1 2 1 1 2 4 8 ..., from k = 1. */
static uint64_t luby(uint32_t k) {
    for (uint32_t span = 1;; span = 1) {
        while (2 * span + 1 <= k)
            span = 2 * span + 1;
        if (span == k)
            return (span + 1) / 2;
        k -= span;
    }
}

static bool small_enough(const struct pack_component *p) {
    uint64_t live = 0;
    for (uint32_t i = 0; i < p->n; i++)
        live += p->items[i].hi - p->items[i].lo;
    return p->n <= MAX_ITEMS && live <= MAX_LIVE;
}

/* Every second attempt aims at less than the goal asks for, between the best and the bound,
 * nearer to the best after each failure: on parts that cannot reach the goal, or not in
 * time, every bit counts. */
static uint64_t next_goal(const struct pack_component *p, uint64_t goal) {
    return p->n_searches % 2 == 0 ? pack_min(p, goal)
                                  : pack_step_down(p, goal, p->n_failed_searches);
}

static void try_once(struct pack_branch_bound *q, struct pack_component *p, uint64_t goal) {
    uint32_t turn = p->n_searches / 6; /* two aims; by failures twice, by slack once */
    uint64_t aim = next_goal(p, goal);
    q->choose_by = p->n_searches / 2 % 3 < 2 ? BY_FAILURES : BY_SLACK;
    set_rank(q, (enum order)(turn % N_ORDERS), turn < N_ORDERS ? NULL : &p->random);
    enum pack_found found = attempt(q, aim, luby(turn + 1) * (200 + 2 * p->n));
    p->n_searches++;
    p->n_failed_searches = found == PACK_STOPPED ? p->n_failed_searches + 1 : 1;
    if (found == PACK_YES)
        rp_pack_record_placement(p, q->state.offset);
    else if (found == PACK_NO)
        p->bound = aim + 1;
}

static struct pack_branch_bound *search_new(const struct pack_component *p,
                                            struct pack_work *work) {
    struct pack_branch_bound *q = rp_calloc(1, sizeof *q);
    rp_pack_partial_init(&q->state, p, work);
    q->rank = rp_calloc(p->n, sizeof *q->rank);
    q->picks = rp_calloc(p->n_sections, sizeof *q->picks);
    q->change = rp_calloc(p->n_sections + 1, sizeof *q->change);
    return q;
}

void rp_pack_branch_bound_free(struct pack_branch_bound *q) {
    if (q == NULL)
        return;
    rp_pack_partial_fini(&q->state);
    free(q->rank);
    free(q->picks);
    free(q->change);
    free(q->branches.at);
    free(q);
}

void rp_pack_branch_bound(struct pack_component *p, uint64_t goal, struct pack_work *work) {
    if (p->search == NULL && !small_enough(p))
        return;
    if (p->search == NULL)
        p->search = search_new(p, work);
    while (p->height > pack_min(p, goal) && work->done < work->limit)
        try_once(p->search, p, goal);
}
