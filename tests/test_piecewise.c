#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/random.h"
#include "pack/buffers_csv.h"
#include "pack/piecewise.h"
#include "run.h"

enum { MAX_BUFFERS = 5, SPAN = 8 };

/* What of a buffer is live at each moment, as a set of bits by byte. Shares nothing with
 * the packer. */
static void draw_life(const struct rp_piecewise *p, size_t i, uint64_t live[SPAN]) {
    const struct rp_buffer *b = &p->buffers[i];
    for (uint64_t t = 0; t < SPAN; t++)
        live[t] = b->lower <= t && t < b->upper ? (UINT64_C(1) << b->size) - 1 : 0;
    for (size_t g = 0; g < p->n_gaps; g++)
        for (uint64_t t = p->gaps[g].lower; p->gaps[g].buffer == i && t < p->gaps[g].upper;
             t++)
            live[t] = ((UINT64_C(1) << p->gaps[g].to) - 1) &
                      ~((UINT64_C(1) << p->gaps[g].from) - 1);
}

/* Is there a placement of buffers i.. beside what is taken below `height`? */
static bool fits(const struct rp_piecewise *p, uint64_t life[][SPAN], size_t i,
                 const uint64_t taken[SPAN], uint64_t height) {
    if (i == p->n)
        return true;
    for (uint64_t at = 0; at + p->buffers[i].size <= height; at += p->alignments[i]) {
        uint64_t with[SPAN];
        bool free = true;
        for (int t = 0; t < SPAN; t++) {
            free = free && (taken[t] & life[i][t] << at) == 0;
            with[t] = taken[t] | life[i][t] << at;
        }
        if (free && fits(p, life, i + 1, with, height))
            return true;
    }
    return false;
}

static uint64_t smallest_arena(const struct rp_piecewise *p) {
    uint64_t life[MAX_BUFFERS][SPAN], none[SPAN] = {0}, height = 0;
    for (size_t i = 0; i < p->n; i++)
        draw_life(p, i, life[i]);
    while (!fits(p, life, 0, none, height))
        height++;
    return height;
}

/* Buffers, alignments and gaps; with windows if `windows`. */
static size_t draw(uint64_t *random, bool windows, size_t n, struct rp_buffer *b,
                   uint64_t *alignments, struct rp_gap *gaps) {
    size_t n_gaps = 0;
    for (size_t i = 0; i < n; i++) {
        b[i] = (struct rp_buffer){.lower = rp_random_below(random, SPAN - 1)};
        b[i].upper = b[i].lower + 1 + rp_random_below(random, SPAN - (uint32_t)b[i].lower);
        b[i].size = rp_random_below(random, 6);
        b[i].upper = b[i].upper > SPAN ? SPAN : b[i].upper;
        alignments[i] = 1 + rp_random_below(random, 4);
        for (uint64_t t = b[i].lower; t < b[i].upper; t++) {
            if (rp_random_below(random, 3) > 0)
                continue;
            struct rp_gap g = {i, t, t + 1 + rp_random_below(random, 2), 0, 0};
            g.upper = g.upper > b[i].upper ? b[i].upper : g.upper;
            if (windows && b[i].size > 0) {
                g.from = rp_random_below(random, (uint32_t)b[i].size);
                g.to = g.from + rp_random_below(random, (uint32_t)(b[i].size - g.from) + 1);
            }
            t = g.upper - 1;
            gaps[n_gaps++] = g;
        }
    }
    return n_gaps;
}

static void small_files_get_the_smallest_arena_with_proof(void) {
    uint64_t random = 7;
    for (int k = 0; k < 600; k++) {
        struct rp_buffer b[MAX_BUFFERS];
        struct rp_gap gaps[MAX_BUFFERS * SPAN];
        uint64_t alignments[MAX_BUFFERS];
        size_t n = rp_random_below(&random, MAX_BUFFERS);
        bool windows = k % 3 == 0;
        struct rp_piecewise p = {b, n, alignments, gaps, 0};
        p.n_gaps = draw(&random, windows, n, b, alignments, gaps);
        struct rp_pack_options o = {.alignment = 1, .work_limit = 100000};
        struct rp_pack_result result;
        rp_rc rc = rp_pack_piecewise(&p, &o, &result, NULL);
        uint64_t least = smallest_arena(&p);
        CU_ASSERT_TRUE(rp_piecewise_is_sound(&p, 1, result.arena_bytes));
        CU_ASSERT_TRUE(result.arena_bytes >= least && least >= result.bound_bytes);
        CU_ASSERT_TRUE(least >= result.peak_bytes);
        if (!windows) {
            CU_ASSERT_EQUAL(result.arena_bytes, least);
            CU_ASSERT_EQUAL(result.bound_bytes, least);
            CU_ASSERT_EQUAL(rc, least == result.peak_bytes ? RP_OK : RP_NO);
        }
    }
}

