#include "solve/core/instance.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/numbers.h"
#include "model/timeline.h"

/* Working memory of the layout. */
struct layout {
    struct rp_instance *p;
    uint64_t alignment; /* of sizes */
    /* Per tensor of the graph: its number here; of a source, that of its present version.
     * RP_NONE: it has not been made, or it stays on the device. */
    uint32_t *local;
    uint32_t n_inputs;
};

/* A source that is laid out as versions. One without bytes may as well stay. */
static bool may_move(const struct rp_graph *g, uint32_t x) {
    const struct rp_tensor *t = &g->tensors[x];
    return t->producer == RP_NONE &&
           (t->home == RP_HOME_HOST || (t->home == RP_HOME_ANY && t->bytes > 0));
}

bool rp_any_home(const struct rp_graph *g, enum rp_home home) {
    for (uint32_t x = 0; x < g->n_tensors; x++)
        if (may_move(g, x) && g->tensors[x].home == home)
            return true;
    return false;
}

bool rp_any_source_may_move(const struct rp_graph *g) {
    return rp_any_home(g, RP_HOME_HOST) || rp_any_home(g, RP_HOME_ANY);
}

uint64_t rp_host_bytes_without_sources(const struct rp_graph *g) {
    uint64_t bytes = RP_NO_LIMIT;
    for (uint32_t x = 0; x < g->n_tensors; x++)
        if (g->tensors[x].home == RP_HOME_ANY && g->tensors[x].bytes > 0)
            bytes = rp_min_u64(bytes, g->tensors[x].bytes - 1);
    return bytes;
}

uint64_t rp_bytes_at_home_on_device(const struct rp_graph *g) {
    uint64_t bytes = g->fixed_bytes;
    for (uint32_t x = 0; x < g->n_tensors; x++)
        if (may_move(g, x) && g->tensors[x].home == RP_HOME_ANY)
            bytes -= g->tensors[x].bytes;
    return bytes;
}

/* Adds tensor x of the graph as an output of op i. */
static uint32_t add_output(struct layout *l, uint32_t i, uint32_t x) {
    struct rp_instance *p = l->p;
    const struct rp_graph *g = p->graph;
    uint32_t y = p->n_tensors++;
    p->tensor_of[y] = x;
    p->producer[y] = i;
    p->bytes[y] = rp_round_up(g->tensors[x].bytes, l->alignment);
    p->version_0[y] = p->next_version[y] = RP_NONE;
    l->local[x] = y;
    return y;
}

/* Makes x, which was made as an ordinary output, the next version of its source. */
static void add_version(struct layout *l, uint32_t i, uint32_t x) {
    struct rp_instance *p = l->p;
    uint32_t before = l->local[x], y = add_output(l, i, x);
    p->version_0[y] = before == RP_NONE ? y : p->version_0[before];
    p->kept[y] = p->graph->kept[x];
    p->overwritten_bytes[i] += p->bytes[y];
    if (before == RP_NONE)
        return;
    p->next_version[before] = y;
    p->kept[before] = false;
}

static void add_input(struct layout *l, uint32_t x) {
    if (l->local[x] != RP_NONE)
        l->p->inputs[l->n_inputs++] = l->local[x];
}

