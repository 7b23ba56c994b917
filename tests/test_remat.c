/* Tests of libremat: the callbacks it makes for a plan, the waits it reports, and what it
 * refuses. */
#include "remat/remat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/sha256.h"
#include "fixture.h"
#include "gen.h"
#include "run.h"

/* ---- plans as text ---- */

static remat *load_world(const struct rp_graph *g, const struct rp_plan *p,
                         struct remat_error *error) {
    char *graph, *plan;
    size_t graph_len, plan_len;
    rp_graph_dump(g, &graph, &graph_len);
    rp_plan_dump(p, &plan, &plan_len);
    remat *r = remat_parse(graph, graph_len, plan, plan_len, error);
    free(graph);
    free(plan);
    return r;
}

/* The digest of the graph as it is dumped. */
static void set_digest(const struct rp_graph *g, char hex[65]) {
    char *text;
    size_t len;
    rp_graph_dump(g, &text, &len);
    rp_sha256_hex(text, len, hex);
    free(text);
}

/* The steps of a plan for the graph; NULL with the error if they cannot be walked. */
static remat *load_plan_of(const char *graph, const char *sizes, const char *steps,
                           struct remat_error *error) {
    struct rp_world w;
    rp_world_open(&w, graph, sizes, steps);
    set_digest(&w.g, w.p.graph_sha256);
    remat *r = load_world(&w.g, &w.p, error);
    rp_world_close(&w);
    return r;
}

static remat *load_net(const char *sizes, const char *steps, struct remat_error *error) {
    return load_plan_of(rp_net, sizes, steps, error);
}

/* ---- walking ---- */

static int note(FILE *f, const char *what, const struct remat_step *s) {
    const uint32_t updates = s->n_inputs + s->n_outputs;
    fprintf(f, "%s %s", what, s->name);
    for (uint32_t k = 0; s->what == REMAT_RUN && k < updates + s->n_updates; k++) {
        const struct remat_operand *e =
            k < updates ? &s->inputs[k] : &s->updates[k - updates];
        fputs(k == s->n_inputs && s->n_outputs > 0 ? " ->" : "", f);
        fputs(k == updates ? " +=" : "", f);
        if (e->at == REMAT_NOWHERE)
            fprintf(f, " %u", e->tensor);
        else
            fprintf(f, " %u@%d", e->tensor, (int)e->at);
    }
    if (s->what != REMAT_RUN)
        fprintf(f, " %d %d %d", (int)s->at, (int)s->host_at, (int)s->bytes);
    if (s->workspace_bytes > 0)
        fprintf(f, " w%d@%d", (int)s->workspace_bytes, (int)s->workspace_at);
    fputs(s->again ? " again" : "", f);
    for (size_t k = 0; k < s->n_waits; k++)
        fprintf(f, " <%d", (int)s->waits[k]);
    fputs(s->awaited ? " !\n" : "\n", f);
    return 0;
}

static int note_run(void *f, const struct remat_step *s) {
    return note(f, "run", s);
}
static int note_free(void *f, const struct remat_step *s) {
    return note(f, "free", s);
}
static int note_out(void *f, const struct remat_step *s) {
    return note(f, "out", s);
}
static int note_in(void *f, const struct remat_step *s) {
    return note(f, "in", s);
}

static void plan_of_walks_as(const char *graph, const char *sizes, const char *steps,
                             const char *expected) {
    static const struct remat_calls calls = {note_run, note_free, note_out, note_in};
    struct remat_error error = {""};
    char *text = NULL;
    size_t len = 0;
    remat *r = load_plan_of(graph, sizes, steps, &error);
    CU_ASSERT_STRING_EQUAL(error.text, "");
    CU_ASSERT_PTR_NOT_NULL_FATAL(r);
    FILE *f = open_memstream(&text, &len);
    CU_ASSERT_EQUAL(remat_walk(r, &calls, f), 0);
    fclose(f);
    CU_ASSERT_STRING_EQUAL(text, expected);
    if (strcmp(text, expected) != 0)
        printf("walked:\n%s", text);
    free(text);
    remat_close(r);
}

