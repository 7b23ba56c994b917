/* The rules of PyTorch's partitioner, on chains of ops and on random graphs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/mem.h"
#include "gen.h"
#include "policy/partition_rules.h"
#include "run.h"

/* n forward ops in a chain; of four, the last one also reads what op 0 makes. Ops are
 * elementwise but op `at`, which has this kind; of kind "two", the ops after op 0 are two
 * chains in turn. One backward op reads the end of each chain. The caller ends `g`. */
static void chain(uint32_t n, uint32_t at, const char *kind, struct rp_graph *g) {
    bool two = strcmp(kind, "two") == 0;
    struct rp_err err = {{0}};
    char *text, last[16];
    size_t len;
    FILE *f = rp_text_open(&text, &len);
    snprintf(last, sizeof last, ",%u", n);
    fputs("{\"format\":\"remat-graph\",\"version\":1,\"name\":\"g\",\"time_source\":"
          "\"imported:\",\"tensors\":[{\"name\":\"in\",\"bytes\":8,\"kind\":\"input\"}",
          f);
    for (uint32_t i = 0; i <= n; i++)
        fprintf(f, ",{\"name\":\"t%u\",\"bytes\":%u,\"kind\":\"activation\"}", i,
                i == at && strcmp(kind, "sum") == 0 ? 1 : 8);
    fputs("],\"ops\":[", f);
    for (uint32_t i = 0; i <= n; i++)
        fprintf(f,
                "%s{\"name\":\"f%u\",\"kind\":\"aten.%s\",\"inputs\":[%u%s],\"outputs\":"
                "[%u],\"time_ns\":1,\"phase\":\"%s\"}",
                i > 0 ? "," : "", i, i == at && !two ? kind : "mul",
                two && i > 1 ? i - 1 : i,
                two && i == n      ? last
                : i == 3 && n == 4 ? ",1"
                                   : "",
                i + 1, i < n ? "forward" : "backward");
    fprintf(f, "],\"keep\":[%u]}", n + 1);
    rp_text_close(f);
    CU_ASSERT_EQUAL_FATAL(rp_graph_parse(text, len, "g", g, &err), RP_OK);
    free(text);
}

/* The ops that are banned at this level, as bits. If the first of them is op 60 or a later
 * one, its number times 1000. */
static uint64_t banned_ops(uint32_t n, uint32_t at, const char *kind,
                           enum rp_ban_level level) {
    struct rp_graph g;
    struct rp_instance p;
    struct rp_partition s;
    uint64_t found = 0;
    chain(n, at, kind, &g);
    rp_instance_init(&p, &g, 1 << 20, false, NULL);
    rp_partition_init(&p, n, &s);
    bool *banned = rp_calloc(n, sizeof *banned);
    rp_partition_ban(&s, level, banned);
    for (uint32_t i = n; i-- > 0;)
        if (banned[i])
            found = i < 60 ? found | (uint64_t)1 << i : (uint64_t)i * 1000;
    free(banned);
    rp_partition_fini(&s);
    rp_instance_fini(&p);
    rp_graph_fini(&g);
    return found;
}

static void each_level_bans_less(void) {
    static const struct {
        const char *kind;
        uint64_t banned[4]; /* per level, where op 1 of four has this kind */
    } cases[] = {
        {"gelu", {0, 0, 0, 0}},
        {"sum", {2, 2, 2, 0}},                /* a reduction */
        {"native_layer_norm", {10, 2, 0, 0}}, /* not in the list; op 3 is used far apart */
        {"mm.default", {10, 2, 2, 0}},        /* expensive */
        {"native_dropout", {2, 2, 2, 0}},     /* random, but fused */
        {"_softmax.default", {10, 2, 0, 0}},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++)
        for (int level = RP_BAN_DEFAULT; level <= RP_BAN_IMPOSSIBLE; level++) {
            uint64_t found = banned_ops(4, 1, cases[k].kind, (enum rp_ban_level)level);
            if (found != cases[k].banned[level])
                printf("%s, level %d: %u\n", cases[k].kind, level, (unsigned)found);
            CU_ASSERT_EQUAL(found, cases[k].banned[level]);
        }
}

/* Op 0 begins the chain, and op 101 is the first that is more than 100 ops away. */
static void a_long_chain_of_fused_ops_is_interrupted(void) {
    CU_ASSERT_EQUAL(banned_ops(100, 0, "mul", RP_BAN_DEFAULT), 0);
    CU_ASSERT_EQUAL(banned_ops(150, 0, "mul", RP_BAN_DEFAULT), 101000);
    CU_ASSERT_EQUAL(banned_ops(150, 0, "mul", RP_BAN_UNLISTED), 0);
}

/* Of the ops more than 100 away from op 0, only the very last one is alone. No op inside
 * the chains begins a new one. */
static void two_chains_side_by_side_are_not_interrupted(void) {
    CU_ASSERT_EQUAL(banned_ops(250, 0, "two", RP_BAN_DEFAULT), 249000);
}

/* ---- what the forward phase needs, and what a tensor weighs ---- */

