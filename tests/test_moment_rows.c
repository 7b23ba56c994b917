/* Tests of what is said of one moment: hand-worked rows and copies. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "fixture.h"
#include "run.h"
#include "solve/moment/moment_relaxation.h"
#include "solve/moment/moment_sources.h"

static void open_graph(const char *text, struct rp_graph *g) {
    struct rp_err err = {{0}};
    char *json = rp_quoted(text);
    CU_ASSERT_EQUAL_FATAL(rp_graph_parse(json, strlen(json), "g", g, &err), RP_OK);
    free(json);
}

/* A column by what it says of which op or tensor; sources twice: r, then h. */
static void show_column(FILE *f, const struct rp_moment *m, const struct rp_instance *p,
                        uint32_t c) {
    static const char *const names[] = {"z", "e", "P", "Q", "B"};
    const uint32_t named[] = {m->room, m->extra, m->until, m->from, m->resident};
    uint32_t id = m->col_id[c];
    for (size_t k = 0; k < sizeof named / sizeof *named && id == RP_NONE; k++)
        if (named[k] == c)
            fputs(names[k], f);
    if (id == RP_NONE)
        return;
    if (c < m->n_run_cols)
        fprintf(f, "R(%s)", p->graph->ops[p->op_of[id]].name);
    else
        fprintf(f, "%s(%s)",
                id >= p->n_homes         ? "S"
                : m->col_id[c - 1] == id ? "h"
                                         : "r",
                p->graph->tensors[p->tensor_of[id]].name);
}

/* The costs, then the rows. Numbers are as the moment scales them. */
static void show_moment(FILE *f, const struct rp_moment *m, const struct rp_instance *p) {
    for (uint32_t c = 0; c < m->n_cols; c++)
        if (m->cost[c] != 0) {
            fprintf(f, "%.9g ", m->cost[c]);
            show_column(f, m, p, c);
            fputc('\n', f);
        }
    for (uint32_t i = 0; i < m->rows.n; i++) {
        for (uint32_t e = m->rows.start[i]; e < m->rows.start[i + 1]; e++) {
            fprintf(f, "%+.9g ", m->rows.coef[e]);
            show_column(f, m, p, m->rows.col[e]);
            fputc(' ', f);
        }
        fprintf(f, "<= %.9g\n", m->rows.rhs[i]);
    }
}

static void check_rows(const struct rp_moment *m, const struct rp_instance *p,
                       const char *expected) {
    char *text = NULL;
    size_t len;
    FILE *f = rp_text_open(&text, &len);
    show_moment(f, m, p);
    rp_text_close(f);
    CU_ASSERT_STRING_EQUAL(text, expected);
    if (strcmp(text, expected) != 0)
        printf("%s", text);
    free(text);
}

/* While c runs, and copies take a nanosecond a byte. a and b surely come before, d after.
 * With 13 ns in all, 2 of them for c and d and 9 for a, b and c, 11 bytes can be copied out
 * before and 4 in after. */
