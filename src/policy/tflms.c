/* tflms: Le, Imai, Negishi and Kawachiya, "TFLMS: Large Model Support in TensorFlow by
 * Graph Rewriting", arXiv 1807.02037 (2018), and the options of its TensorFlow module.
 *
 * A tensor that a forward op makes and a backward op reads gets a swap-out after the former
 * and a swap-in before the latter. A swap-in may start when its control dependency has run:
 * an op at least `lb` and at most `ub` levels of the topological order before the reader.
 *   chain_rule    goes from the tensor's op forward along the graph: it tries the backward
 *                 ops that belong to forward ops lb levels on, then lb + 1, and so on.
 *   direct_order  tries the backward ops lb levels before the reader, then lb + 1, ...
 * Every reader has a swap-in of its own; fuse-swapins makes one for all readers of a
 * tensor. swap-branches also swaps tensors in the forward phase where producer and reader
 * are more than branch-threshold levels apart. n-tensors counts from the network's input.
 *
 * Interpretation: the level of an op is the length of the longest path to it. A backward op
 * belongs to the forward ops whose outputs it reads. A candidate must be an ancestor of the
 * reader, so that no cycle arises. If there is none in the range, the swap-in starts with
 * the reader. TensorFlow releases a tensor when its copy is done, without holding up the
 * computation. So does this policy, unless memory is short.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/numbers.h"
#include "policy/interval_steps.h"
#include "policy/intervals.h"
#include "policy/phases.h"
#include "policy/policy.h"

/* Names and defaults are those of the TensorFlow module. */
#define AT(member) offsetof(struct rp_policy_options, tflms.member)
static const struct rp_policy_option option_table[] = {
    {"n-tensors", RP_POLICY_NAT, "N", "swap at most N tensors, counted from the input",
     AT(n_tensors), UINT64_MAX},
    {"lb", RP_POLICY_NAT, "N", "trigger a swap-in at least N levels before its use", AT(lb),
     1},
    {"ub", RP_POLICY_NAT, "N", "trigger a swap-in at most N levels before its use", AT(ub),
     10000},
    {"ctrld", RP_POLICY_CHOICE, "chain_rule|direct_order", "how the trigger is found",
     AT(ctrld), RP_CHAIN_RULE},
    {"fuse-swapins", RP_POLICY_FLAG, NULL,
     "use one swap-in for all backward readers of a tensor", AT(fuse_swapins), false},
    {"swap-branches", RP_POLICY_FLAG, NULL,
     "swap in the forward phase too, between distant ops", AT(swap_branches), false},
    {"branch-threshold", RP_POLICY_NAT, "N",
     "with swap-branches: distant means more than N levels apart", AT(branch_threshold), 0},
    {0},
};

static const char *check_options(const struct rp_policy_options *o) {
    return o->tflms.lb > o->tflms.ub ? "lb is above ub" : NULL;
}

enum { NS_PER_OP = 4 }; /* about, to look for a trigger */

struct tflms {
    const struct rp_instance *p;
    const struct rp_tflms_options *o;
    struct rp_stop *stop;
    struct rp_interval_actions a;
    uint32_t n_forward;
    uint32_t *level;     /* per op */
    uint64_t *ancestors; /* a bit per op, scratch */
    uint64_t n_swapped;  /* tensors so far */
};

static void set_levels(struct tflms *w) {
    const struct rp_instance *p = w->p;
    for (uint32_t i = 0; i < p->n_ops; i++)
        for (uint32_t k = p->input_start[i]; k < p->input_start[i + 1]; k++) {
            uint32_t above = w->level[p->producer[p->inputs[k]]];
            w->level[i] = rp_max_u32(w->level[i], above + 1);
        }
}

static bool has_bit(const uint64_t *bits, uint32_t i) {
    return bits[i / 64] >> (i % 64) & 1;
}

/* Marks the ops that op i depends on, without i itself. */
static void mark_ancestors(struct tflms *w, uint32_t i) {
    const struct rp_instance *p = w->p;
    memset(w->ancestors, 0, ((size_t)p->n_ops / 64 + 1) * sizeof *w->ancestors);
    for (uint32_t j = i + 1; j-- > 0;) {
        if (j != i && !has_bit(w->ancestors, j))
            continue;
        for (uint32_t k = p->input_start[j]; k < p->input_start[j + 1]; k++) {
            uint32_t q = p->producer[p->inputs[k]];
            w->ancestors[q / 64] |= (uint64_t)1 << (q % 64);
        }
    }
}

/* The ancestor of `reader`, from op `from` on, that is lb..ub levels before it: the nearest
 * to lb, and of equals the last to run. RP_NONE if there is none. */
