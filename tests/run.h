/* run: the registry of unit tests. A suite is a function that registers its tests:
 *
 *     static void reading_a_freed_tensor_is_rejected(void) { ... }
 *     void suite_verifier(void) {
 *         RP_SUITE("verifier");
 *         RP_TEST(reading_a_freed_tensor_is_rejected);
 *     }
 *
 * Each tests/test_NAME.c has a function suite_NAME. The Makefile lists them.
 */
#ifndef RP_TESTS_RUN_H
#define RP_TESTS_RUN_H

#include <CUnit/CUnit.h>

#include "all_suites.h" /* made by the Makefile: RP_SUITES(X) is X(NAME) X(NAME) ... */

#define X(name) void suite_##name(void);
RP_SUITES(X)
#undef X

#define RP_SUITE(name) CU_pSuite rp_suite = CU_add_suite(name, NULL, NULL)
#define RP_TEST(function) CU_add_test(rp_suite, #function, function)

#endif
