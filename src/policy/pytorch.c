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
 * option, the policy takes the fastest plan that fits of the budgets 1, 0.9 .. 0 and of
 * some more above the best of these.
 *
 * Interpretation: run times are the graph's (PyTorch counts floating-point operations
 * unless it is given an estimator). Sources are on the device anyway, so saving one costs
 * nothing; they count in the share as in PyTorch. A kept tensor is not made again. Forward
 * ops that only the backward phase needs run there first, as in PyTorch, unless the order
 * is given.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "base/numbers.h"
#include "policy/partition_choice.h"
#include "policy/phases.h"
#include "policy/policy.h"

enum { MILLION = 1000000, STEP = MILLION / 10, N_BISECTIONS = 7, NS_PER_OP = 2 };

/* ---- the steps ---- */

struct runs {
    RP_VEC(uint32_t);
};

/* True if x need not be made in the backward phase. */
static bool is_there(const struct rp_partition *s, const struct rp_partition_choice *c,
                     uint32_t x) {
    return x >= s->n_tensors || c->saved[x] || s->p->kept[x];
}

/* The forward ops that a backward op needs in the backward phase. */
struct needs {
    bool *op;            /* per forward op */
    uint32_t first, end; /* all of them are among first .. end - 1 */
};

/* Adds the forward ops that have to make inputs of op i again, or for the first time, and
 * have not done so in the backward phase. */
static void add_makers(const struct rp_partition *s, const struct rp_partition_choice *c,
                       uint32_t i, const bool *in_backward, struct needs *n) {
    const struct rp_instance *p = s->p;
    for (uint32_t k = p->input_start[i]; k < p->input_start[i + 1]; k++) {
        uint32_t x = p->inputs[k], j = p->producer[x];
        if (is_there(s, c, x) || in_backward[j])
            continue;
        n->op[j] = true;
        n->first = rp_min_u32(n->first, j);
        n->end = rp_max_u32(n->end, j + 1);
    }
}

/* Appends the forward ops that op i of the backward phase needs there, in order.
 * in_backward marks what the list has; scratch has room for all forward ops, and is false
 * before and after. */
static void append_needs(const struct rp_partition *s, const struct rp_partition_choice *c,
                         uint32_t i, bool *in_backward, bool *scratch, struct runs *list) {
    struct needs n = {scratch, RP_NONE, 0};
    add_makers(s, c, i, in_backward, &n);
    for (uint32_t j = n.end; j > n.first; j--)
        if (n.op[j - 1])
            add_makers(s, c, j - 1, in_backward, &n);
    for (uint32_t j = n.first; j < n.end; j++)
        if (n.op[j]) {
            n.op[j] = false;
            in_backward[j] = true;
            rp_push(list, j);
        }
    if (n.first < n.end)
        rp_stop_after(s->stop, NS_PER_OP * (uint64_t)(n.end - n.first));
}

/* The first run of forward op i has a place among other first runs. */
static bool keeps_place(const struct rp_partition *s, uint32_t i) {
    const struct rp_update_order *u = &s->p->updates;
    return s->p->graph->ops[s->p->op_of[i]].ordered ||
           u->before_start[i] < u->before_start[i + 1] ||
           u->after_start[i] < u->after_start[i + 1];
}

/* Whether the forward phase runs each forward op: for outputs of its own, since nothing
 * else runs it, as with all whose outputs are saved, or since its first run cannot be
 * moved. */
static void find_forward(const struct rp_partition *s, const bool *in_backward,
                         bool *in_forward) {
    const struct rp_instance *p = s->p;
    for (uint32_t i = s->n_forward; i-- > 0;) {
        bool in = in_forward[i] || s->required[i] || !in_backward[i] || keeps_place(s, i);
        in_forward[i] = in;
        for (uint32_t k = p->input_start[i]; k < p->input_start[i + 1] && in; k++)
            in_forward[p->producer[p->inputs[k]]] = true;
    }
}

/* The whole step: first what the forward phase runs, then the backward phase. */
static struct runs list_runs(const struct rp_partition *s,
                             const struct rp_partition_choice *c, bool given_order) {
    struct runs backward = {0}, all = {0};
    bool *in_backward = rp_calloc(s->n_forward, sizeof *in_backward);
    bool *in_forward = rp_calloc(s->n_forward, sizeof *in_forward);
    bool *scratch = rp_calloc(s->n_forward, sizeof *scratch);
    for (uint32_t i = s->n_forward; i < s->p->n_ops && !rp_stop_hit(s->stop); i++) {
        append_needs(s, c, i, in_backward, scratch, &backward);
        rp_push(&backward, i);
    }
    find_forward(s, in_backward, in_forward);
    for (uint32_t i = 0; i < s->n_forward; i++)
        if (in_forward[i] || given_order)
            rp_push(&all, i);
    for (size_t k = 0; k < backward.n; k++)
        rp_push(&all, backward.at[k]);
    free(backward.at);
    free(in_backward);
    free(in_forward);
    free(scratch);
    return all;
}

