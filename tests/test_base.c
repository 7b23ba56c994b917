/* Tests of the helpers in src/base that have no suite of their own. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/format.h"
#include "base/io.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/numbers.h"
#include "base/random.h"
#include "base/sha256.h"
#include "run.h"
#include "solve/core/heap.h"

/* FIPS 180-2, appendix B, and NIST's byte-oriented short message vectors. */
static void sha256_gives_the_digests_of_the_standard(void) {
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

static void error_messages_contain_no_control_characters(void) {
    struct rp_err err = {{0}};
    rp_fail(&err, RP_INPUT, "%s",
            "a\033[2J\r\n\x7f \xc2\x9b \xff\xc3 \xc3\xa9 \xed\xa0\x80");
    const char *clean =
        "a\\x1b[2J\\x0d\\x0a\\x7f \\u009b \\xff\\xc3 \xc3\xa9 \\xed\\xa0\\x80";
    CU_ASSERT_STRING_EQUAL(err.msg, clean);
    rp_fail(&err, RP_INPUT, "a later message");
    CU_ASSERT_STRING_EQUAL(err.msg, clean);
}

/* U+00A0 and U+10FFFF are the first and the last of their ranges. C1 and F5 begin none. */
static void text_keeps_the_first_and_the_last_characters(void) {
    char *text =
        rp_clean_copy("\xc2\xa0 \xf4\x8f\xbf\xbf \xf4\x90\x80\x80 \xc1\x80 \xf5\x80");
    CU_ASSERT_STRING_EQUAL(
        text, "\xc2\xa0 \xf4\x8f\xbf\xbf \\xf4\\x90\\x80\\x80 \\xc1\\x80 \\xf5\\x80");
    free(text);
}

/* Each direction mark and each character without width, and the neighbours of their
 * ranges, which are shown. */
static void text_hides_nothing(void) {
    static const struct {
        const char *text, *shown;
    } cases[] = {
        {"\u061b\u061c", "\u061b\\u061c"},
        {"\u200a\u200b\u200f\u2010", "\u200a\\u200b\\u200f\u2010"},
        {"\u2027\u2028\u202a\u202e\u202f", "\u2027\\u2028\\u202a\\u202e\u202f"},
        {"\u205f\u2060\u2066\u2069\u2070", "\u205f\\u2060\\u2066\\u2069\u2070"},
        {"\ufefe\ufeff\uff00", "\ufefe\\ufeff\uff00"},
        {"\U000e0001", "\\U000e0001"},
        {"\ufdff\ufe00\ufe0f\ufe10", "\ufdff\\ufe00\\ufe0f\ufe10"},
        {"\U0001342f\U00013430\U0001343f\U00013440",
         "\U0001342f\\U00013430\\U0001343f\U00013440"},
        {"\U0001bc9f\U0001bca0\U0001bca3\U0001bca4",
         "\U0001bc9f\\U0001bca0\\U0001bca3\U0001bca4"},
        {"\U0001d172\U0001d173\U0001d17a\U0001d17b",
         "\U0001d172\\U0001d173\\U0001d17a\U0001d17b"},
        {"\u00ad\ufffe\uffff", "\\u00ad\\ufffe\\uffff"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *shown = rp_clean_copy(cases[i].text);
        CU_ASSERT_STRING_EQUAL(shown, cases[i].shown);
        free(shown);
    }
}

static void text_is_cut_between_characters(void) {
    char text[8];
    rp_clean_into(text, sizeof text, "abcd\u202e");
    CU_ASSERT_STRING_EQUAL(text, "abcd");
    rp_clean_into(text, sizeof text, "a\u202e");
    CU_ASSERT_STRING_EQUAL(text, "a\\u202e");
    rp_clean_into(text, sizeof text, "abcdef\u00e9");
    CU_ASSERT_STRING_EQUAL(text, "abcdef");
}

static void json_escapes_what_terminals_should_not_get(void) {
    char *text;
    size_t len;
    FILE *f = rp_text_open(&text, &len);
    rp_json_put_string(f, "a\u202e\U000e0001\x7f\u00e9");
    rp_text_close(f);
    CU_ASSERT_STRING_EQUAL(text, "\"a\\u202e\\udb40\\udc01\\u007f\u00e9\"");
    free(text);
}

static void sums_beyond_63_bits_are_refused(void) {
    uint64_t sum = INT64_MAX - 1;
    CU_ASSERT(rp_add(&sum, 1));
    CU_ASSERT(!rp_add(&sum, 1));
    CU_ASSERT(!rp_add(&sum, UINT64_MAX));
    CU_ASSERT_EQUAL(sum, INT64_MAX);
    CU_ASSERT_EQUAL(rp_round_up(1, 512), 512);
    CU_ASSERT_EQUAL(rp_round_up(512, 512), 512);
    CU_ASSERT_EQUAL(rp_round_up(INT64_MAX, INT64_MAX), INT64_MAX);
}

static void text_that_is_not_utf8_becomes_valid_json(void) {
    char *text;
    size_t len;
    FILE *f = rp_text_open(&text, &len);
    rp_json_put_string(f, "a\xff\"b");
    rp_text_close(f);
    CU_ASSERT_STRING_EQUAL(text, "\"a\\\\xff\\\"b\"");
    free(text);
}

static void sizes_are_shown_in_units_and_in_bytes(void) {
    CU_ASSERT_STRING_EQUAL(rp_show_exactly(88).s, "88 bytes");
    CU_ASSERT_STRING_EQUAL(rp_show_exactly(1023).s, "1023 bytes");
    CU_ASSERT_STRING_EQUAL(rp_show_exactly(1024).s, "1.00 KiB (1024 bytes)");
    CU_ASSERT_STRING_EQUAL(rp_show_exactly(2336759912).s, "2.18 GiB (2336759912 bytes)");
    CU_ASSERT_STRING_EQUAL(rp_show_exactly(RP_MAX_QUANTITY).s,
                           "8388608 TiB (9223372036854775807 bytes)");
}

static void sizes_and_times_change_their_unit_before_they_show_it_as_1024(void) {
    CU_ASSERT_STRING_EQUAL(rp_show_bytes(1023).s, "1023 B");
    CU_ASSERT_STRING_EQUAL(rp_show_bytes(1048063).s, "1023 KiB");
    CU_ASSERT_STRING_EQUAL(rp_show_bytes(1048064).s, "1.00 MiB"); /* 1023.5 KiB */
    CU_ASSERT_STRING_EQUAL(rp_show_ns(999).s, "999 ns");
    CU_ASSERT_STRING_EQUAL(rp_show_ns(999499).s, "999 us");
    CU_ASSERT_STRING_EQUAL(rp_show_ns(999500).s, "1.00 ms");
    CU_ASSERT_STRING_EQUAL(rp_show_ns(12345000000000).s, "12345 s");
    CU_ASSERT_STRING_EQUAL(rp_show_budget(UINT64_C(1) << 20).s, "1.00MiB");
    CU_ASSERT_STRING_EQUAL(rp_show_tail(", ", 1).s, ", copies after the last op 1 ns");
    CU_ASSERT_STRING_EQUAL(rp_show_tail(", ", 0).s, "");
}

static void what_is_not_json_has_no_root(void) {
    static const char *const bad[] = {"", "\xef\xbb\xbf", "{"};
    static const char *const why[] = {
        "f: the file is empty", "f: begins with a byte order mark",
        "f: line 1 column 1: string or '}' expected near end of file"};
    json_t other, *root;
    for (size_t k = 0; k < 3; k++) {
        struct rp_err err = {{0}};
        root = &other;
        CU_ASSERT_EQUAL(rp_json_parse(bad[k], strlen(bad[k]), "f", &root, &err), RP_INPUT);
        CU_ASSERT_STRING_EQUAL(err.msg, why[k]);
        CU_ASSERT_PTR_NULL(root);
    }
}

static void *no_memory(size_t n) {
    (void)n;
    return NULL;
}

static void json_without_memory_is_no_fault_of_the_file(void) {
    json_malloc_t allocate;
    json_free_t release;
    json_t *root;
    struct rp_err err = {{0}};
    json_get_alloc_funcs(&allocate, &release);
    json_set_alloc_funcs(no_memory, release);
    CU_ASSERT_EQUAL(rp_json_parse("{}", 2, "f", &root, &err), RP_ENV);
    json_set_alloc_funcs(allocate, release);
    CU_ASSERT_STRING_EQUAL(err.msg, "f: out of memory");
}

/* A process of its own asks for too much. */
static void without_memory_the_process_ends_with_a_message(void) {
    char text[64] = "";
    int fd[2], status;
    CU_ASSERT_EQUAL_FATAL(pipe(fd), 0);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(fd[1], STDERR_FILENO);
        free(rp_realloc(NULL, SIZE_MAX / 8, 8));
        _exit(0);
    }
    close(fd[1]);
    CU_ASSERT_EQUAL_FATAL(waitpid(pid, &status, 0), pid);
    CU_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == RP_ENV);
    CU_ASSERT(read(fd[0], text, sizeof text - 1) > 0);
    CU_ASSERT_STRING_EQUAL(text, "remat-plan: out of memory\n");
    close(fd[0]);
    char *empty = rp_format("%s", "");
    CU_ASSERT_STRING_EQUAL(empty, "");
    free(empty);
}

