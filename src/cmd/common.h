/* common: what several commands share: rows of their option tables, sizes on the command
 * line, graphs with times, outputs, and plans that verify rejects.
 *
 * Functions that take `command` begin their messages with that name. Not thread-safe:
 * commands run in one thread. */
#ifndef RP_CMD_COMMON_H
#define RP_CMD_COMMON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cmd/options.h"
#include "model/graph.h"
#include "model/plan.h"
#include "solve/engine/engine.h"
#include "verify/verifier.h"

/* ---- rows of option tables ---- */

struct rp_option rp_option_json(bool *to);
struct rp_option rp_option_ignore_clock(bool *to);
struct rp_option rp_option_no_addresses(bool *to);
struct rp_option rp_option_seed(uint64_t *to);
struct rp_option rp_option_engine(const char **to);
/* Loads the engine of that name; NULL leaves *e alone. RP_USAGE or RP_ENV. */
rp_rc rp_parse_engine(const char *command, const char *name, enum rp_engine *e,
                      struct rp_err *err);

/* ---- sizes on the command line: RP_USAGE if the text is not one ---- */

/* Converts decimal GB/s to bytes per second, exactly. Leaves *bytes_per_s alone if `text`
 * is NULL. */
rp_rc rp_parse_bandwidth(const char *command, const char *option, const char *text,
                         uint64_t *bytes_per_s, struct rp_err *err);

/* ---- graphs ---- */

/* RP_INPUT if the ops have no times, which planning needs. */
rp_rc rp_check_times(const struct rp_graph *g, const char *file, struct rp_err *err);

/* Loads a graph. If there is no such file, but a network of that name, the message says how
 * to write its graph. */
rp_rc rp_load_graph(const char *file, struct rp_graph *g, struct rp_err *err);

/* RP_INPUT if a tensor's home is the host. `what` cannot plan such a graph. (Tensors that
 * may have it there stay on the device.) */
rp_rc rp_refuse_homes(const struct rp_graph *g, const char *file, const char *what,
                      struct rp_err *err);

/* Loads a graph and checks that its ops have times, which planning needs. *g is empty
 * unless RP_OK is returned. */
rp_rc rp_load_timed_graph(const char *file, struct rp_graph *g, struct rp_err *err);

/* ---- files of the command line ---- */

/* A file of the command line. */
struct rp_named_file {
    const char *what; /* as a message names it: "--out", "GRAPH" */
    const char *path; /* "-" is a standard stream; NULL if it is not used */
    bool input;       /* read; else written */
};

/* Checks the files before the work begins. RP_USAGE if two outputs go to one place, or if
 * an output would replace an input, by whatever name; RP_ENV if an output cannot be
 * written. A report as JSON counts as an output to "-". */
rp_rc rp_check_files(const char *command, const struct rp_named_file *files, size_t n,
                     struct rp_err *err);

/* True if one of them goes to standard output, by whatever name. The report in words is
 * left out then. */
bool rp_uses_stdout(const struct rp_named_file *files, size_t n);

/* Where a command's plan goes, and how the command reports. */
struct rp_output_options {
    const char *plan; /* a path, or NULL */
    bool json;
    bool stats;  /* of solve: what each part of the planner did */
    bool silent; /* no report in words: standard output holds something else */
};

/* ---- plans and verify ---- */

/* Checks a plan that remat-plan made itself: RP_BUG if verify rejects it. `maker` is the
 * command or policy that made it. */
rp_rc rp_verify_own_plan(const char *maker, const struct rp_graph *g,
                         const struct rp_plan *plan, struct rp_verdict *v,
                         struct rp_err *err);

/* Prints that a user's plan is rejected. That is an answer, so it goes to standard output.
 */
void rp_report_rejection(const char *plan_name, const char *reason, bool json);

#endif