/* What is freed after each run: after the last use of a tensor before it is made again. */
struct frees {
    struct runs tensors; /* from the last run to the first */
    uint32_t *n;         /* per run */
};

/* Run q uses x. It is freed after that unless it is needed later. */
static void use(struct frees *f, size_t q, uint32_t x, bool needed) {
    if (needed)
        return;
    rp_push(&f->tensors, x);
    f->n[q]++;
}

static struct frees find_frees(const struct rp_partition *s,
                               const struct rp_partition_choice *c,
                               const struct runs *runs) {
    const struct rp_instance *p = s->p;
    struct frees f = {.n = rp_calloc(runs->n, sizeof *f.n)};
    bool *needed = rp_calloc(p->n_tensors, sizeof *needed); /* later */
    for (uint32_t x = 0; x < p->n_tensors; x++)
        needed[x] = p->kept[x];
    for (size_t q = runs->n; q-- > 0;) {
        uint32_t i = runs->at[q];
        for (uint32_t x = p->output_start[i]; x < p->output_start[i + 1]; x++) {
            use(&f, q, x, needed[x]);
            needed[x] = needed[x] && is_there(s, c, x);
        }
        for (uint32_t k = p->input_start[i]; k < p->input_start[i + 1]; k++) {
            use(&f, q, p->inputs[k], needed[p->inputs[k]]);
            needed[p->inputs[k]] = true;
        }
    }
    free(needed);
    return f;
}

static void record_runs(const struct rp_partition *s, const struct rp_partition_choice *c,
                        const struct runs *runs, struct rp_recorder *r) {
    struct frees f = find_frees(s, c, runs);
    rp_recorder_clear(r);
    for (size_t q = 0; q < runs->n; q++) {
        rp_recorder_run(r, runs->at[q]);
        for (; f.n[q] > 0; f.n[q]--)
            rp_recorder_free(r, f.tensors.at[--f.tensors.n]);
    }
    free(f.tensors.at);
    free(f.n);
}

/* ---- the policy ---- */

static void record_choice(const struct rp_partition *s, double budget, bool given_order,
                          struct rp_recorder *r) {
    struct rp_partition_choice c;
    rp_partition_choose(s, budget, &c);
    struct runs runs = list_runs(s, &c, given_order);
    if (!rp_stop_hit(s->stop))
        record_runs(s, &c, &runs, r);
    free(runs.at);
    rp_partition_choice_fini(&c);
}

/* The better of two plans is one that fits; the faster, if both do; else the smaller. */
static bool is_better(const struct rp_recorder *r, uint64_t peak_bytes, uint64_t time_ns) {
    uint64_t limit = r->p->limit_bytes;
    if ((r->peak_bytes <= limit) != (peak_bytes <= limit))
        return r->peak_bytes <= limit;
    return peak_bytes <= limit ? rp_recorder_end_ns(r) < time_ns
                               : r->peak_bytes < peak_bytes;
}

/* The best budget so far, in millionths, and what its plan takes. */
struct best {
    uint64_t millionths, peak_bytes, time_ns;
};

static bool try_budget(const struct rp_partition *s, uint64_t millionths, bool given_order,
                       struct rp_recorder *r, struct best *b) {
    record_choice(s, (double)millionths / MILLION, given_order, r);
    if (rp_stop_now(r->stop) || !is_better(r, b->peak_bytes, b->time_ns))
        return false;
    *b = (struct best){millionths, r->peak_bytes, rp_recorder_end_ns(r)};
    return true;
}

/* Time falls with the budget, though not everywhere. So the best of equal steps is found
 * first, and then a better one between it and the next larger one, by bisection. */
static void record_best(const struct rp_partition *s, bool given_order,
                        struct rp_recorder *r) {
    struct best b = {MILLION, UINT64_MAX, UINT64_MAX};
    for (uint64_t m = MILLION + STEP; m > 0 && !rp_stop_now(r->stop); m -= STEP)
        try_budget(s, m - STEP, given_order, r, &b);
    uint64_t low = b.millionths, high = low + STEP;
    for (int k = 0; k < N_BISECTIONS && low < MILLION && !rp_stop_now(r->stop); k++) {
        uint64_t middle = (low + high) / 2;
        *(try_budget(s, middle, given_order, r, &b) ? &low : &high) = middle;
    }
    if (!rp_stop_hit(r->stop))
        record_choice(s, (double)b.millionths / MILLION, given_order, r);
}

static void record(const struct rp_instance *p, const struct rp_policy_options *o,
                   struct rp_recorder *r) {
    struct rp_partition s;
    rp_partition_init(p, rp_forward_ops(p), &s);
    s.stop = r->stop;
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
