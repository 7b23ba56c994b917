/* Branch and bound and ejection chains, each on its own. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/mem.h"
#include "base/random.h"
#include "pack/component/branch_bound.h"
#include "pack/component/ejection_chain.h"
#include "pack/component/first_fit.h"
#include "run.h"

/* ---- which components branch and bound looks at ---- */

/* Items of size 1, two in each section, placed on top of each other at first. Returns
 * whether branch and bound tried to do better. */
static bool is_tried(uint32_t n, uint32_t length) {
    struct rp_pack_component p = {.n = n, .unit = 1, .bound = 2, .height = n};
    struct rp_pack_work work = {.limit = 1000};
    p.items = rp_calloc(n, sizeof *p.items);
    p.best = rp_calloc(n, sizeof *p.best);
    for (uint32_t i = 0; i < n; i++) {
        p.items[i] = (struct rp_pack_item){i / 2 * length, (i / 2 + 1) * length, 1, i};
        p.best[i] = i;
    }
    p.n_sections = p.items[n - 1].hi;
    rp_pack_branch_bound(&p, 0, &work);
    rp_pack_branch_bound_free(p.branch_bound);
    free(p.items);
    free(p.best);
    return work.statistics.branch_bound_attempts > 0;
}

static void large_components_are_left_alone(void) {
    CU_ASSERT_TRUE(is_tried(10000, 1));
    CU_ASSERT_FALSE(is_tried(10001, 1));
    CU_ASSERT_FALSE(is_tried(10000, 3001)); /* 30,010,000 sections together */
}

/* ---- ejection chains ---- */

enum { N_ITEMS = 100, N_SECTIONS = 80 };

/* What ejection chains do with these items, if their sizes are multiplied by 2^shift. The
 * largest has 2^6 units of size and 2^6 sections. */
struct chains {
    struct rp_pack_statistics statistics;
    uint64_t height, best[N_ITEMS];
};

static struct chains run_chains(unsigned shift) {
    struct rp_pack_item items[N_ITEMS] = {{0, 64, UINT64_C(64) << shift, 0}};
    struct chains c = {.height = UINT64_MAX};
    struct rp_pack_component p = {
        .items = items, .n = N_ITEMS, .n_sections = N_SECTIONS, .unit = 1, .best = c.best};
    struct rp_pack_work work = {.limit = 20000000};
    uint64_t random = 5, sum[N_SECTIONS] = {0};
    for (uint32_t i = 0; i < N_ITEMS; i++) {
        struct rp_pack_item *x = &items[i];
        if (i > 0) {
            x->lo = i * N_SECTIONS / N_ITEMS;
            x->hi =
                rp_min_u32(x->lo + 1 + (uint32_t)(rp_splitmix64(&random) % 30), N_SECTIONS);
            x->size = (1 + rp_splitmix64(&random) % 64) << shift;
        }
        for (uint32_t t = x->lo; t < x->hi; t++)
            p.bound = rp_max_u64(p.bound, sum[t] += x->size);
    }
    p.height = UINT64_MAX;
    rp_pack_first_fit(&p, 0, &work);
    rp_pack_ejection_chain(&p, 0, &work);
    c.height = p.height >> shift;
    for (uint32_t i = 0; i < N_ITEMS; i++)
        c.best[i] >>= shift;
    c.statistics = work.statistics;
    return c;
}

/* Weights are areas in proportion to the largest. They are rounded in the same way from
 * 2^49 on. */
static void the_unit_of_sizes_does_not_change_the_chains(void) {
    const struct chains a = run_chains(49), b = run_chains(51);
    CU_ASSERT_EQUAL(a.statistics.ejection_moves, 71691); /* changes with the search */
    CU_ASSERT_EQUAL(a.height, 777);
    CU_ASSERT_EQUAL(memcmp(&a, &b, sizeof a), 0);
}

/* So many items that are all live together have too many edges for a graph. One of size 2
 * is above the goal, and there are two gaps of size 1 below it: it takes one of them and
 * the place of a neighbor, which goes to the other one. */
