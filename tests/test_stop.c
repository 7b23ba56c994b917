/* Tests of when work is told to end. */
#include "base/stop.h"

#include <math.h>

#include "run.h"

static void nothing_ends_without_a_reason(void) {
    volatile sig_atomic_t flag = 0;
    struct rp_stop stop = {&flag, INFINITY};
    CU_ASSERT_FALSE(rp_stop_now(NULL));
    CU_ASSERT_FALSE(rp_stop_after(NULL, UINT64_MAX));
    rp_stop_until(NULL, 0);
    CU_ASSERT_FALSE(rp_stop_interrupted(NULL));
    CU_ASSERT_FALSE(rp_stop_now(&stop));
    CU_ASSERT_FALSE(rp_stop_interrupted(&stop));
}

static void a_signal_and_a_deadline_end_the_work(void) {
    volatile sig_atomic_t flag = 1;
    struct rp_stop interrupted = {&flag, INFINITY}, late = {NULL, 0};
    CU_ASSERT(rp_stop_now(&interrupted) && rp_stop_interrupted(&interrupted));
    CU_ASSERT(rp_stop_now(&late) && !rp_stop_interrupted(&late));
}

static void a_yes_stays_until_there_is_another_deadline(void) {
    struct rp_stop stop = {NULL, 0};
    CU_ASSERT(rp_stop_now(&stop));
    stop.deadline = INFINITY;
    CU_ASSERT(rp_stop_now(&stop));
    CU_ASSERT(rp_stop_after(&stop, 0));
    CU_ASSERT_EQUAL(stop.questions, 1);
    rp_stop_until(&stop, INFINITY);
    CU_ASSERT_FALSE(rp_stop_now(&stop));
}

static void inner_loops_ask_once_per_period_of_work(void) {
    struct rp_stop stop = {.deadline = INFINITY};
    for (uint64_t k = 0; k < 10 * RP_STOP_WORK; k += RP_STOP_WORK / 16)
        CU_ASSERT_FALSE(rp_stop_after(&stop, RP_STOP_WORK / 16));
    CU_ASSERT_EQUAL(stop.questions, 10);
}

static void the_last_question_of_a_limit_of_work_is_answered_with_yes(void) {
    struct rp_stop stop = {.deadline = INFINITY, .max_questions = 3};
    CU_ASSERT_FALSE(rp_stop_now(&stop));
    CU_ASSERT_FALSE(rp_stop_after(&stop, RP_STOP_WORK));
    CU_ASSERT(rp_stop_after(&stop, RP_STOP_WORK));
}

void suite_stop(void) {
    RP_SUITE("stop");
    RP_TEST(nothing_ends_without_a_reason);
    RP_TEST(a_signal_and_a_deadline_end_the_work);
    RP_TEST(a_yes_stays_until_there_is_another_deadline);
    RP_TEST(inner_loops_ask_once_per_period_of_work);
    RP_TEST(the_last_question_of_a_limit_of_work_is_answered_with_yes);
}
