#include "pack/component/stacks.h"

#include <stdlib.h>

#include "base/numbers.h"
#include "pack/component/sorted_items.h"

/* More than one item of so many must be in a stack. */
#define MIN_SHARE 200
/* The sum of all lifetimes, in sections, up to which stacks are made. */
#define MAX_LIFETIMES (UINT64_C(1) << 28)

/* ---- which items are in a stack ---- */

/* A maximum over the keys up to any one (P. M. Fenwick, "A new data structure for
 * cumulative frequency tables", 1994). */
struct best {
    uint64_t weight;
    uint32_t item; /* with which a chain of that weight ends, or RP_NO_ITEM */
};

static struct best best_up_to(const struct best *tree, uint32_t key) {
    struct best best = {0, RP_NO_ITEM};
    for (uint32_t k = key + 1; k > 0; k &= k - 1)
        if (tree[k].weight > best.weight)
            best = tree[k];
    return best;
}

static void raise_best(struct best *tree, uint32_t n, uint32_t key, struct best to) {
    for (uint32_t k = key + 1; k <= n; k += k & (0 - k))
        if (to.weight > tree[k].weight)
            tree[k] = to;
}

static bool lives_to_the_end(const struct rp_pack_component *p, uint32_t i) {
    return p->items[i].hi == p->n_sections;
}

/* Those that begin first come first; of these, those that end last. */
static void sort_for_chain(const struct rp_pack_component *p, struct rp_sort_key *keys) {
    for (uint32_t i = 0; i < p->n; i++)
        keys[i] = (struct rp_sort_key){p->n_sections - p->items[i].lo, p->items[i].hi, i};
    rp_sort_keys(keys, p->n);
}

/* Marks a chain of nested lifetimes, the one with the largest sum of lengths, of items that
 * do not live to the end. `order` holds all items as sort_for_chain sorts them. */
static void mark_chain(const struct rp_pack_component *p, const struct rp_sort_key *order,
                       bool *in_chain) {
    uint32_t *before = rp_calloc(p->n, sizeof *before);
    struct best *tree = rp_calloc((size_t)p->n_sections + 1, sizeof *tree);
    for (uint32_t k = 0; k < p->n; k++) {
        uint32_t i = order[k].item, key = p->n_sections - p->items[i].hi;
        if (lives_to_the_end(p, i))
            continue;
        struct best chain = best_up_to(tree, key);
        before[i] = chain.item;
        chain.item = i;
        chain.weight += rp_pack_length(&p->items[i]);
        raise_best(tree, p->n_sections, key, chain);
    }
    for (uint32_t i = best_up_to(tree, p->n_sections - 1).item; i != RP_NO_ITEM;
         i = before[i])
        in_chain[i] = true;
    free(tree);
    free(before);
}

/* ---- the stacks ---- */

/* Adds the item to the top of a stack, whose height in each section is in `height`, and
 * returns its end. */
static uint64_t push(const struct rp_pack_item *x, uint64_t *height) {
    uint64_t end = height[x->lo] + x->size;
    for (uint32_t t = x->lo; t < x->hi; t++)
        height[t] = end;
    return end;
}

static uint64_t max_in_life(const struct rp_pack_item *x, const uint64_t *height) {
    uint64_t max = 0;
    for (uint32_t t = x->lo; t < x->hi; t++)
        max = rp_max_u64(max, height[t]);
    return max;
}

/* Fills the stacks. Returns how many items are in them. */
static uint32_t fill_stacks(const struct rp_pack_component *p, struct rp_pack_stacked *s,
                            uint64_t *lower, uint64_t *upper) {
    bool *in_chain = rp_calloc(p->n, sizeof *in_chain);
    struct rp_sort_key *order = rp_calloc(p->n, sizeof *order);
    uint32_t n = 0;
    sort_for_chain(p, order);
    mark_chain(p, order, in_chain);
    for (uint32_t k = 0; k < p->n; k++) {
        uint32_t i = order[k].item;
        if (lives_to_the_end(p, i))
            s->upper_end[i] = push(&p->items[i], upper);
        else if (in_chain[i])
            s->lower_end[i] = push(&p->items[i], lower);
        n += lives_to_the_end(p, i) || in_chain[i];
    }
    free(in_chain);
    free(order);
    return n;
}

