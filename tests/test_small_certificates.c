/* Small certificates: what cannot be read, windows of one stage, and for which plans and
 * claims a bound holds. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/io.h"
#include "base/mem.h"
#include "fixture.h"
#include "run.h"
#include "solve/bound/certificate_writer.h"
#include "verify/certificate/certificate_claim.h"

/* A certificate for this graph, without rows. The caller frees its arrays. */
static struct rp_certificate empty_certificate(struct rp_world *w, uint64_t budget_bytes) {
    return (struct rp_certificate){
        .graph_name = w->g.name, .graph_sha256 = w->g.sha256, .budget_bytes = budget_bytes};
}

/* ---- files that cannot be read ---- */

static void what_cannot_be_read_leaves_an_empty_certificate(void) {
    static const char scale_63[] =
        "{'format':'remat-certificate','version':1,'graph':{'name':'g','sha256':'0'},"
        "'budget_bytes':32,'addressed':false,'scale_log2':63,'lower_bound_ns':0,"
        "'dep':[],'hold':[],'mem':[]}";
    struct rp_certificate c = {.budget_bytes = 1};
    struct rp_err err = {{0}};
    char *text = rp_quoted(scale_63);
    CU_ASSERT_EQUAL(rp_certificate_load("/dev/null/none", &c, &err), RP_ENV);
    CU_ASSERT_EQUAL(c.budget_bytes, 0);
    CU_ASSERT_EQUAL(rp_certificate_parse(text, strlen(text), "f", &c, &err), RP_INPUT);
    CU_ASSERT_EQUAL(c.budget_bytes, 0);
    free(text);
}

/* ---- windows ---- */

/* -p-> a -q-> b -r-> c, and a,c -z-> d. Each tensor but d has 10 bytes. With 24 bytes a
 * cannot stay on the device while r runs. */
static const char chain[] =
    "{'format':'remat-graph','version':1,'name':'chain','time_source':'none',"
    "'device':{'alignment_bytes':1},'tensors':["
    "{'name':'a','bytes':10,'kind':'activation'},"
    "{'name':'b','bytes':10,'kind':'activation'},"
    "{'name':'c','bytes':10,'kind':'activation'},"
    "{'name':'d','bytes':4,'kind':'gradient'}],"
    "'ops':[{'name':'p','kind':'k','inputs':[],'outputs':[0],'time_ns':100},"
    "{'name':'q','kind':'k','inputs':[0],'outputs':[1],'time_ns':10},"
    "{'name':'r','kind':'k','inputs':[1],'outputs':[2],'time_ns':10},"
    "{'name':'z','kind':'k','inputs':[0,2],'outputs':[3],'time_ns':10}],'keep':[3]}";

/* What these rows prove together with the memory row of r's stage, in which a has a term
 * for the next stage. */
static uint64_t proved(const struct rp_certificate_row *rows, size_t n) {
    static const uint32_t ids[] = {0, RP_CERTIFICATE_NEXT, 1, 2, 2, 2, 0};
    struct rp_world w;
    struct rp_certified_bound bound;
    rp_world_open(
        &w, chain, "'budget_bytes':24,'addressed':false,'arena_bytes':24,'host_bytes':0",
        "{'run':0},{'run':1},{'free':0},{'run':2},{'free':1},{'run':0},{'run':3}");
    struct rp_certificate c = empty_certificate(&w, 24);
    for (size_t k = 0; k < sizeof ids / sizeof ids[0]; k++)
        rp_push(&c.ids, ids[k]);
    rp_push(
        &c.rows,
        ((struct rp_certificate_row){
            .kind = RP_CERTIFICATE_MEM, .t = 2, .op = 2, .multiplier = 10, .n_ids = 6}));
    for (size_t k = 0; k < n; k++)
        rp_push(&c.rows, rows[k]);
    CU_ASSERT_EQUAL(rp_certificate_check(&c, &w.g, &bound, &w.err), RP_OK);
    free(c.ids.at);
    free(c.rows.at);
    rp_world_close(&w);
    return bound.bound_ns;
}

