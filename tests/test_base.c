#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/format.h"
#include "base/heap.h"
#include "base/io.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/numbers.h"
#include "base/random.h"
#include "base/sha256.h"
#include "cmd/options.h"
#include "run.h"

/* FIPS 180-2, appendix B, and NIST's byte-oriented short message vectors. */
static void digests_are_those_of_the_standard(void) {
    char hex[65];
    rp_sha256_hex("", 0, hex);
    CU_ASSERT_STRING_EQUAL(
        hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    rp_sha256_hex("abc", 3, hex);
    CU_ASSERT_STRING_EQUAL(
        hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    rp_sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56, hex);
    CU_ASSERT_STRING_EQUAL(
        hex, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    char *million = rp_calloc(1000000, 1);
    memset(million, 'a', 1000000);
    rp_sha256_hex(million, 1000000, hex);
    CU_ASSERT_STRING_EQUAL(
        hex, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
    free(million);
}

static void sizes_are_read_as_written(void) {
    static const struct {
        const char *text;
        uint64_t bytes;
    } good[] = {
        {"0", 0},
        {"4096", 4096},
        {"4096B", 4096},
        {"1K", 1024},
        {"1k", 1024},
        {"1KiB", 1024},
        {"1KB", 1000},
        {"8GiB", 8589934592},
        {"8G", 8589934592},
        {"16GB", 16000000000},
        {"1.5GiB", 1610612736},
        {"0.1K", 102}, /* the fraction of a byte is dropped */
        {"1.0", 1},
        {"2TiB", 2199023255552},
        {"9223372036854775807", INT64_MAX},
        {"8388607TiB", 9223370937343148032},
    };
    static const char *const bad[] = {
        "",
        "G",
        "-1",
        "+1",
        " 1",
        "1 ",
        "1 G",
        "1.",
        ".5G",
        "1.5",
        "1.5B",
        "1..5G",
        "1.2.3",
        "0x10",
        "1e9",
        "8Gib",
        "8gb",
        "8GBB",
        "8PiB",
        "8X",
        "nan",
        "inf",
        "１",
        "1,5G",
        "1GiBx",
        "8388608TiB",
        "9223372036854775808",
        "18446744073709551616",
        "99999999999999999999999999999999999999999999999999",
        "0.0000000000000000000000000000000000000000001G",
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        uint64_t bytes = 1;
        if (!rp_parse_bytes(good[i].text, &bytes) || bytes != good[i].bytes)
            CU_FAIL("a good size was refused or misread");
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint64_t bytes = 77;
        if (rp_parse_bytes(bad[i], &bytes) || bytes != 77)
            CU_FAIL("a bad size was accepted");
    }
}

struct parsed {
    bool flag;
    uint64_t nat, size;
    double number;
    const char *word, *must;
    double above;
    int n_operands;
    bool done;
    char operand[64]; /* all operands, a space after each */
    struct rp_err err;
};

/* What stands for --must unless a test says otherwise. */
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

static void options_may_stand_anywhere(void) {
    struct parsed p;
    CU_ASSERT_EQUAL(PARSE(&p, "a", "--nat", "5", "b", "-f", "--size=8K", "--number", "1e-3",
                          "-wx", "-", "--", "--nat"),
                    RP_OK);
    CU_ASSERT_STRING_EQUAL(p.operand, "a b - --nat ");
    CU_ASSERT(p.flag && p.nat == 5 && p.size == 8192 && p.number == 1e-3);
    CU_ASSERT_STRING_EQUAL(p.word, "x");
    CU_ASSERT_EQUAL(PARSE(&p, "-fn7"), RP_USAGE); /* -n takes a value: not in a bundle */
    CU_ASSERT_EQUAL(PARSE(&p, "-fq", "-w", "-x"), RP_OK);
    CU_ASSERT_STRING_EQUAL(p.word, "-x");
}

static void what_a_command_requires_must_be_there(void) {
    struct parsed p;
    CU_ASSERT_EQUAL(PARSE(&p, "a", "b", "c", "d", "e"), RP_USAGE);
    CU_ASSERT_STRING_EQUAL(p.err.msg,
                           "test: expected FILE..., got 5 operands (try --help)");
    CU_ASSERT_EQUAL(PARSE(&p, "a", "--above", "0"), RP_USAGE);
    CU_ASSERT_STRING_EQUAL(p.err.msg, "test: --above: '0' is not a number above 0");
    CU_ASSERT_EQUAL(PARSE(&p, "a", "--above", "0.5"), RP_OK);
    must = NULL;
    CU_ASSERT_EQUAL(PARSE(&p, "a"), RP_USAGE);
    CU_ASSERT_STRING_EQUAL(p.err.msg, "test: --must is required (try --help)");
    CU_ASSERT_EQUAL(PARSE(&p, "a", "--must", "x"), RP_OK);
    must = "given";
}

static void a_wrong_option_is_named(void) {
    static const struct {
        const char *arg, *value, *message;
    } bad[] = {
        {"--bogus", "1", "test: unknown option '--bogus' (try --help)"},
        {"--fla", "1", "test: unknown option '--fla' (try --help)"},
        {"--flag2", "1", "test: unknown option '--flag2' (try --help)"},
        {"--=5", "1", "test: unknown option '--=5' (try --help)"},
        {"-z", "1", "test: unknown option '-z' (try --help)"},
        {"-fz", "1", "test: unknown option '-fz' (try --help)"},
        {"--flag=yes", "1", "test: --flag takes no value"},
        {"--nat", "-1", "test: --nat: '-1' is not a whole number"},
        {"--nat", "1.5", "test: --nat: '1.5' is not a whole number"},
        {"--nat", "", "test: --nat: '' is not a whole number"},
        {"--nat", "9223372036854775808",
         "test: --nat: '9223372036854775808' is not a whole number"},
        {"--size=8Q", "1",
         "test: --size: '8Q' is not a size such as 8GiB, 512M, 16GB or 4096"},
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
}

static void messages_hold_no_control_characters(void) {
    struct rp_err err = {{0}};
    rp_fail(&err, RP_INPUT, "%s",
            "a\033[2J\r\n\x7f \xc2\x9b \xff\xc3 \xc3\xa9 \xed\xa0\x80");
    CU_ASSERT_STRING_EQUAL(err.msg, "a?[2J??? ?? ?? \xc3\xa9 ???");
    rp_fail(&err, RP_INPUT, "a later message");
    CU_ASSERT_STRING_EQUAL(err.msg, "a?[2J??? ?? ?? \xc3\xa9 ???");
}

static void sums_stop_at_63_bits(void) {
    uint64_t sum = INT64_MAX - 1;
    CU_ASSERT(rp_add(&sum, 1));
    CU_ASSERT(!rp_add(&sum, 1));
    CU_ASSERT(!rp_add(&sum, UINT64_MAX));
    CU_ASSERT_EQUAL(sum, INT64_MAX);
    CU_ASSERT_EQUAL(rp_round_up(1, 512), 512);
    CU_ASSERT_EQUAL(rp_round_up(512, 512), 512);
    CU_ASSERT_EQUAL(rp_round_up(INT64_MAX, INT64_MAX), INT64_MAX);
}

/* ---- files ---- */

static char *folder; /* removed again by the test that made it */

static char *in_folder(const char *name) {
    return rp_format("%s/%s", folder, name);
}

static void make_folder(void) {
    folder = rp_strdup("/tmp/remat-plan-test-XXXXXX");
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
}

static void remove_folder(const char *const *names) {
    for (; *names != NULL; names++) {
        char *path = in_folder(*names);
        unlink(path);
        free(path);
    }
    CU_ASSERT_EQUAL(rmdir(folder), 0); /* nothing was left behind */
    free(folder);
}

static void check_holds(const char *path, const char *want) {
    char *text = NULL;
    size_t len = 0;
    struct rp_err err = {{0}};
    CU_ASSERT_EQUAL_FATAL(rp_read_file(path, &text, &len, &err), RP_OK);
    CU_ASSERT_STRING_EQUAL(text, want);
    CU_ASSERT_EQUAL(len, strlen(want));
    free(text);
}

static void a_written_file_replaces_the_old_one_and_keeps_its_mode(void) {
    struct rp_err err = {{0}};
    struct stat st;
    make_folder();
    char *path = in_folder("a");
    CU_ASSERT_EQUAL(rp_write_file(path, "one", 3, &err), RP_OK);
    check_holds(path, "one");
    CU_ASSERT_EQUAL(chmod(path, 0640), 0);
    CU_ASSERT_EQUAL(rp_write_file(path, "two", 3, &err), RP_OK);
    check_holds(path, "two");
    CU_ASSERT(stat(path, &st) == 0 && (st.st_mode & 07777) == 0640);
    free(path);
    remove_folder((const char *const[]){"a", NULL});
}

static void a_link_is_written_through_and_stays_a_link(void) {
    struct rp_err err = {{0}};
    struct stat st;
    make_folder();
    char *path = in_folder("a"), *link = in_folder("link");
    CU_ASSERT_EQUAL(rp_write_file(path, "one", 3, &err), RP_OK);
    CU_ASSERT_EQUAL(symlink("a", link), 0);
    CU_ASSERT_EQUAL(rp_write_file(link, "two", 3, &err), RP_OK);
    check_holds(path, "two");
    CU_ASSERT(lstat(link, &st) == 0 && S_ISLNK(st.st_mode));
    unlink(path);
    CU_ASSERT_EQUAL(rp_write_file(link, "two", 3, &err), RP_ENV);
    free(path);
    free(link);
    remove_folder((const char *const[]){"link", NULL});
}

static void what_cannot_be_read_or_written_is_named(void) {
    struct rp_err err = {{0}};
    char *text;
    size_t len;
    CU_ASSERT_EQUAL(rp_read_file("/nonexistent/x", &text, &len, &err), RP_ENV);
    CU_ASSERT_STRING_EQUAL(err.msg, "/nonexistent/x: No such file or directory");
    err.msg[0] = '\0';
    CU_ASSERT_EQUAL(rp_read_file("/", &text, &len, &err), RP_ENV);
    CU_ASSERT_STRING_EQUAL(err.msg, "/: Is a directory");
    err.msg[0] = '\0';
    CU_ASSERT_EQUAL(rp_write_file("/nonexistent/x", "", 0, &err), RP_ENV);
    CU_ASSERT_STRING_EQUAL(err.msg, "/nonexistent/x: No such file or directory");
    err.msg[0] = '\0';
    CU_ASSERT_EQUAL(rp_write_file("/", "", 0, &err), RP_ENV);
    CU_ASSERT_STRING_EQUAL(err.msg, "/: Is a directory");
    err.msg[0] = '\0';
    CU_ASSERT_EQUAL(rp_write_file("/dev/full", "x", 1, &err), RP_ENV);
    CU_ASSERT_STRING_EQUAL(err.msg, "/dev/full: No space left on device");
}

static void a_probe_says_what_writing_would_and_leaves_nothing_behind(void) {
    struct rp_err err = {{0}};
    make_folder();
    char *path = in_folder("a"), *link = in_folder("link"), *other = in_folder("other");
    CU_ASSERT_EQUAL(rp_probe_file("-", &err), RP_OK);
    CU_ASSERT_EQUAL(rp_probe_file(path, &err), RP_OK);
    CU_ASSERT_EQUAL(access(path, F_OK), -1);
    CU_ASSERT_EQUAL(rp_write_file(path, "one", 3, &err), RP_OK);
    CU_ASSERT_EQUAL(rp_probe_file(path, &err), RP_OK);
    check_holds(path, "one");
    CU_ASSERT(symlink("a", link) == 0 && symlink("nowhere", other) == 0);
    CU_ASSERT_EQUAL(rp_probe_file(link, &err), RP_OK);
    CU_ASSERT_EQUAL(rp_probe_file(other, &err), RP_ENV);
    free(path);
    free(link);
    free(other);
    remove_folder((const char *const[]){"a", "link", "other", NULL});
    err.msg[0] = '\0';
    CU_ASSERT_EQUAL(rp_probe_file("/nonexistent/x", &err), RP_ENV);
    CU_ASSERT_STRING_EQUAL(err.msg, "/nonexistent/x: No such file or directory");
    err.msg[0] = '\0';
    CU_ASSERT_EQUAL(rp_probe_file("/", &err), RP_ENV);
    CU_ASSERT_STRING_EQUAL(err.msg, "/: Is a directory");
    CU_ASSERT_EQUAL(rp_probe_file("/dev/null", &err), RP_OK);
}

static void text_that_is_not_utf8_is_written_as_json_all_the_same(void) {
    char *text;
    size_t len;
    FILE *f = rp_text_open(&text, &len);
    rp_json_put_string(f, "a\xff\"b");
    rp_text_close(f);
    CU_ASSERT_STRING_EQUAL(text, "\"a?\\\"b\"");
    free(text);
}

static void sizes_are_shown_with_units_and_to_the_byte(void) {
    CU_ASSERT_STRING_EQUAL(rp_show_exactly(88).s, "88 bytes");
    CU_ASSERT_STRING_EQUAL(rp_show_exactly(1023).s, "1023 bytes");
    CU_ASSERT_STRING_EQUAL(rp_show_exactly(2336759912).s, "2.18 GiB (2336759912 bytes)");
    CU_ASSERT_STRING_EQUAL(rp_show_exactly(RP_MAX_QUANTITY).s,
                           "8388608 TiB (9223372036854775807 bytes)");
}

/* What is advised as a budget is no less than what is needed, and little more. */
static void a_budget_to_try_is_rounded_up(void) {
    CU_ASSERT_STRING_EQUAL(rp_show_budget(1023).s, "1023");
    CU_ASSERT_STRING_EQUAL(rp_show_budget(1024).s, "1.00KiB");
    CU_ASSERT_STRING_EQUAL(rp_show_budget(1025).s, "1.01KiB");
    CU_ASSERT_STRING_EQUAL(rp_show_budget(2842107912).s, "2.65GiB");
    CU_ASSERT_STRING_EQUAL(rp_show_budget((UINT64_C(10) << 30) - 1).s, "10.00GiB");
    CU_ASSERT_STRING_EQUAL(rp_show_budget((UINT64_C(1023) << 20) + 1).s, "1024MiB");
    for (uint64_t bytes = 1; bytes < RP_MAX_QUANTITY / 3; bytes += bytes / 7 + 1) {
        uint64_t read = 0;
        CU_ASSERT_TRUE(rp_parse_bytes(rp_show_budget(bytes).s, &read));
        CU_ASSERT_TRUE(read >= bytes && read - bytes <= bytes / 100);
    }
}

/* The first numbers of the generators' published reference programs. */
static void random_numbers_are_those_of_the_published_generators(void) {
    uint64_t state = 0;
    CU_ASSERT_EQUAL(rp_splitmix64(&state), UINT64_C(0xe220a8397b1dcdaf));
    CU_ASSERT_EQUAL(rp_splitmix64(&state), UINT64_C(0x6e789e6aa1b965f4));
    state = 1;
    CU_ASSERT_EQUAL(rp_xorshift64(&state), UINT64_C(5180492295206395165));
    CU_ASSERT_EQUAL(state, UINT64_C(0x2000001));
}

static void random_numbers_stay_in_their_range(void) {
    uint64_t state = 1;
    bool seen[3] = {false};
    double sum = 0;
    for (int i = 0; i < 1000; i++) {
        uint32_t k = rp_random_below(&state, 3);
        double x = rp_random_unit(&state);
        CU_ASSERT_TRUE_FATAL(k < 3);
        CU_ASSERT_TRUE(x >= 0 && x < 1);
        seen[k] = true;
        sum += x;
    }
    CU_ASSERT_TRUE(seen[0] && seen[1] && seen[2]);
    CU_ASSERT_TRUE(sum > 450 && sum < 550);
}

static bool is_smaller(const void *context, const void *a, const void *b) {
    const uint16_t *key = context, *i = a, *j = b;
    return key[*i] != key[*j] ? key[*i] < key[*j] : *i > *j;
}

/* Keys 0 .. 6 occur many times, so that the second comparison counts too. */
static void a_heap_gives_elements_in_order(void) {
    RP_VEC(uint16_t) heap = {0};
    uint16_t key[200], last = 0;
    uint64_t state = 1;
    for (uint16_t i = 0; i < 200; i++) {
        key[i] = (uint16_t)rp_random_below(&state, 7);
        rp_push(&heap, i);
        rp_heap_push(heap.at, heap.n, sizeof *heap.at, is_smaller, key);
    }
    for (int n = 0; n < 200; n++) {
        rp_heap_pop(heap.at, heap.n, sizeof *heap.at, is_smaller, key);
        uint16_t i = heap.at[--heap.n];
        CU_ASSERT_TRUE(n == 0 || is_smaller(key, &last, &i));
        last = i;
    }
    free(heap.at);
}

static void the_larger_and_the_smaller_of_two_numbers(void) {
    CU_ASSERT_EQUAL(rp_max_u64(UINT64_MAX, 1), UINT64_MAX);
    CU_ASSERT_EQUAL(rp_max_u64(1, UINT64_MAX), UINT64_MAX);
    CU_ASSERT_EQUAL(rp_min_u64(UINT64_MAX, 1), 1);
    CU_ASSERT_EQUAL(rp_min_u64(1, UINT64_MAX), 1);
    CU_ASSERT_EQUAL(rp_max_u32(2, 1), 2);
    CU_ASSERT_EQUAL(rp_max_u32(1, 2), 2);
    CU_ASSERT_EQUAL(rp_min_u32(2, 1), 1);
    CU_ASSERT_EQUAL(rp_min_u32(1, 2), 1);
    CU_ASSERT_EQUAL(rp_max_double(-1, 0.5), 0.5);
    CU_ASSERT_EQUAL(rp_max_double(0.5, -1), 0.5);
    CU_ASSERT_EQUAL(rp_gcd_u64(0, 6), 6);
    CU_ASSERT_EQUAL(rp_gcd_u64(6, 0), 6);
    CU_ASSERT_EQUAL(rp_gcd_u64(12, 18), 6);
}

void suite_base(void) {
    RP_SUITE("base");
    RP_TEST(digests_are_those_of_the_standard);
    RP_TEST(sizes_are_read_as_written);
    RP_TEST(options_may_stand_anywhere);
    RP_TEST(what_a_command_requires_must_be_there);
    RP_TEST(a_wrong_option_is_named);
    RP_TEST(messages_hold_no_control_characters);
    RP_TEST(sums_stop_at_63_bits);
    RP_TEST(the_larger_and_the_smaller_of_two_numbers);
    RP_TEST(random_numbers_are_those_of_the_published_generators);
    RP_TEST(random_numbers_stay_in_their_range);
    RP_TEST(a_heap_gives_elements_in_order);
    RP_TEST(sizes_are_shown_with_units_and_to_the_byte);
    RP_TEST(a_budget_to_try_is_rounded_up);
    RP_TEST(a_written_file_replaces_the_old_one_and_keeps_its_mode);
    RP_TEST(a_link_is_written_through_and_stays_a_link);
    RP_TEST(what_cannot_be_read_or_written_is_named);
    RP_TEST(a_probe_says_what_writing_would_and_leaves_nothing_behind);
    RP_TEST(text_that_is_not_utf8_is_written_as_json_all_the_same);
}
