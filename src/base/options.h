/* opt: command-line options. One table per command, read by the parser, --help and the
 * check of the man page. */
#ifndef RP_BASE_OPTIONS_H
#define RP_BASE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

enum rp_option_type {
    RP_OPT_FLAG,   /* bool: set to true */
    RP_OPT_COUNT,  /* int: one more each time (-v -v) */
    RP_OPT_STRING, /* const char *, borrowed from argv */
    RP_OPT_NAT,    /* uint64_t */
    RP_OPT_NUMBER, /* double, finite, >= 0 */
    RP_OPT_BYTES   /* uint64_t: 4096, 8GiB, 512M (M = MiB), 16GB (10^9) */
};

/* Tables end with a NULL name. `letter` is a one-letter form or 0. A default is shown by
 * the help text itself. */
struct rp_option {
    const char *name;
    char letter;
    enum rp_option_type type;
    void *to;
    const char *arg;  /* name of the argument in help; NULL for FLAG and COUNT */
    const char *help; /* one line */
};

struct rp_command {
    const char *name;
    const char *operands; /* "GRAPH PLAN", for the usage line */
    const char *summary;  /* one line */
    const char *detail;   /* paragraphs after the options, or NULL */
};

/* Sizes: digits with an optional fraction and suffix K M G T (also KiB..TiB: powers of
 * 1024; KB..TB: powers of 1000; B). False on junk, negatives, overflow, fractions of a
 * byte. */
bool rp_parse_bytes(const char *text, uint64_t *bytes);

/* Options may stand anywhere before "--". Operands are gathered at argv[1..*n_operands].
 * "--help" prints the command's help to stdout, sets *done and returns RP_OK. -q and -v are
 * understood everywhere and set the log level. */
rp_rc rp_options_parse(const struct rp_command *cmd, const struct rp_option *table,
                       int argc, char **argv, int *n_operands, bool *done,
                       struct rp_err *err);

#endif
