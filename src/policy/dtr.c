/* dtr: Kirisame et al., "Dynamic Tensor Rematerialization", ICLR 2021, arXiv 2006.09616.
 *
 * Ops are carried out in order. Whenever storage is short, the tensor with the least
 *
 *     h(x) = (c(x) + cost of the evicted neighbourhood of x) / (bytes(x) * staleness(x))
 *
 * is evicted; what is needed and not there is made again, recursively. c is the time of the
 * tensor's op, staleness the time since its last use. The evicted neighbourhood is kept as
 * sets of evicted tensors joined as they are evicted, each with a running sum of costs, and
 * a tensor made again takes its cost out of its set: the paper's h_DTR^eq (appendix C).
 * After its last read a tensor is freed at once (eager eviction, section 2); what is made
 * again for another's sake after that stays until it is evicted.
 *
 * Interpretation: run ahead of time, on known op times, where the paper decides as it goes.
 * Kept tensors are not evicted. Like the paper's prototype it gives up when it thrashes:
 * after RERUNS_PER_OP runs an op on average.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "policy/policy.h"

enum { RERUNS_PER_OP = 30 };

struct dtr_node {
    uint32_t parent; /* itself: a root, whose sum is its set's */
    double sum;
};

struct dtr {
    const struct rp_instance *p;
    struct rp_recorder *t;
    uint32_t now;      /* the op whose first run is under way */
    uint32_t *locks;   /* per tensor: runs under way that read or make it */
    uint64_t *used_ns; /* per tensor: last use */
    uint32_t *node_of; /* per evicted tensor: its node, a new one each time */
    struct {
        struct dtr_node *at;
        size_t n, cap;
    } nodes;
    uint64_t runs_left;
};

static uint32_t root_of(struct dtr *d, uint32_t x) {
    uint32_t v = d->node_of[x];
    while (d->nodes.at[v].parent != v)
        v = d->nodes.at[v].parent = d->nodes.at[d->nodes.at[v].parent].parent;
    return v;
}

/* What may run once only is never evicted while anything reads it: it may be needed to make
 * another tensor again. */
static bool done_with(const struct dtr *d, uint32_t x) {
    const struct rp_instance *p = d->p;
    return rp_instance_last_need(p, x) <= d->now && d->t->on_device[x] &&
           (p->recompute[p->producer[x]] || p->reader_start[x] == p->reader_start[x + 1]);
}

/* Evicted: made before, not there. */
static bool evicted(const struct dtr *d, uint32_t x) {
    return d->t->ran[d->p->producer[x]] && !d->t->on_device[x];
}

