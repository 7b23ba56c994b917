#include "solve/engine/glpk_log.h"

#include <glpk.h>
#include <stddef.h>

#include "base/log.h"

static int to_log(void *info, const char *text) {
    (void)info;
    for (const char *end; *text != '\0'; text = *end != '\0' ? end + 1 : end) {
        for (end = text; *end != '\0' && *end != '\n'; end++)
            ;
        if (end > text)
            rp_log(2, "glpk: %.*s", (int)(end - text), text);
    }
    return 1; /* tells GLPK to print nothing itself */
}

int rp_glpk_log(void) {
    glp_term_hook(to_log, NULL);
    return rp_log_level() >= 2 ? GLP_MSG_ALL : GLP_MSG_OFF;
}
