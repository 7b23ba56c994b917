#include <CUnit/Basic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "run.h"

/* Without names all suites run. */
static bool wanted(const char *suite, int argc, char **argv) {
    for (int i = 1; i < argc; i++)
        if (strcmp(suite, argv[i]) == 0)
            return true;
    return argc <= 1;
}

int main(int argc, char **argv) {
    if (CU_initialize_registry() != CUE_SUCCESS)
        return 1;
#define X(name)                                                                            \
    if (wanted(#name, argc, argv))                                                         \
        suite_##name();
    RP_SUITES(X)
#undef X
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
