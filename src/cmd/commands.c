#include "cmd/commands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "cmd/interrupt.h"

static const struct rp_command *const commands[] = {RP_COMMANDS(RP_COMMAND_ADDRESS) NULL};

static const char *command_name(size_t i) {
    return commands[i] != NULL ? commands[i]->name : NULL;
}

static void print_help(void) {
    rp_put_styled(RP_HEADING, "usage:", stdout);
    puts(" remat-plan COMMAND [options]\n"
         "Plan which tensors of a training step to keep, recompute or swap.\n");
    rp_put_styled(RP_HEADING, "commands:", stdout);
    putchar('\n');
    for (int i = 0; commands[i] != NULL; i++)
        printf("  %-10s %s\n", commands[i]->name, commands[i]->summary);
    puts(
        "\n"
        "'remat-plan help COMMAND' describes a command. 'remat-plan --version' prints the\n"
        "version and the engines for linear programs.\n");
    rp_put_styled(RP_HEADING, "exit codes:", stdout);
    puts("\n"
         "  0  done\n"
         "  1  the answer is no: no plan can exist, or the plan is rejected\n"
         "  2  wrong command line\n"
         "  3  a file is not accepted\n"
         "  4  a limit or an interrupt came before the answer was complete\n"
         "  5  trouble with the environment: disk, memory, driver, missing library\n"
         "  6  a bug in remat-plan");
}

static rp_rc run_command(const char *name, int argc, char **argv, struct rp_err *err) {
    for (int i = 0; commands[i] != NULL; i++)
        if (strcmp(name, commands[i]->name) == 0)
            return commands[i]->run(argc, argv, err);
    struct rp_nearest near = rp_nearest_to(name, strlen(name));
    rp_nearest_try_all(&near, command_name);
    rp_nearest_try(&near, "help");
    rp_nearest_try(&near, "--help");
    rp_nearest_try(&near, "--version");
    if (name[0] == '-')
        return rp_refuse_name("unknown command", name, "", &near,
                              "the command comes first; try --help", err);
    char *advice = rp_list_names("the commands are ", command_name);
    rp_refuse_name("unknown command", name, "", &near, advice, err);
    free(advice);
    return RP_USAGE;
}

static bool is(const char *word, const char *a, const char *b) {
    return strcmp(word, a) == 0 || strcmp(word, b) == 0;
}

static bool asks_for_help(const char *word) {
    return strcmp(word, "help") == 0 || is(word, "--help", "-h");
}

rp_rc rp_run_command_line(int argc, char **argv, struct rp_err *err) {
    char option[] = "--help";
    rp_end_with_parent();
    if (argc < 2)
        return rp_fail(err, RP_USAGE, "no command (try --help)");
    bool help = asks_for_help(argv[1]);
    if (help && argc > 2 && !asks_for_help(argv[2]))
        return run_command(argv[2], 2, (char *[]){argv[2], option, NULL}, err);
    if (help)
        print_help();
    else if (is(argv[1], "--version", "-V"))
        rp_print_version();
    else
        return run_command(argv[1], argc - 1, argv + 1, err);
    return RP_OK;
}
