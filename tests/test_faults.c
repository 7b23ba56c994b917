/* Which check sees which fault, for plans with one fault each. The table is docs/faults.md.
 * With RP_ACCEPT=1 in the environment the test rewrites it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "emit/ref_replay.h"
#include "fixture.h"
#include "run.h"
#include "verify/hash_replay.h"
#include "verify/races.h"
#include "verify/task_graph.h"

/* w -a-> x -b-> y -c-> z, z,x -d-> u, u,y -e-> v. Every tensor has sixteen floats. Only c
 * may not run twice. */
#define T(name, kind)                                                                      \
    "{'name':'" name "','bytes':64,'kind':'" kind "','dtype':'f32','shape':[16]}"
#define OP(name, kind, inputs, output, more)                                               \
    "{'name':'" name "','kind':'" kind "','inputs':[" inputs "],'outputs':[" output        \
    "],'time_ns':1000" more "}"
/* clang-format off */
static const char net[] =
    "{'format':'remat-graph','version':1,'name':'faults','time_source':'imported:test',"
    "'device':{'alignment_bytes':64,'h2d_bytes_per_s':1000000000,"
    "'d2h_bytes_per_s':1000000000,'copy_latency_ns':10},'tensors':["
    T("w", "parameter") ","
    T("x", "activation") ","
    T("y", "activation") ","
    T("z", "activation") ","
    T("u", "activation") ","
    T("v", "gradient") "],'ops':["
    OP("a", "tanh", "0", "1", "") ","
    OP("b", "gelu", "1", "2", ",'workspace_bytes':64") ","
    OP("c", "silu", "2", "3", ",'recompute':false") ","
    OP("d", "mul", "3,1", "4", "") ","
    OP("e", "mul", "4,2", "5", "") "],'keep':[5]}";
/* clang-format on */

#define FAULT_SIZES "'budget_bytes':320,'addressed':true,'arena_bytes':256,'host_bytes':64"

/* The valid plan: x is swapped out while y and z are made, and then swapped in; y is
 * recomputed. */
static const char *const good[] = {
    "{'run':0,'at':[0]}",
    "{'swap_out':1,'host_at':0}",
    "{'run':1,'at':[64],'workspace_at':128}",
    "{'free':1}",
    "{'run':2,'at':[0]}",
    "{'swap_in':1,'at':128}",
    "{'free':2}",
    "{'run':3,'at':[64]}",
    "{'free':3}",
    "{'run':1,'at':[0],'workspace_at':192}",
    "{'free':1}",
    "{'run':4,'at':[128]}",
    "{'free':4}",
};

/* A fault. The text of step `step` becomes `now` (NULL: the step is removed), and the step
 * moves before step `before` (-1: it stays). With `wait` >= 0, step `step` no longer waits
 * for step `wait`. Step HOMES is the list of homes. */
enum { HOMES = -2 };
struct fault {
    const char *what;
    int step;
    const char *now;
    int before, wait;
};
#define CHANGED(what, step, now)                                                           \
    { what, step, now, -1, -1 }
#define GONE(what, step)                                                                   \
    { what, step, NULL, -1, -1 }
#define MOVED(what, step, before)                                                          \
    { what, step, "", before, -1 }
#define NO_WAIT(what, step, wait)                                                          \
    { what, step, "", -1, wait }