/* The first outputs of the reference implementations. */
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

/* Many elements have equal keys, so the tie-break is tested as well. */
static void a_heap_returns_its_elements_in_order(void) {
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

static void min_max_and_gcd_are_right(void) {
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
    RP_TEST(sha256_gives_the_digests_of_the_standard);
    RP_TEST(error_messages_contain_no_control_characters);
    RP_TEST(text_keeps_the_first_and_the_last_characters);
    RP_TEST(text_hides_nothing);
    RP_TEST(text_is_cut_between_characters);
    RP_TEST(json_escapes_what_terminals_should_not_get);
    RP_TEST(sums_beyond_63_bits_are_refused);
    RP_TEST(min_max_and_gcd_are_right);
    RP_TEST(random_numbers_are_those_of_the_published_generators);
    RP_TEST(random_numbers_stay_in_their_range);
    RP_TEST(a_heap_returns_its_elements_in_order);
    RP_TEST(sizes_are_shown_in_units_and_in_bytes);
    RP_TEST(sizes_and_times_change_their_unit_before_they_show_it_as_1024);
    RP_TEST(what_is_not_json_has_no_root);
    RP_TEST(json_without_memory_is_no_fault_of_the_file);
    RP_TEST(without_memory_the_process_ends_with_a_message);
    RP_TEST(text_that_is_not_utf8_becomes_valid_json);
}