static void plan_of_is_refused(const char *graph, const char *sizes, const char *steps,
                               const char *why) {
    struct remat_error error = {"something said before"};
    remat *r = load_plan_of(graph, sizes, steps, &error);
    CU_ASSERT_PTR_NULL(r);
    CU_ASSERT_STRING_EQUAL(error.text, why);
    if (strcmp(error.text, why) != 0)
        printf("message: %s\n", error.text);
    remat_close(r);
}

static void walks_as(const char *sizes, const char *steps, const char *expected) {
    plan_of_walks_as(rp_net, sizes, steps, expected);
}

static void steps_come_in_order_with_addresses_and_waits(void) {
    walks_as(SIZES, SWAPPED,
             "run a 0 -> 1@0 !\n"
             "out x 0 4 8 <0 !\n"
             "run b 1@0 -> 2@8 3@16 w5@20\n"
             "free x 0 -1 8 <1\n"
             "run c 2@8 -> 4@20\n"
             "free y 8 -1 6 !\n"
             "in x 0 4 8 <5 <1 !\n"
             "run d 1@0 3@16 4@20 -> 5@8 <6\n");
}

static void a_rerun_is_marked_and_keeps_the_address_of_outputs_still_there(void) {
    walks_as(SIZES, A "," B "," C "," FREE_Y ",{'run':0,'at':[null]}," D,
             "run a 0 -> 1@0\n"
             "run b 1@0 -> 2@8 3@16 w5@20\n"
             "run c 2@8 -> 4@20\n"
             "free y 8 -1 6\n"
             "run a 0 -> 1@0 again\n"
             "run d 1@0 3@16 4@20 -> 5@8\n");
}

static void a_rewrite_waits_for_the_swap_out(void) {
    walks_as(SIZES,
             A ",{'swap_out':1,'host_at':0},{'run':0,'at':[null]}," B "," C "," FREE_Y
               "," D,
             "run a 0 -> 1@0 !\n"
             "out x 0 0 8 <0 !\n"
             "run a 0 -> 1@0 again <1\n"
             "run b 1@0 -> 2@8 3@16 w5@20\n"
             "run c 2@8 -> 4@20\n"
             "free y 8 -1 6\n"
             "run d 1@0 3@16 4@20 -> 5@8\n");
}

static void plans_without_addresses_are_walked_without_addresses(void) {
    walks_as(SUM, "{'run':0},{'run':1},{'run':2},{'free':2},{'run':3}",
             "run a 0 -> 1\n"
             "run b 1 -> 2 3 w5@-1\n"
             "run c 2 -> 4\n"
             "free y -1 -1 6\n"
             "run d 1 3 4 -> 5\n");
}

#define S_AND_T_HOMES "[{'tensor':1,'host_at':0},{'tensor':2,'host_at':8}]"

/* t lives on the host. It comes in, e updates it where it lies, and it goes out. The copy
 * out waits for the update, and the free for the copy. */
static void sources_on_the_host_come_in_are_updated_and_go_out(void) {
    plan_of_walks_as(rp_state, ROOM(S_AND_T_HOMES),
                     RUN_F "," RUN_G "," RUN_U "," RUN_H "," T_IN_AND_OUT "," FREE_T,
                     "run f 0 -> 3@0\n"
                     "run g 3@0 -> 4@8 5@16\n"
                     "run u 4@8 += 0\n"
                     "run h 0 3@0 -> 6@24 !\n"
                     "in t 28 0 8 <3 !\n"
                     "run e += 1@28 <4 !\n"
                     "out t 28 0 8 <5 !\n"
                     "free t 28 -1 8 <6\n");
}

/* An update waits for the copy of the tensor that is under way, and a copy in for the copy
 * out of what was updated. */