static const struct fault faults[] = {
    MOVED("an input freed before it is read", 3, 2),
    CHANGED("freed twice", 8, "{'free':3},{'free':3}"),
    CHANGED("an output over a live tensor", 4, "{'run':2,'at':[64]}"),
    CHANGED("an output over the op's own input", 2,
            "{'run':1,'at':[0],'workspace_at':128}"),
    CHANGED("workspace over a live tensor", 2, "{'run':1,'at':[64],'workspace_at':0}"),
    CHANGED("workspace over the op's own output", 2,
            "{'run':1,'at':[64],'workspace_at':64}"),
    CHANGED("a swap-in over a live tensor", 5, "{'swap_in':1,'at':64}"),
    CHANGED("a swap-in over another live tensor", 5, "{'swap_in':1,'at':0}"),
    CHANGED("two host copies at one address", 5,
            "{'swap_out':2,'host_at':0},{'free':2},{'swap_in':1,'at':128},"
            "{'run':1,'at':[64],'workspace_at':192}"),
    CHANGED("a host address beyond the slab", 1, "{'swap_out':1,'host_at':64}"),
    CHANGED("an address beyond the arena", 4, "{'run':2,'at':[256]}"),
    CHANGED("an address missing", 4, "{'run':2,'at':[null]}"),
    CHANGED("more addresses than outputs", 4, "{'run':2,'at':[0,192]}"),
    CHANGED("a host address missing", 1, "{'swap_out':1}"),
    GONE("no swap-out before the swap-in", 1),
    GONE("no swap-in before the read", 5),
    MOVED("the swap-in before the swap-out", 5, 1),
    CHANGED("swapped in twice", 5, "{'swap_in':1,'at':128},{'swap_in':1,'at':192}"),
    CHANGED("swapped out twice", 1,
            "{'swap_out':1,'host_at':0},{'swap_out':1,'host_at':0}"),
    MOVED("an op before the one that makes its input", 4, 2),
    GONE("an op left out", 4),
    GONE("not recomputed before it is read", 9),
    GONE("the kept tensor never made", 11),
    CHANGED("the kept tensor freed at the end", 12, "{'free':4},{'free':5}"),
    CHANGED("a source freed", 12, "{'free':4},{'free':0}"),
    CHANGED("a source swapped out", 1, "{'swap_out':0,'host_at':0}"),
    CHANGED("an op number that does not exist", 7, "{'run':7,'at':[64]}"),
    CHANGED("recomputed at another address while on the device", 9,
            "{'run':1,'at':[0],'workspace_at':192},{'run':0,'at':[192]}"),
    CHANGED("an address that is not aligned", 4, "{'run':2,'at':[32]}"),
    CHANGED("a run-once op runs again", 4, "{'run':2,'at':[0]},{'run':2,'at':[null]}"),
    CHANGED("freed during its swap-in", 5,
            "{'swap_in':1,'at':128},{'free':1},{'run':0,'at':[128]}"),
    NO_WAIT("the swap-out does not wait for the op that makes its tensor", 1, 0),
    NO_WAIT("the free does not wait for the swap-out", 3, 1),
    NO_WAIT("the swap-in does not wait until its memory is free", 5, 4),
    NO_WAIT("the read does not wait for the swap-in", 7, 5),
};

/* What version 2 adds for ops: f(w) -> x, g(x) -> y and z, which is held, h(y, z) -> v, and
 * e, which is ordered as h is. g cannot rewrite z. */
static const char rules_net[] =
    "{'format':'remat-graph','version':2,'name':'rules','time_source':'imported:test',"
    "'device':{'alignment_bytes':64},'tensors':["
    "{'name':'w','bytes':64,'kind':'parameter'},"
    "{'name':'x','bytes':64,'kind':'activation'},"
    "{'name':'y','bytes':64,'kind':'activation'},"
    "{'name':'z','bytes':64,'kind':'activation','held':true},"
    "{'name':'v','bytes':64,'kind':'gradient'}],'ops':["
    "{'name':'f','kind':'k','inputs':[0],'outputs':[1],'time_ns':1000},"
    "{'name':'g','kind':'k','inputs':[1],'outputs':[2,3],'time_ns':1000,'rewrites':false},"
    "{'name':'h','kind':'k','inputs':[2,3],'outputs':[4],'time_ns':1000,'ordered':true},"
    "{'name':'e','kind':'k','inputs':[1],'outputs':[],'time_ns':1000,'recompute':false,"
    "'ordered':true}],'keep':[4]}";

static const char *const rules_good[] = {
    "{'run':0,'at':[0]}",   "{'run':1,'at':[64,128]}",
    "{'free':2}",           "{'run':1,'at':[64,null],'workspace_at':192}",
    "{'run':2,'at':[192]}", "{'run':3,'at':[]}",
};

static const struct fault rules_faults[] = {
    CHANGED("a held tensor freed", 5, "{'free':3},{'run':3,'at':[]}"),
    MOVED("ordered ops swapped", 5, 3),
    CHANGED("no workspace for an output that is left alone", 3, "{'run':1,'at':[64,null]}"),
    CHANGED("that workspace over the output", 3,
            "{'run':1,'at':[64,null],'workspace_at':128}"),
};