/* The check and the drawing of lives agree about any offsets. */
static void the_check_sees_each_collision(void) {
    uint64_t random = 11;
    int n_sound = 0, n_all = 4000;
    for (int k = 0; k < n_all; k++) {
        struct rp_buffer b[2];
        struct rp_gap gaps[2 * SPAN];
        uint64_t alignments[2], life[2][SPAN];
        struct rp_piecewise p = {b, 2, alignments, gaps, 0};
        p.n_gaps = draw(&random, k % 2 == 0, 2, b, alignments, gaps);
        bool sound = true;
        for (size_t i = 0; i < 2; i++) {
            b[i].offset = rp_random_below(&random, 8);
            draw_life(&p, i, life[i]);
            sound = sound && b[i].offset % alignments[i] == 0 &&
                    (b[i].size == 0 || b[i].offset + b[i].size <= 10);
        }
        for (int t = 0; t < SPAN; t++)
            sound = sound && (life[0][t] << b[0].offset & life[1][t] << b[1].offset) == 0;
        CU_ASSERT_EQUAL(rp_piecewise_is_sound(&p, 1, 10), sound);
        n_sound += sound;
    }
    CU_ASSERT_TRUE(n_sound > n_all / 10 && n_sound < n_all - n_all / 10);
}

static void many_buffers_are_placed_near_the_peak(void) {
    enum { N = 60 };
    struct rp_buffer b[N];
    uint64_t alignments[N], random = 3;
    struct rp_gap gaps[N];
    for (size_t i = 0; i < N; i++) {
        b[i] = (struct rp_buffer){.lower = i, .upper = i + 20, .size = 64 * (1 + i % 7)};
        alignments[i] = 1 << rp_random_below(&random, 7);
        gaps[i] = (struct rp_gap){i, i + 5, i + 15, 0, i % 2 == 0 ? 0 : 32};
    }
    struct rp_piecewise p = {b, N, alignments, gaps, N};
    struct rp_pack_options o = {.alignment = 1, .work_limit = 3000000};
    struct rp_pack_result result;
    rp_pack_piecewise(&p, &o, &result, NULL);
    CU_ASSERT_TRUE(rp_piecewise_is_sound(&p, 1, result.arena_bytes));
    CU_ASSERT_FALSE(rp_piecewise_is_sound(&p, 1, result.arena_bytes - 1));
    CU_ASSERT_TRUE(result.arena_bytes < result.peak_bytes * 3 / 2);
}

static void common_multiples_stay_below_2_to_62(void) {
    CU_ASSERT_EQUAL(rp_piecewise_alignment(64, 48), 192);
    CU_ASSERT_EQUAL(rp_piecewise_alignment(1, 1), 1);
    CU_ASSERT_EQUAL(rp_piecewise_alignment(UINT64_C(1) << 61, 2), UINT64_C(1) << 61);
    CU_ASSERT_EQUAL(rp_piecewise_alignment(UINT64_C(1) << 61, 3), 0);
}

static rp_rc parse(const char *text, struct rp_buffers_csv *csv, struct rp_err *err) {
    *err = (struct rp_err){{0}};
    return rp_buffers_csv_parse(text, strlen(text), "f", csv, err);
}

