/* Plans whose sums of times or bytes would pass 63 bits. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "fixture.h"
#include "naive.h"
#include "run.h"
#include "solve/solver.h"
#include "verdicts.h"
#include "verify/queue_clocks.h"
#include "verify/verifier.h"

#define BIG "4611686018427387904" /* 2^62 */
#define HUGE_ROOM "'budget_bytes':9223372036854775807,'addressed':false,"
static const char slow[] =
    "{'format':'remat-graph','version':1,'name':'s','time_source':'none',"
    "'device':{'h2d_bytes_per_s':LINK,'d2h_bytes_per_s':LINK,'copy_latency_ns':LATE},"
    "'tensors':[{'name':'p','bytes':BIG,'kind':'activation'},"
    "{'name':'q','bytes':0,'kind':'activation'}],"
    "'ops':[{'name':'f','kind':'k','inputs':[],'outputs':[0],'time_ns':BIG},"
    "{'name':'g','kind':'k','inputs':[0],'outputs':[1],'time_ns':0}],'keep':[]}";

/* The graph `slow` with its placeholders replaced by numbers. */
static char *slow_graph(const char *link, const char *late) {
    const char *word[] = {"LINK", "LATE", "BIG"}, *figure[] = {link, late, BIG};
    char *text = rp_strdup(slow);
    for (int k = 0; k < 3; k++)
        for (char *at; (at = strstr(text, word[k])) != NULL;) {
            char *fresh = rp_format("%.*s%s%s", (int)(at - text), text, figure[k],
                                    at + strlen(word[k]));
            free(text);
            text = fresh;
        }
    return text;
}

static void times_beyond_63_bits_are_rejected(void) {
#define S HUGE_ROOM "'arena_bytes':" BIG ",'host_bytes':0"
    char *g = slow_graph("9223372036854775807", "0");
    rp_expect_plan_of(g, S, "{'run':0},{'run':1}", NULL);
    rp_expect_plan_of(g, S, "{'run':0},{'run':0}",
                      "steps[1]: op 0 \"f\" ends after 2^63-1 ns");
    free(g);
    g = slow_graph("1", "0"); /* a copy that alone takes too long */
    rp_expect_plan_of(g, S, "{'run':0},{'swap_out':0}",
                      "steps[1]: the swap-out of tensor 0 \"p\" ends after 2^63-1 ns");
    free(g);
    g = slow_graph("1000000000", "0"); /* a copy that ends too late */
    rp_expect_plan_of(g, S, "{'run':0},{'swap_out':0}",
                      "steps[1]: the swap-out of tensor 0 \"p\" ends after 2^63-1 ns");
    free(g);
    g = slow_graph("9223372036854775807", "9223372036854775807");
    rp_expect_plan_of(g, S, "{'run':0},{'swap_out':0}",
                      "steps[1]: the swap-out of tensor 0 \"p\" ends after 2^63-1 ns");
    free(g);
    g = slow_graph("9223372036854775807", "4600000000000000000");
    rp_expect_plan_of(g, S, "{'run':0},{'swap_out':0},{'run':1}", NULL);
    rp_expect_plan_of(g, S, "{'run':0},{'swap_out':0},{'free':0},{'swap_in':0}",
                      "steps[3]: the swap-in of tensor 0 \"p\" ends after 2^63-1 ns");
    free(g);
}

static void a_copy_may_take_2_63_less_1_ns_and_no_more(void) {
    uint64_t ns;
    CU_ASSERT(rp_queue_clocks_copy_ns(0, RP_MAX_QUANTITY, 1000000000, &ns));
    CU_ASSERT_EQUAL(ns, RP_MAX_QUANTITY);
    CU_ASSERT(!rp_queue_clocks_copy_ns(1, RP_MAX_QUANTITY, 1000000000, &ns));
    CU_ASSERT(!rp_queue_clocks_copy_ns(0, RP_MAX_QUANTITY, 999999999, &ns));
}

static void bytes_swapped_in_beyond_63_bits_are_rejected(void) {
    char *g = slow_graph("9223372036854775807", "0");
    rp_expect_plan_of(g, S, "{'run':0},{'swap_out':0},{'free':0},{'swap_in':0},{'run':1}",
                      NULL);
    rp_expect_plan_of(
        g, S,
        "{'run':0},{'swap_out':0},{'free':0},{'swap_in':0},{'run':1},{'free':0},"
        "{'swap_in':0}",
        "steps[6]: the sum of bytes swapped in passes 2^63-1");
    free(g);
}

/* Each of two ops updates the source, and its host copy of 2^62 bytes is written anew. */
static void bytes_swapped_out_beyond_63_bits_are_rejected(void) {
#define UPDATE(name)                                                                       \
    "{'name':'" name "','kind':'k','inputs':[],'outputs':[],'updates':[0],'time_ns':0}"
    static const char updated[] =
        "{'format':'remat-graph','version':2,'name':'s','time_source':'none','device':"
        "{'h2d_bytes_per_s':9223372036854775807,'d2h_bytes_per_s':9223372036854775807},"
        "'tensors':[{'name':'p','bytes':" BIG ",'kind':'state','home':'host'}],"
        "'ops':[" UPDATE("f") "," UPDATE("g") "],'keep':[]}";
    rp_expect_plan_of(updated,
                      HUGE_ROOM "'arena_bytes':" BIG ",'host_bytes':" BIG
                                ",'homes':[{'tensor':0}]",
                      "{'swap_in':0},{'run':0},{'swap_out':0},{'run':1},{'swap_out':0}",
                      "steps[4]: the sum of bytes swapped out passes 2^63-1");
}

void suite_verifier_sums(void) {
    RP_SUITE("verifier_sums");
    RP_TEST(times_beyond_63_bits_are_rejected);
    RP_TEST(a_copy_may_take_2_63_less_1_ns_and_no_more);
    RP_TEST(bytes_swapped_in_beyond_63_bits_are_rejected);
    RP_TEST(bytes_swapped_out_beyond_63_bits_are_rejected);
}
