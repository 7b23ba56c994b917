#include "commands.h"

rp_rc rp_cmd_verify(int argc, char **argv, struct rp_err *err) {
    (void)argc;
    (void)argv;
    return rp_fail(err, RP_ENV, "verify: not there yet");
}
