#include "pack/component/ejection_chain.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/numbers.h"
#include "base/random.h"
#include "pack/component/interference.h"
#include "pack/component/sorted_items.h"

/* Weights begin at 1 to MAX_FIRST_WEIGHT, by area, and grow up to MAX_WEIGHT, where all are
 * halved. A sum over 2^16 of them fits in 64 bits. */
#define MAX_FIRST_WEIGHT (UINT64_C(1) << 30)
#define MAX_WEIGHT (UINT64_C(1) << 46)

/* Of the interference graph, 64 MiB. */
#define MAX_EDGES ((size_t)1 << 24)

/* Of an attempt: so many, and so many for each item. */
enum { MAX_MOVES = 1000, MAX_MOVES_PER_ITEM = 2 };

struct ejection {
    struct rp_pack_component *p;
    struct rp_pack_work *work;
    uint64_t goal, n_moves;                   /* of this attempt */
    struct rp_sorted_items by_offset, by_end; /* the placed items */
    uint64_t *offset, *weight;                /* by item */
    bool *placed;                             /* by item */
    struct rp_interference graph; /* without edges: the sorted items are scanned */
    uint32_t *neighbors;          /* the graph's edges, those of an item nearly by offset */
    uint32_t *ejected, n_ejected;
    /* Placed items that are live together with the one to insert, by offset and by end, and
     * the sums of the weights of the first so many of them. */
    uint32_t n_near, *near_offset, *near_end;
    uint64_t *sum_offset, *sum_end;
};

static uint64_t end_of(const struct ejection *e, uint32_t i) {
    return e->offset[i] + e->p->items[i].size;
}

static void insert(struct ejection *e, uint32_t i, uint64_t at) {
    e->offset[i] = at;
    e->placed[i] = true;
    if (e->graph.edges != NULL)
        return;
    rp_sorted_items_insert(&e->by_offset, &e->p->items[i], i, at);
    rp_sorted_items_insert(&e->by_end, &e->p->items[i], i, end_of(e, i));
}

static void eject(struct ejection *e, uint32_t i) {
    e->placed[i] = false;
    e->ejected[e->n_ejected++] = i;
    if (e->graph.edges != NULL)
        return;
    rp_sorted_items_remove(&e->by_offset, i, e->offset[i]);
    rp_sorted_items_remove(&e->by_end, i, end_of(e, i));
}

static void ejection_init(struct ejection *e, struct rp_pack_component *p,
                          struct rp_pack_work *work) {
    uint32_t n = p->n;
    *e = (struct ejection){.p = p, .work = work};
    rp_sorted_items_init(&e->by_offset, n);
    rp_sorted_items_init(&e->by_end, n);
    e->offset = rp_calloc(n, sizeof *e->offset);
    e->weight = rp_calloc(n, sizeof *e->weight);
    e->placed = rp_calloc(n, sizeof *e->placed);
    e->ejected = rp_calloc(n, sizeof *e->ejected);
    rp_interference_init(&e->graph, p, MAX_EDGES, work);
    if (e->graph.edges != NULL)
        e->neighbors = rp_calloc(e->graph.begin[n], sizeof *e->neighbors);
    e->near_offset = rp_calloc(n + 1, sizeof *e->near_offset);
    e->near_end = rp_calloc(n + 1, sizeof *e->near_end);
    e->sum_offset = rp_calloc(n + 1, sizeof *e->sum_offset);
    e->sum_end = rp_calloc(n + 1, sizeof *e->sum_end);
}

static void ejection_fini(struct ejection *e) {
    rp_sorted_items_fini(&e->by_offset);
    rp_sorted_items_fini(&e->by_end);
    free(e->offset);
    free(e->weight);
    free(e->placed);
    rp_interference_fini(&e->graph);
    free(e->neighbors);
    free(e->ejected);
    free(e->near_offset);
    free(e->near_end);
    free(e->sum_offset);
    free(e->sum_end);
}

/* ---- items that are live together ---- */

/* Sorts items by offset or by end, in place. They are nearly sorted already. */
static void sort_nearly(const struct ejection *e, uint32_t *items, size_t n, bool by_end) {
    for (size_t k = 1; k < n; k++) {
        uint32_t i = items[k];
        uint64_t key = by_end ? end_of(e, i) : e->offset[i];
        size_t at = k;
        for (; at > 0; at--) {
            uint32_t y = items[at - 1];
            if ((by_end ? end_of(e, y) : e->offset[y]) <= key)
                break;
            items[at] = y;
        }
        items[at] = i;
        e->work->done += 1 + k - at;
    }
}

