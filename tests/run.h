/* run: the registry of unit tests. A suite is a function that registers its tests:
 *
 *     static void reading_a_freed_tensor_is_rejected(void) { ... }
 *     void suite_verify(void) {
 *         RP_SUITE("verify");
 *         RP_TEST(reading_a_freed_tensor_is_rejected);
 *     }
 *
 * A new tests/test_NAME.c adds its name to the list in suites.h. */
#ifndef RP_TESTS_RUN_H
#define RP_TESTS_RUN_H

#include <CUnit/CUnit.h>

#include "suites.h"

#define RP_SUITE(name) CU_pSuite rp_suite = CU_add_suite(name, NULL, NULL)
#define RP_TEST(function) CU_add_test(rp_suite, #function, function)

#endif
