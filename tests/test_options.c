/* Tests of how the options of a command line are parsed. */
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "cmd/options.h"
#include "run.h"

struct parsed {
    bool flag;
    uint64_t nat, size;
    double number;
    const char *word, *must;
    double above;
    int n_operands;
    bool done;
    char operand[64]; /* all operands, each followed by a space */
    struct rp_err err;
};

/* The value of --must unless a test sets another. */
static const char *must = "given";

static rp_rc parse(struct parsed *p, int argc, const char *const *args) {
    static const struct rp_command cmd = {
        .name = "test", .operands = "FILE...", .max_operands = 4, .summary = "Test"};
    const struct rp_option table[] = {
        {"flag", 'f', RP_OPT_FLAG, &p->flag, NULL, ""},
        {"nat", 'n', RP_OPT_NAT, &p->nat, "N", ""},
        {"size", 0, RP_OPT_BYTES, &p->size, "SIZE", ""},
        {"number", 0, RP_OPT_NUMBER, &p->number, "X", ""},
        {"word", 'w', RP_OPT_STRING, &p->word, "WORD", ""},
        {"above", 0, RP_OPT_POSITIVE, &p->above, "X", ""},
        {"must", 0, RP_OPT_REQUIRED, &p->must, "X", ""},
        {0},
    };
    char *argv[16] = {"test"};
    for (int i = 0; i < argc; i++)
        argv[i + 1] = (char *)(uintptr_t)args[i];
    *p = (struct parsed){.must = must};
    rp_rc rc =
        rp_options_parse(&cmd, table, argc + 1, argv, &p->n_operands, &p->done, &p->err);
    for (int i = 1; i <= p->n_operands; i++)
        strcat(strcat(p->operand, argv[i]), " ");
    return rc;
}

#define PARSE(p, ...)                                                                      \
    parse(p, sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *),                       \
          (const char *[]){__VA_ARGS__})

static void options_may_come_before_and_after_operands(void) {
    struct parsed p;
    CU_ASSERT_EQUAL(PARSE(&p, "a", "--nat", "5", "b", "-f", "--size=8K", "--number", "1e-3",
                          "-wx", "-", "--", "--nat"),
                    RP_OK);
    CU_ASSERT_STRING_EQUAL(p.operand, "a b - --nat ");
    CU_ASSERT(p.flag && p.nat == 5 && p.size == 8192 && p.number == 1e-3);
    CU_ASSERT_STRING_EQUAL(p.word, "x");
    CU_ASSERT_EQUAL(PARSE(&p, "-fn7"),
                    RP_USAGE); /* -n takes a value, so it cannot follow another flag */
    CU_ASSERT_EQUAL(PARSE(&p, "-fq", "-w", "-x"), RP_OK);
    CU_ASSERT_STRING_EQUAL(p.word, "-x");
}

static void flags_may_share_a_dash(void) {
    struct parsed p;
    CU_ASSERT_EQUAL(PARSE(&p, "-qf", "a"), RP_OK);
    CU_ASSERT(p.flag && rp_log_level() == -1);
    CU_ASSERT_EQUAL(PARSE(&p, "-vfv", "a"), RP_OK);
    CU_ASSERT(p.flag && rp_log_level() == 2);
    CU_ASSERT_EQUAL(PARSE(&p, "a"), RP_OK); /* nothing stays of the last command line */
    CU_ASSERT(!p.flag && rp_log_level() == 0);
}

/* A command that only parses its command line. */
static rp_rc parse_none(int argc, char **argv, struct rp_err *err) {
    struct parsed p;
    (void)argv;
    CU_ASSERT_EQUAL(parse(&p, argc - 1, NULL), RP_OK);
    CU_ASSERT_TRUE(p.done);
    *err = p.err;
    return RP_OK;
}

static void list_names(const struct rp_command *cmd, const struct rp_option *table,
                       void *context) {
    for (; table->name != NULL; table++)
        strcat(strcat(context, " "), table->name);
    CU_ASSERT_STRING_EQUAL(cmd->name, "test");
}

static void a_table_is_visited_and_then_parsed_again(void) {
    static const struct rp_command cmd = {.name = "test", .run = parse_none};
    struct parsed p;
    char names[128] = "";
    rp_options_visit(&cmd, list_names, names);
    CU_ASSERT_STRING_EQUAL(names, " flag nat size number word above must");
    CU_ASSERT_EQUAL(PARSE(&p, "a"), RP_OK);
    CU_ASSERT_FALSE(p.done);
    CU_ASSERT_STRING_EQUAL(p.operand, "a ");
}

