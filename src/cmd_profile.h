/* cmd_profile: what `profile` does besides device models; options are in cmd_profile.c. */
#ifndef RP_CMD_PROFILE_H
#define RP_CMD_PROFILE_H

#include <stdbool.h>

#include "base/err.h"

struct rp_measure {
    const char *graph, *traces, *out; /* traces: a folder, or NULL */
    bool json;
};

/* Joins the graph with the traces of `command` (NULL at its end), or, if it is empty, with
 * those of an earlier run. */
rp_rc rp_profile_measure(const struct rp_measure *m, char *const command[],
                         struct rp_err *err);

/* Compares the times of two graphs of one step; `plan`, of graph a or b, is timed with both
 * (NULL: none). */
rp_rc rp_profile_compare(const char *a, const char *b, const char *plan, bool json,
                         struct rp_err *err);

#endif