static int by_number(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Op i, which is `op`. Of sources it reads the present versions. */
static void add_op(struct layout *l, uint32_t i, const struct rp_op *op) {
    struct rp_instance *p = l->p;
    uint32_t first_input = l->n_inputs;
    p->time_ns[i] = op->time_ns;
    p->workspace_bytes[i] = rp_round_up(op->workspace_bytes, l->alignment);
    p->input_start[i] = l->n_inputs;
    for (uint32_t k = 0; k < op->n_inputs; k++)
        add_input(l, op->inputs[k]);
    for (uint32_t k = 0; k < op->n_updates; k++)
        add_input(l, op->updates[k]);
    qsort(p->inputs + first_input, l->n_inputs - first_input, sizeof *p->inputs, by_number);
    p->output_start[i] = p->n_tensors;
    for (uint32_t k = 0; k < op->n_outputs; k++) {
        uint32_t x = op->outputs[k], y = add_output(l, i, x);
        p->pinned[y] = p->graph->tensors[x].held;
        p->kept[y] = p->graph->kept[x] || p->pinned[y];
        p->shadow_bytes[y] = op->cannot_rewrite ? p->bytes[y] : 0;
    }
    for (uint32_t k = 0; k < op->n_updates; k++)
        if (l->local[op->updates[k]] != RP_NONE)
            add_version(l, i, op->updates[k]);
}

/* Versions 0, as outputs of `begin`. A stage swaps in the tensor with the largest number
 * first, so the source that is used first gets that. */
static void add_begin(struct layout *l) {
    struct rp_instance *p = l->p;
    const struct rp_graph *g = p->graph;
    RP_VEC(uint32_t) sources = {0};
    bool *listed = rp_calloc(g->n_tensors, sizeof *listed);
    for (uint32_t i = 1; i < p->n_ops; i++) {
        const struct rp_op *op = &g->ops[p->op_of[i]];
        for (uint32_t k = 0; k < op->n_inputs + op->n_updates; k++) {
            uint32_t x = k < op->n_inputs ? op->inputs[k] : op->updates[k - op->n_inputs];
            if (may_move(g, x) && !listed[x])
                rp_push(&sources, x);
            listed[x] = true;
        }
    }
    for (uint32_t x = 0; x < g->n_tensors; x++)
        if (may_move(g, x) && !listed[x])
            rp_push(&sources, x);
    while (sources.n > 0) {
        uint32_t x = sources.at[--sources.n];
        p->lives_on_host[p->n_tensors] = g->tensors[x].home == RP_HOME_HOST;
        add_version(l, 0, x);
    }
    p->n_homes = p->n_tensors;
    free(sources.at);
    free(listed);
}

/* Numbers the tensors by producer, and lists what each op reads and makes. */
static void lay_out(struct rp_instance *p, bool addressed, bool homes) {
    const struct rp_graph *g = p->graph;
    struct layout l = {.p = p, .alignment = addressed ? g->device.alignment_bytes : 1};
    l.local = rp_calloc(g->n_tensors, sizeof *l.local);
    for (uint32_t x = 0; x < g->n_tensors; x++)
        l.local[x] = RP_NONE;
    if (homes)
        add_begin(&l);
    for (uint32_t i = homes; i < p->n_ops; i++)
        add_op(&l, i, &g->ops[p->op_of[i]]);
    p->output_start[p->n_ops] = p->n_tensors;
    p->input_start[p->n_ops] = l.n_inputs;
    free(l.local);
}

static void list_readers(struct rp_instance *p) {
    uint32_t *start = p->reader_start;
    for (uint32_t k = 0; k < p->input_start[p->n_ops]; k++)
        start[p->inputs[k] + 1]++;
    for (uint32_t x = 0; x < p->n_tensors; x++)
        start[x + 1] += start[x];
    uint32_t *next = rp_calloc(p->n_tensors, sizeof *next);
    for (uint32_t x = 0; x < p->n_tensors; x++)
        next[x] = start[x];
    for (uint32_t i = 0; i < p->n_ops; i++)
        for (uint32_t k = p->input_start[i]; k < p->input_start[i + 1]; k++)
            p->readers[next[p->inputs[k]]++] = i;
    free(next);
}

/* ---- how long ops may run again ---- */

static void limit_runs(struct rp_instance *p) {
    const struct rp_graph *g = p->graph;
    uint32_t first = p->n_homes > 0;
    uint32_t *place = rp_calloc(g->n_ops, sizeof *place);
    for (uint32_t j = first; j < p->n_ops; j++)
        place[p->op_of[j]] = j;
    rp_update_order_init(&p->updates, g, place, p->n_ops);
    free(place);
    for (uint32_t j = first; j < p->n_ops; j++) {
        const struct rp_op *op = &g->ops[p->op_of[j]];
        p->last_stage[j] = op->recompute && op->n_updates == 0 ? p->n_ops : j;
        for (uint32_t k = p->updates.after_start[j];
             k < p->updates.after_start[j + 1] && p->last_stage[j] > j; k++)
            p->last_stage[j] = rp_min_u32(p->last_stage[j], p->updates.after[k]);
    }
}

/* Readers come after the op that they read from, so ops are taken from late to early. */
void rp_instance_last_uses(const struct rp_instance *p, uint32_t *r_last,
                           uint32_t *s_last) {
    for (uint32_t j = p->n_ops; j-- > 0;) {
        uint32_t wanted = j;
        for (uint32_t x = p->output_start[j]; x < p->output_start[j + 1]; x++) {
            s_last[x] = p->kept[x] ? p->n_ops : j;
            for (uint32_t k = p->reader_start[x]; k < p->reader_start[x + 1]; k++)
                s_last[x] = rp_max_u32(s_last[x], r_last[p->readers[k]]);
            wanted = rp_max_u32(wanted, s_last[x]);
        }
        r_last[j] = rp_min_u32(rp_min_u32(wanted, p->last_stage[j]), p->n_ops - p->has_end);
    }
}

void rp_instance_find_irreplaceable(struct rp_instance *p) {
    uint32_t *r_last = rp_calloc(p->n_ops, sizeof *r_last);
    uint32_t *s_last = rp_calloc(p->n_tensors, sizeof *s_last);
    rp_instance_last_uses(p, r_last, s_last);
    for (uint32_t x = 0; x < p->n_tensors; x++)
        p->irreplaceable[x] = p->pinned[x] || s_last[x] > p->last_stage[p->producer[x]];
    free(r_last);
    free(s_last);
}

void rp_instance_run_once(struct rp_instance *p) {
    for (uint32_t j = 0; j < p->n_ops; j++)
        p->last_stage[j] = j;
    rp_instance_find_irreplaceable(p);
}

void rp_instance_any_order(struct rp_instance *p) {
    for (uint32_t j = 0; j < p->n_ops; j++)
        p->last_stage[j] = p->n_ops;
    for (uint32_t x = 0; x < p->n_tensors; x++)
        p->pinned[x] = false;
    rp_instance_find_irreplaceable(p);
}

void rp_instance_for_certificate(struct rp_instance *p) {
    for (uint32_t j = 0; j < p->n_ops; j++)
        p->last_stage[j] = p->graph->ops[p->op_of[j]].recompute ? p->n_ops : j;
    for (uint32_t x = 0; x < p->n_tensors; x++) {
        p->pinned[x] = false;
        p->kept[x] = p->graph->kept[p->tensor_of[x]];
    }
    for (uint32_t x = 0; x < p->graph->n_tensors; x++)
        if (p->graph->tensors[x].home == RP_HOME_ANY)
            p->limit_bytes += p->graph->tensors[x].bytes;
    rp_instance_find_irreplaceable(p);
}

/* How many tensors it can have, and how many inputs in all. */
static size_t count_inputs(const struct rp_graph *g, size_t *n_tensors) {
    size_t n_inputs = 0;
    *n_tensors = g->n_tensors;
    for (uint32_t i = 0; i < g->n_ops; i++) {
        n_inputs += g->ops[i].n_inputs + g->ops[i].n_updates;
        *n_tensors += g->ops[i].n_updates;
    }
    return n_inputs;
}

/* With room for `end`. */
static void allocate(struct rp_instance *p) {
    size_t n = (size_t)p->n_ops + 1, m, n_inputs = count_inputs(p->graph, &m);
    n_inputs += m;
    p->bytes = rp_calloc(m, sizeof *p->bytes);
    p->time_ns = rp_calloc(n, sizeof *p->time_ns);
    p->workspace_bytes = rp_calloc(n, sizeof *p->workspace_bytes);
    p->overwritten_bytes = rp_calloc(n, sizeof *p->overwritten_bytes);
    p->last_stage = rp_calloc(n, sizeof *p->last_stage);
    p->kept = rp_calloc(m, sizeof *p->kept);
    p->pinned = rp_calloc(m, sizeof *p->pinned);
    p->irreplaceable = rp_calloc(m, sizeof *p->irreplaceable);
    p->lives_on_host = rp_calloc(m, sizeof *p->lives_on_host);
    p->version_0 = rp_calloc(m, sizeof *p->version_0);
    p->next_version = rp_calloc(m, sizeof *p->next_version);
    p->shadow_bytes = rp_calloc(m, sizeof *p->shadow_bytes);
    p->producer = rp_calloc(m, sizeof *p->producer);
    p->op_of = rp_calloc(n, sizeof *p->op_of);
    p->tensor_of = rp_calloc(m, sizeof *p->tensor_of);
    p->output_start = rp_calloc(n + 1, sizeof *p->output_start);
    p->input_start = rp_calloc(n + 1, sizeof *p->input_start);
    p->reader_start = rp_calloc(m + 1, sizeof *p->reader_start);
    p->inputs = rp_calloc(n_inputs, sizeof *p->inputs);
    p->readers = rp_calloc(n_inputs, sizeof *p->readers);
}

static void init(struct rp_instance *p, const struct rp_graph *g, uint64_t budget_bytes,
                 bool addressed, const uint32_t *order, bool homes) {
    uint64_t fixed_bytes = homes ? rp_bytes_at_home_on_device(g) : g->fixed_bytes;
    *p = (struct rp_instance){.graph = g,
                              .n_ops = g->n_ops + homes,
                              .fixed_bytes = fixed_bytes,
                              .limit_bytes = budget_bytes - fixed_bytes};
    allocate(p);
    if (homes)
        p->op_of[0] = RP_NONE;
    for (uint32_t i = 0; i < g->n_ops; i++)
        p->op_of[i + homes] = order != NULL ? order[i] : i;
    lay_out(p, addressed, homes);
    list_readers(p);
    limit_runs(p);
    rp_instance_find_irreplaceable(p);
}

void rp_instance_init(struct rp_instance *p, const struct rp_graph *g,
                      uint64_t budget_bytes, bool addressed, const uint32_t *order) {
    init(p, g, budget_bytes, addressed, order, false);
}

void rp_instance_init_homes(struct rp_instance *p, const struct rp_graph *g,
                            uint64_t budget_bytes, bool addressed, const uint32_t *order) {
    init(p, g, budget_bytes, addressed, order, rp_any_source_may_move(g));
}

bool rp_may_be_copied(const struct rp_device *d, uint64_t bytes) {
    return rp_device_d2h_ns(d, bytes) >> 62 == 0 && rp_device_h2d_ns(d, bytes) >> 62 == 0;
}

bool rp_instance_allow_swap(struct rp_instance *p, uint64_t host_limit_bytes) {
    const struct rp_device *d = &p->graph->device;
    if (!rp_device_can_swap(d))
        return false;
    for (uint32_t x = 0; x < p->n_tensors; x++)
        if (!rp_may_be_copied(d, p->graph->tensors[p->tensor_of[x]].bytes))
            return false;
    uint64_t *out_ns = rp_calloc(p->n_tensors, sizeof *out_ns);
    uint64_t *in_ns = rp_calloc(p->n_tensors, sizeof *in_ns);
    for (uint32_t x = 0; x < p->n_tensors; x++) {
        uint64_t bytes = p->graph->tensors[p->tensor_of[x]].bytes;
        out_ns[x] = rp_device_d2h_ns(d, bytes);
        in_ns[x] = rp_device_h2d_ns(d, bytes);
    }
    free(p->out_ns);
    free(p->in_ns);
    p->out_ns = out_ns;
    p->in_ns = in_ns;
    p->host_limit_bytes = host_limit_bytes;
    return true;
}

void rp_instance_fini(struct rp_instance *p) {
    free(p->out_ns);
    free(p->in_ns);
    free(p->bytes);
    free(p->time_ns);
    free(p->workspace_bytes);
    free(p->last_stage);
    rp_update_order_fini(&p->updates);
    free(p->kept);
    free(p->pinned);
    free(p->irreplaceable);
    free(p->lives_on_host);
    free(p->version_0);
    free(p->next_version);
    free(p->overwritten_bytes);
    free(p->shadow_bytes);
    free(p->producer);
    free(p->op_of);
    free(p->tensor_of);
    free(p->output_start);
    free(p->input_start);
    free(p->inputs);
    free(p->reader_start);
    free(p->readers);
    free(p->stage_before_end);
    free(p->irreplaceable_at_end);
    *p = (struct rp_instance){0};
}

uint32_t rp_instance_last_need(const struct rp_instance *p, uint32_t x) {
    uint32_t end = p->reader_start[x + 1];
    if (p->kept[x])
        return p->n_ops;
    return end > p->reader_start[x] ? p->readers[end - 1] : p->producer[x];
}

int64_t *rp_instance_bytes_in_use(const struct rp_instance *p) {
    int64_t *used = rp_calloc((size_t)p->n_ops + 1, sizeof *used), live = 0;
    for (uint32_t x = 0; x < p->n_tensors; x++) {
        uint32_t need = rp_instance_last_need(p, x);
        used[p->producer[x]] += (int64_t)p->bytes[x];
        used[need < p->n_ops ? need + 1 : p->n_ops] -= (int64_t)p->bytes[x];
    }
    for (uint32_t j = 0; j < p->n_ops; j++) {
        live += used[j];
        used[j] = live + (int64_t)p->workspace_bytes[j];
    }
    return used;
}

/* The first op after whose predecessor x must lie on the device until it was last needed,
 * whatever the plan does. Larger than rp_instance_last_need if there is none. */
static uint32_t must_lie_from(const struct rp_instance *p, uint32_t x) {
    uint32_t j = p->producer[x];
    if (p->pinned[x])
        return j + 1;
    return p->out_ns == NULL ? p->last_stage[j] + 1 : RP_NONE;
}

/* What must lie on the device while each op runs beside what the op itself makes. The
 * caller frees it. */
static uint64_t *bytes_that_must_lie(const struct rp_instance *p) {
    uint64_t *bytes = rp_calloc((size_t)p->n_ops + 2, sizeof *bytes);
    for (uint32_t x = 0; x < p->n_tensors; x++) {
        uint32_t from = must_lie_from(p, x), last = rp_instance_last_need(p, x);
        if (from > last)
            continue;
        bytes[from] += p->bytes[x];
        bytes[last + 1] -= p->bytes[x];
    }
    for (uint32_t i = 1; i <= p->n_ops; i++)
        bytes[i] += bytes[i - 1];
    return bytes;
}

uint64_t rp_instance_least_bytes(const struct rp_instance *p, uint32_t x) {
    bool may_stay = rp_is_version(p, x) && !p->lives_on_host[p->version_0[x]];
    return may_stay ? p->graph->tensors[p->tensor_of[x]].bytes : p->bytes[x];
}

/* Of all sources that may live on the host. */
static uint64_t least_bytes_of_homes(const struct rp_instance *p) {
    uint64_t bytes = 0;
    for (uint32_t x = 0; x < p->n_homes; x++)
        bytes += rp_instance_least_bytes(p, x);
    return bytes;
}

/* `bytes`: of all sources that may live on the host. */
static uint64_t bytes_off_host(const struct rp_instance *p, uint32_t op, uint64_t bytes) {
    for (uint32_t k = p->input_start[op]; k < p->input_start[op + 1]; k++)
        if (rp_is_version(p, p->inputs[k]))
            bytes -= rp_instance_least_bytes(p, p->inputs[k]);
    return p->out_ns == NULL ? 0 : bytes - rp_min_u64(bytes, p->host_limit_bytes);
}

uint64_t rp_instance_bytes_off_host(const struct rp_instance *p, uint32_t op) {
    return bytes_off_host(p, op, least_bytes_of_homes(p));
}

uint64_t *rp_instance_working_sets(const struct rp_instance *p) {
    uint64_t *need = bytes_that_must_lie(p), homes = least_bytes_of_homes(p);
    for (uint32_t i = 0; i < p->n_ops; i++) {
        need[i] += p->workspace_bytes[i] + bytes_off_host(p, i, homes);
        for (uint32_t x = p->output_start[i]; x < p->output_start[i + 1]; x++)
            need[i] += rp_is_version(p, x) ? 0 : p->bytes[x]; /* an input is counted */
        for (uint32_t k = p->input_start[i]; k < p->input_start[i + 1]; k++)
            if (must_lie_from(p, p->inputs[k]) > i)
                need[i] += rp_instance_least_bytes(p, p->inputs[k]);
    }
    return need;
}

uint64_t rp_instance_op_bytes(const struct rp_instance *p, uint32_t j) {
    uint64_t bytes = p->workspace_bytes[j];
    for (uint32_t k = p->input_start[j]; k < p->input_start[j + 1]; k++)
        bytes += p->bytes[p->inputs[k]];
    for (uint32_t x = p->output_start[j]; x < p->output_start[j + 1]; x++)
        bytes += p->bytes[x];
    return bytes;
}

uint64_t rp_instance_kept_bytes(const struct rp_instance *p) {
    uint64_t bytes = 0;
    for (uint32_t x = 0; x < p->n_tensors; x++)
        bytes += p->kept[x] ? rp_instance_least_bytes(p, x) : 0;
    return bytes;
}

uint64_t rp_instance_floor(const struct rp_instance *p, uint32_t *op) {
    uint64_t floor_bytes = 0, *need = rp_instance_working_sets(p);
    uint64_t kept = rp_instance_kept_bytes(p);
    *op = RP_NONE;
    for (uint32_t i = 0; i < p->n_ops - p->has_end; i++) {
        if (need[i] > floor_bytes) {
            floor_bytes = need[i];
            *op = i;
        }
    }
    if (kept > floor_bytes) {
        floor_bytes = kept;
        *op = RP_NONE;
    }
    free(need);
    return floor_bytes;
}
