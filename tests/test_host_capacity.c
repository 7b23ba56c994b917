/* How much can be on the host alone, against every order of copies of every set of tensors.
 */
#include "verify/certificate/host_capacity.h"

#include "base/mem.h"
#include "base/numbers.h"
#include "gen.h"
#include "run.h"

enum { MAX_OPS = 13, MOST = RP_HOST_CAPACITY_MAX_TENSORS };

struct draw {
    struct rp_graph g;
    struct rp_lp_variables vars;
    uint32_t order[MAX_OPS], ends[MAX_OPS], n_stages;
    uint64_t horizon_ns, host_bytes;
    bool addressed;
};

struct offload {
    uint64_t size, out_ns, in_ns, ready_ns, due_ns;
};

/* ---- single tensors ---- */

static uint64_t copy_ns(const struct draw *d, uint32_t x, uint64_t bytes_per_s) {
    unsigned __int128 product = (unsigned __int128)d->g.tensors[x].bytes * 1000000000;
    return d->g.device.copy_latency_ns +
           (uint64_t)((product + bytes_per_s - 1) / bytes_per_s);
}

/* The sum of the times of the ops at positions [from, to). */
static uint64_t time_of(const struct draw *d, uint32_t from, uint32_t to) {
    uint64_t sum = 0;
    for (uint32_t i = from; i < to; i++)
        sum += d->g.ops[d->order[i]].time_ns;
    return sum;
}

/* When the run at this position starts at the latest. */
static uint64_t latest_start(const struct draw *d, uint32_t position) {
    return rp_max_u64(d->horizon_ns, time_of(d, 0, d->g.n_ops)) -
           time_of(d, position, d->g.n_ops);
}

static bool reads(const struct draw *d, uint32_t op, uint32_t x) {
    for (uint32_t k = 0; k < d->g.ops[op].n_inputs; k++)
        if (d->g.ops[op].inputs[k] == x)
            return true;
    return false;
}

static struct offload offload(const struct draw *d, uint32_t x) {
    uint32_t maker = d->vars.position[d->g.tensors[x].producer];
    uint32_t last_hold = d->vars.last_hold[x];
    bool kept = last_hold == d->n_stages;
    return (struct offload){
        .size = rp_round_up(d->g.tensors[x].bytes,
                            d->addressed ? d->g.device.alignment_bytes : 1),
        .out_ns = copy_ns(d, x, d->g.device.d2h_bytes_per_s),
        .in_ns = copy_ns(d, x, d->g.device.h2d_bytes_per_s),
        .ready_ns = time_of(d, 0, maker + 1),
        .due_ns = latest_start(d, kept ? d->g.n_ops : d->vars.last_position[last_hold])};
}

/* Made before this position, and read after it, or at it unless all is to be there then. */
static bool may_be_away(const struct draw *d, uint32_t x, uint32_t position, bool last) {
    uint32_t maker = d->g.tensors[x].producer, last_hold = d->vars.last_hold[x];
    if (maker == RP_NONE || d->vars.position[maker] >= position ||
        d->g.tensors[x].bytes == 0 || (last && reads(d, d->order[position], x)))
        return false;
    return last_hold == d->n_stages ||
           d->vars.last_position[last_hold] >= position + (last ? 1 : 0);
}

/* ---- sets ---- */

/* The bytes of the largest set that can go out before start_ns and come in after end_ns. Of
 * every set, out_end is when its copies out end at the earliest, over all orders. */
static uint64_t largest_set(const struct offload *t, uint32_t n, uint64_t start_ns,
                            uint64_t end_ns) {
    uint64_t out_end[1 << MOST] = {0}, in_end[1 << MOST] = {end_ns}, size[1 << MOST] = {0};
    bool comes_in[1 << MOST] = {true};
    uint64_t best = 0;
    for (uint32_t set = 1; set < 1u << n; set++) {
        out_end[set] = UINT64_MAX;
        for (uint32_t i = 0; i < n; i++) {
            uint32_t rest = set & ~(1u << i);
            if (rest == set)
                continue;
            size[set] = size[rest] + t[i].size;
            in_end[set] = in_end[rest] + t[i].in_ns;
            out_end[set] = rp_min_u64(
                out_end[set], rp_max_u64(out_end[rest], t[i].ready_ns) + t[i].out_ns);
            comes_in[set] |= comes_in[rest] && in_end[set] <= t[i].due_ns;
        }
        if (out_end[set] <= start_ns && comes_in[set])
            best = rp_max_u64(best, size[set]);
    }
    return best;
}