/* What is in no stack, with the room that the stacks leave. False if that is too little for
 * an item in a placement as low as the bound. */
static bool make_rest(const struct rp_pack_component *p, struct rp_pack_stacked *s,
                      const uint64_t *lower, const uint64_t *upper) {
    struct rp_pack_component *rest = &s->rest;
    bool fits = true;
    for (uint32_t i = 0; i < p->n && fits; i++) {
        const struct rp_pack_item *x = &p->items[i];
        if (s->lower_end[i] > 0 || s->upper_end[i] > 0)
            continue;
        uint64_t below = max_in_life(x, lower), above = max_in_life(x, upper);
        fits = below + x->size + above <= p->bound;
        rest->items[rest->n] = *x;
        rest->below[rest->n] = below;
        rest->above[rest->n] = above;
        s->item_of[rest->n++] = i;
    }
    return fits;
}

static struct rp_pack_stacked *stacked_alloc(const struct rp_pack_component *p) {
    struct rp_pack_stacked *s = rp_calloc(1, sizeof *s);
    s->rest = (struct rp_pack_component){
        .n_sections = p->n_sections, .bound = p->bound, .height = UINT64_MAX};
    s->rest.items = rp_calloc(p->n, sizeof *s->rest.items);
    s->rest.best = rp_calloc(p->n, sizeof *s->rest.best);
    s->rest.below = rp_calloc(p->n, sizeof *s->rest.below);
    s->rest.above = rp_calloc(p->n, sizeof *s->rest.above);
    s->item_of = rp_calloc(p->n, sizeof *s->item_of);
    s->lower_end = rp_calloc(p->n, sizeof *s->lower_end);
    s->upper_end = rp_calloc(p->n, sizeof *s->upper_end);
    return s;
}

static uint64_t sum_of_lifetimes(const struct rp_pack_component *p) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < p->n; i++)
        sum += rp_pack_length(&p->items[i]);
    return sum;
}

void rp_pack_stack(struct rp_pack_component *p, struct rp_pack_work *work) {
    uint64_t lifetimes = sum_of_lifetimes(p);
    if (lifetimes > MAX_LIFETIMES)
        return;
    struct rp_pack_stacked *s = stacked_alloc(p);
    uint64_t *lower = rp_calloc(p->n_sections, sizeof *lower);
    uint64_t *upper = rp_calloc(p->n_sections, sizeof *upper);
    uint64_t more = 16 * (uint64_t)p->n + lifetimes / 4;
    work->done += more;
    work->statistics.stacking_work += more;
    if (fill_stacks(p, s, lower, upper) > p->n / MIN_SHARE && make_rest(p, s, lower, upper))
        p->stacked = s;
    else
        rp_pack_stacked_free(s);
    work->statistics.stackings += p->stacked != NULL;
    free(lower);
    free(upper);
}

void rp_pack_unstack(struct rp_pack_component *p) {
    const struct rp_pack_stacked *s = p->stacked;
    uint64_t height = rp_max_u64(s->rest.height, p->bound);
    if (height >= p->height)
        return;
    uint64_t *offset = rp_calloc(p->n, sizeof *offset);
    for (uint32_t i = 0; i < p->n; i++)
        offset[i] = s->upper_end[i] > 0 ? height - s->upper_end[i]
                                        : s->lower_end[i] - p->items[i].size;
    for (uint32_t k = 0; k < s->rest.n; k++)
        offset[s->item_of[k]] = s->rest.best[k];
    rp_pack_record_placement(p, offset);
    free(offset);
}

void rp_pack_stacked_free(struct rp_pack_stacked *s) {
    if (s == NULL)
        return;
    free(s->rest.items);
    free(s->rest.best);
    free(s->rest.below);
    free(s->rest.above);
    free(s->item_of);
    free(s->lower_end);
    free(s->upper_end);
    free(s);
}