static void find_near_by_offset(struct ejection *e, uint32_t i) {
    const struct rp_pack_item *x = &e->p->items[i];
    if (e->graph.edges == NULL) {
        e->n_near = rp_sorted_items_overlapping(&e->by_offset, 0, e->by_offset.n, x,
                                                e->near_offset);
        e->work->done += e->by_offset.n + e->n_near;
        return;
    }
    uint32_t *near = e->neighbors + e->graph.begin[i];
    size_t n = e->graph.begin[i + 1] - e->graph.begin[i];
    sort_nearly(e, near, n, false);
    e->work->done += n;
    e->n_near = 0;
    for (size_t k = 0; k < n; k++) {
        e->near_offset[e->n_near] = near[k];
        e->n_near += e->placed[near[k]];
    }
}

/* After the above. */
static void find_near_by_end(struct ejection *e, uint32_t i) {
    if (e->graph.edges == NULL) {
        rp_sorted_items_overlapping(&e->by_end, 0, e->by_end.n, &e->p->items[i],
                                    e->near_end);
        e->work->done += e->by_end.n;
        return;
    }
    memcpy(e->near_end, e->near_offset, e->n_near * sizeof *e->near_end);
    sort_nearly(e, e->near_end, e->n_near, true);
}

/* ---- attempts ---- */

static void sort_neighbors(struct ejection *e) {
    const struct rp_pack_component *p = e->p;
    struct rp_sort_key *keys = rp_calloc(p->n, sizeof *keys);
    uint32_t *order = rp_calloc(p->n, sizeof *order);
    for (uint32_t i = 0; i < p->n; i++) /* the lowest first */
        keys[i] = (struct rp_sort_key){UINT64_MAX - e->offset[i], 0, i};
    rp_sort_keys(keys, p->n);
    for (uint32_t k = 0; k < p->n; k++)
        order[k] = keys[k].item;
    rp_interference_sort(&e->graph, order, p->n, e->neighbors);
    e->work->done += e->graph.begin[p->n];
    free(order);
    free(keys);
}

static void start_from_best(struct ejection *e, uint64_t goal) {
    const struct rp_pack_component *p = e->p;
    unsigned __int128 largest = 1;
    e->goal = goal;
    memcpy(e->offset, p->best, p->n * sizeof *e->offset);
    if (e->graph.edges != NULL)
        sort_neighbors(e);
    e->n_moves = e->n_ejected = e->by_offset.n = e->by_end.n = 0;
    for (uint32_t i = 0; i < p->n; i++)
        if (rp_pack_area(&p->items[i]) > largest)
            largest = rp_pack_area(&p->items[i]);
    for (uint32_t i = 0; i < p->n; i++) {
        unsigned __int128 unit = largest / MAX_FIRST_WEIGHT + 1;
        e->weight[i] = 1 + (uint64_t)(rp_pack_area(&p->items[i]) / unit);
        e->placed[i] = false;
        if (p->best[i] + p->items[i].size + rp_pack_above(p, i) <= goal)
            insert(e, i, p->best[i]);
        else
            e->ejected[e->n_ejected++] = i;
    }
}

/* No end of item i is above this. */
static uint64_t ceiling(const struct ejection *e, uint32_t i) {
    return e->goal - rp_pack_above(e->p, i);
}

/* *at becomes the lower or the upper end of the tightest gap that holds x, by chance. False
 * if there is none. */
static bool find_gap(struct ejection *e, uint32_t i, uint64_t *at) {
    const struct rp_pack_item *x = &e->p->items[i];
    uint64_t end = rp_pack_below(e->p, i), tightest = UINT64_MAX;
    for (uint32_t k = 0; k <= e->n_near; k++) {
        uint64_t next = ceiling(e, i);
        if (k < e->n_near)
            next = rp_min_u64(next, e->offset[e->near_offset[k]]);
        if (next >= end + x->size && next - end < tightest) {
            tightest = next - end;
            *at = end;
        }
        if (k < e->n_near)
            end = rp_max_u64(end, end_of(e, e->near_offset[k]));
    }
    if (tightest != UINT64_MAX && rp_splitmix64(&e->p->random) % 2)
        *at += tightest - x->size;
    return tightest != UINT64_MAX;
}

/* Offsets are tried in ascending order, so the numbers only grow. */
struct scan {
    uint64_t best, cost; /* the cheapest offset so far */
    uint32_t n_begun;    /* of near_offset: they begin below the top of x */
    uint32_t n_ended;    /* of near_end: they end at or below the bottom of x */
};