/* s lives on the host: f(s) -> x, and then u and r update it, each in its own way. */
static const char homes_net[] =
    "{'format':'remat-graph','version':2,'name':'homes','time_source':'imported:test',"
    "'device':{'alignment_bytes':64,'h2d_bytes_per_s':1000000000,"
    "'d2h_bytes_per_s':1000000000},'tensors':["
    "{'name':'s','bytes':64,'kind':'parameter','home':'host','dtype':'f32','shape':[16]},"
    "{'name':'x','bytes':64,'kind':'activation','dtype':'f32','shape':[16]}],'ops':["
    "{'name':'f','kind':'tanh','inputs':[0],'outputs':[1],'time_ns':1000},"
    "{'name':'u','kind':'sgd','inputs':[1],'outputs':[],'updates':[0],'time_ns':1000,"
    "'attrs':{'lr':0.5,'weight_decay':0}},"
    "{'name':'r','kind':'sgd','inputs':[1],'outputs':[],'updates':[0],'time_ns':1000,"
    "'attrs':{'lr':0.5,'weight_decay':0.5}}],"
    "'keep':[1]}";
#define HOMES_SIZES "'budget_bytes':320,'addressed':true,'arena_bytes':128,'host_bytes':128"

static const char *const homes_good[] = {
    "{'swap_in':0,'at':0}",       "{'run':0,'at':[64]}", "{'run':1}",
    "{'swap_out':0,'host_at':0}", "{'run':2}",           "{'swap_out':0,'host_at':0}",
};

static const struct fault homes_faults[] = {
    CHANGED("an op runs again after an update of what it reads", 5,
            "{'run':0,'at':[null]},{'swap_out':0,'host_at':0}"),
    MOVED("an op before the update of what it reads", 4, 2),
    CHANGED("an op with updates runs again", 2, "{'run':1,'at':[]},{'run':1,'at':[]}"),
    CHANGED("the home missing", HOMES, ""),
    CHANGED("the home twice", HOMES, "{'tensor':0,'host_at':0},{'tensor':0,'host_at':64}"),
    CHANGED("the home of another tensor", HOMES,
            "{'tensor':0,'host_at':0},{'tensor':1,'host_at':64}"),
    GONE("a source read on the host", 0),
    GONE("the host copy out of date at the end", 5),
    CHANGED("freed while the host copy is out of date", 5,
            "{'free':0},{'swap_in':0,'at':0},{'swap_out':0,'host_at':0}"),
    CHANGED("swapped out while the host copy is up to date", 1,
            "{'run':0,'at':[64]},{'swap_out':0,'host_at':0}"),
    CHANGED("swapped out to another place than home", 5, "{'swap_out':0,'host_at':64}"),
    NO_WAIT("the read does not wait until the source has come in", 1, 0),
    NO_WAIT("the swap-out does not wait for the update", 3, 2),
    NO_WAIT("the update does not wait for the swap-out", 4, 3),
};

/* A network, its plan, and the faults in it. */
struct part {
    const char *graph, *sizes, *homes;
    const char *const *steps;
    int n_steps;
    const struct fault *faults;
    int n_faults;
    bool kernels; /* the ops have reference kernels */
};
#define COUNT(a) (int)(sizeof(a) / sizeof(a)[0])

static const struct part parts[] = {
    {net, FAULT_SIZES, NULL, good, COUNT(good), faults, COUNT(faults), true},
    {rules_net, FAULT_SIZES, NULL, rules_good, COUNT(rules_good), rules_faults,
     COUNT(rules_faults), false},
    {homes_net, HOMES_SIZES, "{'tensor':0,'host_at':0}", homes_good, COUNT(homes_good),
     homes_faults, COUNT(homes_faults), true},
};

/* ---- the plan with a fault ---- */

static void put_step(FILE *f, const struct part *part, const struct fault *fault, int step,
                     bool *first) {
    const char *text = part->steps[step];
    if (step == fault->step && fault->now == NULL)
        return;
    if (step == fault->step && fault->now[0] != '\0')
        text = fault->now;
    fprintf(f, "%s%s", *first ? "" : ",", text);
    *first = false;
}