static void rows_of_a_moment_with_swaps(void) {
    static const char text[] =
        "{'format':'remat-graph','version':1,'name':'n','time_source':'none','device':"
        "{'h2d_bytes_per_s':1000000000,'d2h_bytes_per_s':1000000000},'keep':[4],'tensors':["
        "{'name':'s','bytes':0,'kind':'input'},{'name':'x','bytes':300,'kind':'activation'}"
        ","
        "{'name':'y','bytes':5,'kind':'activation'},"
        "{'name':'z','bytes':100,'kind':'activation'},"
        "{'name':'w','bytes':1,'kind':'activation'},"
        "{'name':'m','bytes':9,'kind':'activation'}],"
        "'ops':[{'name':'a','kind':'k','inputs':[0],'outputs':[1],'time_ns':7},"
        "{'name':'b','kind':'k','inputs':[1],'outputs':[2],'time_ns':1},"
        "{'name':'c','kind':'k','inputs':[2],'outputs':[3],'time_ns':1},"
        "{'name':'e','kind':'k','inputs':[1],'outputs':[5],'time_ns':3},"
        "{'name':'d','kind':'k','inputs':[5,3],'outputs':[4],'time_ns':1}]}";
    enum rp_side side[5];
    struct rp_first_runs f;
    struct rp_moment m;
    struct rp_graph g;
    struct rp_instance p;
    open_graph(text, &g);
    rp_instance_init(&p, &g, 600, false, NULL);
    CU_ASSERT(rp_instance_allow_swap(&p, RP_MAX_QUANTITY));
    rp_first_runs_init(&f, &p);
    rp_find_sides(&p, &f, 2, side);
    rp_moment_init(&m, &p, 2, side);
    CU_ASSERT_EQUAL(m.before_ns, 7 + 1 + 1);
    CU_ASSERT_EQUAL(m.after_ns, 1 + 1);
    CU_ASSERT_EQUAL(m.n_run_cols, 3);
    check_rows(&m, &p,
               "0.25 R(b)\n1.75 R(a)\n"
               "+1 R(b) -1 R(a) -1 S(x) <= 0\n"
               "+1 R(e) -1 R(a) -1 S(x) <= 0\n"
               "-1 R(e) -1 S(m) <= -1\n"
               "+300 S(x) +9 S(m) -1 z <= 495\n");
    CU_ASSERT_EQUAL(rp_moment_room(&m, &p, 13), 4);
    CU_ASSERT_EQUAL(rp_moment_room(&m, &p, 1000), 415);
    p.host_limit_bytes = 200;
    CU_ASSERT_EQUAL(rp_moment_room(&m, &p, 1000), 200);
    rp_moment_fini(&m);
    rp_moment_fini(&m);
    rp_first_runs_fini(&f);
    rp_first_runs_fini(&f);
    rp_instance_fini(&p);
    rp_graph_fini(&g);
}

/* While g runs. v may stay, w must live on the host, k is kept but never read, and q is
 * read by f alone. Copies in take a nanosecond a byte, copies out two. */
#define MANY                                                                               \
    "{'format':'remat-graph','version':2,'name':'n','time_source':'none','keep':[2],"      \
    "'device':{'h2d_bytes_per_s':1000000000,'d2h_bytes_per_s':500000000},'tensors':["      \
    "{'name':'v','bytes':100,'kind':'parameter','home':'any'},"                            \
    "{'name':'w','bytes':40,'kind':'parameter','home':'host'},"                            \
    "{'name':'k','bytes':70,'kind':'parameter','home':'any'},"                             \
    "{'name':'q','bytes':60,'kind':'parameter','home':'any'},"                             \
    "{'name':'x','bytes':8,'kind':'activation'},"                                          \
    "{'name':'y','bytes':5,'kind':'activation'},"                                          \
    "{'name':'z','bytes':3,'kind':'gradient'},"                                            \
    "{'name':'t','bytes':20,'kind':'activation'},"                                         \
    "{'name':'o','bytes':1,'kind':'activation'}],"                                         \
    "'ops':[{'name':'f','kind':'k','inputs':[0,3],'outputs':[4,7],'time_ns':1},"           \
    "{'name':'g','kind':'k','inputs':[1,4],'outputs':[5],'time_ns':1},"                    \
    "{'name':'b','kind':'k','inputs':[1,4,5],'outputs':[6],'time_ns':1},"                  \
    "{'name':'u','kind':'k','inputs':[6,7],'outputs':[],'updates':[0],'time_ns':1},"       \
    "{'name':'n','kind':'k','inputs':[],'outputs':[8],'time_ns':0}]}"

