/* dtr: Kirisame et al., "Dynamic Tensor Rematerialization", ICLR 2021, arXiv 2006.09616.
 *
 * Ops are carried out in order. Whenever storage is short, the tensor with the smallest
 *
 *     h(x) = (c(x) + cost of the evicted neighbourhood of x) / (bytes(x) * staleness(x))
 *
 * is evicted. What is needed and not there is recomputed, recursively. c is the time of the
 * tensor's op, staleness the time since its last use. The evicted neighbourhood is kept as
 * disjoint sets of evicted tensors, which are joined as they are evicted, each with a
 * running sum of costs. A tensor that is recomputed takes its cost out of its set: the
 * paper's h_DTR^eq (appendix C). After its last read a tensor is freed at once (eager
 * eviction, section 2). What is recomputed for another tensor after that stays until it is
 * evicted.
 *
 * Interpretation: this runs ahead of time, on known op times, where the paper decides as it
 * goes. Kept tensors are not evicted. Like the paper's prototype it gives up when it
 * thrashes: after MAX_RUNS_PER_OP runs per op on average it stops evicting.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "policy/policy.h"

enum {
    MAX_RUNS_PER_OP = 30,
    NS_PER_TENSOR = 16 /* about, of one search for a victim */
};

struct dtr_node {
    uint32_t parent; /* the node itself if it is a root; then `sum` is that of the set */
    double sum;
};

/* An op that waits for its inputs; k: the first that may be missing, as index in inputs. */
struct call {
    uint32_t op, k;
};

struct dtr {
    const struct rp_instance *p;
    struct rp_recorder *r;
    uint32_t now;      /* the op whose first run is being recorded */
    uint32_t *locks;   /* per tensor: runs being recorded that read or make it */
    uint64_t *used_ns; /* per tensor: last use */
    uint32_t *node_of; /* per evicted tensor: its node, a new one for each eviction */
    RP_VEC(struct dtr_node) nodes;
    RP_VEC(struct call) calls; /* of run_op */
    uint64_t runs_left;
};

static uint32_t root_of(struct dtr *d, uint32_t x) {
    uint32_t v = d->node_of[x];
    while (d->nodes.at[v].parent != v)
        v = d->nodes.at[v].parent = d->nodes.at[d->nodes.at[v].parent].parent;
    return v;
}

/* No first run needs x any more. What cannot be made again is not evicted even then, if
 * recomputing another tensor may need it. */
static bool is_done(const struct dtr *d, uint32_t x) {
    const struct rp_instance *p = d->p;
    return rp_instance_last_need(p, x) <= d->now && d->r->on_device[x] &&
           !p->irreplaceable[x];
}

/* It was made before and is not on the device. */
static bool is_evicted(const struct dtr *d, uint32_t x) {
    return d->r->ran[d->p->producer[x]] && !d->r->on_device[x];
}

/* Neighbours are what the op of x reads and what the readers of x make. The first 16 sets
 * count. */
static double neighbour_cost(struct dtr *d, uint32_t x) {
    const struct rp_instance *p = d->p;
    uint32_t roots[16], n = 0, i = p->producer[x];
    double sum = 0;
    for (uint32_t k = p->input_start[i]; k < p->input_start[i + 1] && n < 16; k++)
        if (is_evicted(d, p->inputs[k]))
            roots[n++] = root_of(d, p->inputs[k]);
    for (uint32_t e = p->reader_start[x]; e < p->reader_start[x + 1]; e++) {
        uint32_t j = p->readers[e];
        for (uint32_t y = p->output_start[j]; y < p->output_start[j + 1] && n < 16; y++)
            if (is_evicted(d, y))
                roots[n++] = root_of(d, y);
    }
    for (uint32_t a = 0; a < n; a++) {
        bool counted = false;
        for (uint32_t b = 0; b < a; b++)
            counted = counted || roots[b] == roots[a];
        sum += counted ? 0 : d->nodes.at[roots[a]].sum;
    }
    return sum;
}

static void join(struct dtr *d, uint32_t x, uint32_t y) {
    uint32_t a = root_of(d, x), b = root_of(d, y);
    if (a == b)
        return;
    d->nodes.at[b].parent = a;
    d->nodes.at[a].sum += d->nodes.at[b].sum;
}

static void evict(struct dtr *d, uint32_t x) {
    const struct rp_instance *p = d->p;
    uint32_t i = p->producer[x];
    rp_recorder_free(d->r, x);
    d->node_of[x] = (uint32_t)d->nodes.n;
    rp_push(&d->nodes, ((struct dtr_node){d->node_of[x], (double)p->time_ns[i]}));
    for (uint32_t k = p->input_start[i]; k < p->input_start[i + 1]; k++)
        if (is_evicted(d, p->inputs[k]))
            join(d, x, p->inputs[k]);
    for (uint32_t e = p->reader_start[x]; e < p->reader_start[x + 1]; e++) {
        uint32_t j = p->readers[e];
        for (uint32_t y = p->output_start[j]; y < p->output_start[j + 1]; y++)
            if (is_evicted(d, y))
                join(d, x, y);
    }
}

