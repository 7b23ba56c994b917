/* commands: one function a command, each in src/cmd_NAME.c. argv[0] is the command's name.
 * The table in main.c lists them. */
#ifndef RP_CMD_COMMANDS_H
#define RP_CMD_COMMANDS_H

#include "base/status.h"

rp_rc rp_cmd_zoo(int argc, char **argv, struct rp_err *err);
rp_rc rp_cmd_profile(int argc, char **argv, struct rp_err *err);
rp_rc rp_cmd_solve(int argc, char **argv, struct rp_err *err);
rp_rc rp_cmd_verify(int argc, char **argv, struct rp_err *err);
rp_rc rp_cmd_maxbatch(int argc, char **argv, struct rp_err *err);
rp_rc rp_cmd_sweep(int argc, char **argv, struct rp_err *err);
rp_rc rp_cmd_compare(int argc, char **argv, struct rp_err *err);
rp_rc rp_cmd_show(int argc, char **argv, struct rp_err *err);
rp_rc rp_cmd_emit(int argc, char **argv, struct rp_err *err);
rp_rc rp_cmd_pack(int argc, char **argv, struct rp_err *err);

#endif
