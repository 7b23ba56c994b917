/* commands: the list of remat-plan's commands, in the order in which --help shows them.
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
    X(pack)

#define RP_DECLARE_COMMAND(name) extern const struct rp_command rp_cmd_##name;
RP_COMMANDS(RP_DECLARE_COMMAND)

#endif
