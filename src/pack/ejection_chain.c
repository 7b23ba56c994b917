/* Ejection search for a placement at or below a goal, from the best placement so far.
 *
 * Items that end above the goal are thrown out. Then, one at a time and in random order,
 * each is put back into the tightest gap that holds it; if there is none, at the place
 * where what is in its way weighs the least, and that is thrown out in turn. An item that
 * did not fit becomes heavier, so that in time the stubborn ones find their places and the
 * easy ones move ("guided ejection", Y. Nagata and O. Braysy, "A powerful route
 * minimization heuristic for the vehicle routing problem with time windows", 2009).
 */
#include <stdlib.h>

#include "base/mem.h"
#include "pack/sorted_items.h"

/* Weights: up to WEIGHT_START by area at first, growing up to WEIGHT_CAP, where all are
 * halved. An item that was put within the last TABU steps weighs HOLD more. With 2^16 items
 * in the way the sum still fits. */
#define WEIGHT_START ((uint64_t)1 << 30)
#define WEIGHT_CAP ((uint64_t)1 << 46)
#define HOLD ((uint64_t)1 << 58)
enum { TABU = 10 };

struct eject {
    struct pack_component *p;
    struct pack_work *work;
    uint64_t goal, step;
    struct sorted_items by_offset, by_end; /* the placed items */
    uint64_t *offset, *weight;             /* by item */
    uint64_t *held_until;                  /* by item: a step */
    uint32_t *out, n_out;                  /* items thrown out */
    /* The item at hand's neighbors, with running sums of their weights. */
    uint32_t n_near, *near_offset, *near_end;
    uint64_t *sum_offset, *sum_end;
};

static uint64_t end_of(const struct eject *e, uint32_t i) {
    return e->offset[i] + e->p->items[i].size;
}

static void put(struct eject *e, uint32_t i, uint64_t at) {
    e->offset[i] = at;
    rp_sorted_items_insert(&e->by_offset, &e->p->items[i], i, at);
    rp_sorted_items_insert(&e->by_end, &e->p->items[i], i, end_of(e, i));
}

static void throw_out(struct eject *e, uint32_t i) {
    rp_sorted_items_remove(&e->by_offset, i, e->offset[i]);
    rp_sorted_items_remove(&e->by_end, i, end_of(e, i));
    e->out[e->n_out++] = i;
}

static void eject_init(struct eject *e, struct pack_component *p, struct pack_work *work) {
    uint32_t n = p->n;
    *e = (struct eject){.p = p, .work = work};
    rp_sorted_items_init(&e->by_offset, n);
    rp_sorted_items_init(&e->by_end, n);
    e->offset = rp_calloc(n, sizeof *e->offset);
    e->weight = rp_calloc(n, sizeof *e->weight);
    e->held_until = rp_calloc(n, sizeof *e->held_until);
    e->out = rp_calloc(n, sizeof *e->out);
    e->near_offset = rp_calloc(n + 1, sizeof *e->near_offset);
    e->near_end = rp_calloc(n + 1, sizeof *e->near_end);
    e->sum_offset = rp_calloc(n + 1, sizeof *e->sum_offset);
    e->sum_end = rp_calloc(n + 1, sizeof *e->sum_end);
}

static void eject_fini(struct eject *e) {
    rp_sorted_items_fini(&e->by_offset);
    rp_sorted_items_fini(&e->by_end);
    free(e->offset);
    free(e->weight);
    free(e->held_until);
    free(e->out);
    free(e->near_offset);
    free(e->near_end);
    free(e->sum_offset);
    free(e->sum_end);
}

static unsigned __int128 area(const struct pack_item *x) {
    return (unsigned __int128)x->size * (x->hi - x->lo);
}

static void start_from_best(struct eject *e, uint64_t goal) {
    const struct pack_component *p = e->p;
    unsigned __int128 largest = 1;
    e->goal = goal;
    e->step = e->n_out = e->by_offset.n = e->by_end.n = 0;
    for (uint32_t i = 0; i < p->n; i++)
        if (area(&p->items[i]) > largest)
            largest = area(&p->items[i]);
    for (uint32_t i = 0; i < p->n; i++) {
        unsigned __int128 part = largest / WEIGHT_START + 1;
        e->weight[i] = 1 + (uint64_t)(area(&p->items[i]) / part);
        e->held_until[i] = 0;
        if (p->best[i] + p->items[i].size <= goal)
            put(e, i, p->best[i]);
        else
            e->out[e->n_out++] = i;
    }
}