static char *steps_with(const struct part *part, const struct fault *fault) {
    char *text;
    size_t len;
    bool first = true;
    FILE *f = rp_text_open(&text, &len);
    for (int k = 0; k < part->n_steps; k++) {
        if (k == fault->before)
            put_step(f, part, fault, fault->step, &first);
        if (k != fault->step || fault->before < 0)
            put_step(f, part, fault, k, &first);
    }
    rp_text_close(f);
    return text;
}

/* What stands before the steps. */
static char *sizes_with(const struct part *part, const struct fault *fault) {
    if (part->homes == NULL)
        return rp_strdup(part->sizes);
    return rp_format("%s,'homes':[%s]", part->sizes,
                     fault->step == HOMES ? fault->now : part->homes);
}

struct seen {
    bool rules, waits, hash, library, ref;
    char message[1024]; /* the message of the rules, or else of the check for races */
};

/* ---- the checks ---- */

static void drop_wait(struct rp_task_graph *tg, int step, int wait) {
    struct rp_task *t = &tg->tasks.at[step];
    for (size_t k = 0; k < t->n_waits; k++)
        if (tg->waits.at[t->first_wait + k] == (size_t)wait) {
            tg->waits.at[t->first_wait + k] = tg->waits.at[t->first_wait + --t->n_waits];
            return;
        }
    CU_FAIL("there is no such wait");
}

static void drop_table_wait(struct rp_replay_tables *t, int step, int wait) {
    struct replay_step *s = &t->plan.steps.at[step];
    for (uint16_t k = 0; k < s->n_waits; k++)
        if (t->plan.waits.at[s->waits + k] == (uint32_t)wait) {
            t->plan.waits.at[s->waits + k] = t->plan.waits.at[s->waits + --s->n_waits];
            return;
        }
    CU_FAIL("there is no such wait");
}

static void check_without_numbers(const struct rp_world *w, const struct fault *fault,
                                  struct seen *seen) {
    struct rp_verdict v;
    struct rp_task_graph tg;
    struct rp_replay replay;
    struct rp_err rules = {{0}}, waits = {{0}}, hash = {{0}};
    seen->rules = rp_verify(&w->g, &w->p, &v, &rules) == RP_NO;
    rp_rc rc = rp_task_graph_build(&w->g, &w->p, &tg, &hash);
    if (rc == RP_OK && fault->wait >= 0)
        drop_wait(&tg, fault->step, fault->wait);
    if (rc == RP_OK) {
        seen->waits = rp_check_races(&w->g, &tg, &waits) == RP_NO;
        rc = rp_hash_replay(&w->g, &tg, &replay, &hash);
    }
    seen->hash = rc == RP_NO;
    rp_task_graph_fini(&tg);
    snprintf(seen->message, sizeof seen->message, "%s",
             seen->rules   ? rules.msg
             : seen->waits ? waits.msg
                           : "");
}

static void check_with_libremat(const struct rp_world *w, const struct fault *fault,
                                bool kernels, struct seen *seen) {
    struct remat_error error;
    struct rp_replay_tables t;
    struct rp_ref_replay replay;
    struct rp_err err = {{0}};
    char *graph, *plan;
    size_t graph_len, plan_len;
    rp_graph_dump(&w->g, &graph, &graph_len);
    rp_plan_dump(&w->p, &plan, &plan_len);
    remat *r = remat_parse(graph, graph_len, plan, plan_len, &error);
    seen->library = r == NULL;
    if (r != NULL && kernels) {
        CU_ASSERT_EQUAL_FATAL(rp_replay_tables_build(&w->g, r, "g", 0, 0, &t, &err), RP_OK);
        if (fault->wait >= 0)
            drop_table_wait(&t, fault->step, fault->wait);
        seen->ref = rp_ref_replay(&t, 0, true, &replay, &err) == RP_NO;
        rp_replay_tables_fini(&t);
    }
    remat_close(r);
    free(graph);
    free(plan);
}

