#include "engines.h"

#include <stdlib.h>
#include <string.h>

#include "run.h"

bool rp_has_engine(enum rp_engine e) {
    static bool said;
    struct rp_err err = {{0}};
    const char *ci = getenv("CI");
    if (rp_engine_load(e, &err) == RP_OK)
        return true;
    if (!said)
        printf("\nskipped on %s: %s\n", rp_engine_name(e), err.msg);
    said = true;
    CU_ASSERT(ci == NULL || strcmp(ci, "true") != 0);
    return false;
}

void rp_on_engines(void (*test)(enum rp_engine e)) {
    for (int e = 0; e < RP_N_ENGINES; e++)
        if (rp_has_engine((enum rp_engine)e))
            test((enum rp_engine)e);
}
