#include "cmd/options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "cmd/unit_hint.h"

/* ---- the options of every command ---- */

static int quiet, verbose, help;
const struct rp_option rp_common_options[] = {
    {"quiet", 'q', RP_OPT_COUNT, &quiet, NULL, "print errors only"},
    {"verbose", 'v', RP_OPT_COUNT, &verbose, NULL,
     "print more detail; twice adds the output of libraries"},
    {"help", 'h', RP_OPT_COUNT, &help, NULL, "print this help"},
    {0},
};

/* ---- help ---- */

static void print_options(const struct rp_option *table) {
    for (const struct rp_option *o = table; o->name != NULL; o++) {
        char left[64];
        snprintf(left, sizeof left, "%c%c%s--%s%s%s", o->letter ? '-' : ' ',
                 o->letter ? o->letter : ' ', o->letter ? ", " : "  ", o->name,
                 o->arg ? " " : "", o->arg ? o->arg : "");
        printf("  %-28s %s\n", left, o->help);
    }
}

static void print_help(const struct rp_command *cmd, const struct rp_option *table) {
    rp_put_styled(RP_HEADING, "usage:", stdout);
    printf(" remat-plan %s [options]%s%s\n%s.\n\n", cmd->name, cmd->operands[0] ? " " : "",
           cmd->operands, cmd->summary);
    rp_put_styled(RP_HEADING, "options:", stdout);
    putchar('\n');
    print_options(table);
    print_options(rp_common_options);
    if (cmd->detail != NULL)
        printf("\n%s", cmd->detail);
    if (cmd->print_more != NULL)
        cmd->print_more();
}

/* ---- parsing ---- */

static rp_rc store(const struct rp_command *cmd, const struct rp_option *o,
                   const char *value, struct rp_err *err) {
    static const char *const expected[] = {
        [RP_OPT_NAT] = "a whole number",
        [RP_OPT_NUMBER] = "a number of 0 or more",
        [RP_OPT_POSITIVE] = "a number above 0",
        [RP_OPT_BYTES] = "a size such as 8GiB, 512M, 16GB or 4096",
    };
    bool ok = true;
    switch (o->type) {
    case RP_OPT_FLAG:
        *(bool *)o->to = true;
        break;
    case RP_OPT_COUNT:
        ++*(int *)o->to;
        break;
    case RP_OPT_STRING:
    case RP_OPT_REQUIRED:
        *(const char **)o->to = value;
        break;
    case RP_OPT_NAT:
        ok = rp_parse_nat(value, o->to);
        break;
    case RP_OPT_NUMBER:
        ok = rp_parse_number(value, o->to);
        break;
    case RP_OPT_POSITIVE:
        ok = rp_parse_number(value, o->to) && *(double *)o->to > 0;
        break;
    case RP_OPT_BYTES:
        ok = rp_parse_bytes(value, o->to);
        break;
    }
    if (ok)
        return RP_OK;
    struct rp_text64 hint = o->type == RP_OPT_BYTES ? rp_hint_of_size(value, false)
                                                    : rp_hint_of_number(value, o->arg);
    return rp_fail(err, RP_USAGE, "%s: --%s: '%.200s' is not %s%s", cmd->name, o->name,
                   value, expected[o->type], hint.s);
}

static const struct rp_option *find(const struct rp_option *table, const char *name,
                                    size_t len, char letter) {
    for (; table->name != NULL; table++)
        if (letter ? table->letter == letter
                   : strlen(table->name) == len && strncmp(table->name, name, len) == 0)
            return table;
    return NULL;
}

const struct rp_option *rp_option_find(const struct rp_option *table, const char *name,
                                       size_t len, char letter) {
    const struct rp_option *o = find(table, name, len, letter);
    return o != NULL ? o : find(rp_common_options, name, len, letter);
}

/* A word with one dash may be meant to have two, unless it has only one letter. */
static rp_rc refuse_option(const struct rp_command *cmd, const struct rp_option *table,
                           const char *arg, struct rp_err *err) {
    const char *name = arg + 1 + (arg[1] == '-');
    size_t len = strcspn(name, "=");
    struct rp_nearest near = rp_nearest_to(name, len > 1 ? len : 0);
    for (const struct rp_option *o = table; o->name != NULL; o++)
        rp_nearest_try(&near, o->name);
    for (const struct rp_option *o = rp_common_options; o->name != NULL; o++)
        rp_nearest_try(&near, o->name);
    char *what = rp_format("%s: unknown option", cmd->name);
    rp_refuse_name(what, arg, "--", &near, "try --help", err);
    free(what);
    return RP_USAGE;
}

/* Refuses "2 MiB" as two words, unless the second one is a file.
 * Counts have no unit. */
static rp_rc check_one_word(const struct rp_command *cmd, const struct rp_option *o,
                            const char *value, const char *next, struct rp_err *err) {
    double number;
    if (next == NULL || o->type == RP_OPT_NAT || !rp_parse_number(value, &number) ||
        !rp_is_unit(next) || access(next, F_OK) == 0)
        return RP_OK;
    return rp_fail(err, RP_USAGE,
                   "%s: '%.80s %.80s' is two words; did you mean '%.80s%.80s'?", cmd->name,
                   value, next, value, next);
}

