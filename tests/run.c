#include <CUnit/Basic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "run.h"

static int n_names;
static char **names;

/* Whether a test is to run. Names are SUITE or SUITE/TEST; without any all tests run. */
static bool wanted(const char *suite, const char *test) {
    size_t n = strlen(suite);
    for (int i = 0; i < n_names; i++)
        if (strncmp(suite, names[i], n) == 0 &&
            (names[i][n] == '\0' ||
             (names[i][n] == '/' && strcmp(names[i] + n + 1, test) == 0)))
            return true;
    return n_names == 0;
}

/* Leaves out the tests that are not to run. */
static void choose_tests(void) {
    CU_set_fail_on_inactive(CU_FALSE);
    for (CU_pSuite s = CU_get_registry()->pSuite; s != NULL; s = s->pNext)
        for (CU_pTest t = s->pTest; t != NULL; t = t->pNext)
            CU_set_test_active(t, wanted(s->pName, t->pName));
}

static void list_tests(void) {
    for (CU_pSuite s = CU_get_registry()->pSuite; s != NULL; s = s->pNext)
        for (CU_pTest t = s->pTest; t != NULL; t = t->pNext)
            printf("%s/%s\n", s->pName, t->pName);
}

/* unit [SUITE | SUITE/TEST]...: runs tests. unit --list: prints their names. */
int main(int argc, char **argv) {
    bool list = argc == 2 && strcmp(argv[1], "--list") == 0;
    if (!list) {
        n_names = argc - 1;
        names = argv + 1;
    }
    if (CU_initialize_registry() != CUE_SUCCESS)
        return 1;
#define X(name) suite_##name();
    RP_SUITES(X)
#undef X
    if (list) {
        list_tests();
        CU_cleanup_registry();
        return 0;
    }
    choose_tests();
    CU_basic_set_mode(CU_BRM_SILENT);
    CU_basic_run_tests();
    unsigned ran = CU_get_number_of_tests_run(), failed = CU_get_number_of_tests_failed();
    for (const CU_FailureRecord *f = CU_get_failure_list(); f != NULL; f = f->pNext)
        printf("FAILED %s: %s:%u: %s\n", f->pTest ? f->pTest->pName : "?", f->strFileName,
               f->uiLineNumber, f->strCondition);
    CU_cleanup_registry();
    printf("unit: %u passed, %u failed\n", ran - failed, failed);
    return ran == 0 || failed != 0;
}