/* x is recomputed: its set loses its cost, but stays joined (appendix C of the paper). */
static void leave_set(struct dtr *d, uint32_t x) {
    double cost = (double)d->p->time_ns[d->p->producer[x]];
    double *sum = &d->nodes.at[root_of(d, x)].sum;
    *sum = *sum > cost ? *sum - cost : 0;
}

static double score(struct dtr *d, uint32_t x) {
    const struct rp_instance *p = d->p;
    double stale = (double)(d->r->time.compute_ns - d->used_ns[x]) + 1;
    return ((double)p->time_ns[p->producer[x]] + neighbour_cost(d, x)) /
           ((double)p->bytes[x] * stale);
}

static void make_room(struct dtr *d, uint64_t bytes) {
    const struct rp_instance *p = d->p;
    while (d->r->live_bytes + bytes > p->limit_bytes) {
        uint32_t best = RP_NONE;
        double min = 0;
        if (rp_stop_after(d->r->stop, NS_PER_TENSOR * p->n_tensors))
            return;
        for (uint32_t x = 0; x < p->n_tensors && p->producer[x] <= d->now; x++) {
            if (!d->r->on_device[x] || d->locks[x] > 0 || p->kept[x] || p->bytes[x] == 0 ||
                p->irreplaceable[x])
                continue;
            double h = score(d, x);
            if (best == RP_NONE || h < min) {
                best = x;
                min = h;
            }
        }
        if (best == RP_NONE)
            return; /* over the budget, as the recorder's peak will show */
        evict(d, best);
    }
}

static void end_use(struct dtr *d, uint32_t x) {
    d->locks[x]--;
    d->used_ns[x] = d->r->time.compute_ns;
}

static void lock_inputs(struct dtr *d, uint32_t j) {
    const struct rp_instance *p = d->p;
    for (uint32_t k = p->input_start[j]; k < p->input_start[j + 1]; k++)
        d->locks[p->inputs[k]]++;
    rp_push(&d->calls, ((struct call){j, p->input_start[j]}));
}

/* Runs op j, whose inputs are locked and on the device. */
static void run_ready(struct dtr *d, uint32_t j) {
    const struct rp_instance *p = d->p;
    struct rp_recorder *r = d->r;
    for (uint32_t x = p->output_start[j]; x < p->output_start[j + 1]; x++) {
        d->locks[x]++;
        if (is_evicted(d, x))
            leave_set(d, x);
    }
    if (d->runs_left > 0) {
        make_room(d, rp_recorder_run_bytes(r, j));
        d->runs_left--;
    }
    rp_recorder_run(r, j);
    for (uint32_t k = p->input_start[j]; k < p->input_start[j + 1]; k++)
        end_use(d, p->inputs[k]);
    for (uint32_t x = p->output_start[j]; x < p->output_start[j + 1]; x++)
        end_use(d, x);
}

/* Runs op j, after recomputing what it reads. Chains of recomputations are as long as the
 * step, so the recursion has a stack of its own. */
static void run_op(struct dtr *d, uint32_t j) {
    const struct rp_instance *p = d->p;
    lock_inputs(d, j);
    while (d->calls.n > 0) {
        struct call *c = &d->calls.at[d->calls.n - 1];
        while (c->k < p->input_start[c->op + 1] && d->r->on_device[p->inputs[c->k]])
            c->k++;
        if (c->k < p->input_start[c->op + 1]) {
            lock_inputs(d, p->producer[p->inputs[c->k]]);
        } else {
            d->calls.n--;
            run_ready(d, c->op);
        }
    }
}

/* Eager eviction of what op i was the last to need. */
static void evict_done(struct dtr *d, uint32_t i) {
    const struct rp_instance *p = d->p;
    for (uint32_t k = p->input_start[i]; k < p->input_start[i + 1]; k++)
        if (is_done(d, p->inputs[k]))
            evict(d, p->inputs[k]);
    for (uint32_t x = p->output_start[i]; x < p->output_start[i + 1]; x++)
        if (is_done(d, x))
            evict(d, x);
}

static void record(const struct rp_instance *p, const struct rp_policy_options *o,
                   struct rp_recorder *r) {
    struct dtr d = {.p = p, .r = r, .runs_left = (uint64_t)MAX_RUNS_PER_OP * p->n_ops};
    (void)o;
    d.locks = rp_calloc(p->n_tensors, sizeof *d.locks);
    d.used_ns = rp_calloc(p->n_tensors, sizeof *d.used_ns);
    d.node_of = rp_calloc(p->n_tensors, sizeof *d.node_of);
    for (uint32_t i = 0; i < p->n_ops; i++) {
        d.now = i;
        run_op(&d, i);
        evict_done(&d, i);
    }
    free(d.locks);
    free(d.used_ns);
    free(d.node_of);
    free(d.nodes.at);
    free(d.calls.at);
}

const struct rp_policy rp_policy_dtr = {
    .name = "dtr",
    .summary = "eviction by cost/(bytes * staleness) (Kirisame et al. 2021)",
    .record = record,
    .fits_budget = true,
    .slow = true,
    .may_recompute = true,
};
