/* Tests of solve/core/temperature.h: the first and last values of temperature and price,
 * and how often a rise of the cost is accepted. */
#include "solve/core/temperature.h"

#include <math.h>
#include <stdbool.h>

#include "run.h"

static bool near(double is, double should, double share) {
    return fabs(is - should) <= share * fabs(should);
}

static void the_temperature_falls_geometrically_with_the_work(void) {
    struct rp_temperature t;
    rp_temperature_init(&t, 800, 1e-3, 1);
    rp_temperature_update(&t, 0, 1);
    CU_ASSERT(near(t.now_ns, 800, 1e-12));
    rp_temperature_update(&t, 1.0 / 3, 1);
    CU_ASSERT(near(t.now_ns, 80, 1e-12));
    rp_temperature_update(&t, 1, 1);
    CU_ASSERT(near(t.now_ns, 0.8, 1e-12));
}

static void the_price_rises_with_overflow_and_falls_without(void) {
    struct rp_temperature t;
    rp_temperature_init(&t, 1, 1e-3, 5);
    rp_temperature_update(&t, 0, 1);
    CU_ASSERT_EQUAL(t.price, 5);
    rp_temperature_update(&t, 0.5, 1);
    CU_ASSERT(near(t.price, 5 * exp(9), 1e-12));
    rp_temperature_update(&t, 0.75, 0);
    CU_ASSERT(near(t.price, 5 * exp(4.5), 1e-12));
    rp_temperature_update(&t, 1, 0);
    CU_ASSERT(near(t.price, 5, 1e-12));
}

/* P(accepted) is exp(-rise / temperature). */
static void a_rise_is_accepted_as_often_as_the_temperature_says(void) {
    struct rp_temperature t;
    uint64_t random = 1;
    uint32_t n = 200000, n_half = 0, n_twice = 0, n_none = 0;
    rp_temperature_init(&t, 100, 1e-3, 1);
    rp_temperature_update(&t, 0, 0);
    for (uint32_t k = 0; k < n; k++) {
        double max_rise = rp_temperature_max_rise(&t, &random);
        n_none += max_rise >= 0;
        n_half += max_rise >= 50;
        n_twice += max_rise >= 200;
    }
    CU_ASSERT_EQUAL(n_none, n);
    CU_ASSERT(near(n_half, n * exp(-0.5), 0.01));
    CU_ASSERT(near(n_twice, n * exp(-2), 0.03));
}

void suite_temperature(void) {
    RP_SUITE("temperature");
    RP_TEST(the_temperature_falls_geometrically_with_the_work);
    RP_TEST(the_price_rises_with_overflow_and_falls_without);
    RP_TEST(a_rise_is_accepted_as_often_as_the_temperature_says);
}