/* Tries x at [bottom, top). What overlaps it has begun and not ended. */
static void try_offset(struct ejection *e, struct scan *s, uint64_t bottom, uint64_t top) {
    while (s->n_begun < e->n_near && e->offset[e->near_offset[s->n_begun]] < top)
        s->n_begun++;
    while (s->n_ended < e->n_near && end_of(e, e->near_end[s->n_ended]) <= bottom)
        s->n_ended++;
    uint64_t cost = e->sum_offset[s->n_begun] - e->sum_end[s->n_ended];
    if (cost < s->cost || (cost == s->cost && rp_splitmix64(&e->p->random) % 2)) {
        s->best = bottom;
        s->cost = cost;
    }
}

/* The offset where the items that overlap x weigh least: its bottom at an item's end, or
 * its top at an item's offset. */
static uint64_t cheapest_offset(struct ejection *e, uint32_t i) {
    const struct rp_pack_item *x = &e->p->items[i];
    uint64_t floor = rp_pack_below(e->p, i), top_end = ceiling(e, i);
    struct scan s = {.cost = UINT64_MAX};
    uint32_t n = e->n_near;
    for (uint32_t j = 0; j < n; j++) {
        e->sum_offset[j + 1] = e->sum_offset[j] + e->weight[e->near_offset[j]];
        e->sum_end[j + 1] = e->sum_end[j] + e->weight[e->near_end[j]];
    }
    for (uint32_t j = 0; j < n; j++) { /* there is no room on the last to end */
        uint64_t bottom = j == 0 ? floor : end_of(e, e->near_end[j - 1]);
        if (bottom + x->size > top_end)
            break;
        if (bottom >= floor)
            try_offset(e, &s, bottom, bottom + x->size);
    }
    s.n_begun = s.n_ended = 0;
    for (uint32_t j = 0; j <= n; j++) {
        uint64_t top = j == n ? top_end : e->offset[e->near_offset[j]];
        if (top >= floor + x->size && top <= top_end)
            try_offset(e, &s, top - x->size, top);
    }
    return s.best;
}

static void make_heavier(struct ejection *e, uint32_t item) {
    e->weight[item] += e->weight[item] / 8 + 1;
    if (e->weight[item] > MAX_WEIGHT)
        for (uint32_t i = 0; i < e->p->n; i++)
            e->weight[i] = e->weight[i] / 2 + 1;
}

/* Inserts one of the ejected items. */
static void move(struct ejection *e) {
    uint32_t k = (uint32_t)(rp_splitmix64(&e->p->random) % e->n_ejected), i = e->ejected[k];
    const struct rp_pack_item *x = &e->p->items[i];
    uint64_t at;
    e->ejected[k] = e->ejected[--e->n_ejected];
    find_near_by_offset(e, i);
    e->n_moves++;
    if (!find_gap(e, i, &at)) {
        make_heavier(e, i);
        find_near_by_end(e, i);
        at = cheapest_offset(e, i);
        for (uint32_t j = 0; j < e->n_near; j++) {
            uint32_t y = e->near_offset[j];
            if (e->offset[y] < at + x->size && end_of(e, y) > at)
                eject(e, y);
        }
        e->work->done += 4 * e->n_near;
    }
    insert(e, i, at);
}

void rp_pack_ejection_chain(struct rp_pack_component *p, uint64_t goal,
                            struct rp_pack_work *work) {
    struct ejection e;
    uint64_t max_moves = MAX_MOVES + MAX_MOVES_PER_ITEM * (uint64_t)p->n;
    uint64_t before = work->done;
    if (p->height <= rp_pack_reachable(p, goal))
        return;
    ejection_init(&e, p, work);
    while (p->height > rp_pack_reachable(p, goal) && !rp_pack_ended(work)) {
        start_from_best(&e, rp_pack_next_step(p, goal, p->n_failed_ejections));
        while (e.n_ejected > 0 && e.n_moves < max_moves && !rp_pack_ended(work))
            move(&e);
        if (e.n_ejected == 0)
            rp_pack_record_placement(p, e.offset);
        p->n_failed_ejections = e.n_ejected == 0 ? 0 : p->n_failed_ejections + 1;
        work->statistics.ejection_attempts++;
        work->statistics.ejection_moves += e.n_moves;
    }
    work->statistics.ejection_work += work->done - before;
    ejection_fini(&e);
}