static uint32_t direct_order(const struct tflms *w, uint32_t reader, uint32_t from) {
    uint32_t best = RP_NONE;
    uint64_t best_distance = 0;
    for (uint32_t j = from; j < reader; j++) {
        uint64_t distance = w->level[reader] - (uint64_t)w->level[j];
        if (!has_bit(w->ancestors, j) || distance < w->o->lb || distance > w->o->ub)
            continue;
        if (best == RP_NONE || distance <= best_distance) {
            best = j;
            best_distance = distance;
        }
    }
    return best;
}

/* The first backward op that reads what forward op j makes and is an ancestor of `reader`.
 * RP_NONE if there is none. */
static uint32_t backward_of(const struct tflms *w, uint32_t j, uint32_t reader) {
    const struct rp_instance *p = w->p;
    for (uint32_t x = p->output_start[j]; x < p->output_start[j + 1]; x++)
        for (uint32_t e = p->reader_start[x]; e < p->reader_start[x + 1]; e++)
            if (p->readers[e] >= w->n_forward && p->readers[e] < reader &&
                has_bit(w->ancestors, p->readers[e]))
                return p->readers[e];
    return RP_NONE;
}

/* The backward op that belongs to a forward op lb..ub levels after `source`: the nearest to
 * lb, and of equals the last to run. RP_NONE if there is none. */
static uint32_t chain_rule(const struct tflms *w, uint32_t source, uint32_t reader) {
    uint32_t best = RP_NONE;
    uint64_t best_distance = 0;
    for (uint32_t j = source + 1; j < w->n_forward; j++) {
        if (w->level[j] <= w->level[source])
            continue;
        uint64_t distance = w->level[j] - (uint64_t)w->level[source];
        if (distance < w->o->lb || distance > w->o->ub)
            continue;
        uint32_t b = backward_of(w, j, reader);
        if (b != RP_NONE && (best == RP_NONE || distance < best_distance ||
                             (distance == best_distance && b > best))) {
            best = b;
            best_distance = distance;
        }
    }
    return best;
}

/* The stage that begins with the swap-in for interval e of x. */
static uint32_t trigger_for(struct tflms *w, uint32_t x, uint32_t e) {
    uint32_t reader = w->p->readers[e], begin = rp_interval_begin(w->p, x, e), op;
    mark_ancestors(w, reader);
    if (reader < w->n_forward || w->o->ctrld == RP_DIRECT_ORDER)
        op = direct_order(w, reader, begin + 1);
    else
        op = chain_rule(w, w->p->producer[x], reader);
    return op == RP_NONE ? reader : op + 1;
}

static void swap_interval(struct tflms *w, uint32_t x, uint32_t e) {
    if (rp_stop_after(w->stop, NS_PER_OP * (uint64_t)w->p->n_ops))
        return;
    uint32_t trigger = trigger_for(w, x, e);
    /* The swap-in cannot begin before the tensor is out. */
    if (trigger <= rp_interval_begin(w->p, x, e) + 1)
        trigger = w->p->readers[e];
    w->a.action[e] = RP_INTERVAL_SWAP;
    w->a.trigger[e] = trigger;
}

/* Adds the swaps of x, as the paper rewrites the graph. */
static void rewrite(struct tflms *w, uint32_t x) {
    const struct rp_instance *p = w->p;
    bool any = false;
    uint32_t first = rp_interval_ending_from(p, x, w->n_forward);
    for (uint32_t e = p->reader_start[x]; w->o->swap_branches && e < first; e++) {
        uint32_t from = rp_interval_begin(p, x, e);
        uint64_t distance = w->level[p->readers[e]] - (uint64_t)w->level[p->producer[x]];
        if (distance > w->o->branch_threshold && from + 1 < p->readers[e]) {
            swap_interval(w, x, e);
            any = true;
        }
    }
    for (uint32_t e = first; e < p->reader_start[x + 1]; e++)
        if (e == first || !w->o->fuse_swapins) {
            swap_interval(w, x, e);
            any = true;
        }
    w->n_swapped += any;
}

static void record(const struct rp_instance *p, const struct rp_policy_options *o,
                   struct rp_recorder *r) {
    struct tflms w = {
        .p = p, .o = &o->tflms, .stop = r->stop, .n_forward = rp_forward_ops(p)};
    rp_interval_actions_init(p, &w.a);
    w.level = rp_calloc(p->n_ops, sizeof *w.level);
    w.ancestors = rp_calloc((size_t)p->n_ops / 64 + 1, sizeof *w.ancestors);
    set_levels(&w);
    for (uint32_t x = 0; x < p->n_tensors && p->producer[x] < w.n_forward; x++)
        if (w.n_swapped < o->tflms.n_tensors)
            rewrite(&w, x);
    rp_interval_steps_record(&w.a, r, NULL);
    rp_interval_actions_fini(&w.a);
    free(w.level);
    free(w.ancestors);
}

const struct rp_policy rp_policy_tflms = {
    .name = "tflms",
    .summary = "swap by graph rewriting (Le et al. 2018)",
    .record = record,
    .may_swap = true,
    .needs_swap = true,
    .options = option_table,
    .check = check_options,
};
