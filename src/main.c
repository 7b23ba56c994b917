/* main: runs the command line, prints the error message and sets the exit code. */
#include <signal.h>

#include "base/io.h"
#include "base/log.h"
#include "cmd/commands.h"

int main(int argc, char **argv) {
    struct rp_err err = {{0}};
    rp_hold_standard_streams();
    rp_log_by_line();
    /* Writing to a closed pipe then fails, and we exit with code 5. */
    signal(SIGPIPE, SIG_IGN);
    /* So does writing a file beyond the size limit, and its temporary file is removed. */
    signal(SIGXFSZ, SIG_IGN);
    /* Whoever started us may have ignored it, and then child processes leave no status. */
    signal(SIGCHLD, SIG_DFL);
    rp_rc rc = rp_run_command_line(argc, argv, &err);
    rc = rp_close_stdout(rc, &err);
    rp_progress_end();
    if (rc > RP_NO)
        rp_log(-1, "%s", err.msg);
    return (int)rc;
}