static void updates_and_copies_wait_for_each_other(void) {
    static const char twice[] =
        "{'format':'remat-graph','version':2,'name':'twice','time_source':'imported:test',"
        "'device':{'alignment_bytes':4,'h2d_bytes_per_s':1000,'d2h_bytes_per_s':1000},"
        "'tensors':[{'name':'s','bytes':8,'kind':'state','home':'host'}],'ops':["
        "{'name':'f','kind':'k','inputs':[],'outputs':[],'updates':[0],'time_ns':1},"
        "{'name':'g','kind':'k','inputs':[],'outputs':[],'updates':[0],'time_ns':1},"
        "{'name':'h','kind':'k','inputs':[],'outputs':[],'updates':[0],'time_ns':1}],"
        "'keep':[]}";
    plan_of_walks_as(twice,
                     "'budget_bytes':16,'addressed':true,'arena_bytes':16,'host_bytes':8,"
                     "'homes':[{'tensor':0,'host_at':0}]",
                     "{'swap_in':0,'at':0},{'run':0},{'swap_out':0,'host_at':0},{'run':1},"
                     "{'swap_out':0,'host_at':0},{'free':0},{'swap_in':0,'at':8},{'run':2},"
                     "{'swap_out':0,'host_at':0}",
                     "in s 0 0 8 !\n"
                     "run f += 0@0 <0 !\n"
                     "out s 0 0 8 <1 !\n"
                     "run g += 0@0 <2 !\n"
                     "out s 0 0 8 <3 !\n"
                     "free s 0 -1 8 <4 !\n"
                     "in s 8 0 8 <5 <4 !\n"
                     "run h += 0@8 <6 !\n"
                     "out s 8 0 8 <7\n");
}

/* g leaves z where it is, and makes it again behind a workspace of 5 bytes. */
static void outputs_that_are_left_alone_go_to_the_workspace(void) {
    static const char net[] =
        "{'format':'remat-graph','version':2,'name':'left','time_source':'imported:test',"
        "'device':{'alignment_bytes':4},'tensors':["
        "{'name':'y','bytes':8,'kind':'activation'},"
        "{'name':'z','bytes':6,'kind':'activation'}],'ops':["
        "{'name':'g','kind':'k','inputs':[],'outputs':[0,1],'time_ns':1,"
        "'workspace_bytes':5,'rewrites':false}],'keep':[0,1]}";
    static const char sizes[] =
        "'budget_bytes':40,'addressed':true,'arena_bytes':40,'host_bytes':0";
#define AGAIN(at)                                                                          \
    "{'run':0,'at':[0,8],'workspace_at':16},{'free':0},"                                   \
    "{'run':0,'at':[0,null],'workspace_at':" at "}"
    plan_of_walks_as(net, sizes, AGAIN("16"),
                     "run g -> 0@0 1@8 w5@16\n"
                     "free y 0 -1 8\n"
                     "run g -> 0@0 1@24 w5@16 again\n");
    plan_of_is_refused(net, sizes, AGAIN("28"),
                       "plan: steps[2] \"g\": an address beyond the end of its memory");
    plan_of_walks_as(net, sizes,
                     "{'run':0,'at':[0,8],'workspace_at':16},"
                     "{'run':0,'at':[null,null],'workspace_at':16}",
                     "run g -> 0@0 1@8 w5@16\n"
                     "run g -> 0@24 1@32 w5@16 again\n");
}

