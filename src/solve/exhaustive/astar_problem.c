#include "solve/exhaustive/astar_problem.h"

#include "base/numbers.h"
#include "solve/core/schedule.h"

enum { MAX_OPS = RP_ASTAR_MAX_OPS, MAX_TENSORS = RP_ASTAR_MAX_TENSORS };

/* Later than any plan, and sums of it with times of plans do not wrap. */
#define NEVER_NS (UINT64_MAX / 4)

static void list_uses(struct rp_astar_problem *q) {
    const struct rp_instance *p = q->p;
    for (uint32_t j = 0; j < q->n_ops; j++) {
        for (uint32_t k = p->input_start[j]; k < p->input_start[j + 1]; k++) {
            q->in[j] |= rp_astar_bit(p->inputs[k]);
            q->readers[p->inputs[k]] |= rp_astar_bit(j);
        }
        for (uint32_t x = p->output_start[j]; x < p->output_start[j + 1]; x++)
            q->out[j] |= rp_astar_bit(x);
    }
    for (uint32_t x = 0; x < p->n_tensors; x++) {
        q->versions |= rp_is_version(p, x) ? rp_astar_bit(x) : 0;
        q->must_copy_out |= rp_must_copy_out(p, x) ? rp_astar_bit(x) : 0;
        if (p->next_version[x] != RP_NONE)
            q->replaced[p->producer[p->next_version[x]]] |= rp_astar_bit(x);
    }
    for (uint32_t x = 0; x < p->n_tensors; x++)
        q->in[q->n_ops] |= p->kept[x] ? rp_astar_bit(x) : 0;
}

static void list_needs(struct rp_astar_problem *q) {
    const struct rp_instance *p = q->p;
    uint32_t r_last[MAX_OPS + 1], s_last[MAX_TENSORS];
    rp_instance_last_uses(p, r_last, s_last);
    for (uint32_t n = 0; n <= q->n_ops; n++) {
        for (uint32_t j = 0; j < q->n_ops; j++)
            q->useful[n] |= j >= n || r_last[j] >= n ? rp_astar_bit(j) : 0;
        for (uint32_t x = 0; x < p->n_tensors; x++)
            q->wanted[n] |= s_last[x] >= n ? rp_astar_bit(x) : 0;
    }
}

/* ---- homes ---- */

/* Leaves version 0 of a source, and all later ones, on the device. */
static void let_stay(const struct rp_instance *p, uint32_t version_0,
                     struct rp_astar_homes *h) {
    h->device_bytes += rp_instance_least_bytes(p, version_0);
    h->host_bytes -= p->bytes[version_0];
    for (uint32_t x = version_0; x != RP_NONE; x = p->next_version[x])
        h->stays |= rp_astar_bit(x);
}

/* Bit k of `choice`: the k-th source that may stay on the device does. */
static struct rp_astar_homes choose_homes(const struct rp_instance *p, uint32_t choice) {
    struct rp_astar_homes h = {0};
    for (uint32_t x = 0; x < p->n_homes; x++) {
        h.host_bytes += p->bytes[x];
        if (p->lives_on_host[x])
            continue;
        if (choice % 2 == 1)
            let_stay(p, x, &h);
        choice /= 2;
    }
    return h;
}

uint32_t rp_astar_count_homes(const struct rp_instance *p) {
    uint32_t n = 1;
    for (uint32_t x = 0; x < p->n_homes && n <= RP_ASTAR_MAX_HOMES; x++)
        n *= p->lives_on_host[x] ? 1 : 2;
    return n;
}

static void list_homes(struct rp_astar_problem *q) {
    const struct rp_instance *p = q->p;
    for (uint32_t k = 0, n = rp_astar_count_homes(p); k < n; k++) {
        struct rp_astar_homes h = choose_homes(p, k);
        if (h.device_bytes <= p->limit_bytes &&
            (p->n_homes == 0 || h.host_bytes <= p->host_limit_bytes))
            q->homes[q->n_homes++] = h;
    }
}

void rp_astar_problem_init(struct rp_astar_problem *q, const struct rp_instance *p,
                           uint64_t small) {
    *q = (struct rp_astar_problem){.p = p, .n_ops = rp_astar_ops(p), .small = small};
    list_uses(q);
    list_needs(q);
    list_homes(q);
    for (uint32_t j = 0; j < q->n_ops; j++)
        q->made[j + 1] = q->made[j] | q->out[j];
    for (uint32_t n = q->n_ops; n-- > 0;)
        q->remaining_ns[n] = q->remaining_ns[n + 1] + p->time_ns[n];
    for (uint32_t x = 0; x < p->n_tensors; x++) {
        q->bytes[x] = rp_astar_has(small, x) ? 0 : p->bytes[x];
        q->pinned |= p->pinned[x] ? rp_astar_bit(x) : 0;
        q->shadows |= p->shadow_bytes[x] > 0 ? rp_astar_bit(x) : 0;
    }
}

/* ---- memory ---- */

static uint64_t beyond_limit(const struct rp_astar_problem *q, uint32_t homes,
                             uint64_t bytes) {
    uint64_t limit = q->p->limit_bytes - q->homes[homes].device_bytes;
    return bytes > limit ? bytes - limit : 0;
}

uint64_t rp_astar_excess(const struct rp_astar_problem *q, uint32_t homes,
                         const uint64_t *bytes, uint64_t device) {
    return beyond_limit(q, homes, rp_astar_bytes(bytes, device));
}

uint64_t rp_astar_excess_to_run(const struct rp_astar_problem *q, uint32_t homes,
                                const uint64_t *bytes, uint64_t device, uint32_t j) {
    return beyond_limit(q, homes,
                        rp_astar_bytes(bytes, device | (q->out[j] & ~q->versions)) +
                            q->p->workspace_bytes[j] +
                            rp_astar_bytes(bytes, device & q->out[j] & q->shadows));
}

