#include "solve/exhaustive/astar_states.h"

#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"
#include "base/random.h"

enum { MAX_COMPARED = 1000 }; /* with one new state */

void rp_astar_states_init(struct rp_astar_states *k, uint32_t max_nodes,
                          bool host_is_free) {
    *k = (struct rp_astar_states){
        .max_nodes = max_nodes, .n_table = 64, .host_is_free = host_is_free};
    while (k->n_table < max_nodes)
        k->n_table *= 2;
    k->node = rp_calloc(max_nodes, sizeof *k->node);
    k->table = rp_calloc(k->n_table, sizeof *k->table);
    memset(k->table, 0xff, k->n_table * sizeof *k->table); /* RP_NONE */
}

void rp_astar_states_fini(struct rp_astar_states *k) {
    free(k->node);
    free(k->table);
    free(k->end.at);
    *k = (struct rp_astar_states){0};
}

void rp_astar_states_ends(const struct rp_astar_states *k, uint32_t node,
                          struct rp_astar_ends *ends) {
    const struct rp_astar_node *n = &k->node[node];
    *ends = (struct rp_astar_ends){0};
    for (uint32_t i = n->first_end; i < n->first_end + n->n_ends; i++) {
        const struct rp_astar_end *e = &k->end.at[i];
        (e->host ? ends->host_ready_ns : ends->ready_ns)[e->tensor] = e->ns;
    }
}

/* Appends the ends after the clock. */
static void push_ends(struct rp_astar_states *k, const struct rp_astar_state *s,
                      const struct rp_astar_ends *ends) {
    for (uint64_t left = s->device; left != 0;) {
        uint32_t x = rp_astar_take(&left);
        if (ends->ready_ns[x] > s->clock_ns)
            rp_push(&k->end, ((struct rp_astar_end){ends->ready_ns[x], (uint8_t)x, false}));
    }
    for (uint64_t left = s->host; left != 0;) {
        uint32_t x = rp_astar_take(&left);
        if (ends->host_ready_ns[x] > s->clock_ns)
            rp_push(&k->end,
                    ((struct rp_astar_end){ends->host_ready_ns[x], (uint8_t)x, true}));
    }
}

/* The end of a copy of a node; 0: it has ended, or there is none. */
static uint64_t end_ns(const struct rp_astar_states *k, const struct rp_astar_node *n,
                       const struct rp_astar_end *of) {
    for (uint32_t i = n->first_end; i < n->first_end + n->n_ends; i++)
        if (k->end.at[i].tensor == of->tensor && k->end.at[i].host == of->host)
            return k->end.at[i].ns;
    return 0;
}

static bool any_later(const struct rp_astar_states *k, const struct rp_astar_node *a,
                      const struct rp_astar_node *b) {
    for (uint32_t i = a->first_end; i < a->first_end + a->n_ends; i++) {
        const struct rp_astar_end *e = &k->end.at[i];
        if (e->ns > b->s.clock_ns && e->ns > end_ns(k, b, e))
            return true;
    }
    return false;
}

/* Is a nowhere later than b, which has the same key, and is on the host all that it has
 * there? */
static bool dominates(const struct rp_astar_states *k, const struct rp_astar_node *a,
                      const struct rp_astar_node *b) {
    uint64_t clock = b->s.clock_ns;
    return a->s.clock_ns <= clock && (b->s.host & ~a->s.host) == 0 &&
           (b->s.copyable & ~a->s.copyable & ~a->s.host) == 0 &&
           a->s.d2h_ns <= rp_max_u64(b->s.d2h_ns, clock) &&
           a->s.h2d_ns <= rp_max_u64(b->s.h2d_ns, clock) && !any_later(k, a, b);
}

static bool same_key(const struct rp_astar_states *k, const struct rp_astar_state *a,
                     const struct rp_astar_state *b) {
    return a->device == b->device && a->n_first == b->n_first &&
           (k->host_is_free || a->host == b->host);
}

/* Fibonacci hashing (Knuth, volume 3, section 6.4) into a table of a power of two. */
static uint32_t hash(const struct rp_astar_states *k, const struct rp_astar_state *s) {
    uint64_t h = s->device * RP_GOLDEN_RATIO_64;
    if (!k->host_is_free)
        h = (h ^ h >> 32 ^ s->host) * RP_GOLDEN_RATIO_64;
    h = (h ^ h >> 29 ^ s->n_first) * RP_GOLDEN_RATIO_64;
    return (uint32_t)(h >> 32) & (k->n_table - 1);
}

/* Does a known state dominate the new node? That one goes to the front of its chain, as it
 * may well dominate others. Takes those that the node dominates out of the chain. What they
 * dominate, it dominates too. In long chains it looks at the first states only. */
static bool is_dominated(struct rp_astar_states *k, const struct rp_astar_node *n,
                         uint32_t *head) {
    uint32_t *link = head;
    for (uint32_t i = 0; i < MAX_COMPARED && *link != RP_NONE; i++) {
        uint32_t id = *link;
        struct rp_astar_node *known = &k->node[id];
        bool same = same_key(k, &known->s, &n->s);
        k->compared++;
        if (same && dominates(k, known, n)) {
            *link = known->next;
            known->next = *head;
            *head = id;
            return true;
        }
        known->dominated = same && dominates(k, n, known);
        if (known->dominated)
            *link = known->next;
        else
            link = &known->next;
    }
    return false;
}

bool rp_astar_states_add(struct rp_astar_states *k, const struct rp_astar_state *s,
                         const struct rp_astar_ends *ends, uint64_t min_ns,
                         struct rp_astar_step by) {
    uint32_t first = (uint32_t)k->end.n, *head = &k->table[hash(k, s)];
    push_ends(k, s, ends);
    struct rp_astar_node n = {.s = *s,
                              .min_ns = min_ns,
                              .first_end = first,
                              .n_ends = (uint32_t)k->end.n - first,
                              .by = by};
    if (is_dominated(k, &n, head)) {
        k->end.n = first;
        return false;
    }
    n.next = *head;
    *head = k->n_nodes;
    k->node[k->n_nodes++] = n;
    return true;
}