static void required_options_and_operand_limits_are_enforced(void) {
    struct parsed p;
    CU_ASSERT_EQUAL(PARSE(&p, "a", "b", "c", "d", "e"), RP_USAGE);
    CU_ASSERT_STRING_EQUAL(
        p.err.msg, "test: 'e' is one operand too many; expected FILE... (try --help)");
    CU_ASSERT_EQUAL(PARSE(&p, "a", "--above", "0"), RP_USAGE);
    CU_ASSERT_STRING_EQUAL(p.err.msg, "test: --above: '0' is not a number above 0");
    CU_ASSERT_EQUAL(PARSE(&p, "a", "--above", "0.5"), RP_OK);
    must = NULL;
    CU_ASSERT_EQUAL(PARSE(&p, "a"), RP_USAGE);
    CU_ASSERT_STRING_EQUAL(p.err.msg, "test: --must is required (try --help)");
    CU_ASSERT_EQUAL(PARSE(&p, "a", "--must", "x"), RP_OK);
    must = "given";
}

static void a_command_may_have_no_operands(void) {
    char word[] = "x", *given[] = {word};
    struct rp_err err;
    CU_ASSERT_EQUAL(rp_check_operands("test", given, 0, 0, 0, "", &err), RP_OK);
    CU_ASSERT_EQUAL(rp_check_operands("test", given, 1, 0, 0, "", &err), RP_USAGE);
    CU_ASSERT_STRING_EQUAL(err.msg,
                           "test: 'x' is one operand too many; expected none (try --help)");
}

static void a_wrong_option_is_named_in_the_message(void) {
    static const struct {
        const char *arg, *value, *message;
    } bad[] = {
        {"--bogus", "1", "test: unknown option '--bogus' (try --help)"},
        {"--fla", "1", "test: unknown option '--fla'; did you mean '--flag'?"},
        {"--flag2", "1", "test: unknown option '--flag2'; did you mean '--flag'?"},
        {"--=5", "1", "test: unknown option '--=5' (try --help)"},
        {"-z", "1", "test: unknown option '-z' (try --help)"},
        {"-fz", "1", "test: unknown option '-fz' (try --help)"},
        {"-flag", "1", "test: unknown option '-flag'; did you mean '--flag'?"},
        {"--flag=yes", "1", "test: --flag takes no value"},
        {"--nat", "-1", "test: --nat: '-1' is not a whole number"},
        {"--nat", "1.5", "test: --nat: '1.5' is not a whole number"},
        {"--nat", "", "test: --nat: '' is not a whole number"},
        {"--nat", "9223372036854775808",
         "test: --nat: '9223372036854775808' is not a whole number"},
        {"--size=8Q", "1",
         "test: --size: '8Q' is not a size such as 8GiB, 512M, 16GB or 4096"},
        {"--size", "8589934592GiB",
         "test: --size: '8589934592GiB' is not a size such as 8GiB, 512M, 16GB or 4096"},
        {"--number", "nan", "test: --number: 'nan' is not a number of 0 or more"},
        {"--number", "-1", "test: --number: '-1' is not a number of 0 or more"},
        {"--number", "1e999", "test: --number: '1e999' is not a number of 0 or more"},
        {"--number", "0x1p3", "test: --number: '0x1p3' is not a number of 0 or more"},
        {"--number", "1s", "test: --number: '1s' is not a number of 0 or more"},
        {"--number", ".", "test: --number: '.' is not a number of 0 or more"},
    };
    struct parsed p;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        CU_ASSERT_EQUAL(PARSE(&p, bad[i].arg, bad[i].value), RP_USAGE);
        CU_ASSERT_STRING_EQUAL(p.err.msg, bad[i].message);
    }
    CU_ASSERT_EQUAL(PARSE(&p, "a", "--nat"), RP_USAGE);
    CU_ASSERT_STRING_EQUAL(p.err.msg, "test: --nat needs N");
    CU_ASSERT_EQUAL(PARSE(&p, "--size", "2", "MiB"), RP_USAGE);
    CU_ASSERT_STRING_EQUAL(p.err.msg, "test: '2 MiB' is two words; did you mean '2MiB'?");
    CU_ASSERT_EQUAL(PARSE(&p, "--size", "2", "MiB.json"), RP_OK);
    CU_ASSERT_EQUAL(PARSE(&p, "--size", "2MiB", "gb"), RP_OK);
}

void suite_options(void) {
    RP_SUITE("options");
    RP_TEST(options_may_come_before_and_after_operands);
    RP_TEST(flags_may_share_a_dash);
    RP_TEST(a_table_is_visited_and_then_parsed_again);
    RP_TEST(required_options_and_operand_limits_are_enforced);
    RP_TEST(a_command_may_have_no_operands);
    RP_TEST(a_wrong_option_is_named_in_the_message);
}
