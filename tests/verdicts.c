#include "verdicts.h"

#include <stdio.h>
#include <string.h>

#include "naive.h"
#include "run.h"
#include "verify/verifier.h"

void rp_expect_verdict(struct rp_world *w, const char *why) {
    w->err.msg[0] = '\0';
    rp_rc rc = rp_verify(&w->g, &w->p, &w->v, &w->err);
    CU_ASSERT_EQUAL(rc, why == NULL ? RP_OK : RP_NO);
    CU_ASSERT_STRING_EQUAL(w->err.msg, why == NULL ? "" : why);
    if (strcmp(w->err.msg, why == NULL ? "" : why) != 0)
        printf("said: %s\n", w->err.msg);
    CU_ASSERT_EQUAL(rp_naive_valid(&w->g, &w->p), why == NULL);
}

void rp_expect_plan_of(const char *graph, const char *sizes, const char *steps,
                       const char *why) {
    struct rp_world w;
    rp_world_open(&w, graph, sizes, steps);
    rp_expect_verdict(&w, why);
    rp_world_close(&w);
}

void rp_expect_plan(const char *sizes, const char *steps, const char *why) {
    rp_expect_plan_of(rp_net, sizes, steps, why);
}
