/* pytorch: the choice of PyTorch's own partitioner, with its activation memory budget:
 * torch/_functorch/partitioners.py (min_cut_rematerialization_partition) and
 * _activation_checkpointing/knapsack.py (dp_knapsack) of PyTorch 2.15, BSD-3-Clause; H. He
 * and S. Yu, "Transcending Runtime-Memory Tradeoffs in Checkpointing by being
 * Fusion-aware", MLSys 2023.
 *
 * What crosses from the forward to the backward phase is a minimum cut. Forward ops that
 * may not run again hang on the source, backward ops on the sink, and to cut a tensor from
 * its op costs its weight: it is saved. Ops on the sink's side run again in the backward
 * phase, each right before the first backward op that needs it; each at most once.
 * partition_rules.h says which ops may not run again and what the weights are.
 *
 * The budget is a share. 1 is what the cut with all rules saves, and 0 what the step's
 * sources take; it is not a peak. As in choose_saved_values_set:
 *   1          the cut with all rules;
 *   0 < b < 1  the cut with fewer rules that first comes below b. If none does, a knapsack
 * of capacity b chooses among the expensive ops those with the most time that may still not
 * run again, and the cut is made once more; 0          everything runs again. Without the
 * option, the policy takes the fastest plan that fits of the budgets 1, 0.9 .. 0.
 *
 * Interpretation: run times are the graph's (PyTorch counts floating-point operations
 * unless it is given an estimator). Sources are on the device anyway, so saving one costs
 * nothing; they count in the share as in PyTorch. A kept tensor is not made again. Forward
 * ops that only the backward phase needs run there first, as in PyTorch, unless the order
 * is given.
 */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/numbers.h"
#include "policy/knapsack.h"
#include "policy/min_cut.h"
#include "policy/partition_rules.h"
#include "policy/phases.h"
#include "policy/policy.h"

enum { MILLION = 1000000, N_BUDGETS = 11 };

/* What is saved, and what runs again. */
struct choice {
    bool *saved; /* per forward tensor */
    bool *again; /* per forward op */
};

static void choice_init(const struct rp_partition *s, struct choice *c) {
    c->saved = rp_calloc(s->n_tensors, sizeof *c->saved);
    c->again = rp_calloc(s->n_forward, sizeof *c->again);
}

static void choice_fini(struct choice *c) {
    free(c->saved);
    free(c->again);
}

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

