#include "verify/certificate/check_copy.h"

#include "base/mem.h"
#include "base/numbers.h"

#define MAX_RIGHT_NS ((__int128)1 << 62)

static bool is_used_by(const struct rp_op *op, uint32_t x) {
    for (uint32_t k = 0; k < op->n_inputs; k++)
        if (op->inputs[k] == x)
            return true;
    for (uint32_t k = 0; k < op->n_outputs; k++)
        if (op->outputs[k] == x)
            return true;
    return false;
}

static uint64_t size_of(const struct rp_host_capacity *h, uint64_t bytes) {
    return h->addressed ? rp_round_up(bytes, h->c->g->device.alignment_bytes) : bytes;
}

/* What the op needs at once, sources left out. Below 2^63: the graph's sizes fit. */
static uint64_t working_set(const struct rp_host_capacity *h, const struct rp_op *op) {
    const struct rp_graph *g = h->c->g;
    uint64_t sum = size_of(h, op->workspace_bytes);
    for (uint32_t k = 0; k < op->n_inputs; k++)
        if (g->tensors[op->inputs[k]].producer != RP_NONE)
            sum += size_of(h, g->tensors[op->inputs[k]].bytes);
    for (uint32_t k = 0; k < op->n_outputs; k++)
        sum += size_of(h, g->tensors[op->outputs[k]].bytes);
    return sum;
}

static __int128 at_best_rate(const struct rp_copy_row *r, uint64_t bytes, bool round_up) {
    uint64_t best_bytes = r->in ? r->host->in_bytes : r->host->out_bytes;
    uint64_t best_ns = r->in ? r->host->in_ns : r->host->out_ns;
    if (best_bytes == 0) /* no tensor has bytes */
        return 0;
    __int128 product = (__int128)bytes * best_ns; /* of 63 bits each */
    return (product + (round_up ? best_bytes - 1 : 0)) / best_bytes;
}

bool rp_copy_row_init(struct rp_copy_row *r, const struct rp_host_capacity *host,
                      uint64_t limit_bytes, bool in, uint32_t stage, uint32_t op) {
    const struct rp_lp_variables *c = host->c;
    uint32_t moment = c->last_position[stage], position = c->position[op];
    *r = (struct rp_copy_row){.host = host, .in = in, .stage = stage, .position = position};
    uint64_t used = working_set(host, &c->g->ops[c->last_op[stage]]);
    r->right_ns = at_best_rate(r, used < limit_bytes ? limit_bytes - used : 0, true);
    if (in) {
        r->right_ns += host->before_ns[position] - host->before_ns[moment + 1];
        r->first = stage + 1;
        r->last = c->stage[op];
    } else {
        bool ends_stage = position == c->last_position[c->stage[op]];
        r->right_ns += host->before_ns[moment] - host->before_ns[position + 1];
        r->first = c->stage[op] + ends_stage;
        r->last = stage;
    }
    return r->right_ns <= MAX_RIGHT_NS;
}

/* Is x read, if it is there after the moment, by the op at r->position at the latest? */
static bool is_due(const struct rp_copy_row *r, uint32_t x) {
    const struct rp_lp_variables *c = r->host->c;
    const struct rp_graph *g = c->g;
    uint32_t moment = c->last_position[r->stage];
    for (uint32_t i = g->reader_start[x]; i < g->reader_start[x + 1]; i++) {
        uint32_t position = c->position[g->readers[i]];
        if (position > moment && position <= r->position)
            return true;
    }
    return c->last_hold[x] < c->n_stages &&
           c->last_position[c->last_hold[x]] <= r->position;
}

/* Where x is made after the moment, S[b+1][x] = 0. */
uint64_t rp_copy_row_ns(const struct rp_copy_row *r, uint32_t x) {
    const struct rp_lp_variables *c = r->host->c;
    uint32_t made = c->position[c->g->tensors[x].producer];
    bool counts = !is_used_by(&c->g->ops[c->last_op[r->stage]], x) &&
                  (r->in ? is_due(r, x) : made >= r->position);
    /* No more than the copy takes, so below 2^63. */
    return counts
               ? (uint64_t)at_best_rate(r, size_of(r->host, c->g->tensors[x].bytes), false)
               : 0;
}

/* ---- rounding ---- */

static __int128 floor_div(__int128 a, __int128 b) {
    return a / b - (a % b < 0);
}

void rp_copy_row_round(struct rp_copy_row *r, uint64_t length_ns, __int128 turned_ns) {
    __int128 right = r->right_ns - turned_ns, whole = floor_div(right, length_ns);
    r->length_ns = length_ns;
    r->rest_ns = right - whole * length_ns;
    r->right_ns = (r->length_ns - r->rest_ns) * whole;
}

__int128 rp_copy_row_coefficient(const struct rp_copy_row *r, uint64_t ns, bool turned) {
    __int128 value = turned ? -(__int128)ns : (__int128)ns;
    if (r->length_ns == 0)
        return value;
    __int128 whole = floor_div(value, r->length_ns), rest = value - whole * r->length_ns;
    return (r->length_ns - r->rest_ns) * whole +
           (rest > r->rest_ns ? rest - r->rest_ns : 0);
}