/* On random graphs of these kinds, against the comments of partition_rules.h. */
static const char *const kinds[] = {"mul", "gelu", "sum", "mm", "_softmax", "cat"};

static bool is_required(const struct rp_partition *s, uint32_t i) {
    const struct rp_instance *p = s->p;
    for (uint32_t x = p->output_start[i]; x < p->output_start[i + 1]; x++) {
        if (p->kept[x])
            return true;
        for (uint32_t e = p->reader_start[x]; e < p->reader_start[x + 1]; e++)
            if (p->readers[e] < s->n_forward && is_required(s, p->readers[e]))
                return true;
    }
    return false;
}

/* Ops on the shortest way from x to the backward phase, which an op that the forward phase
 * does not need belongs to; -1 if there is no way. A part of a tuple counts as an op. */
static int64_t distance(const struct rp_partition *s, uint32_t x) {
    const struct rp_instance *p = s->p;
    int64_t best = -1;
    for (uint32_t e = p->reader_start[x]; e < p->reader_start[x + 1]; e++) {
        uint32_t r = p->readers[e], a = p->output_start[r], b = p->output_start[r + 1];
        int64_t after = r < s->n_forward && s->required[r] ? -1 : 0;
        for (uint32_t y = a; y < b && r < s->n_forward && s->required[r]; y++) {
            int64_t d = distance(s, y);
            if (d >= 0 && (after < 0 || d + (b - a > 1) < after))
                after = d + (b - a > 1);
        }
        if (after >= 0 && (best < 0 || after + 1 < best))
            best = after + 1;
    }
    return best;
}

static bool is_tuple(const struct rp_partition *s, uint32_t i) {
    return s->p->output_start[i + 1] - s->p->output_start[i] > 1;
}

/* Op r reads x and may be one kernel with what makes x. */
static bool fuses(const struct rp_partition *s, uint32_t x, uint32_t r) {
    uint32_t i = s->p->producer[x];
    return s->concatenates[r] || (s->fusible[r] && (s->fusible[i] || is_tuple(s, i)));
}

static bool reads(const struct rp_partition *s, uint32_t i, uint32_t x) {
    for (uint32_t k = s->p->input_start[i]; k < s->p->input_start[i + 1]; k++)
        if (s->p->inputs[k] == x)
            return true;
    return false;
}

/* x is read by an op from `from` on that is not fused with its maker. */
static bool is_written_for(const struct rp_partition *s, uint32_t x, uint32_t from) {
    for (uint32_t r = from; r < s->p->n_ops; r++)
        if (reads(s, r, x) && !fuses(s, x, r))
            return true;
    return false;
}

static bool is_written(const struct rp_partition *s, uint32_t x) {
    return s->p->kept[x] || is_written_for(s, x, 0);
}

static bool is_right(const struct rp_partition *s) {
    const struct rp_instance *p = s->p;
    bool any = false, ok = true;
    for (uint32_t i = 0; i < s->n_forward; i++)
        any = any || is_required(s, i);
    for (uint32_t i = 0; i < s->n_forward; i++) {
        bool leads_back = false;
        ok = ok && s->required[i] == (!any || is_required(s, i));
        for (uint32_t x = p->output_start[i]; x < p->output_start[i + 1]; x++)
            leads_back = leads_back || distance(s, x) >= 0;
        ok = ok && s->leads_back[i] == leads_back;
    }
    for (uint32_t x = 0; x < s->n_tensors; x++) {
        double weight = (double)s->bytes[x] * (is_written(s, x) ? 1 : 2);
        for (int64_t d = distance(s, x); d > 0; d--)
            weight *= 1.1;
        ok = ok && s->bytes[x] == p->graph->tensors[p->tensor_of[x]].bytes &&
             (distance(s, x) < 0 ||
              (s->weight[x] <= weight && s->weight[x] + 1 >= 0.999 * weight));
    }
    return ok;
}

/* ---- which ops are banned ---- */

/* A chain of fused ops leads from the readers of x to op i. */
static bool is_in_chain(const struct rp_partition *s, uint32_t x, uint32_t i) {
    bool in = s->required[i] && reads(s, i, x);
    for (uint32_t y = x + 1; y < s->p->output_start[i] && s->required[i] && !in; y++)
        in = reads(s, i, y) && fuses(s, y, i) && is_in_chain(s, x, s->p->producer[y]);
    return in;
}

/* The chain ends at op i: it is not fused with an op before it. */
static bool ends_chain(const struct rp_partition *s, uint32_t x, uint32_t i) {
    bool ends = is_in_chain(s, x, i) && is_tuple(s, i) && !s->fusible[i];
    for (uint32_t y = x + 1; y < s->p->output_start[i] && s->required[i] && !ends; y++)
        ends = reads(s, i, y) && !fuses(s, y, i) && is_in_chain(s, x, s->p->producer[y]);
    return ends;
}

