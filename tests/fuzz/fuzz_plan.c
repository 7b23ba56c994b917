/* Reads any bytes as a plan. They are refused with a message; or they are accepted, and
 * writing and reading the plan again gives the same text. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "model/plan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct rp_plan p, again;
    struct rp_err err = {{0}};
    char *a, *b;
    size_t n, m;
    rp_rc rc = rp_plan_parse((const char *)data, size, "fuzz", &p, &err);
    assert((rc == RP_OK) == (err.msg[0] == '\0'));
    if (rc != RP_OK)
        return 0;
    rp_plan_dump(&p, &a, &n);
    rc = rp_plan_parse(a, n, "again", &again, &err);
    assert(rc == RP_OK);
    rp_plan_dump(&again, &b, &m);
    assert(n == m && memcmp(a, b, n) == 0);
    free(a);
    free(b);
    rp_plan_fini(&p);
    rp_plan_fini(&again);
    return 0;
}