/* The path of each window is tensor a alone, ids[6]. */
static void a_window_of_one_stage_is_a_row_of_that_stage(void) {
    const struct rp_certificate_row
        dep = {.kind = RP_CERTIFICATE_DEP, .op = 3, .tensor = 0, .t = 3, .multiplier = 150},
        as_dep = {.kind = RP_CERTIFICATE_WINDOW,
                  .op = 3,
                  .from = 3,
                  .t = 3,
                  .first_id = 6,
                  .n_ids = 1,
                  .multiplier = 150},
        hold = {.kind = RP_CERTIFICATE_HOLD, .tensor = 0, .t = 2, .multiplier = 50},
        as_hold = {.kind = RP_CERTIFICATE_WINDOW,
                   .op = RP_NONE,
                   .from = 2,
                   .t = 2,
                   .first_id = 6,
                   .n_ids = 1,
                   .multiplier = 50};
    /* 130 for one run of each op, 150 for z's run, -50 each for another run of p and for a
     * at stage 3, -40 for memory. */
    CU_ASSERT_EQUAL(proved(&dep, 1), 140);
    CU_ASSERT_EQUAL(proved(&as_dep, 1), 140);
    /* a at stage 2 in place of a at stage 3 */
    CU_ASSERT_EQUAL(proved((struct rp_certificate_row[]){dep, hold}, 2), 140);
    CU_ASSERT_EQUAL(proved((struct rp_certificate_row[]){dep, as_hold}, 2), 140);
}

/* ---- plans and claims ---- */

/* The source on the host is updated twice and copied out after each update, to the same
 * place, so the plan is within the certificate's host memory. */
static void a_source_that_is_copied_out_twice_takes_its_host_bytes_once(void) {
    static const char twice[] =
        "{'format':'remat-graph','version':2,'name':'twice','time_source':'none',"
        "'device':{'alignment_bytes':1,'h2d_bytes_per_s':1000000000,"
        "'d2h_bytes_per_s':1000000000,'copy_latency_ns':0},'tensors':["
        "{'name':'w','bytes':8,'kind':'parameter','home':'any'}],'ops':["
        "{'name':'f','kind':'k','inputs':[],'outputs':[],'updates':[0],'time_ns':10},"
        "{'name':'g','kind':'k','inputs':[],'outputs':[],'updates':[0],'time_ns':10}],"
        "'keep':[]}";
    struct rp_world w;
    struct rp_certified_bound bound;
    rp_world_open(&w, twice,
                  "'budget_bytes':8,'addressed':false,'arena_bytes':8,'host_bytes':8,"
                  "'homes':[{'tensor':0}]",
                  "{'swap_in':0},{'run':0},{'swap_out':0},{'run':1},{'swap_out':0}");
    CU_ASSERT_EQUAL(rp_verify(&w.g, &w.p, &w.v, &w.err), RP_OK);
    CU_ASSERT_EQUAL(w.v.n_swap_outs, 2);
    struct rp_certificate c = empty_certificate(&w, 8);
    c.swaps = true;
    c.swap_max_ns = 100;
    for (uint64_t host_bytes = 7; host_bytes <= 8; host_bytes++) {
        c.host_budget_bytes = host_bytes;
        w.p.claims.time_ns = 19; /* less than the two ops take */
        CU_ASSERT_EQUAL(rp_certificate_check_plan(&c, &w.g, &w.p, &bound, &w.err),
                        host_bytes == 8 ? RP_NO : RP_OK);
    }
    CU_ASSERT_STRING_EQUAL(w.err.msg,
                           "its rows give a bound of 20 ns, but this plan takes 19 ns");
    rp_world_close(&w);
}

/* The kept tensor of f can be freed and made again after g. That changes no bytes if it has
 * none. */
