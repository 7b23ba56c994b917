/* commands: the list of remat-plan's commands, in the order in which --help shows them, and
 * the command line as a whole.
 * Each is an object rp_cmd_NAME, defined in cmd/NAME.c. */
#ifndef RP_CMD_COMMANDS_H
#define RP_CMD_COMMANDS_H

#include "cmd/options.h"

#define RP_COMMANDS(X)                                                                     \
    X(zoo)                                                                                 \
    X(profile)                                                                             \
    X(solve)                                                                               \
    X(maxbatch)                                                                            \
    X(sweep)                                                                               \
    X(compare)                                                                             \
    X(verify)                                                                              \
    X(show)                                                                                \
    X(emit)                                                                                \
    X(pack)                                                                                \
    X(completion)

#define RP_DECLARE_COMMAND(name) extern const struct rp_command rp_cmd_##name;
RP_COMMANDS(RP_DECLARE_COMMAND)

/* For tables of all commands. */
#define RP_COMMAND_ADDRESS(name) &rp_cmd_##name,

/* Runs the command that argv[1] names, or prints the help or the version. Returns what the
 * process's exit code will be; `err` holds the message if that is not RP_OK. */
rp_rc rp_run_command_line(int argc, char **argv, struct rp_err *err);
void rp_print_version(void); /* of remat-plan, and of the engines that are there */

#endif
