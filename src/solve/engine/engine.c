#include "solve/engine/engine.h"

#include <glpk.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "solve/engine/highs_api.h"

static const char *const names[RP_N_ENGINES] = {
    [RP_ENGINE_GLPK] = "glpk", [RP_ENGINE_HIGHS] = "highs"};

const char *rp_engine_name(enum rp_engine e) {
    return names[e];
}

rp_rc rp_engine_load(enum rp_engine e, struct rp_err *err) {
    return e == RP_ENGINE_GLPK || rp_highs_api(err) != NULL ? RP_OK : RP_ENV;
}

const char *rp_engine_version(enum rp_engine e) {
    struct rp_err err = {{0}};
    const struct rp_highs_api *highs = e == RP_ENGINE_HIGHS ? rp_highs_api(&err) : NULL;
    if (e == RP_ENGINE_GLPK)
        return glp_version();
    return highs != NULL ? highs->version() : NULL;
}

/* GLPK's last words before it aborts were about memory. */
static bool wants_memory;

static int to_log(void *info, const char *text) {
    (void)info;
    wants_memory = strstr(text, "memory") != NULL;
    for (const char *end; *text != '\0'; text = *end != '\0' ? end + 1 : end) {
        for (end = text; *end != '\0' && *end != '\n'; end++)
            ;
        rp_log(2, "glpk: %.*s", (int)(end - text), text);
    }
    return 1; /* tells GLPK to print nothing itself */
}

static void before_abort(void *info) {
    (void)info;
    if (wants_memory)
        rp_out_of_memory();
}

int rp_engine_glpk_log(void) {
    glp_error_hook(before_abort, NULL);
    glp_term_hook(to_log, NULL);
    return rp_log_level() >= 2 ? GLP_MSG_ALL : GLP_MSG_OFF;
}

double rp_engine_glpk_most_raised(double share, size_t n, const double *cost) {
    double sum = 0;
    int n_costs = 0;
    for (size_t j = 0; j < n; j++) {
        sum += fabs(cost[j]);
        n_costs += cost[j] != 0;
    }
    return n_costs > 0 ? share * sum / n_costs : 0;
}
