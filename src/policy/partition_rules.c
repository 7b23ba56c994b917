#include "policy/partition_rules.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/numbers.h"
#include "model/cost.h"
#include "policy/min_cut.h"

/* ---- classes of ops ---- */

static bool is_one_of(const char *kind, const char *const *parts, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (strstr(kind, parts[i]) != NULL)
            return true;
    return false;
}
#define IS_ONE_OF(kind, parts) is_one_of(kind, parts, sizeof(parts) / sizeof *(parts))

/* Parts of the names of ops that draw random numbers. */
static const char *const random_parts[] = {"dropout", "rand", "bernoulli", "multinomial"};

/* Parts of the names of ops that are neither expensive nor random, and that PyTorch does
 * not list as recomputable. */
static const char *const unlisted_parts[] = {
    "norm",    "softmax", "pool",     "embedding", "loss",    "cross_entropy", "cumsum",
    "cumprod", "cat",     "upsample", "pad",       "scatter", "index_put",     "sort",
    "topk",    "roll",    "lstm",     "gru_cell",  "flip",    "unfold",
};

static bool is_concatenation(const char *kind) {
    return strncmp(kind, "cat.", 4) == 0 || strcmp(kind, "cat") == 0 ||
           strcmp(kind, "concat") == 0;
}

static void classify(struct rp_partition *s) {
    for (uint32_t i = 0; i < s->p->n_ops; i++) {
        const struct rp_op *op = &s->p->graph->ops[s->p->op_of[i]];
        const char *kind = rp_op_base_kind(op);
        s->expensive[i] = rp_op_class(op) != RP_CLASS_MEMORY ||
                          strncmp(kind, "upsample_bilinear", 17) == 0;
        s->random[i] = IS_ONE_OF(kind, random_parts);
        s->concatenates[i] = is_concatenation(kind);
        s->fusible[i] =
            s->random[i] || (!s->expensive[i] && !IS_ONE_OF(kind, unlisted_parts));
    }
}

static bool is_tuple(const struct rp_instance *p, uint32_t op) {
    return p->output_start[op + 1] - p->output_start[op] > 1;
}

/* True if op r, which reads x, can be one kernel with what makes x. */
static bool fuses(const struct rp_partition *s, uint32_t x, uint32_t r) {
    uint32_t i = s->p->producer[x];
    return s->concatenates[r] || (s->fusible[r] && (s->fusible[i] || is_tuple(s->p, i)));
}

/* ---- what the forward phase needs for itself ---- */

static void find_required(struct rp_partition *s) {
    const struct rp_instance *p = s->p;
    bool any = false;
    for (uint32_t i = s->n_forward; i-- > 0;) {
        for (uint32_t x = p->output_start[i]; x < p->output_start[i + 1]; x++)
            s->required[i] = s->required[i] || p->kept[x];
        any = any || s->required[i];
        for (uint32_t k = p->input_start[i]; k < p->input_start[i + 1] && s->required[i];
             k++)
            s->required[p->producer[p->inputs[k]]] = true;
    }
    for (uint32_t i = 0; i < s->n_forward && !any; i++)
        s->required[i] = true;
}

/* ---- what it costs to save a tensor ---- */

/* How many ops there are from x to the backward phase; RP_NONE if none of what is made of
 * it is read there. The distances of later ops are known. */
static uint32_t distance_of(const struct rp_partition *s, uint32_t x,
                            const uint32_t *op_distance) {
    const struct rp_instance *p = s->p;
    uint32_t distance = RP_NONE;
    for (uint32_t e = p->reader_start[x]; e < p->reader_start[x + 1]; e++) {
        uint32_t r = p->readers[e];
        uint32_t after = r < s->n_forward ? op_distance[r] : 0;
        distance = rp_min_u32(distance, after == RP_NONE ? RP_NONE : after + 1);
    }
    return distance;
}

static bool is_materialized(const struct rp_partition *s, uint32_t x) {
    const struct rp_instance *p = s->p;
    for (uint32_t e = p->reader_start[x]; e < p->reader_start[x + 1]; e++)
        if (!fuses(s, x, p->readers[e]))
            return true;
    return p->kept[x];
}

/* bytes * 1.1^min(distance, 100), twice that if x need not be written otherwise; at most
 * `max`. */
static uint64_t weight_of(uint64_t bytes, uint32_t distance, bool materialized,
                          uint64_t max) {
    enum { SHIFT = 16, MAX_DISTANCE = 100 };
    unsigned __int128 w = (unsigned __int128)bytes << SHIFT;
    for (uint32_t k = 0; k < rp_min_u32(distance, MAX_DISTANCE); k++)
        w += w / 10;
    w = (materialized ? w : 2 * w) >> SHIFT;
    return w < max ? (uint64_t)w : max;
}

