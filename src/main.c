/* main: the command table, --help, --version and the exit code; nothing else. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/io.h"
#include "base/log.h"
#include "cmd/commands.h"

#ifndef RP_VERSION
#define RP_VERSION "unknown"
#endif

static const struct {
    const char *name, *summary;
    rp_rc (*run)(int argc, char **argv, struct rp_err *err);
} commands[] = {
    {"zoo", "write a real network's training step as a graph", rp_cmd_zoo},
    {"profile", "fill in what each op costs on a device", rp_cmd_profile},
    {"solve", "find the fastest plan within --budget", rp_cmd_solve},
    {"maxbatch", "the largest batch of a network that fits a device", rp_cmd_maxbatch},
    {"sweep", "plans from the least budget to that of keep-all", rp_cmd_sweep},
    {"compare", "published policies and ours side by side", rp_cmd_compare},
    {"verify", "check every rule and claim of a plan, and replay it", rp_cmd_verify},
    {"show", "what a plan does, and its memory as a picture", rp_cmd_show},
    {"emit", "write a program that carries a plan out and checks itself", rp_cmd_emit},
    {"pack", "place buffers of given lifetimes in one arena", rp_cmd_pack},
};
enum { N_COMMANDS = sizeof commands / sizeof commands[0] };

static void print_help(void) {
    puts("usage: remat-plan COMMAND [options]\n"
         "Plans which feature maps of a training step to keep, recompute or swap.\n\n"
         "commands:");
    for (int i = 0; i < N_COMMANDS; i++)
        printf("  %-10s %s\n", commands[i].name, commands[i].summary);
    puts("\n'remat-plan COMMAND --help' tells more; 'remat-plan --version' the version.\n"
         "exit codes: 0 done, 1 a sound no (infeasible, plan rejected), 2 wrong command "
         "line,\n"
         "3 a file that is not accepted, 4 a limit came before any answer,\n"
         "5 the environment (disk, memory, driver), 6 a bug in this program.");
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
        if (strcmp(argv[1], commands[i].name) == 0)
            return commands[i].run(argc - 1, argv + 1, err);
    return rp_fail(err, RP_USAGE, "unknown command '%s' (try --help)", argv[1]);
}

int main(int argc, char **argv) {
    struct rp_err err = {{0}};
    rp_hold_standard_streams();
    signal(SIGPIPE, SIG_IGN); /* a closed pipe is a write error, said and counted */
    rp_rc rc = run(argc, argv, &err);
    rc = rp_close_stdout(rc, &err);
    rp_progress("%s", "");
    if (rc > RP_NO)
        rp_log(-1, "%s", err.msg);
    return (int)rc;
}