static void a_kept_tensor_without_bytes_is_not_made_again_at_the_end(void) {
    static const char kept[] =
        "{'format':'remat-graph','version':1,'name':'kept','time_source':'none',"
        "'device':{'alignment_bytes':1},'tensors':["
        "{'name':'a','bytes':%d,'kind':'gradient'}],'ops':["
        "{'name':'f','kind':'k','inputs':[],'outputs':[0],'time_ns':10},"
        "{'name':'g','kind':'k','inputs':[],'outputs':[],'recompute':false,"
        "'time_ns':10}],'keep':[0]}";
    for (int bytes = 0; bytes < 2; bytes++) {
        struct rp_world w;
        struct rp_certified_bound bound;
        char *graph = rp_format(kept, bytes),
             *sizes = rp_format("'budget_bytes':%d,'addressed':false,'arena_bytes':%d,"
                                "'host_bytes':0",
                                bytes, bytes);
        rp_world_open(&w, graph, sizes, "{'run':0},{'run':1}");
        struct rp_certificate c = empty_certificate(&w, w.p.budget_bytes);
        w.p.claims.bound_for = (struct rp_bound_scope){.all_programs = true};
        w.p.claims.lower_bound_ns = 21;
        CU_ASSERT_EQUAL(rp_certificate_check_plan(&c, &w.g, &w.p, &bound, &w.err), RP_NO);
        CU_ASSERT_STRING_EQUAL(
            w.err.msg,
            bytes == 0 ? "it supports a bound of 20 ns; the plan claims 21"
                       : "it proves 20 ns, but not for plans that run ops again after "
                         "the last first run; the plan claims 21 ns for more than that");
        free(graph);
        free(sizes);
        rp_world_close(&w);
    }
}

/* ---- what the planner writes ---- */

/* Three ops of 10 ns, of which the first two may run in either order. */
static const char pair[] =
    "{'format':'remat-graph','version':1,'name':'pair','time_source':'none',"
    "'device':{'alignment_bytes':1,'h2d_bytes_per_s':1000000000,"
    "'d2h_bytes_per_s':1000000000,'copy_latency_ns':0},'tensors':["
    "{'name':'a','bytes':4,'kind':'activation'},"
    "{'name':'b','bytes':5,'kind':'gradient'},{'name':'c','bytes':6,'kind':'gradient'}],"
    "'ops':[{'name':'f','kind':'k','inputs':[],'outputs':[0],'time_ns':10},"
    "{'name':'g','kind':'k','inputs':[],'outputs':[1],'time_ns':10},"
    "{'name':'h','kind':'k','inputs':[0,1],'outputs':[2],'time_ns':10}],'keep':[2]}";

struct written {
    struct rp_graph g;
    struct rp_instance p;
    struct rp_formulation f;
    struct rp_row_set rows;
};

static void open_pair(struct written *w, uint64_t host_limit_bytes, uint64_t horizon_ns) {
    static const uint32_t order[] = {1, 0, 2};
    struct rp_err err = {{0}};
    char *json = rp_quoted(pair);
    *w = (struct written){0};
    CU_ASSERT_EQUAL_FATAL(rp_graph_parse(json, strlen(json), "g", &w->g, &err), RP_OK);
    rp_instance_init(&w->p, &w->g, 15, false, order);
    if (horizon_ns > 0)
        CU_ASSERT(rp_instance_allow_swap(&w->p, host_limit_bytes));
    rp_formulation_init(&w->f, &w->p,
                        &(struct rp_formulation_options){.horizon_ns = horizon_ns});
    rp_formulation_rows(&w->f, &w->rows);
    free(json);
}

static void close_pair(struct written *w) {
    rp_row_set_fini(&w->rows);
    rp_formulation_fini(&w->f);
    rp_instance_fini(&w->p);
    rp_graph_fini(&w->g);
}

/* The text of the certificate with these multipliers over 1. Freed by the caller; NULL if
 * it cannot be saved. */
