/* Tests of the reports of verify that no command-line case can have. */
#include "cmd/verify_report.h"

#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "run.h"

/* What a GPU found is part of both reports as it is. */
static void the_report_of_a_gpu_is_taken_over(void) {
    char cuda[] = "{\"steps\":2}";
    struct rp_verify_report r = {
        .graph_path = "g.json", .plan_path = "p.json", .replay = RP_REPLAY_CUDA};
    struct rp_err err;
    CU_ASSERT_EQUAL_FATAL(rp_pair_load("tests/data/verify/net.json",
                                       "tests/data/verify/keep.json", &r.pair, &err),
                          RP_OK);
    CU_ASSERT_EQUAL_FATAL(rp_verify(&r.pair.g, &r.pair.p, &r.verdict, &err), RP_OK);
    r.cuda = cuda;
    for (int json = 0; json <= 1; json++) {
        char *text;
        size_t len;
        FILE *f = rp_text_open(&text, &len);
        rp_verify_report_valid(&r, json, f);
        rp_text_close(f);
        CU_ASSERT_PTR_NOT_NULL(strstr(text, json ? ",\"cuda\":{\"steps\":2}}\n"
                                                 : "\ncuda      {\"steps\":2}\n"));
        free(text);
    }
    rp_pair_fini(&r.pair);
}

void suite_verify_report(void) {
    RP_SUITE("verify_report");
    RP_TEST(the_report_of_a_gpu_is_taken_over);
}
