/* version: what `remat-plan --version` prints. */
#include <stdio.h>

#include "cmd/commands.h"
#include "solve/engine/engine.h"

void rp_print_version(void) {
    const char *highs = rp_engine_version(RP_ENGINE_HIGHS);
    puts("remat-plan " RP_VERSION);
    printf("engines: GLPK %s, HiGHS %s\n", rp_engine_version(RP_ENGINE_GLPK),
           highs != NULL ? highs : "not found");
}