static void weigh(struct rp_partition *s) {
    const struct rp_instance *p = s->p;
    uint64_t max = (RP_UNCUTTABLE - 1) / (s->n_tensors + 1);
    uint32_t *op_distance = rp_calloc(s->n_forward, sizeof *op_distance);
    for (uint32_t i = s->n_forward; i-- > 0;) {
        uint32_t nearest = RP_NONE;
        for (uint32_t x = p->output_start[i]; x < p->output_start[i + 1]; x++) {
            uint32_t d = distance_of(s, x, op_distance);
            s->bytes[x] = p->graph->tensors[p->tensor_of[x]].bytes;
            s->weight[x] = weight_of(s->bytes[x], d, is_materialized(s, x), max);
            nearest = rp_min_u32(nearest, d == RP_NONE ? RP_NONE : d + is_tuple(p, i));
        }
        s->leads_back[i] = nearest != RP_NONE;
        op_distance[i] = s->required[i] ? nearest : 0;
    }
    free(op_distance);
}

void rp_partition_init(const struct rp_instance *p, uint32_t n_forward,
                       struct rp_partition *s) {
    *s = (struct rp_partition){.p = p, .n_forward = n_forward};
    s->n_tensors = p->output_start[n_forward];
    s->required = rp_calloc(n_forward, sizeof *s->required);
    s->leads_back = rp_calloc(n_forward, sizeof *s->leads_back);
    s->fusible = rp_calloc(p->n_ops, sizeof *s->fusible);
    s->expensive = rp_calloc(p->n_ops, sizeof *s->expensive);
    s->random = rp_calloc(p->n_ops, sizeof *s->random);
    s->concatenates = rp_calloc(p->n_ops, sizeof *s->concatenates);
    s->bytes = rp_calloc(s->n_tensors, sizeof *s->bytes);
    s->weight = rp_calloc(s->n_tensors, sizeof *s->weight);
    classify(s);
    find_required(s);
    weigh(s);
}

void rp_partition_fini(struct rp_partition *s) {
    free(s->required);
    free(s->leads_back);
    free(s->fusible);
    free(s->expensive);
    free(s->random);
    free(s->concatenates);
    free(s->bytes);
    free(s->weight);
    *s = (struct rp_partition){0};
}

/* ---- rules about an op alone ---- */

/* Its outputs are less than a quarter of its inputs. */
static bool is_reduction(const struct rp_instance *p, uint32_t i) {
    const struct rp_graph *g = p->graph;
    const struct rp_op *op = &g->ops[p->op_of[i]];
    unsigned __int128 in = 0, out = 0;
    for (uint32_t k = 0; k < op->n_inputs; k++)
        in += g->tensors[op->inputs[k]].bytes;
    for (uint32_t k = 0; k < op->n_outputs; k++)
        out += g->tensors[op->outputs[k]].bytes;
    return 4 * out < in;
}

/* A backward op reads the result and cannot be fused with the op. */
static bool is_materialized_backward(const struct rp_partition *s, uint32_t i) {
    const struct rp_instance *p = s->p;
    uint32_t x = p->output_start[i];
    for (uint32_t e = p->reader_start[x]; e < p->reader_start[x + 1]; e++)
        if (p->readers[e] >= s->n_forward && !fuses(s, x, p->readers[e]))
            return true;
    return false;
}

static bool is_banned(const struct rp_partition *s, enum rp_ban_level level, uint32_t i) {
    if (level == RP_BAN_IMPOSSIBLE || !s->required[i])
        return false;
    if (level == RP_BAN_EXPENSIVE)
        return s->expensive[i] || s->random[i] || is_reduction(s->p, i);
    if (!s->fusible[i] || s->random[i] || is_reduction(s->p, i))
        return true;
    return level == RP_BAN_DEFAULT && !is_tuple(s->p, i) && is_materialized_backward(s, i);
}

/* ---- rules about chains of ops ---- */

enum { NS_PER_OP = 4 };

/* The first forward op, from the readers of x on, at which a chain of fused ops ends; at
 * most the last reader. `mark` has room for n_forward and is 0 before and after. */
