/* Tests of how the argument of --policy is parsed. */
#include "cmd/policy_argument.h"

#include "run.h"

static void shares_are_rounded_to_millionths(void) {
    static const struct {
        const char *text;
        uint64_t millionths;
    } cases[] = {{"pytorch:budget=0", 0},
                 {"pytorch:budget=0.25", 250000},
                 {"pytorch:budget=.3333333", 333333},
                 {"pytorch:budget=0.9999996", 1000000},
                 {"pytorch:budget=1", 1000000}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rp_policy_options o;
        const struct rp_policy *policy;
        struct rp_err err;
        rp_policy_options_init(&o);
        CU_ASSERT_EQUAL(rp_parse_policy("test", cases[i].text, &o, &policy, &err), RP_OK);
        CU_ASSERT_PTR_EQUAL(policy, rp_policy_find("pytorch"));
        CU_ASSERT_EQUAL(o.pytorch_millionths, cases[i].millionths);
    }
}

static void without_a_text_there_is_no_policy(void) {
    struct rp_policy_options o;
    const struct rp_policy *policy = rp_policies[0];
    struct rp_err err;
    CU_ASSERT_EQUAL(rp_parse_policy("test", NULL, &o, &policy, &err), RP_OK);
    CU_ASSERT_PTR_NULL(policy);
}

void suite_policy_argument(void) {
    RP_SUITE("policy_argument");
    RP_TEST(shares_are_rounded_to_millionths);
    RP_TEST(without_a_text_there_is_no_policy);
}
