/* Tests of what is suggested in place of names and quantities that are not accepted. */
#include "cmd/nearest.h"

#include <string.h>

#include "cmd/unit_hint.h"
#include "run.h"

/* Checks that of the names "a b c", those in `expected` are suggested for `text`. */
static void suggests(const char *text, const char *names, const char *expected) {
    char copy[256], found[256] = "";
    struct rp_nearest near = rp_nearest_to(text, strlen(text));
    snprintf(copy, sizeof copy, "%s", names);
    for (char *state, *name = strtok_r(copy, " ", &state); name != NULL;
         name = strtok_r(NULL, " ", &state))
        rp_nearest_try(&near, name);
    for (size_t i = 0; i < near.n; i++)
        snprintf(found + strlen(found), sizeof found - strlen(found), "%s%s",
                 i > 0 ? " " : "", near.names[i]);
    CU_ASSERT_STRING_EQUAL(found, expected);
}

static void a_name_with_a_few_wrong_letters_is_found(void) {
    suggests("sovle", "zoo solve sweep", "solve");   /* two letters swapped */
    suggests("budgt", "out budget gap", "budget");   /* one is missing */
    suggests("compair", "compare pack", "compare");  /* one is wrong, one too many */
    suggests("h300", "v100 h100 h200", "h100 h200"); /* equally near */
    suggests("tpu", "h100 titan-v", "");             /* nothing is near */
    suggests("frobnicate", "zoo solve profile", "");
    suggests("", "zoo solve", "");
    suggests("x", "y z", "");
    suggests("all", "alibaba", ""); /* short, and no beginning of it */
    suggests("list", "lstm-lm", "");
}

static void a_second_spelling_counts_for_the_same_name(void) {
    static const char *const name = "v100-16g";
    struct rp_nearest near = rp_nearest_to("V100-SXM2-16GB", 14);
    rp_nearest_try(&near, "h100");
    rp_nearest_try(&near, name);
    CU_ASSERT_EQUAL(near.n, 0);
    rp_nearest_try_as(&near, "V100 SXM2 16 GB", name);
    rp_nearest_try_as(&near, "v100sxm216gb", name);
    CU_ASSERT_EQUAL(near.n, 1);
    CU_ASSERT_STRING_EQUAL(near.names[0], name);
}

static void what_follows_the_text_does_not_count(void) {
    struct rp_nearest near = rp_nearest_to("zoo=solve", 3);
    rp_nearest_try(&near, "zoo");
    CU_ASSERT_EQUAL(near.n, 1);
    CU_ASSERT_EQUAL(near.cost, 0);
}

static void case_and_dashes_do_not_count(void) {
    suggests("ResNet-50", "resnet18 resnet50 resnet101", "resnet50");
    suggests("max_batch", "maxbatch", "maxbatch");
    suggests("mobilenet-v2", "mobilenet_v2 mobilenet_v3", "mobilenet_v2");
}

static void a_name_whose_end_is_left_out_is_nearer_than_another_name(void) {
    suggests("V100", "h100 v100-16g v100-32g", "v100-16g v100-32g");
    suggests("batchsize", "batch budget", "batch");
    suggests("a", "a100 alpha", ""); /* too short to be the beginning of anything */
    suggests("net", "net1 net2 net3 net4", "net1 net2 net3");
}

static void texts_too_long_for_a_name_are_near_to_none(void) {
    char text[5000];
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    suggests(text, "aaaa", "");
}

static void sizes_in_other_spellings_are_understood(void) {
    static const char *const cases[][2] = {
        {"2mb", "; did you mean 2MB or 2MiB?"},
        {"15Gb", "; did you mean 15GB or 15GiB?"},
        {"2 MiB", "; did you mean 2MiB?"},
        {"1,5gib", "; did you mean 1.5GiB?"},
        {"3 Gigabytes", "; did you mean 3GB or 3GiB?"},
        {"64kbs", "; did you mean 64KB or 64KiB?"},
        {"4096 bytes", "; did you mean 4096?"},
        {"50 %", "; did you mean 50%?"},
        {"=2GiB", "; did you mean 2GiB?"},
        {"0.5", "; did you mean 50%?"},
        {".5", "; did you mean 50%?"},
        {"1.0", "; did you mean 100%?"},
        {".5GiB", "; did you mean 0.5GiB?"},
        /* These are spelled as they should be, so their fault is another one. */
        {"99999999999GiB", ""},
        {"99999999999gib", ""},
        {"99999999999GB", ""},
        {"0%", ""},
        /* Nothing can be guessed. */
        {"", ""},
        {"GiB", ""},
        {"-1GiB", ""},
        {"2 apples", ""},
        {"12345678901234567890mb", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CU_ASSERT_STRING_EQUAL(rp_hint_of_size(cases[i][0], true).s, cases[i][1]);
    CU_ASSERT_STRING_EQUAL(rp_hint_of_size("80%", false).s, "; it cannot be a share");
    CU_ASSERT_STRING_EQUAL(rp_hint_of_size("0.5", false).s, "");
}

static void numbers_with_their_unit_are_converted(void) {
    CU_ASSERT_STRING_EQUAL(rp_hint_of_number("10s", "SEC").s,
                           "; did you mean 10, in seconds?");
    CU_ASSERT_STRING_EQUAL(rp_hint_of_number("1.5 h", "SEC").s,
                           "; did you mean 5400, in seconds?");
    CU_ASSERT_STRING_EQUAL(rp_hint_of_number("1%", "PERCENT").s,
                           "; did you mean 1, in percent?");
    CU_ASSERT_STRING_EQUAL(rp_hint_of_number("500MB/s", "GB/s").s,
                           "; did you mean 0.5, in GB/s?");
    CU_ASSERT_STRING_EQUAL(rp_hint_of_number("100000000000000s", "SEC").s,
                           "; did you mean 1e+14, in seconds?");
    CU_ASSERT_STRING_EQUAL(rp_hint_of_number("1000000000000000s", "SEC").s, "");
    CU_ASSERT_STRING_EQUAL(rp_hint_of_number("10s", "PERCENT").s, "");
    CU_ASSERT_STRING_EQUAL(rp_hint_of_number("10s", "N").s, "");
    CU_ASSERT_STRING_EQUAL(rp_hint_of_number("ten", "SEC").s, "");
    CU_ASSERT(rp_is_unit("MiB") && rp_is_unit("gb") && rp_is_unit("%") && rp_is_unit("s"));
    CU_ASSERT_FALSE(rp_is_unit("") || rp_is_unit("graph.json") || rp_is_unit("3"));
}

void suite_nearest(void) {
    RP_SUITE("nearest");
    RP_TEST(a_name_with_a_few_wrong_letters_is_found);
    RP_TEST(a_second_spelling_counts_for_the_same_name);
    RP_TEST(what_follows_the_text_does_not_count);
    RP_TEST(case_and_dashes_do_not_count);
    RP_TEST(a_name_whose_end_is_left_out_is_nearer_than_another_name);
    RP_TEST(texts_too_long_for_a_name_are_near_to_none);
    RP_TEST(sizes_in_other_spellings_are_understood);
    RP_TEST(numbers_with_their_unit_are_converted);
}
