/* options: command-line options. Each command has one table of options. The parser and
 * --help read it, and a check compares --help with the man page.
 *
 * Not thread-safe: the command line is parsed once, before any thread starts. */
#ifndef RP_CMD_OPTIONS_H
#define RP_CMD_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "cmd/nearest.h"
#include "cmd/quantity.h"

enum rp_option_type {
    RP_OPT_FLAG,     /* bool: set to true */
    RP_OPT_COUNT,    /* int: incremented each time (-v -v) */
    RP_OPT_STRING,   /* const char *, borrowed from argv */
    RP_OPT_REQUIRED, /* the same; NULL before parsing, and must be given */
    RP_OPT_NAT,      /* uint64_t */
    RP_OPT_NUMBER,   /* double, finite, >= 0 */
    RP_OPT_POSITIVE, /* double, finite, > 0 */
    RP_OPT_BYTES     /* uint64_t: 4096, 8GiB, 512M (M = MiB), 16GB (10^9) */
};

/* A table ends with a NULL name. `letter` is a one-letter form or 0. The help text states
 * the default in parentheses. `to` keeps its value if the option is not given. */
struct rp_option {
    const char *name;
    char letter;
    enum rp_option_type type;
    void *to;
    const char *arg;  /* name of the argument in help; NULL for FLAG and COUNT */
    const char *help; /* one line */
    rp_names *names;  /* what the argument may be, if that is one of a list; else NULL */
};

/* A command as the user sees it, and the function that runs it. */
struct rp_command {
    const char *name;
    const char *operands; /* as the usage line shows them: "GRAPH PLAN", or "" */
    int min_operands, max_operands;
    rp_names *operand_names;  /* what operands may be; NULL: files */
    const char *summary;      /* one imperative line without a full stop */
    const char *detail;       /* paragraphs after the options, or NULL */
    void (*print_more)(void); /* prints the end of the help, or NULL */
    /* argv[0] is the command's name. `err` holds the message if the result is not RP_OK. */
    rp_rc (*run)(int argc, char **argv, struct rp_err *err);
};

/* Parses a command line. Options may stand anywhere before "--". The operands are moved to
 * argv[1..*n_operands]; RP_USAGE if there are too few or too many of them, or if a required
 * option is missing. "--help" prints the command's help to standard output, sets *done and
 * returns RP_OK. Every command knows -q and -v, which set the log level. */
rp_rc rp_options_parse(const struct rp_command *cmd, const struct rp_option *table,
                       int argc, char **argv, int *n_operands, bool *done,
                       struct rp_err *err);

/* The options that every command has beside its own. */
extern const struct rp_option rp_common_options[];

/* The option of the table, or the common one, with the name name[0..len-1], or, if `letter`
 * is not 0, with that letter. NULL if there is none. */
const struct rp_option *rp_option_find(const struct rp_option *table, const char *name,
                                       size_t len, char letter);

/* Calls `call` with the command's table, whose `to` must not be used, instead of running
 * the command. */
typedef void rp_option_visitor(const struct rp_command *cmd, const struct rp_option *table,
                               void *context);
void rp_options_visit(const struct rp_command *cmd, rp_option_visitor *call, void *context);

/* RP_USAGE unless the number of operands, given[0..n-1], is from `min` to `max`. For
 * commands where it depends on the options. `operands` has the name of each, as in "GRAPH
 * PLAN". */
rp_rc rp_check_operands(const char *command, char **given, int n, int min, int max,
                        const char *operands, struct rp_err *err);

#endif
