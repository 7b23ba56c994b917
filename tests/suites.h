/* suites: one name a test file, suite_NAME in tests/test_NAME.c. */
#ifndef RP_TESTS_SUITES_H
#define RP_TESTS_SUITES_H

#define RP_SUITES(X) X(model) X(cost) X(pack) X(zoo) X(verify)

#define X(name) void suite_##name(void);
RP_SUITES(X)
#undef X

#endif