static void only_kept_tensors_have_a_last_address(void) {
    static const char net[] =
        "{'format':'remat-graph','version':1,'name':'two','time_source':'imported:test',"
        "'device':{'alignment_bytes':4},'tensors':["
        "{'name':'y','bytes':8,'kind':'activation'},"
        "{'name':'z','bytes':8,'kind':'activation'}],'ops':["
        "{'name':'g','kind':'k','inputs':[],'outputs':[0,1],'time_ns':1}],'keep':[1]}";
    struct remat_error error;
    remat *r = load_plan_of(
        net, "'budget_bytes':16,'addressed':true,'arena_bytes':16,'host_bytes':0",
        "{'run':0,'at':[0,8]}", &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(r);
    CU_ASSERT_EQUAL(remat_tensor(r, 0)->last, REMAT_NOWHERE);
    CU_ASSERT_EQUAL(remat_tensor(r, 1)->last, 8);
    remat_close(r);
}

static void sources_on_the_host_are_reported(void) {
    struct remat_error error;
    remat *r = load_plan_of(rp_state, ROOM(S_AND_T_HOMES),
                            RUN_F "," RUN_G "," RUN_U "," RUN_H "," T_IN_AND_OUT, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(r);
    CU_ASSERT_EQUAL(remat_totals(r)->fixed_bytes, 8);
    CU_ASSERT_FALSE(remat_tensor(r, 0)->on_host);
    CU_ASSERT_EQUAL(remat_tensor(r, 0)->host_at, REMAT_NOWHERE);
    CU_ASSERT_TRUE(remat_tensor(r, 2)->on_host);
    CU_ASSERT_TRUE(remat_tensor(r, 2)->source);
    CU_ASSERT_EQUAL(remat_tensor(r, 2)->host_at, 8);
    remat_close(r);
}

static int stop_at_c(void *user, const struct remat_step *s) {
    ++*(int *)user;
    return s->name[0] == 'c' ? -7 : 0;
}

static void a_callback_that_fails_ends_the_walk(void) {
    static const struct remat_calls calls = {.run = stop_at_c};
    struct remat_error error;
    int runs = 0;
    remat *r = load_net(SIZES, ALL, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(r);
    CU_ASSERT_EQUAL(remat_walk(r, &calls, &runs), -7);
    CU_ASSERT_EQUAL(runs, 3);
    remat_close(r);
}

static void totals_tensors_and_ops_are_reported(void) {
    struct remat_error error;
    remat *r = load_net(SIZES, ALL, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(r);
    const struct remat_totals *t = remat_totals(r);
    CU_ASSERT_STRING_EQUAL(t->graph_name, "net");
    CU_ASSERT_TRUE(t->addressed);
    CU_ASSERT_EQUAL(t->budget_bytes, 36);
    CU_ASSERT_EQUAL(t->arena_bytes, 28);
    CU_ASSERT_EQUAL(t->host_bytes, 16);
    CU_ASSERT_EQUAL(t->fixed_bytes, 8);
    CU_ASSERT_EQUAL(t->alignment_bytes, 4);
    CU_ASSERT_EQUAL(t->n_steps, 5);
    CU_ASSERT_EQUAL(t->n_ops, 4);
    CU_ASSERT_EQUAL(t->n_tensors, 6);
    CU_ASSERT_EQUAL_FATAL(t->n_keep, 2);
    CU_ASSERT_EQUAL(remat_keep(r)[0], 5);
    CU_ASSERT_EQUAL(remat_tensor(r, 5)->last, 8);
    CU_ASSERT_TRUE(remat_tensor(r, 5)->kept);
    CU_ASSERT_TRUE(remat_tensor(r, 0)->source);
    CU_ASSERT_EQUAL(remat_tensor(r, 0)->last, REMAT_NOWHERE);
    CU_ASSERT_FALSE(remat_tensor(r, 1)->source);
    CU_ASSERT_STRING_EQUAL(remat_op(r, 2)->name, "c");
    CU_ASSERT_EQUAL(remat_op(r, 2)->time_ns, 30);
    CU_ASSERT_PTR_NULL(remat_op(r, 4));
    CU_ASSERT_PTR_NULL(remat_tensor(r, 6));
    CU_ASSERT_PTR_NULL(remat_step(r, 5));
    remat_close(r);
    remat_close(NULL);
}

/* The library walks every plan that verify accepts. */
static void random_valid_plans_are_walked(void) {
    uint32_t n = 150;
    for (uint64_t seed = rp_gen_seed(1, &n); n > 0; n--, seed++) {
        struct rp_gen_shape shape = rp_gen_small(20);
        struct rp_graph g;
        shape.version_2 = seed % 2 == 0;
        rp_gen_graph(seed, &shape, &g);
        for (int addressed = 0; addressed < 2; addressed++) {
            struct rp_plan p;
            struct remat_error error;
            rp_gen_plan(seed, &g, addressed, &p);
            remat *r = load_world(&g, &p, &error);
            CU_ASSERT_PTR_NOT_NULL(r);
            if (r == NULL) {
                rp_gen_failed(seed);
                printf("%s\n", error.text);
            }
            remat_close(r);
            rp_plan_fini(&p);
        }
        rp_graph_fini(&g);
    }
}

/* ---- what cannot be walked ---- */

static void refused(const char *sizes, const char *steps, const char *why) {
    plan_of_is_refused(rp_net, sizes, steps, why);
}

static void wrong_steps_are_refused(void) {
    refused(SIZES, B, "plan: steps[0]: tensor 1 \"x\" is read, but not on the device");
    refused(SIZES, A ",{'free':1}," B,
            "plan: steps[2]: tensor 1 \"x\" is read, but not on the device");
    refused(SIZES, A ",{'free':1},{'free':1}",
            "plan: steps[2] \"x\": is freed, but not on the device");
    refused(SIZES, "{'free':0}",
            "plan: steps[0] \"w\": is a source, which stays where it is");
    refused(SIZES, "{'swap_out':1,'host_at':0}",
            "plan: steps[0] \"x\": is swapped out, but not on the device");
    refused(SIZES, A ",{'swap_out':1,'host_at':0},{'swap_out':1,'host_at':8}",
            "plan: steps[2] \"x\": is swapped out a second time");
    refused(SIZES, A ",{'free':1},{'swap_in':1,'at':0}",
            "plan: steps[2] \"x\": is swapped in, but has no host copy");
    refused(SIZES, A ",{'swap_out':1,'host_at':0},{'swap_in':1,'at':0}",
            "plan: steps[2] \"x\": is swapped in, but on the device already");
    refused(SIZES, A "," B "," C "," FREE_Y, "plan: steps: op 3 \"d\" never runs");
    refused(SIZES, ALL ",{'free':5}",
            "plan: steps: tensor 5 \"v\" is to be kept, but not there at the end");
    refused(SIZES, A "," B "," C ",{'run':2,'at':[null]}," FREE_Y "," D,
            "plan: steps[3] \"c\": runs again, though its recompute is false");
    refused(SIZES, "{'run':4}",
            "plan: steps[0]: run: is not an index into the graph's array");
    refused(SIZES, "{'free':6}",
            "plan: steps[0]: free: is not an index into the graph's array");
}

static void wrong_addresses_are_refused(void) {
    refused(SIZES, "{'run':0,'at':[]}", "plan: steps[0] \"a\": not one address an output");
    refused(SIZES, "{'run':0,'at':[0,8]}",
            "plan: steps[0] \"a\": not one address an output");
    refused(SIZES, "{'run':0}", "plan: steps[0] \"a\": not one address an output");
    refused(SIZES, "{'run':0,'at':[null]}", "plan: steps[0] \"a\": an address is missing");
    refused(
        SIZES, A ",{'run':0,'at':[8]}",
        "plan: steps[1]: tensor 1 \"x\" has a new address, but is on the device already");
    refused(SIZES, "{'run':0,'at':[2]}",
            "plan: steps[0] \"a\": an address off the alignment");
    refused(SIZES, "{'run':0,'at':[24]}",
            "plan: steps[0] \"a\": an address beyond the end of its memory");
    refused(SIZES, "{'run':0,'at':[9223372036854775804]}",
            "plan: steps[0] \"a\": an address beyond the end of its memory");
    refused(SIZES, A ",{'run':1,'at':[8,16]}",
            "plan: steps[1] \"b\": an address is missing");
    refused(SIZES, A ",{'run':1,'at':[8,16],'workspace_at':24}",
            "plan: steps[1] \"b\": an address beyond the end of its memory");
    refused(SIZES, "{'run':0,'at':[0],'workspace_at':8}",
            "plan: steps[0] \"a\": a workspace the op has not");
    refused(SIZES, A ",{'swap_out':1}", "plan: steps[1] \"x\": an address is missing");
    refused(SIZES, A ",{'swap_out':1,'host_at':12}",
            "plan: steps[1] \"x\": an address beyond the end of its memory");
    refused(SIZES, A ",{'swap_out':1,'host_at':0},{'free':1},{'swap_in':1}",
            "plan: steps[3] \"x\": an address is missing");
    refused(SUM, "{'run':0,'at':[0]}", "plan: steps[0] \"a\": not one address an output");
    refused(SUM, "{'run':0},{'swap_out':1,'host_at':0}",
            "plan: steps[1] \"x\": an address, in a plan without");
}

static void refused_state(const char *sizes, const char *steps, const char *why) {
    plan_of_is_refused(rp_state, sizes, steps, why);
}

static void wrong_versions_of_sources_are_refused(void) {
#define FG RUN_F "," RUN_G ","
    refused_state(ROOM(T_HOME), FG RUN_H,
                  "plan: steps[2]: tensor 0 \"w\" is read before an update that must come "
                  "first");
    refused_state(ROOM(T_HOME), FG RUN_U ",{'run':0,'at':[null]}",
                  "plan: steps[3]: tensor 0 \"w\" is read after an update that must come "
                  "later");
    refused_state(ROOM(T_HOME), FG RUN_U "," RUN_U,
                  "plan: steps[3] \"u\": runs again, though it updates tensors");
    refused_state(ROOM(T_HOME), "{'run':4}",
                  "plan: steps[0]: tensor 1 \"t\" is read, but not on the device");
    refused_state(ROOM(T_HOME), "{'swap_in':1,'at':28},{'run':4},{'free':1}",
                  "plan: steps[2] \"t\": is freed, though its host copy is out of date");
    refused_state(ROOM(T_HOME), "{'swap_in':1,'at':28},{'swap_out':1,'host_at':0}",
                  "plan: steps[1] \"t\": is swapped out, but its host copy is up to date");
    refused_state(ROOM(T_HOME),
                  "{'swap_in':1,'at':28},{'run':4},{'swap_out':1,'host_at':8}",
                  "plan: steps[2] \"t\": is swapped out to another place than its home");
    refused_state(ROOM(T_HOME), FG RUN_U "," RUN_H ",{'swap_in':1,'at':28},{'run':4}",
                  "plan: steps: the host copy of tensor 1 \"t\" is out of date at the end");
#undef FG
}

static void wrong_homes_are_refused(void) {
    refused_state(
        ROOM("[]"), "",
        "plan: homes: tensor 1 \"t\" has its home on the host, but is not listed");
    refused_state(ROOM("[{'tensor':9,'host_at':0}]"), "",
                  "plan: homes[0]: tensor: is not an index into the graph's array");
    refused_state(ROOM("[{'tensor':0,'host_at':0}]"), "",
                  "plan: homes[0]: tensor: is not a source whose home may be the host");
    refused_state(ROOM("[{'tensor':1,'host_at':0},{'tensor':1,'host_at':8}]"), "",
                  "plan: homes[1]: tensor: stands there twice");
    refused_state(ROOM("[{'tensor':1}]"), "",
                  "plan: homes: tensor 1 \"t\": an address is missing");
    refused_state(ROOM("[{'tensor':1,'host_at':20}]"), "",
                  "plan: homes: tensor 1 \"t\": an address beyond the end of its memory");
    refused_state(SUM_ROOM(T_HOME), "",
                  "plan: homes: tensor 1 \"t\": an address, in a plan without");
}

void suite_remat(void) {
    RP_SUITE("remat");
    RP_TEST(steps_come_in_order_with_addresses_and_waits);
    RP_TEST(a_rerun_is_marked_and_keeps_the_address_of_outputs_still_there);
    RP_TEST(a_rewrite_waits_for_the_swap_out);
    RP_TEST(plans_without_addresses_are_walked_without_addresses);
    RP_TEST(sources_on_the_host_come_in_are_updated_and_go_out);
    RP_TEST(updates_and_copies_wait_for_each_other);
    RP_TEST(outputs_that_are_left_alone_go_to_the_workspace);
    RP_TEST(only_kept_tensors_have_a_last_address);
    RP_TEST(sources_on_the_host_are_reported);
    RP_TEST(a_callback_that_fails_ends_the_walk);
    RP_TEST(totals_tensors_and_ops_are_reported);
    RP_TEST(random_valid_plans_are_walked);
    RP_TEST(wrong_steps_are_refused);
    RP_TEST(wrong_addresses_are_refused);
    RP_TEST(wrong_versions_of_sources_are_refused);
    RP_TEST(wrong_homes_are_refused);
}
