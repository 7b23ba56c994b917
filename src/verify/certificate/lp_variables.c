#include "verify/certificate/lp_variables.h"

#include <assert.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/numbers.h"
#include "base/random.h"

static bool makes_bytes(const struct rp_graph *g, uint32_t j) {
    for (uint32_t k = 0; k < g->ops[j].n_outputs; k++)
        if (g->tensors[g->ops[j].outputs[k]].bytes > 0)
            return true;
    return false;
}

/* Rules (A) and (B): the last stage that can need x. last_run of its readers is known. */
static void limit_hold(struct rp_lp_variables *c, uint32_t x) {
    const struct rp_graph *g = c->g;
    uint32_t last = c->stage[g->tensors[x].producer];
    for (uint32_t k = g->reader_start[x]; k < g->reader_start[x + 1]; k++)
        last = rp_max_u32(last, c->last_run[g->readers[k]]);
    c->last_hold[x] = g->kept[x] ? c->n_stages : last;
}

/* Notes the first stage that updates each source, and returns the last in which op j may
 * run again for all it reads. Ops come in reverse order: those noted come after j. */
static uint32_t limit_by_updates(const struct rp_graph *g, uint32_t j, uint32_t stage,
                                 uint32_t *first_update) {
    const struct rp_op *op = &g->ops[j];
    uint32_t last = RP_NONE;
    for (uint32_t k = 0; k < op->n_inputs; k++)
        last = rp_min_u32(last, first_update[op->inputs[k]]);
    for (uint32_t k = 0; k < op->n_updates; k++)
        first_update[op->updates[k]] = stage;
    return op->n_updates > 0 ? stage : last;
}

static void limit_run(struct rp_lp_variables *c, uint32_t j, uint32_t *first_update) {
    const struct rp_graph *g = c->g;
    uint32_t last = c->stage[j];
    uint32_t limit = limit_by_updates(g, j, c->stage[j], first_update);
    for (uint32_t k = 0; k < g->ops[j].n_outputs; k++) {
        uint32_t x = g->ops[j].outputs[k];
        limit_hold(c, x);
        last = rp_max_u32(last, g->kept[x] ? c->n_stages - 1 : c->last_hold[x]);
    }
    bool again = g->ops[j].recompute && makes_bytes(g, j);
    c->last_run[j] = again ? rp_min_u32(last, limit) : c->stage[j];
}

/* Rules (C) and (D). */
static void find_held_until(struct rp_lp_variables *c, uint32_t x) {
    const struct rp_graph *g = c->g;
    uint32_t maker = g->tensors[x].producer, need = c->stage[maker];
    for (uint32_t k = g->reader_start[x]; k < g->reader_start[x + 1]; k++)
        need = rp_max_u32(need, c->stage[g->readers[k]]);
    if (g->tensors[x].bytes == 0)
        c->held_until[x] = c->last_hold[x];
    else if (c->last_run[maker] == c->stage[maker])
        c->held_until[x] = g->kept[x] ? c->n_stages : need;
}

static void find_touches(struct rp_lp_variables *c, uint32_t x, const uint32_t *order) {
    const struct rp_graph *g = c->g;
    uint32_t start = g->reader_start[x] + x, maker = g->tensors[x].producer;
    uint32_t n = g->reader_start[x + 1] - g->reader_start[x];
    c->touch_last[start] = c->last_run[maker];
    for (uint32_t i = 1; i <= n; i++) { /* insertion by position: readers are few */
        uint32_t first = c->position[g->readers[g->reader_start[x] + i - 1]], k = start + i;
        for (; k > start + 1 && c->touch_first[k - 1] > first; k--)
            c->touch_first[k] = c->touch_first[k - 1];
        c->touch_first[k] = first;
    }
    for (uint32_t i = start + 1; i <= start + n; i++) {
        uint32_t reader = order[c->touch_first[i]];
        c->touch_first[i] = c->stage[reader];
        c->touch_last[i] = rp_max_u32(c->touch_last[i - 1], c->last_run[reader]);
    }
}