static void items_are_scanned_where_a_graph_is_too_large(void) {
    enum { N = 4200, GAP = 1000, OTHER_GAP = 3000 };
    struct rp_pack_item *items = rp_calloc(N, sizeof *items);
    uint64_t *best = rp_calloc(N, sizeof *best), at = 0;
    bool *taken = rp_calloc(N + 1, sizeof *taken), valid = true;
    for (uint32_t i = 0; i < N; i++) {
        items[i] = (struct rp_pack_item){i, N + i, i == 0 ? 2 : 1, i};
        at += at == GAP || at == OTHER_GAP;
        best[i] = i == 0 ? N + 1 : at++;
    }
    struct rp_pack_component p = {.items = items,
                                  .n = N,
                                  .n_sections = 2 * N,
                                  .unit = 1,
                                  .bound = N + 1,
                                  .best = best,
                                  .height = N + 3};
    struct rp_pack_work work = {.limit = 100000000};
    rp_pack_ejection_chain(&p, N + 1, &work);
    CU_ASSERT_EQUAL(p.height, N + 1);
    for (uint32_t i = 0; i < N; i++)
        for (uint64_t k = 0; k < items[i].size; k++) {
            valid = valid && best[i] + k <= N && !taken[best[i] + k];
            taken[rp_min_u64(best[i] + k, N)] = true;
        }
    CU_ASSERT_TRUE(valid);
    /* They change with the search. */
    CU_ASSERT(work.statistics.ejection_moves == 4 && work.done == 16852980);
    free(items);
    free(best);
    free(taken);
}

/* ---- whole searches ---- */

/* Packs n random buffers, every `n_long`th to the end, and writes the counters of the
 * search and a digest of the offsets. */
static void print_search(FILE *f, uint32_t n, uint64_t span, uint64_t length, uint64_t size,
                         uint32_t n_long) {
    struct rp_buffer b[600];
    struct rp_pack_options o = {.alignment = 1, .work_limit = 25000000};
    struct rp_pack_result result;
    struct rp_pack_statistics s = {0};
    uint64_t random = n, digest = 0;
    for (uint32_t i = 0; i < n; i++) {
        b[i].lower = rp_splitmix64(&random) % span;
        b[i].upper = i % n_long == 0 ? span + length
                                     : b[i].lower + 1 + rp_splitmix64(&random) % length;
        b[i].size = i % n_long == 0 ? 500 + rp_splitmix64(&random) % 500
                                    : size * (1 + rp_splitmix64(&random) % 40);
    }
    const rp_rc rc = rp_pack(b, n, &o, &result, &s);
    for (uint32_t i = 0; i < n; i++)
        digest = (digest ^ b[i].offset) * RP_GOLDEN_RATIO_64;
    fprintf(f, "%d %" PRIu64 " %016" PRIx64, rc, result.arena_bytes, digest);
#define X(name, description) fprintf(f, " %" PRIu64, s.name);
    RP_PACK_STATISTICS(X)
#undef X
    fputc('\n', f);
}

/* The same buffers give the same search, step for step. If you change the search on
 * purpose, put the new figures here. */
static void searches_take_the_same_steps(void) {
    static const char expected[] =
        "0 1546 6f8e21868f4498de 1 1 12 58522 1 14671 0 0 3 758 307968 0 0 0 381161\n"
        "0 3066 2a86f80ac8dbd7e9 1 1 12 545246 1 127446 0 0 3 1421 2241202 0 0 0 "
        "2913894\n"
        "0 31464252 e2820806652054b5 1 1 24 1632244 1 255772 1 15928 0 0 0 2 6 12758 "
        "1916702\n"
        "4 174919264 3a6237f92893fa91 1 1 36 1998064 2 234529 1 16646 8 5219 "
        "14820666 5 3555 8212585 25282490\n"
        "0 130528542 33245d3c31a82fbd 1 1 72 6056339 2 144330 3 35548 5 3876 5561541 "
        "13 9512 12004739 23802497\n"
        "4 310500656 ded5241f21263daf 1 1 72 6589935 2 551151 3 45986 2 1638 4069504 "
        "5 4289 13745224 25001800\n";
    char *text;
    size_t len;
    FILE *f = rp_text_open(&text, &len);
    print_search(f, 120, 60, 20, 1, 500);
    print_search(f, 300, 300, 200, 1, 500);
    print_search(f, 600, 400, 20, 100000, 2);
    print_search(f, 600, 400, 160, 100000, 2);
    print_search(f, 600, 300, 60, 100000, 6);
    print_search(f, 600, 400, 160, 100000, 20);
    rp_text_close(f);
    CU_ASSERT_STRING_EQUAL(text, expected);
    if (strcmp(text, expected) != 0)
        fputs(text, stdout);
    free(text);
}

void suite_pack_search(void) {
    RP_SUITE("pack_search");
    RP_TEST(large_components_are_left_alone);
    RP_TEST(the_unit_of_sizes_does_not_change_the_chains);
    RP_TEST(items_are_scanned_where_a_graph_is_too_large);
    RP_TEST(searches_take_the_same_steps);
}