static void minimalloc_columns_are_read(void) {
    struct rp_buffers_csv csv;
    struct rp_err err;
    CU_ASSERT_EQUAL_FATAL(parse("buffer,start,end,size,hint,alignment,gaps\n"
                                "a,0,9,100,-1,64,7-8 3-4@10:20\nb,3,5,90,7,1,\n",
                                &csv, &err),
                          RP_OK);
    CU_ASSERT_EQUAL(csv.buffers.at[0].upper, 10); /* "end" is the last moment */
    CU_ASSERT_EQUAL(csv.alignments.at[0], 64);
    CU_ASSERT_EQUAL(csv.alignments.at[1], 1);
    CU_ASSERT_EQUAL_FATAL(csv.gaps.n, 2);
    const struct rp_gap expected[] = {{0, 3, 5, 10, 20}, {0, 7, 9, 0, 0}};
    for (size_t k = 0; k < 2; k++) {
        const struct rp_gap *g = &csv.gaps.at[k];
        CU_ASSERT_TRUE(g->buffer == expected[k].buffer && g->lower == expected[k].lower &&
                       g->upper == expected[k].upper && g->from == expected[k].from &&
                       g->to == expected[k].to);
    }
    rp_buffers_csv_fini(&csv);
    CU_ASSERT_EQUAL_FATAL(parse("buffer_id,begin,upper,size\na,0,9,100\n", &csv, &err),
                          RP_OK);
    CU_ASSERT_EQUAL(csv.buffers.at[0].upper, 9);
    rp_buffers_csv_fini(&csv);
}

static void bad_columns_are_refused(void) {
    static const char *const bad[][2] = {
        {"id,buffer,lower,upper,size\n", "f:1: column 'id' twice"},
        {"id,lower,start,upper,size\n", "f:1: column 'lower' twice"},
        {"id,lower,upper,end,size\n", "f:1: column 'upper' twice"},
        {"id,lower,end,size\na,0,9223372036854775807,1\n",
         "f:2: the end is not below 2^63 - 1"},
        {"id,lower,upper,size,alignment\na,0,9,1,0\n", "f:2: the alignment is 0"},
        {"id,lower,upper,size,alignment\na,0,9,1,\n",
         "f:2: alignment '' is not a whole number below 2^63"},
        {"id,lower,upper,size,hint\na,0,9,1,-2\n",
         "f:2: hint '-2' is not a whole number below 2^63"},
        {"id,lower,upper,size,gaps\na,0,9,1,3\n",
         "f:2: gaps '' is not a whole number below 2^63"},
        {"id,lower,upper,size,gaps\na,0,9,1,3-x\n",
         "f:2: gaps 'x' is not a whole number below 2^63"},
        {"id,lower,upper,size,gaps\na,0,9,1,3-4@\n",
         "f:2: gaps '' is not a whole number below 2^63"},
        {"id,lower,upper,size,gaps\na,0,9,1,4-4\n",
         "f:2: gap '4-4' is not within the life"},
        {"id,lower,upper,size,gaps\na,2,9,1,1-4\n",
         "f:2: gap '1-4' is not within the life"},
        {"id,lower,upper,size,gaps\na,2,9,1,8-10\n",
         "f:2: gap '8-10' is not within the life"},
        {"id,lower,upper,size,gaps\na,0,9,1,3-4@1:2\n",
         "f:2: gap '3-4@1:2' is not within the size"},
        {"id,lower,upper,size,gaps\na,0,9,9,3-4@2:1\n",
         "f:2: gap '3-4@2:1' is not within the size"},
        {"id,lower,upper,size,gaps\na,0,9,1,3-5 4-6\n", "f:2: two gaps overlap"},
    };
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        struct rp_buffers_csv csv;
        struct rp_err err;
        CU_ASSERT_EQUAL(parse(bad[k][0], &csv, &err), RP_INPUT);
        CU_ASSERT_STRING_EQUAL(err.msg, bad[k][1]);
        if (strcmp(err.msg, bad[k][1]) != 0)
            printf("%s\n", err.msg);
    }
}

void suite_piecewise(void) {
    RP_SUITE("piecewise");
    RP_TEST(small_files_get_the_smallest_arena_with_proof);
    RP_TEST(the_check_sees_each_collision);
    RP_TEST(many_buffers_are_placed_near_the_peak);
    RP_TEST(common_multiples_stay_below_2_to_62);
    RP_TEST(minimalloc_columns_are_read);
    RP_TEST(bad_columns_are_refused);
}