static void find_stages(struct rp_lp_variables *c, const uint32_t *order,
                        const uint32_t *ends) {
    uint32_t t = 0;
    c->stage = rp_calloc(c->g->n_ops, sizeof *c->stage);
    c->last_position = rp_calloc(c->n_stages, sizeof *c->last_position);
    c->last_op = rp_calloc(c->n_stages, sizeof *c->last_op);
    for (uint32_t i = 0; i < c->g->n_ops; i++) {
        c->stage[order[i]] = t;
        c->last_position[t] = i;
        c->last_op[t] = order[i];
        if (ends == NULL || i == ends[t])
            t++;
    }
}

void rp_lp_variables_init(struct rp_lp_variables *c, const struct rp_graph *g,
                          const uint32_t *order, const uint32_t *ends, uint32_t n_stages) {
    size_t n_touches = (size_t)g->reader_start[g->n_tensors] + g->n_tensors;
    assert(g->n_ops < 1u << 31 && g->n_tensors < 1u << 31);
    *c = (struct rp_lp_variables){.g = g, .capacity = 1024, .n_stages = n_stages};
    find_stages(c, order, ends);
    c->position = rp_calloc(g->n_ops, sizeof *c->position);
    c->last_run = rp_calloc(g->n_ops, sizeof *c->last_run);
    c->last_hold = rp_calloc(g->n_tensors, sizeof *c->last_hold);
    c->held_until = rp_calloc(g->n_tensors, sizeof *c->held_until);
    c->touch_first = rp_calloc(n_touches, sizeof *c->touch_first);
    c->touch_last = rp_calloc(n_touches, sizeof *c->touch_last);
    c->table = rp_calloc(c->capacity, sizeof *c->table);
    for (uint32_t i = 0; i < g->n_ops; i++)
        c->position[order[i]] = i;
    uint32_t *first_update = rp_calloc(g->n_tensors, sizeof *first_update);
    for (uint32_t x = 0; x < g->n_tensors; x++)
        first_update[x] = RP_NONE;
    for (uint32_t i = g->n_ops; i-- > 0;)
        limit_run(c, order[i], first_update);
    free(first_update);
    for (uint32_t x = 0; x < g->n_tensors; x++)
        if (g->tensors[x].producer != RP_NONE) {
            find_held_until(c, x);
            find_touches(c, x, order);
        }
}

void rp_lp_variables_fini(struct rp_lp_variables *c) {
    free(c->position);
    free(c->stage);
    free(c->last_position);
    free(c->last_op);
    free(c->last_run);
    free(c->last_hold);
    free(c->held_until);
    free(c->touch_first);
    free(c->touch_last);
    free(c->table);
    *c = (struct rp_lp_variables){0};
}

/* ---- row sums ---- */

/* A key is one of these, the op or tensor, and the stage. Indices are below 2^31. */
#define RUN_KEY ((uint64_t)1 << 62)
#define HOLD_KEY ((uint64_t)2 << 62)

static uint32_t key_id(uint64_t key) {
    return (uint32_t)(key >> 31) & 0x7fffffff;
}

static struct rp_lp_variable *find(struct rp_lp_variable *table, size_t capacity,
                                   uint64_t key) {
    uint64_t h = key * RP_GOLDEN_RATIO_64;
    size_t i = (size_t)(h >> 32) & (capacity - 1);
    while (table[i].key != 0 && table[i].key != key)
        i = (i + 1) & (capacity - 1);
    return &table[i];
}

static void grow(struct rp_lp_variables *c) {
    struct rp_lp_variable *table = rp_calloc(2 * c->capacity, sizeof *table);
    for (size_t i = 0; i < c->capacity; i++)
        if (c->table[i].key != 0)
            *find(table, 2 * c->capacity, c->table[i].key) = c->table[i];
    free(c->table);
    c->table = table;
    c->capacity *= 2;
}

