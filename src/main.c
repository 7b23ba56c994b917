/* main: runs the command that argv[1] names. It prints --help, --version and the error
 * message, and sets the exit code. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/io.h"
#include "base/log.h"
#include "cmd/commands.h"

#define ADDRESS_OF(name) &rp_cmd_##name,
static const struct rp_command *const commands[] = {RP_COMMANDS(ADDRESS_OF)};
enum { N_COMMANDS = sizeof commands / sizeof commands[0] };

static void print_help(void) {
    puts("usage: remat-plan COMMAND [options]\n"
         "Plan which tensors of a training step to keep, recompute or swap.\n\n"
         "commands:");
    for (int i = 0; i < N_COMMANDS; i++)
        printf("  %-10s %s\n", commands[i]->name, commands[i]->summary);
    puts("\n"
         "'remat-plan COMMAND --help' describes a command. 'remat-plan --version' prints\n"
         "the version.\n\n"
         "exit codes:\n"
         "  0  done\n"
         "  1  the answer is no: no plan can exist, or the plan is rejected\n"
         "  2  wrong command line\n"
         "  3  a file is not accepted\n"
         "  4  a limit or an interrupt came before the answer was complete\n"
         "  5  trouble with the environment: disk, memory, driver, missing library\n"
         "  6  a bug in remat-plan");
}

static rp_rc run(int argc, char **argv, struct rp_err *err) {
    if (argc < 2)
        return rp_fail(err, RP_USAGE, "no command (try --help)");
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_help();
        return RP_OK;
    }
    if (strcmp(argv[1], "--version") == 0) {
        puts("remat-plan " RP_VERSION);
        return RP_OK;
    }
    for (int i = 0; i < N_COMMANDS; i++)
        if (strcmp(argv[1], commands[i]->name) == 0)
            return commands[i]->run(argc - 1, argv + 1, err);
    return rp_fail(err, RP_USAGE, "unknown command '%s' (try --help)", argv[1]);
}

int main(int argc, char **argv) {
    struct rp_err err = {{0}};
    rp_hold_standard_streams();
    /* Writing to a closed pipe then fails, and we exit with code 5. */
    signal(SIGPIPE, SIG_IGN);
    /* So does writing a file beyond the size limit, and its temporary file is removed. */
    signal(SIGXFSZ, SIG_IGN);
    rp_rc rc = run(argc, argv, &err);
    rc = rp_close_stdout(rc, &err);
    rp_progress("%s", "");
    if (rc > RP_NO)
        rp_log(-1, "%s", err.msg);
    return (int)rc;
}
