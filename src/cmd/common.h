/* What several commands share: budgets on the command line, where answers go, interrupts,
 * and plans of policies that have passed verify. */
#ifndef RP_CMD_COMMON_H
#define RP_CMD_COMMON_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/policy.h"

/* "8GiB", "4096", or "60%" of the keep-all peak. RP_USAGE names the command. */
rp_rc rp_parse_budget(const char *command, const char *text, const struct rp_graph *g,
                      bool addressed, uint64_t *budget, struct rp_err *err);

/* A list "A,B,C" of such. The caller frees *budgets; 1 or more on RP_OK. */
rp_rc rp_parse_budgets(const char *command, const char *text, const struct rp_graph *g,
                       bool addressed, uint64_t **budgets, size_t *n, struct rp_err *err);

/* "NAME,NAME"; NULL is all. *chosen[i] says if rp_policies[i] is meant. */
rp_rc rp_parse_policies(const char *command, const char *text, bool *chosen,
                        struct rp_err *err);

/* Planning needs times. */
rp_rc rp_check_times(const struct rp_graph *g, const char *file, struct rp_err *err);

/* Something that a command writes, and where. */
struct rp_output {
    const char *what; /* as a message names it: "--out" */
    const char *path; /* "-": standard output; NULL: it is not written */
};

/* Asked before the work: no two go to one place (RP_USAGE), and each can be written there
 * (RP_ENV). A report as JSON is one of them. */
rp_rc rp_check_outputs(const char *command, const struct rp_output *o, size_t n,
                       struct rp_err *err);

/* One of them is standard output: the report in words has no place there then. */
bool rp_uses_stdout(const struct rp_output *o, size_t n);

/* Ctrl-C and SIGTERM set it, in this process and in all that it starts later, whichever of
 * them is sent the signal; another a second or two later ends that process. */
const volatile sig_atomic_t *rp_watch_interrupts(void);

/* What a policy came to. Without a plan (rc RP_NO, RP_LIMIT), report.reason says why. */
struct rp_outcome {
    rp_rc rc;
    struct rp_plan plan;
    struct rp_policy_report report;
};

/* RP_OK: the outcome is there, and its plan, if any, passed verify; the caller empties it.
 * RP_BUG: verify rejects the plan. */
rp_rc rp_outcome_make(const struct rp_graph *g, const struct rp_policy *policy,
                      const struct rp_policy_options *o, struct rp_outcome *out,
                      struct rp_err *err);
void rp_outcome_fini(struct rp_outcome *out);

/* It has a plan, and that is within the budget. */
bool rp_outcome_fits(const struct rp_outcome *out);

/* Decimal GB/s to bytes a second, exactly; left alone if `text` is NULL. */
rp_rc rp_parse_bandwidth(const char *command, const char *option, const char *text,
                         uint64_t *bytes_per_s, struct rp_err *err);

#endif