static struct seen run_checks(const struct part *part, const struct fault *fault) {
    struct rp_world w;
    struct seen seen = {0};
    char *steps = steps_with(part, fault), *sizes = sizes_with(part, fault), *graph;
    size_t len;
    rp_world_open(&w, part->graph, sizes, steps);
    rp_graph_dump(&w.g, &graph, &len);
    rp_sha256_hex(graph, len, w.g.sha256);
    strcpy(w.p.graph_sha256, w.g.sha256);
    check_without_numbers(&w, fault, &seen);
    check_with_libremat(&w, fault, part->kernels, &seen);
    free(graph);
    free(sizes);
    free(steps);
    rp_world_close(&w);
    return seen;
}

/* ---- the table ---- */

static const char head[] =
    "# Which check sees which fault\n\n"
    "Each row is a plan of a small network with one fault. Where something \"does not "
    "wait\", the plan is right, but one wait is missing. The rows from \"a held tensor "
    "freed\" on are about what version 2 of the files adds. "
    "`tests/test_faults.c` "
    "makes this table, and `make check` compares it.\n\n"
    "- **rules**: `verify` checks step by step (`src/verify/check_steps.c`).\n"
    "- **waits**: `verify` checks that the waits between the queues allow no wrong order "
    "(`src/verify/races.c`).\n"
    "- **hash**: `verify --replay hash` executes the plan with digests as data.\n"
    "- **library**: libremat refuses to walk the plan.\n"
    "- **ref**: `verify --replay ref` executes the plan with real numbers, after libremat "
    "has accepted it, and compares every bit.\n\n"
    "The last column of the first four of these is empty: their ops have no kernels.\n\n"
    "| fault | rules | waits | hash | library | ref | message |\n"
    "|---|---|---|---|---|---|---|\n";

static const char *mark(bool seen) {
    return seen ? "seen" : "–";
}

/* The rows of a part. Returns how many faults a replay sees, and a check without one. */
static unsigned print_rows(const struct part *part, FILE *f) {
    unsigned both = 0;
    for (int k = 0; k < part->n_faults; k++) {
        const struct seen seen = run_checks(part, &part->faults[k]);
        const bool is_static = seen.rules || seen.waits;
        both += is_static && (seen.hash || seen.ref);
        CU_ASSERT_TRUE(is_static);
        fprintf(f, "| %s | %s | %s | %s | %s | %s | %s |\n", part->faults[k].what,
                mark(seen.rules), mark(seen.waits), mark(seen.hash), mark(seen.library),
                part->kernels && !seen.library ? mark(seen.ref) : "", seen.message);
    }
    return both;
}

static void the_checks_see_each_fault_as_the_table_says(void) {
    char *text, *expected = NULL;
    size_t len, expected_len;
    struct rp_err err = {{0}};
    unsigned both = 0;
    int n = 0;
    FILE *f = rp_text_open(&text, &len);
    fputs(head, f);
    for (int k = 0; k < COUNT(parts); k++) {
        both += print_rows(&parts[k], f);
        n += parts[k].n_faults;
    }
    fprintf(f, "\nOf %d faults, %u are seen both by a replay and without one.\n", n, both);
    rp_text_close(f);
    CU_ASSERT_TRUE(both >= 20);
    if (getenv("RP_ACCEPT") != NULL)
        CU_ASSERT_EQUAL(rp_write_file("docs/faults.md", text, len, &err), RP_OK);
    CU_ASSERT_EQUAL_FATAL(rp_read_file("docs/faults.md", &expected, &expected_len, &err),
                          RP_OK);
    CU_ASSERT_STRING_EQUAL(text, expected);
    free(expected);
    free(text);
}

static void the_plans_without_a_fault_are_accepted(void) {
    static const struct fault none = {"", -1, "", -1, -1};
    for (int k = 0; k < COUNT(parts); k++) {
        const struct seen seen = run_checks(&parts[k], &none);
        CU_ASSERT_FALSE(seen.rules || seen.waits || seen.hash || seen.library || seen.ref);
        CU_ASSERT_STRING_EQUAL(seen.message, "");
    }
}

void suite_faults(void) {
    RP_SUITE("faults");
    RP_TEST(the_plans_without_a_fault_are_accepted);
    RP_TEST(the_checks_see_each_fault_as_the_table_says);
}
