/* Small certificates: what cannot be read, windows of one stage, and for which plans and
 * claims a bound holds. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "fixture.h"
#include "run.h"
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

void suite_small_certificates(void) {
    RP_SUITE("small_certificates");
    RP_TEST(what_cannot_be_read_leaves_an_empty_certificate);
    RP_TEST(a_window_of_one_stage_is_a_row_of_that_stage);
    RP_TEST(a_source_that_is_copied_out_twice_takes_its_host_bytes_once);
    RP_TEST(a_kept_tensor_without_bytes_is_not_made_again_at_the_end);
}
