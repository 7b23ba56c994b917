#include "policy/partition_choice.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "policy/knapsack.h"
#include "policy/min_cut.h"

/* ---- the cut ---- */

enum { SOURCE, SINK, FIRST_OP }; /* vertices: then the forward ops, then their tensors */

static void add_arc(struct rp_network *n, uint32_t from, uint32_t to, uint64_t capacity) {
    struct rp_arc arc = {from, to, capacity};
    rp_push(&n->arcs, arc);
}

static struct rp_network build_network(const struct rp_partition *s, const bool *banned) {
    const struct rp_instance *p = s->p;
    uint32_t first_tensor = FIRST_OP + s->n_forward;
    struct rp_network n = {.n_vertices = first_tensor + s->n_tensors};
    for (uint32_t i = 0; i < s->n_forward; i++)
        if (banned[i])
            add_arc(&n, SOURCE, FIRST_OP + i, RP_UNCUTTABLE);
    for (uint32_t x = 0; x < s->n_tensors; x++) {
        add_arc(&n, FIRST_OP + p->producer[x], first_tensor + x, s->weight[x]);
        for (uint32_t e = p->reader_start[x]; e < p->reader_start[x + 1]; e++) {
            uint32_t r = p->readers[e];
            add_arc(&n, first_tensor + x, r < s->n_forward ? FIRST_OP + r : SINK,
                    RP_UNCUTTABLE);
            if (r >= s->n_forward)
                break; /* all others are in the backward phase too */
        }
    }
    return n;
}

static void cut(const struct rp_partition *s, const bool *banned,
                struct rp_partition_choice *c) {
    struct rp_network n = build_network(s, banned);
    bool *sink_side = rp_calloc(n.n_vertices, sizeof *sink_side);
    const bool *op = sink_side + FIRST_OP, *tensor = op + s->n_forward;
    rp_min_cut(&n, SOURCE, SINK, s->stop, sink_side);
    for (uint32_t i = 0; i < s->n_forward; i++)
        c->again[i] = op[i];
    for (uint32_t x = 0; x < s->n_tensors; x++)
        c->saved[x] = tensor[x] && !op[s->p->producer[x]];
    free(sink_side);
    free(n.arcs.at);
}

/* ---- the budget ---- */

/* What is saved with this choice, sources included that the backward phase reads, less all
 * sources of the forward phase. */
static double extra_bytes(const struct rp_partition *s,
                          const struct rp_partition_choice *c) {
    enum { FORWARD = 1, BACKWARD = 2 };
    const struct rp_instance *p = s->p;
    const struct rp_graph *g = p->graph;
    unsigned char *read = rp_calloc(g->n_tensors, sizeof *read);
    double bytes = 0;
    for (uint32_t i = 0; i < p->n_ops; i++)
        for (uint32_t k = 0; k < g->ops[p->op_of[i]].n_inputs; k++)
            read[g->ops[p->op_of[i]].inputs[k]] |=
                (i < s->n_forward ? FORWARD : BACKWARD) |
                (i < s->n_forward && c->again[i] ? BACKWARD : 0);
    for (uint32_t i = 0; i < p->n_ops; i++)
        for (uint32_t k = 0; k < g->ops[p->op_of[i]].n_outputs; k++)
            read[g->ops[p->op_of[i]].outputs[k]] = 0;
    for (uint32_t x = 0; x < g->n_tensors; x++)
        bytes -= read[x] == FORWARD ? (double)g->tensors[x].bytes : 0;
    for (uint32_t x = 0; x < s->n_tensors; x++)
        bytes += c->saved[x] ? (double)s->bytes[x] : 0;
    free(read);
    return bytes;
}

/* An expensive op that might run again all the same. */
struct item {
    uint32_t op;
    double bytes;
};

/* The largest first, as PyTorch has them. */
static int by_bytes(const void *a, const void *b) {
    const struct item *x = a, *y = b;
    return x->bytes != y->bytes ? (x->bytes < y->bytes) - (x->bytes > y->bytes)
                                : (x->op > y->op) - (x->op < y->op);
}

static uint32_t list_items(const struct rp_partition *s, const bool *banned,
                           struct item *items) {
    const struct rp_instance *p = s->p;
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n_forward; i++) {
        if (!banned[i] || !rp_partition_may_rerun(s, i) || !s->leads_back[i])
            continue;
        items[n] = (struct item){.op = i};
        for (uint32_t x = p->output_start[i]; x < p->output_start[i + 1]; x++)
            items[n].bytes += (double)s->bytes[x];
        n++;
    }
    qsort(items, n, sizeof *items, by_bytes);
    return n;
}

/* Lifts the bans of what the knapsack leaves out. whole_bytes is what a budget of 1 has. */
static void unban(const struct rp_partition *s, double budget, double whole_bytes,
                  bool *banned) {
    enum { UNITS = 10000 }; /* of memory, in all */
    struct item *items = rp_calloc(s->n_forward, sizeof *items);
    uint32_t *size = rp_calloc(s->n_forward, sizeof *size);
    uint64_t *value = rp_calloc(s->n_forward, sizeof *value);
    bool *chosen = rp_calloc(s->n_forward, sizeof *chosen);
    uint32_t n = list_items(s, banned, items), capacity = (uint32_t)lround(budget * UNITS);
    for (uint32_t k = 0; k < n; k++) {
        size[k] = (uint32_t)fmin(round(items[k].bytes / whole_bytes * UNITS), UNITS + 1);
        value[k] = s->p->time_ns[items[k].op];
    }
    rp_knapsack(n, size, value, capacity, chosen);
    for (uint32_t k = 0; k < n; k++)
        banned[items[k].op] = chosen[k];
    free(items);
    free(size);
    free(value);
    free(chosen);
}

void rp_partition_choose(const struct rp_partition *s, double budget,
                         struct rp_partition_choice *c) {
    bool *banned = rp_calloc(s->n_forward, sizeof *banned);
    c->saved = rp_calloc(s->n_tensors, sizeof *c->saved);
    c->again = rp_calloc(s->n_forward, sizeof *c->again);
    rp_partition_ban(s, budget > 0 ? RP_BAN_DEFAULT : RP_BAN_IMPOSSIBLE, banned);
    cut(s, banned, c);
    double whole = extra_bytes(s, c);
    bool below = budget == 0 || budget == 1 || whole <= 0;
    for (int level = RP_BAN_UNLISTED; level <= RP_BAN_EXPENSIVE && !below; level++) {
        rp_partition_ban(s, (enum rp_ban_level)level, banned);
        cut(s, banned, c);
        below = extra_bytes(s, c) / whole < budget;
    }
    if (!below) {
        unban(s, budget, whole, banned);
        cut(s, banned, c);
    }
    free(banned);
}

void rp_partition_choice_fini(struct rp_partition_choice *c) {
    free(c->saved);
    free(c->again);
    *c = (struct rp_partition_choice){0};
}