static uint32_t first_not_fused(const struct rp_partition *s, uint32_t x, uint32_t first,
                                uint32_t last, unsigned char *mark) {
    enum { FUSED = 1, NOT_FUSED = 2 };
    const struct rp_instance *p = s->p;
    uint32_t i;
    for (uint32_t e = p->reader_start[x]; e < p->reader_start[x + 1]; e++)
        if (p->readers[e] <= last && s->required[p->readers[e]])
            mark[p->readers[e]] = FUSED;
    for (i = first; i < last && mark[i] < NOT_FUSED; i++) {
        if (mark[i] == FUSED && is_tuple(p, i) && !s->fusible[i])
            break;
        for (uint32_t y = p->output_start[i];
             mark[i] == FUSED && y < p->output_start[i + 1]; y++)
            for (uint32_t e = p->reader_start[y]; e < p->reader_start[y + 1]; e++)
                if (p->readers[e] <= last && s->required[p->readers[e]])
                    mark[p->readers[e]] |= fuses(s, y, p->readers[e]) ? FUSED : NOT_FUSED;
    }
    memset(mark + first, 0, last + 1 - first);
    return i;
}

/* Two readers of a tensor that are not part of one chain of fused ops will not be one
 * kernel in the backward phase either, so the later one is not run again. */
static void ban_used_far_apart(const struct rp_partition *s, bool *banned) {
    const struct rp_instance *p = s->p;
    unsigned char *mark = rp_calloc(s->n_forward, sizeof *mark);
    for (uint32_t x = 0; x < s->n_tensors && !rp_stop_hit(s->stop); x++) {
        uint32_t first = RP_NONE, last = 0;
        for (uint32_t e = p->reader_start[x]; e < p->reader_start[x + 1]; e++)
            if (p->readers[e] < s->n_forward && s->required[p->readers[e]]) {
                first = rp_min_u32(first, p->readers[e]);
                last = p->readers[e];
            }
        if (first == RP_NONE || first == last)
            continue;
        uint32_t end = first_not_fused(s, x, first, last, mark);
        rp_stop_after(s->stop, NS_PER_OP * (uint64_t)(end - first));
        for (uint32_t e = p->reader_start[x]; e < p->reader_start[x + 1]; e++) {
            uint32_t r = p->readers[e];
            if (r > end && r <= last && s->required[r] && fuses(s, x, r))
                banned[r] = true;
        }
    }
    free(mark);
}

/* Follows fused ops from `start`. If a single one is left after MAX_CHAIN ops, it is
 * banned. waiting[i]: in how many ways the chain comes to op i; 0 before and after. */
static void ban_end_of_chain(const struct rp_partition *s, uint32_t start,
                             const uint32_t *rank, uint32_t *waiting, bool *visited,
                             bool *banned) {
    enum { MAX_CHAIN = 100 };
    const struct rp_instance *p = s->p;
    uint32_t n = 1; /* sum of waiting */
    bool ended = false;
    waiting[start] = 1;
    for (uint32_t i = start; n > 0; i++) {
        uint32_t here = waiting[i];
        waiting[i] = 0;
        n -= here;
        if (here == 0 || ended || visited[i])
            continue;
        visited[i] = true;
        ended = rank[i] > rank[start] + MAX_CHAIN && n == 0 && here == 1;
        banned[i] = banned[i] || ended;
        for (uint32_t x = p->output_start[i]; x < p->output_start[i + 1] && !ended; x++)
            for (uint32_t e = p->reader_start[x]; e < p->reader_start[x + 1]; e++) {
                uint32_t r = p->readers[e];
                if (r >= s->n_forward || !s->required[r] || !fuses(s, x, r) || banned[r])
                    continue;
                waiting[r]++;
                n++;
            }
    }
}

/* Chains of fused ops that lead through the whole network, such as residual connections,
 * are interrupted. */
static void ban_in_long_chains(const struct rp_partition *s, bool *banned) {
    uint32_t *rank = rp_calloc(s->n_forward, sizeof *rank);
    uint32_t *waiting = rp_calloc(s->n_forward, sizeof *waiting);
    bool *visited = rp_calloc(s->n_forward, sizeof *visited);
    for (uint32_t i = 1; i < s->n_forward; i++)
        rank[i] = rank[i - 1] + s->required[i - 1];
    for (uint32_t i = 0; i < s->n_forward; i++)
        if (s->required[i] && !visited[i])
            ban_end_of_chain(s, i, rank, waiting, visited, banned);
    free(rank);
    free(waiting);
    free(visited);
}

bool rp_partition_may_rerun(const struct rp_partition *s, uint32_t i) {
    const struct rp_instance *p = s->p;
    bool may = p->last_stage[i] > i;
    for (uint32_t x = p->output_start[i]; x < p->output_start[i + 1]; x++)
        may = may && !p->irreplaceable[x];
    return may;
}

void rp_partition_ban(const struct rp_partition *s, enum rp_ban_level level, bool *banned) {
    for (uint32_t i = 0; i < s->n_forward; i++)
        banned[i] = !rp_partition_may_rerun(s, i) || is_banned(s, level, i);
    if (level != RP_BAN_DEFAULT)
        return;
    ban_used_far_apart(s, banned);
    ban_in_long_chains(s, banned);
}