static uint64_t by_sets(const struct draw *d, uint32_t position, bool last) {
    struct offload list[MAX_OPS];
    uint64_t start_ns = latest_start(d, position), end_ns = time_of(d, 0, position + last);
    uint32_t n = 0;
    for (uint32_t x = 0; x < d->g.n_tensors; x++)
        if (may_be_away(d, x, position, last)) {
            list[n] = offload(d, x);
            n += largest_set(&list[n], 1, start_ns, end_ns) > 0;
        }
    return n > MOST ? UINT64_MAX : largest_set(list, n, start_ns, end_ns);
}

/* ---- rates ---- */

/* What the link carries in this time at the best rate of a tensor. */
static uint64_t by_rate(const struct draw *d, uint64_t bytes_per_s, uint64_t ns) {
    uint64_t best = 0;
    for (uint32_t x = 0; x < d->g.n_tensors; x++)
        if (d->g.tensors[x].producer != RP_NONE) {
            uint64_t copied_ns = copy_ns(d, x, bytes_per_s), size = offload(d, x).size;
            if (size > 0)
                best =
                    rp_max_u64(best, (uint64_t)((unsigned __int128)ns * size / copied_ns));
        }
    return best;
}

static uint64_t by_size(const struct draw *d) {
    uint64_t sum = 0;
    for (uint32_t x = 0; x < d->g.n_tensors; x++)
        if (d->g.tensors[x].producer != RP_NONE)
            sum += offload(d, x).size;
    return rp_min_u64(sum, d->host_bytes);
}

static uint64_t expected(const struct draw *d, uint32_t t, bool last) {
    uint32_t position = d->vars.last_position[t];
    uint64_t horizon = rp_max_u64(d->horizon_ns, time_of(d, 0, d->g.n_ops));
    uint64_t out = by_rate(d, d->g.device.d2h_bytes_per_s, latest_start(d, position));
    uint64_t in =
        by_rate(d, d->g.device.h2d_bytes_per_s, horizon - time_of(d, 0, position + last));
    return rp_min_u64(rp_min_u64(out, in),
                      rp_min_u64(by_size(d), by_sets(d, position, last)));
}

/* ---- random graphs ---- */

static void open_draw(uint64_t seed, struct draw *d) {
    struct rp_rng r = {seed * 31};
    rp_gen_host_graph(seed, 4 + (uint32_t)rp_rng_below(&r, MAX_OPS - 3), &d->g);
    uint64_t total_ns = d->g.total_time_ns;
    d->g.device.copy_latency_ns = rp_rng_below(&r, 3) * total_ns / 40;
    d->g.device.d2h_bytes_per_s = d->g.device.d2h_bytes_per_s * (1 + seed % 4) / 3;
    d->g.device.h2d_bytes_per_s = d->g.device.h2d_bytes_per_s * (1 + seed / 4 % 4) / 3;
    d->horizon_ns = total_ns / 2 + rp_rng_below(&r, 2 * total_ns + 1);
    d->addressed = rp_rng_percent(&r, 50);
    d->host_bytes = rp_rng_percent(&r, 70) ? UINT64_MAX : rp_rng_below(&r, 4000);
    d->n_stages = 0;
    for (uint32_t i = 0; i < d->g.n_ops; i++) {
        d->order[i] = i;
        if (i + 1 == d->g.n_ops || rp_rng_percent(&r, 70))
            d->ends[d->n_stages++] = i;
    }
    rp_lp_variables_init(&d->vars, &d->g, d->order, d->ends, d->n_stages);
}

static bool same_capacity(uint64_t seed, uint32_t *n_by_sets) {
    struct draw d;
    struct rp_host_capacity r = {0};
    open_draw(seed, &d);
    bool same = rp_host_capacity_init(&r, &d.vars, d.order, d.addressed, d.horizon_ns,
                                      d.host_bytes);
    same = same && 1000000 * r.out_bytes / r.out_ns ==
                       by_rate(&d, d.g.device.d2h_bytes_per_s, 1000000);
    for (uint32_t t = 0; t < d.n_stages && same; t++)
        for (int last = 0; last <= 1 && same; last++) {
            uint64_t bytes = rp_host_capacity_max_bytes(&r, t, last);
            same = bytes == expected(&d, t, last);
            *n_by_sets += bytes > 0 && bytes == by_sets(&d, d.vars.last_position[t], last);
        }
    rp_host_capacity_fini(&r);
    rp_lp_variables_fini(&d.vars);
    rp_graph_fini(&d.g);
    return same;
}

static void the_capacity_is_that_of_the_best_set_and_order(void) {
    uint32_t n = 1500, n_by_sets = 0;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++)
        if (!same_capacity(seed, &n_by_sets)) {
            rp_gen_failed(seed);
            CU_FAIL("another capacity");
        }
    CU_ASSERT(rp_gen_one_seed() || n_by_sets > 300);
}

void suite_host_capacity(void) {
    RP_SUITE("host_capacity");
    RP_TEST(the_capacity_is_that_of_the_best_set_and_order);
}