/* Parses one argument that begins with '-'. If its value is the next argument, *i moves on
 * to that. */
static rp_rc parse_one(const struct rp_command *cmd, const struct rp_option *table,
                       int argc, char **argv, int *i, struct rp_err *err) {
    const char *arg = argv[*i], *value = NULL;
    bool is_long = arg[1] == '-';
    size_t len = is_long ? strcspn(arg + 2, "=") : 1;
    const struct rp_option *o =
        rp_option_find(table, is_long ? arg + 2 : NULL, len, is_long ? '\0' : arg[1]);
    if (o == NULL ||
        (!is_long && rp_option_find(table, arg + 1, strcspn(arg + 1, "="), '\0')))
        return refuse_option(cmd, table, arg, err);
    if (o->arg == NULL) {
        if (is_long && arg[2 + len] == '=')
            return rp_fail(err, RP_USAGE, "%s: --%s takes no value", cmd->name, o->name);
        for (const char *p = arg + 2; !is_long && *p != '\0'; p++) { /* -vv */
            const struct rp_option *more = rp_option_find(table, NULL, 1, *p);
            if (more == NULL || more->arg != NULL)
                return refuse_option(cmd, table, arg, err);
            store(cmd, more, NULL, err);
        }
        return store(cmd, o, NULL, err);
    }
    if (is_long && arg[2 + len] == '=')
        value = arg + 3 + len;
    else if (!is_long && arg[2] != '\0')
        value = arg + 2;
    else if (*i + 1 < argc)
        value = argv[++*i];
    else
        return rp_fail(err, RP_USAGE, "%s: --%s needs %s", cmd->name, o->name, o->arg);
    rp_rc rc = store(cmd, o, value, err);
    return rc == RP_OK && value == argv[*i] && *i + 1 < argc
               ? check_one_word(cmd, o, value, argv[*i + 1], err)
               : rc;
}

static const char *first_missing(const struct rp_option *table) {
    for (const struct rp_option *o = table; o->name != NULL; o++)
        if (o->type == RP_OPT_REQUIRED && *(const char **)o->to == NULL)
            return o->name;
    return NULL;
}

/* The n-th word of "GRAPH PLAN" or "GRAPH...", counted from 0, or the last one if there are
 * fewer. *len gets its length, without dots behind it. */
static const char *nth_word(const char *words, int n, int *len) {
    for (const char *space; n > 0 && (space = strchr(words, ' ')) != NULL; n--)
        words = space + 1;
    *len = (int)strcspn(words, " ");
    for (; *len > 0 && words[*len - 1] == '.'; --*len) {
    }
    return words;
}

rp_rc rp_check_operands(const char *command, char **given, int n, int min, int max,
                        const char *operands, struct rp_err *err) {
    int len;
    const char *missing = nth_word(operands, n, &len);
    if (n < min)
        return rp_fail(err, RP_USAGE, "%s: %.*s is missing; expected %s (try --help)",
                       command, len, missing, operands);
    if (n > max)
        return rp_fail(err, RP_USAGE,
                       "%s: '%.200s' is one operand too many; expected %s (try --help)",
                       command, given[max], operands[0] ? operands : "none");
    return RP_OK;
}

/* Reports a wrong number of operands, or a required option that is not there. */
static rp_rc check_complete(const struct rp_command *cmd, const struct rp_option *table,
                            char **operands, int n, struct rp_err *err) {
    const char *option = first_missing(table);
    rp_rc rc = rp_check_operands(cmd->name, operands, n, cmd->min_operands,
                                 cmd->max_operands, cmd->operands, err);
    if (rc == RP_OK && option != NULL)
        return rp_fail(err, RP_USAGE, "%s: --%s is required (try --help)", cmd->name,
                       option);
    return rc;
}

static struct {
    rp_option_visitor *call; /* NULL: tables are parsed */
    void *context;
} visitor;

void rp_options_visit(const struct rp_command *cmd, rp_option_visitor *call,
                      void *context) {
    struct rp_err ignored = {{0}};
    char name[] = "";
    visitor.call = call;
    visitor.context = context;
    cmd->run(1, (char *[]){name, NULL}, &ignored);
    visitor.call = NULL;
}

rp_rc rp_options_parse(const struct rp_command *cmd, const struct rp_option *table,
                       int argc, char **argv, int *n_operands, bool *done,
                       struct rp_err *err) {
    int n = 0;
    bool only_operands = false;
    quiet = verbose = help = 0;
    *done = visitor.call != NULL;
    if (*done) {
        visitor.call(cmd, table, visitor.context);
        return RP_OK;
    }
    for (int i = 1; i < argc; i++) {
        if (only_operands || argv[i][0] != '-' || argv[i][1] == '\0') {
            argv[++n] = argv[i];
        } else if (strcmp(argv[i], "--") == 0) {
            only_operands = true;
        } else {
            rp_rc rc = parse_one(cmd, table, argc, argv, &i, err);
            if (rc != RP_OK)
                return rc;
        }
    }
    if (help > 0) {
        print_help(cmd, table);
        *done = true;
        return RP_OK;
    }
    rp_log_set(quiet ? -1 : verbose);
    *n_operands = n;
    return check_complete(cmd, table, argv + 1, n, err);
}