/* Neighbours are what x's op reads and what readers of x make; the first 16 sets count. */
static double neighbour_cost(struct dtr *d, uint32_t x) {
    const struct rp_instance *p = d->p;
    uint32_t roots[16], n = 0, i = p->producer[x];
    double sum = 0;
    for (uint32_t k = p->input_start[i]; k < p->input_start[i + 1] && n < 16; k++)
        if (evicted(d, p->inputs[k]))
            roots[n++] = root_of(d, p->inputs[k]);
    for (uint32_t e = p->reader_start[x]; e < p->reader_start[x + 1]; e++) {
        uint32_t j = p->readers[e];
        for (uint32_t y = p->output_start[j]; y < p->output_start[j + 1] && n < 16; y++)
            if (evicted(d, y))
                roots[n++] = root_of(d, y);
    }
    for (uint32_t a = 0; a < n; a++) {
        bool again = false;
        for (uint32_t b = 0; b < a; b++)
            again = again || roots[b] == roots[a];
        sum += again ? 0 : d->nodes.at[roots[a]].sum;
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
    rp_recorder_free(d->t, x);
    d->node_of[x] = (uint32_t)d->nodes.n;
    rp_push(&d->nodes, ((struct dtr_node){d->node_of[x], (double)p->time_ns[i]}));
    for (uint32_t k = p->input_start[i]; k < p->input_start[i + 1]; k++)
        if (evicted(d, p->inputs[k]))
            join(d, x, p->inputs[k]);
    for (uint32_t e = p->reader_start[x]; e < p->reader_start[x + 1]; e++) {
        uint32_t j = p->readers[e];
        for (uint32_t y = p->output_start[j]; y < p->output_start[j + 1]; y++)
            if (evicted(d, y))
                join(d, x, y);
    }
}

/* Its set loses its cost, but stays joined (appendix C of the paper). */
static void revive(struct dtr *d, uint32_t x) {
    double cost = (double)d->p->time_ns[d->p->producer[x]];
    double *sum = &d->nodes.at[root_of(d, x)].sum;
    *sum = *sum > cost ? *sum - cost : 0;
}

static double score(struct dtr *d, uint32_t x) {
    const struct rp_instance *p = d->p;
    double stale = (double)(d->t->compute_ns - d->used_ns[x]) + 1;
    return ((double)p->time_ns[p->producer[x]] + neighbour_cost(d, x)) /
           ((double)p->bytes[x] * stale);
}

static void make_room(struct dtr *d, uint64_t bytes) {
    const struct rp_instance *p = d->p;
    while (d->t->live_bytes + bytes > p->limit_bytes) {
        uint32_t best = RP_NONE;
        double least = 0;
        for (uint32_t x = 0; x < p->n_tensors && p->producer[x] <= d->now; x++) {
            if (!d->t->on_device[x] || d->locks[x] > 0 || p->kept[x] || p->bytes[x] == 0 ||
                !p->recompute[p->producer[x]])
                continue;
            double h = score(d, x);
            if (best == RP_NONE || h < least) {
                best = x;
                least = h;
            }
        }
        if (best == RP_NONE)
            return; /* over the budget: the tape's peak will say so */
        evict(d, best);
    }
}

static void end_use(struct dtr *d, uint32_t x) {
    d->locks[x]--;
    d->used_ns[x] = d->t->compute_ns;
}

/* Runs op j; what it reads is made again first. */
static void carry_out(struct dtr *d, uint32_t j) {
    const struct rp_instance *p = d->p;
    struct rp_recorder *t = d->t;
    for (uint32_t k = p->input_start[j]; k < p->input_start[j + 1]; k++)
        d->locks[p->inputs[k]]++;
    for (uint32_t k = p->input_start[j]; k < p->input_start[j + 1]; k++)
        if (!t->on_device[p->inputs[k]])
            carry_out(d, p->producer[p->inputs[k]]);
    for (uint32_t x = p->output_start[j]; x < p->output_start[j + 1]; x++) {
        d->locks[x]++;
        if (evicted(d, x))
            revive(d, x);
    }
    if (d->runs_left > 0) {
        make_room(d, rp_recorder_need(t, j));
        d->runs_left--;
    }
    rp_recorder_run(t, j);
    for (uint32_t k = p->input_start[j]; k < p->input_start[j + 1]; k++)
        end_use(d, p->inputs[k]);
    for (uint32_t x = p->output_start[j]; x < p->output_start[j + 1]; x++)
        end_use(d, x);
}

/* Eager eviction: the program has read these for the last time. */
static void end_program_use(struct dtr *d, uint32_t i) {
    const struct rp_instance *p = d->p;
    for (uint32_t k = p->input_start[i]; k < p->input_start[i + 1]; k++)
        if (done_with(d, p->inputs[k]))
            evict(d, p->inputs[k]);
    for (uint32_t x = p->output_start[i]; x < p->output_start[i + 1]; x++)
        if (done_with(d, x))
            evict(d, x);
}

void rp_record_dtr(const struct rp_instance *p, const struct rp_policy_options *o,
                   struct rp_recorder *t) {
    struct dtr d = {.p = p, .t = t, .runs_left = (uint64_t)RERUNS_PER_OP * p->n_ops};
    (void)o;
    d.locks = rp_calloc(p->n_tensors, sizeof *d.locks);
    d.used_ns = rp_calloc(p->n_tensors, sizeof *d.used_ns);
    d.node_of = rp_calloc(p->n_tensors, sizeof *d.node_of);
    for (uint32_t i = 0; i < p->n_ops; i++) {
        d.now = i;
        carry_out(&d, i);
        end_program_use(&d, i);
    }
    free(d.locks);
    free(d.used_ns);
    free(d.node_of);
    free(d.nodes.at);
}
