#include <CUnit/Basic.h>
#include <stdio.h>

#include "run.h"

int main(void) {
    if (CU_initialize_registry() != CUE_SUCCESS)
        return 1;
#define X(name) suite_##name();
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