static char *text_of(const struct written *w, const int64_t *m, uint64_t horizon_ns,
                     rp_rc *rc) {
    char path[] = "/tmp/remat-plan-test-XXXXXX", *text = NULL;
    struct rp_err err = {{0}};
    size_t len;
    int fd = mkstemp(path);
    CU_ASSERT_FATAL(fd >= 0);
    close(fd);
    *rc = rp_certificate_save(path, &w->g, &w->f, false, 15, &w->rows, m, 0, horizon_ns,
                              &err);
    rp_rc read = rp_read_file(path, &text, &len, &err);
    CU_ASSERT_EQUAL(read, RP_OK);
    unlink(path);
    return text;
}

/* The bound is what the rows prove, but at least 30 ns, of all ops, and at most the 50 ns
 * for which they hold. Nothing is written where they prove nothing. */
static void certificates_say_their_order_and_their_swaps(void) {
    struct written w;
    rp_rc rc;
    int64_t m[16] = {0};
    open_pair(&w, RP_MAX_QUANTITY, 50);
    CU_ASSERT_FATAL(w.rows.n > 0 && w.rows.n <= 16);
    char *text = text_of(&w, m, 50, &rc);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, ",\n\"order\":[1,0,2]"));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"lower_bound_ns\":30,\n\"swaps\":{\"most_ns\":50,"
                                        "\"host_budget_bytes\":9223372036854775807}"));
    free(text);
    static const int said_ns[][2] = {{1000, 30}, {-15, 45}, {-30, 50}};
    rp_row_set_fini(&w.rows);
    rp_row_set_begin(&w.rows, (struct rp_row_name){.kind = RP_ROW_DEP, .t = 2, .op = 2}, 0);
    m[0] = 1;
    for (size_t k = 0; k < sizeof said_ns / sizeof *said_ns; k++) {
        w.rows.rhs[0] = said_ns[k][0];
        char *says = rp_format("\"lower_bound_ns\":%d,", said_ns[k][1]);
        text = text_of(&w, m, 50, &rc);
        CU_ASSERT_PTR_NOT_NULL(strstr(text, says));
        free(says);
        free(text);
    }
    m[0] = -1;
    text = text_of(&w, m, 50, &rc);
    CU_ASSERT_EQUAL(rc, RP_BUG);
    CU_ASSERT_STRING_EQUAL(text, "");
    free(text);
    close_pair(&w);
}

/* Columns of R come before those of S. */
static void a_cover_lists_what_is_held_and_what_ran(void) {
    static const struct rp_row_name name = {.kind = RP_ROW_COVER, .op = 2, .t = 2};
    struct written w;
    rp_rc rc;
    open_pair(&w, 0, 0);
    rp_row_set_fini(&w.rows);
    rp_row_set_begin(&w.rows, name, 1);
    for (uint32_t j = 0; j < w.f.n_cols; j++)
        rp_row_set_term(&w.rows, j, 1);
    CU_ASSERT(w.f.n_run_cols > 0 && w.f.n_cols > w.f.n_run_cols);
    char *text = text_of(&w, (const int64_t[]){1}, 0, &rc);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"runs\":[],\"at_most\":1,"
                                        "\"held\":[[1,1,1],[1,2,1],[0,2,1]],"
                                        "\"ran\":[[1,1,1],[1,2,1],[0,2,1]]}"));
    free(text);
    close_pair(&w);
}

void suite_small_certificates(void) {
    RP_SUITE("small_certificates");
    RP_TEST(what_cannot_be_read_leaves_an_empty_certificate);
    RP_TEST(a_window_of_one_stage_is_a_row_of_that_stage);
    RP_TEST(a_source_that_is_copied_out_twice_takes_its_host_bytes_once);
    RP_TEST(a_kept_tensor_without_bytes_is_not_made_again_at_the_end);
    RP_TEST(certificates_say_their_order_and_their_swaps);
    RP_TEST(a_cover_lists_what_is_held_and_what_ran);
}