/* Op i reads a tensor that an earlier op reads too, and a chain from there has ended. */
static bool is_used_far_apart(const struct rp_partition *s, uint32_t i) {
    for (uint32_t x = 0; x < s->p->output_start[i]; x++) {
        bool begun = false, ended = false;
        for (uint32_t j = s->p->producer[x] + 1; j < i && reads(s, i, x); j++) {
            begun = begun || (s->required[j] && reads(s, j, x));
            ended = ended || (begun && ends_chain(s, x, j));
        }
        if (ended && s->required[i] && fuses(s, x, i))
            return true;
    }
    return false;
}

static bool is_small(const struct rp_instance *p, uint32_t i) {
    const struct rp_op *op = &p->graph->ops[i];
    uint64_t in = 0, out = 0;
    for (uint32_t k = 0; k < op->n_inputs; k++)
        in += p->graph->tensors[op->inputs[k]].bytes;
    for (uint32_t k = 0; k < op->n_outputs; k++)
        out += p->graph->tensors[op->outputs[k]].bytes;
    return 4 * out < in;
}

static bool is_banned(const struct rp_partition *s, enum rp_ban_level level, uint32_t i) {
    const struct rp_instance *p = s->p;
    bool banned = p->last_stage[i] <= i;
    for (uint32_t x = p->output_start[i]; x < p->output_start[i + 1]; x++)
        banned = banned || p->irreplaceable[x];
    if (level == RP_BAN_IMPOSSIBLE || !s->required[i] || banned)
        return banned;
    if (is_small(p, i) || s->random[i] ||
        (level == RP_BAN_EXPENSIVE ? s->expensive[i] : !s->fusible[i]))
        return true;
    bool one_output = p->output_start[i + 1] == p->output_start[i] + 1;
    return level == RP_BAN_DEFAULT &&
           ((one_output && is_written_for(s, p->output_start[i], s->n_forward)) ||
            is_used_far_apart(s, i));
}

static bool bans_are_right(const struct rp_partition *s) {
    bool banned[40], ok = true;
    for (int level = RP_BAN_DEFAULT; level <= RP_BAN_IMPOSSIBLE; level++) {
        rp_partition_ban(s, (enum rp_ban_level)level, banned);
        for (uint32_t i = 0; i < s->n_forward; i++)
            ok = ok && banned[i] == is_banned(s, (enum rp_ban_level)level, i);
    }
    return ok;
}

static void the_rules_hold_on_random_graphs(void) {
    uint32_t n = 2000;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++) {
        struct rp_gen_shape shape = rp_gen_small(6 + (uint32_t)seed % 20);
        struct rp_rng random = {seed};
        struct rp_graph g;
        struct rp_instance p;
        struct rp_partition s;
        shape.training = true;
        shape.keep_percent = seed % 3 * 10;
        shape.rules_percent = seed % 5 == 0 ? 20 : 0;
        rp_gen_graph(seed, &shape, &g);
        for (uint32_t i = 0; i < g.n_ops; i++) {
            free(g.ops[i].kind);
            g.ops[i].kind = rp_strdup(kinds[rp_rng_below(&random, 6)]);
        }
        rp_instance_init(&p, &g, UINT64_MAX / 2, true, NULL);
        rp_partition_init(&p, g.n_ops / 2, &s);
        if (!is_right(&s) || !bans_are_right(&s)) {
            rp_gen_failed(seed);
            CU_FAIL("another weight, or other ops that are required or banned");
        }
        rp_partition_fini(&s);
        rp_instance_fini(&p);
        rp_graph_fini(&g);
    }
}

/* Readers of a tensor are far apart. */
static void bans_of_many_ops_ask_as_they_go(void) {
    struct rp_gen_shape shape = {.n_ops = 4000,
                                 .n_sources = 3,
                                 .max_inputs = 3,
                                 .max_outputs = 1,
                                 .max_bytes = 8000,
                                 .max_time_ns = 1000,
                                 .keep_percent = 20,
                                 .alignment_bytes = 1};
    struct rp_graph g;
    struct rp_instance p;
    struct rp_partition s;
    rp_gen_graph(1, &shape, &g);
    rp_instance_init(&p, &g, UINT64_MAX / 2, true, NULL);
    rp_partition_init(&p, g.n_ops, &s);
    struct rp_stop stop = {.deadline = INFINITY};
    bool *banned = rp_calloc(g.n_ops, sizeof *banned);
    s.stop = &stop;
    rp_partition_ban(&s, RP_BAN_DEFAULT, banned);
    CU_ASSERT(stop.questions >= 2 && !stop.hit);
    stop = (struct rp_stop){.deadline = INFINITY, .max_questions = 1};
    rp_partition_ban(&s, RP_BAN_DEFAULT, banned);
    CU_ASSERT(stop.hit && stop.questions == 1);
    free(banned);
    rp_partition_fini(&s);
    rp_instance_fini(&p);
    rp_graph_fini(&g);
}

void suite_partition_rules(void) {
    RP_SUITE("partition_rules");
    RP_TEST(each_level_bans_less);
    RP_TEST(a_long_chain_of_fused_ops_is_interrupted);
    RP_TEST(two_chains_side_by_side_are_not_interrupted);
    RP_TEST(the_rules_hold_on_random_graphs);
    RP_TEST(bans_of_many_ops_ask_as_they_go);
}