/* ---- the bound ---- */

/* The earliest time at which x can be read, if runs have it at run_ns. */
static uint64_t earliest_ns(const struct rp_astar_problem *q,
                            const struct rp_astar_state *s,
                            const struct rp_astar_ends *ends, uint32_t x, uint64_t run_ns) {
    if (rp_astar_has(rp_astar_there(q, s), x))
        return ends->ready_ns[x];
    if (!rp_astar_has(s->host, x))
        return run_ns;
    uint64_t begin_ns =
        rp_max_u64(rp_max_u64(s->clock_ns, s->h2d_ns), ends->host_ready_ns[x]);
    return rp_min_u64(run_ns, begin_ns + q->p->in_ns[x]);
}

static uint64_t latest_of(const uint64_t *ns, uint64_t set, uint64_t latest_ns) {
    while (set != 0)
        latest_ns = rp_max_u64(latest_ns, ns[rp_astar_take(&set)]);
    return latest_ns;
}

/* The earliest times of all tensors that have been made. */
static void find_earliest(const struct rp_astar_problem *q, const struct rp_astar_state *s,
                          const struct rp_astar_ends *ends, uint64_t *ns) {
    for (uint32_t j = 0; j < s->n_first; j++) {
        uint64_t run_ns = NEVER_NS;
        if (rp_astar_has(q->useful[s->n_first], j))
            run_ns = latest_of(ns, q->in[j], s->clock_ns) + q->p->time_ns[j];
        for (uint64_t out = q->out[j]; out != 0;) {
            uint32_t x = rp_astar_take(&out);
            ns[x] = earliest_ns(q, s, ends, x, run_ns);
        }
    }
}

/* Adds to *missing_ns the runs that make `missing` again, and to *there what they make.
 * False if one of them may not run again. */
static bool make_again(const struct rp_astar_problem *q, uint32_t n_first, uint64_t missing,
                       uint64_t *there, uint64_t *missing_ns) {
    while ((missing &= ~*there) != 0) {
        uint32_t j = q->p->producer[rp_astar_take(&missing)];
        if (n_first > q->p->last_stage[j])
            return false;
        *missing_ns += q->p->time_ns[j];
        *there |= q->out[j];
        missing |= q->in[j];
    }
    return true;
}

/* When all copies out have ended. */
static uint64_t copied_out_ns(const struct rp_astar_problem *q,
                              const struct rp_astar_state *s) {
    uint64_t left = rp_astar_not_home(q, s), ns = s->d2h_ns;
    if (left != 0)
        ns = rp_max_u64(ns, s->clock_ns);
    while (left != 0)
        ns += q->p->out_ns[rp_astar_take(&left)];
    return ns;
}

uint64_t rp_astar_min_time(const struct rp_astar_problem *q, const struct rp_astar_state *s,
                           const struct rp_astar_ends *ends) {
    uint64_t earliest[MAX_TENSORS], again_ns = 0;
    uint64_t made = q->made[s->n_first], there = rp_astar_there(q, s) | s->host | ~made;
    uint64_t runs_ns = s->clock_ns + q->remaining_ns[s->n_first];
    uint64_t best =
        rp_max_u64(rp_max_u64(copied_out_ns(q, s), s->h2d_ns),
                   s->moment_ns + q->remaining_ns[s->n_first] + q->rest_ns[s->n_first]);
    find_earliest(q, s, ends, earliest);
    for (uint32_t u = s->n_first; u <= q->n_ops; u++) {
        if (!make_again(q, s->n_first, q->in[u], &there, &again_ns))
            return UINT64_MAX;
        uint64_t begin_ns = latest_of(earliest, q->in[u] & made, 0) + q->remaining_ns[u];
        best =
            rp_max_u64(best, rp_max_u64(runs_ns + again_ns, begin_ns) + q->rest_ns[u + 1]);
    }
    return best;
}

/* ---- what is of no more use ---- */

static bool is_ready(const struct rp_astar_state *s, const struct rp_astar_ends *ends,
                     uint32_t x) {
    return ends->ready_ns[x] <= s->clock_ns &&
           (!rp_astar_has(s->host, x) || ends->host_ready_ns[x] <= s->clock_ns);
}

/* Can x only serve to make one tensor again, which is there and no larger? */
static bool is_replaced(const struct rp_astar_problem *q, const struct rp_astar_state *s,
                        const struct rp_astar_ends *ends, uint32_t x) {
    uint64_t readers = q->readers[x] & q->useful[s->n_first];
    if (__builtin_popcountll(readers) != 1 || rp_astar_has(q->in[q->n_ops] | q->pinned, x))
        return false;
    uint32_t j = rp_astar_take(&readers);
    uint64_t makes = q->out[j] & q->wanted[s->n_first];
    if (j >= s->n_first || __builtin_popcountll(makes) != 1 ||
        (makes & ~rp_astar_there(q, s)) != 0)
        return false;
    uint32_t y = rp_astar_take(&makes);
    return ends->ready_ns[y] <= s->clock_ns && q->bytes[y] <= q->bytes[x];
}

uint64_t rp_astar_unwanted(const struct rp_astar_problem *q, const struct rp_astar_state *s,
                           const struct rp_astar_ends *ends) {
    uint64_t set = 0;
    for (uint64_t left = s->device & ~(q->versions & ~s->host); left != 0;) {
        uint32_t x = rp_astar_take(&left);
        if (is_ready(s, ends, x) &&
            (!rp_astar_has(q->wanted[s->n_first], x) || is_replaced(q, s, ends, x)))
            set |= rp_astar_bit(x);
    }
    return set;
}