static void cut(const struct rp_partition *s, const bool *banned, struct choice *c) {
    struct rp_network n = build_network(s, banned);
    bool *sink_side = rp_calloc(n.n_vertices, sizeof *sink_side);
    const bool *op = sink_side + FIRST_OP, *tensor = op + s->n_forward;
    rp_min_cut(&n, SOURCE, SINK, sink_side);
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
static double extra_bytes(const struct rp_partition *s, const struct choice *c) {
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
        if (!banned[i] || !p->recompute[i] || !s->leads_back[i])
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

/* budget: from 0 to 1. */
static void choose(const struct rp_partition *s, double budget, struct choice *c) {
    bool *banned = rp_calloc(s->n_forward, sizeof *banned);
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

/* ---- the steps ---- */

struct runs {
    RP_VEC(uint32_t);
};

/* True if x need not be made in the backward phase. */
static bool is_there(const struct rp_partition *s, const struct choice *c, uint32_t x) {
    return x >= s->n_tensors || c->saved[x] || s->p->kept[x];
}

/* Marks the forward ops that have to make inputs of op i again, or for the first time, and
 * have not done so in the backward phase. */
static void mark_makers(const struct rp_partition *s, const struct choice *c, uint32_t i,
                        const bool *in_backward, bool *needed) {
    const struct rp_instance *p = s->p;
    for (uint32_t k = p->input_start[i]; k < p->input_start[i + 1]; k++) {
        uint32_t x = p->inputs[k];
        if (!is_there(s, c, x) && !in_backward[p->producer[x]])
            needed[p->producer[x]] = true;
    }
}

/* Appends the forward ops that op i of the backward phase needs there, in order.
 * in_backward marks what the list has; needed is a scratch array, false before and after.
 */
static void append_needs(const struct rp_partition *s, const struct choice *c, uint32_t i,
                         bool *in_backward, bool *needed, struct runs *list) {
    mark_makers(s, c, i, in_backward, needed);
    for (uint32_t j = s->n_forward; j-- > 0;)
        if (needed[j])
            mark_makers(s, c, j, in_backward, needed);
    for (uint32_t j = 0; j < s->n_forward; j++)
        if (needed[j]) {
            needed[j] = false;
            in_backward[j] = true;
            rp_push(list, j);
        }
}

/* The whole step: first what the forward phase runs, then the backward phase. */
static struct runs list_runs(const struct rp_partition *s, const struct choice *c,
                             bool given_order) {
    const struct rp_instance *p = s->p;
    struct runs backward = {0}, all = {0};
    bool *in_backward = rp_calloc(s->n_forward, sizeof *in_backward);
    bool *in_forward = rp_calloc(s->n_forward, sizeof *in_forward);
    bool *needed = rp_calloc(s->n_forward, sizeof *needed);
    for (uint32_t i = s->n_forward; i < p->n_ops; i++) {
        append_needs(s, c, i, in_backward, needed, &backward);
        rp_push(&backward, i);
    }
    for (uint32_t i = s->n_forward; i-- > 0;) {
        in_forward[i] = given_order || s->required[i] || !in_backward[i];
        for (uint32_t x = p->output_start[i]; x < p->output_start[i + 1]; x++) {
            in_forward[i] = in_forward[i] || c->saved[x];
            for (uint32_t e = p->reader_start[x]; e < p->reader_start[x + 1]; e++)
                in_forward[i] = in_forward[i] ||
                                (p->readers[e] < s->n_forward && in_forward[p->readers[e]]);
        }
    }
    for (uint32_t i = 0; i < s->n_forward; i++)
        if (in_forward[i])
            rp_push(&all, i);
    for (size_t k = 0; k < backward.n; k++)
        rp_push(&all, backward.at[k]);
    free(backward.at);
    free(needed);
    free(in_backward);
    free(in_forward);
    return all;
}

/* Records the runs, and frees every tensor after its last use before it is made again. */
static void record_runs(const struct rp_partition *s, const struct choice *c,
                        const struct runs *runs, struct rp_recorder *r) {
    const struct rp_instance *p = s->p;
    struct runs freed = {0}; /* from the last run to the first */
    uint32_t *n_freed = rp_calloc(runs->n, sizeof *n_freed);
    uint32_t *n_runs = rp_calloc(p->n_ops, sizeof *n_runs); /* up to the present one */
    bool *needed = rp_calloc(p->n_tensors, sizeof *needed); /* later */
    for (uint32_t x = 0; x < p->n_tensors; x++)
        needed[x] = p->kept[x];
    for (size_t q = 0; q < runs->n; q++)
        n_runs[runs->at[q]]++;
    for (size_t q = runs->n; q-- > 0;) {
        uint32_t i = runs->at[q];
        bool first_run = --n_runs[i] == 0;
        for (uint32_t x = p->output_start[i]; x < p->output_start[i + 1]; x++) {
            if (!needed[x]) {
                rp_push(&freed, x);
                n_freed[q]++;
            }
            needed[x] = needed[x] && !first_run && is_there(s, c, x);
        }
        for (uint32_t k = p->input_start[i]; k < p->input_start[i + 1]; k++) {
            if (!needed[p->inputs[k]]) {
                rp_push(&freed, p->inputs[k]);
                n_freed[q]++;
            }
            needed[p->inputs[k]] = true;
        }
    }
    rp_recorder_clear(r);
    for (size_t q = 0; q < runs->n; q++) {
        rp_recorder_run(r, runs->at[q]);
        for (; n_freed[q] > 0; n_freed[q]--)
            rp_recorder_free(r, freed.at[--freed.n]);
    }
    free(freed.at);
    free(n_freed);
    free(n_runs);
    free(needed);
}

/* ---- the policy ---- */

static void record_choice(const struct rp_partition *s, double budget, bool given_order,
                          struct rp_recorder *r) {
    struct choice c;
    choice_init(s, &c);
    choose(s, budget, &c);
    struct runs runs = list_runs(s, &c, given_order);
    record_runs(s, &c, &runs, r);
    free(runs.at);
    choice_fini(&c);
}

/* The better of two plans is one that fits; the faster, if both do; else the smaller. */
static bool is_better(const struct rp_recorder *r, uint64_t peak_bytes, uint64_t time_ns) {
    uint64_t limit = r->p->limit_bytes;
    if ((r->peak_bytes <= limit) != (peak_bytes <= limit))
        return r->peak_bytes <= limit;
    return peak_bytes <= limit ? rp_recorder_end_ns(r) < time_ns
                               : r->peak_bytes < peak_bytes;
}

static void record_best(const struct rp_partition *s, bool given_order,
                        struct rp_recorder *r) {
    int best = N_BUDGETS - 1;
    uint64_t peak_bytes = UINT64_MAX, time_ns = UINT64_MAX;
    for (int k = N_BUDGETS - 1; k >= 0; k--) {
        record_choice(s, (double)k / (N_BUDGETS - 1), given_order, r);
        if (!is_better(r, peak_bytes, time_ns))
            continue;
        best = k;
        peak_bytes = r->peak_bytes;
        time_ns = rp_recorder_end_ns(r);
    }
    record_choice(s, (double)best / (N_BUDGETS - 1), given_order, r);
}

static void record(const struct rp_instance *p, const struct rp_policy_options *o,
                   struct rp_recorder *r) {
    struct rp_partition s;
    rp_partition_init(p, rp_forward_ops(p), &s);
    if (o->pytorch_millionths <= MILLION)
        record_choice(&s, (double)o->pytorch_millionths / MILLION, o->given_order, r);
    else
        record_best(&s, o->given_order, r);
    rp_partition_fini(&s);
}

static const struct rp_policy_option option_table[] = {
    {"budget", RP_POLICY_SHARE, "0..1",
     "PyTorch's activation_memory_budget (the fastest that fits)",
     offsetof(struct rp_policy_options, pytorch_millionths), UINT64_MAX},
    {0},
};

const struct rp_policy rp_policy_pytorch = {
    .name = "pytorch",
    .summary = "the min cut of PyTorch's partitioner (torch 2.15)",
    .record = record,
    .fits_budget = true,
    .may_recompute = true,
    .captured_only = true,
    .options = option_table,
};