static void rows_of_a_moment_with_sources(void) {
    enum rp_side side[6];
    struct rp_first_runs f;
    struct rp_moment m;
    struct rp_graph g;
    struct rp_instance p;
    open_graph(MANY, &g);
    rp_instance_init_homes(&p, &g, 700, false, NULL);
    CU_ASSERT(rp_instance_allow_swap(&p, 5000));
    rp_first_runs_init(&f, &p);
    rp_find_sides(&p, &f, 5, side);
    CU_ASSERT(side[0] == RP_SIDE_BEFORE && side[1] == RP_SIDE_EITHER);
    rp_find_sides(&p, &f, 2, side);
    rp_moment_init(&m, &p, 2, side);
    rp_moment_add_sources(&m, &p, 2, side, false);
    check_rows(&m, &p,
               "1 e\n"
               "-1 R(f) -1 S(t) <= -1\n"
               "+20 S(t) -1 z +70 h(k) +60 r(q) +100 h(v) <= 647\n"
               "+1 z -20 S(t) <= 0\n"
               "+1 r(k) -1 h(k) <= 0\n"
               "+1 r(v) -1 h(v) <= 0\n"
               "+1 z -70 r(k) -60 r(q) -100 r(v) <= 4730\n"
               "-1 B +70 r(k) +60 r(q) +100 r(v) <= 0\n"
               "+1 B -60 r(q) -100 r(v) <= 512\n"
               "+1 B <= 647\n"
               "+1 B <= 644\n"
               "+1 B -100 r(v) <= 577\n"
               "-1 e +1 z -70 r(k) -60 r(q) -100 r(v) -100 h(v) <= -366\n"
               "-1 e +2 z -200 r(v) <= -196\n"
               "-1 P <= -2\n"
               "-1 P -60 r(q) -100 r(v) <= -201\n"
               "-1 P +2 z <= -1\n"
               "-1 Q +1 R(f) <= -2\n"
               "-1 Q +1 z -70 h(k) -100 h(v) <= -170\n"
               "-1 Q -200 r(v) <= -200\n"
               "-1 e +1 R(f) <= 0\n"
               "+1 P +1 Q -1 e <= 4\n");
    rp_moment_fini(&m);
    rp_first_runs_fini(&f);
    rp_instance_fini(&p);
    rp_graph_fini(&g);
}

static uint64_t copies_ns(uint64_t limit_bytes, uint64_t h2d, uint64_t d2h) {
    enum rp_side side[6];
    struct rp_first_runs f;
    struct rp_graph g;
    struct rp_instance p;
    open_graph(MANY, &g);
    g.device.h2d_bytes_per_s = h2d;
    g.device.d2h_bytes_per_s = d2h;
    rp_instance_init_homes(&p, &g, 700, false, NULL);
    CU_ASSERT(rp_instance_allow_swap(&p, 5000));
    p.limit_bytes = limit_bytes;
    rp_first_runs_init(&f, &p);
    rp_find_sides(&p, &f, 2, side);
    uint64_t ns = rp_moment_copies_ns(&p, 2, side);
    rp_first_runs_fini(&f);
    rp_instance_fini(&p);
    rp_graph_fini(&g);
    return ns;
}

/* v, w and q come in before g is done, 200 bytes, and v goes out after it. All four have
 * 270 bytes. v and w are used on both sides: of their 140 bytes, half of the memory can
 * stay. At a byte in a picosecond each copy takes a nanosecond: three, and the three ops
 * from g on. */
static void moments_are_ranked_by_their_copies(void) {
    CU_ASSERT_EQUAL(copies_ns(700, 1000000000, 500000000), 200 + 200);
    CU_ASSERT_EQUAL(copies_ns(700, 1000000000, 10000000000), 270);
    CU_ASSERT_EQUAL(copies_ns(200, 1000000000, 10000000000), 270 + 140 - 100);
    CU_ASSERT_EQUAL(copies_ns(700, 1000000000000, 1000000000000), 3 + 3);
}

void suite_moment_rows(void) {
    RP_SUITE("moment_rows");
    RP_TEST(rows_of_a_moment_with_swaps);
    RP_TEST(rows_of_a_moment_with_sources);
    RP_TEST(moments_are_ranked_by_their_copies);
}