/* The tightest gap that holds x; false if there is none. Its lower or its upper end. */
static bool find_gap(struct eject *e, const struct pack_item *x, uint64_t *at) {
    uint64_t end = 0, tightest = UINT64_MAX;
    for (uint32_t k = 0; k <= e->n_near; k++) {
        uint64_t next = k < e->n_near ? e->offset[e->near_offset[k]] : e->goal;
        if (next >= end + x->size && next - end < tightest) {
            tightest = next - end;
            *at = end;
        }
        if (k < e->n_near && end_of(e, e->near_offset[k]) > end)
            end = end_of(e, e->near_offset[k]);
    }
    if (tightest != UINT64_MAX && pack_random(&e->p->random) % 2)
        *at += tightest - x->size;
    return tightest != UINT64_MAX;
}

static uint64_t weight_now(const struct eject *e, uint32_t i) {
    return e->weight[i] + (e->held_until[i] > e->step ? HOLD : 0);
}

struct place {
    uint64_t at, cost;
};

static void consider(struct eject *e, struct place *best, uint64_t at, uint32_t n_offset,
                     uint32_t n_end) {
    /* begin below its top, less those that end below its foot */
    uint64_t cost = e->sum_offset[n_offset] - e->sum_end[n_end];
    if (cost < best->cost || (cost == best->cost && pack_random(&e->p->random) % 2))
        *best = (struct place){at, cost};
}

/* Where the items in the way of x weigh the least: its foot on an item's end or its top at
 * an item's offset. */
static uint64_t cheapest_place(struct eject *e, const struct pack_item *x) {
    struct place best = {0, UINT64_MAX};
    uint32_t n = e->n_near, i = 0, k = 0;
    for (uint32_t j = 0; j < n; j++) {
        e->sum_offset[j + 1] = e->sum_offset[j] + weight_now(e, e->near_offset[j]);
        e->sum_end[j + 1] = e->sum_end[j] + weight_now(e, e->near_end[j]);
    }
    for (uint32_t j = 0; j <= n; j++) {
        uint64_t foot = j == 0 ? 0 : end_of(e, e->near_end[j - 1]);
        if (foot + x->size > e->goal)
            break;
        while (i < n && e->offset[e->near_offset[i]] < foot + x->size)
            i++;
        while (k < n && end_of(e, e->near_end[k]) <= foot)
            k++;
        consider(e, &best, foot, i, k);
    }
    i = k = 0;
    for (uint32_t j = 0; j <= n; j++) {
        uint64_t top = j == n ? e->goal : e->offset[e->near_offset[j]];
        if (top < x->size)
            continue;
        while (i < n && e->offset[e->near_offset[i]] < top)
            i++;
        while (k < n && end_of(e, e->near_end[k]) <= top - x->size)
            k++;
        consider(e, &best, top - x->size, i, k);
    }
    return best.at;
}

static void make_heavier(struct eject *e, uint32_t item) {
    e->weight[item] += e->weight[item] / 8 + 1;
    if (e->weight[item] > WEIGHT_CAP)
        for (uint32_t i = 0; i < e->p->n; i++)
            e->weight[i] = e->weight[i] / 2 + 1;
}

/* Puts back one of the items that are out. */
static void put_one(struct eject *e) {
    uint32_t k = (uint32_t)(pack_random(&e->p->random) % e->n_out), i = e->out[k];
    const struct pack_item *x = &e->p->items[i];
    uint64_t at;
    e->out[k] = e->out[--e->n_out];
    e->n_near = sorted_items_scan(&e->by_offset, 0, e->by_offset.n, x, e->near_offset);
    e->work->done += e->by_offset.n + e->n_near;
    e->step++;
    if (!find_gap(e, x, &at)) {
        make_heavier(e, i);
        sorted_items_scan(&e->by_end, 0, e->by_end.n, x, e->near_end);
        at = cheapest_place(e, x);
        for (uint32_t j = 0; j < e->n_near; j++) {
            uint32_t y = e->near_offset[j];
            if (e->offset[y] < at + x->size && end_of(e, y) > at)
                throw_out(e, y);
        }
        e->work->done += e->by_offset.n + 4 * e->n_near;
    }
    put(e, i, at);
    e->held_until[i] = e->step + TABU;
}

void rp_pack_ejection_chain(struct pack_component *p, uint64_t goal,
                            struct pack_work *work) {
    struct eject e;
    uint64_t max_steps = 20000 + 40 * (uint64_t)p->n;
    eject_init(&e, p, work);
    while (p->height > pack_min(p, goal) && work->done < work->limit) {
        start_from_best(&e, pack_step_down(p, goal, p->n_failed_ejections));
        while (e.n_out > 0 && e.step < max_steps && work->done < work->limit)
            put_one(&e);
        if (e.n_out == 0)
            rp_pack_record_placement(p, e.offset);
        p->n_failed_ejections = e.n_out == 0 ? 0 : p->n_failed_ejections + 1;
    }
    eject_fini(&e);
}