static bool add_to_table(struct rp_lp_variables *c, uint64_t key, __int128 amount) {
    if (2 * c->n >= c->capacity)
        grow(c);
    struct rp_lp_variable *v = find(c->table, c->capacity, key);
    c->n += v->key == 0;
    v->key = key;
    return !__builtin_add_overflow(v->row_sum, amount, &v->row_sum);
}

bool rp_lp_variables_may_run(const struct rp_lp_variables *c, uint32_t t, uint32_t j) {
    return c->stage[j] <= t && t <= c->last_run[j];
}

uint64_t rp_lp_variables_run_key(const struct rp_lp_variables *c, uint32_t t, uint32_t j) {
    if (t == c->stage[j])
        return RP_VARIABLE_ONE;
    return rp_lp_variables_may_run(c, t, j) ? RUN_KEY | (uint64_t)j << 31 | t
                                            : RP_VARIABLE_ZERO;
}

static bool add(struct rp_lp_variables *c, uint64_t key, __int128 amount) {
    if (key == RP_VARIABLE_ONE)
        return !__builtin_add_overflow(c->constant, amount, &c->constant);
    return key == RP_VARIABLE_ZERO || add_to_table(c, key, amount);
}

bool rp_lp_variables_add_run(struct rp_lp_variables *c, uint32_t t, uint32_t j,
                             __int128 amount) {
    return add(c, rp_lp_variables_run_key(c, t, j), amount);
}

/* Rule (E): the first stage s for which S[s][x] is the same variable as S[t][x]. That is
 * the one after the last stage before t in which the maker or a reader of x may run. */
static uint32_t same_since(const struct rp_lp_variables *c, uint32_t t, uint32_t x) {
    uint32_t low = c->g->reader_start[x] + x, high = c->g->reader_start[x + 1] + x;
    while (low < high) { /* finds the last entry with touch_first < t; else the maker's */
        uint32_t middle = high - (high - low) / 2;
        if (c->touch_first[middle] < t)
            low = middle;
        else
            high = middle - 1;
    }
    uint32_t last_touch = c->touch_last[low];
    return last_touch + 1 < t ? last_touch + 1 : t;
}

uint64_t rp_lp_variables_hold_key(const struct rp_lp_variables *c, uint32_t t, uint32_t x) {
    if (t <= c->stage[c->g->tensors[x].producer] || t > c->last_hold[x])
        return RP_VARIABLE_ZERO;
    uint32_t since = same_since(c, t, x);
    if (since <= c->held_until[x] || t == c->n_stages)
        return RP_VARIABLE_ONE;
    return HOLD_KEY | (uint64_t)x << 31 | since;
}

bool rp_lp_variables_add_hold(struct rp_lp_variables *c, uint32_t t, uint32_t x,
                              __int128 amount) {
    return add(c, rp_lp_variables_hold_key(c, t, x), amount);
}

bool rp_lp_variables_min_cost(const struct rp_lp_variables *c, unsigned scale_log2,
                              __int128 *cost) {
    __int128 sum = (__int128)c->g->total_time_ns << scale_log2;
    bool fits = !__builtin_add_overflow(sum, c->constant, &sum);
    for (size_t i = 0; i < c->capacity && fits; i++) {
        const struct rp_lp_variable *v = &c->table[i];
        __int128 reduced = 0; /* its reduced cost */
        if (v->key == 0)
            continue;
        if (v->key < HOLD_KEY)
            reduced = (__int128)c->g->ops[key_id(v->key)].time_ns << scale_log2;
        fits = !__builtin_add_overflow(reduced, v->row_sum, &reduced) &&
               (reduced >= 0 || !__builtin_add_overflow(sum, reduced, &sum));
    }
    *cost = sum;
    return fits;
}
