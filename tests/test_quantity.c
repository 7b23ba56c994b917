/* Tests of how sizes and shares are parsed. */
#include "cmd/quantity.h"

#include <errno.h>

#include "base/format.h"
#include "base/mem.h"
#include "run.h"

static void shares_are_exact(void) {
    uint64_t part;
    CU_ASSERT(rp_parse_share("100%", INT64_MAX, &part) && part == INT64_MAX);
    CU_ASSERT(rp_parse_share("50%", INT64_MAX, &part) && part == INT64_MAX / 2);
    CU_ASSERT(rp_parse_share("33.3%", 1000, &part) && part == 333);
    CU_ASSERT(rp_parse_share("0.1%", 999, &part) && part == 0);
    static const char *const bad[] = {
        "", "%", "0%", "-1%", "1.%", "5%%", "5", "nan%", "99999999999999999999%"};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
        CU_ASSERT(!rp_parse_share(bad[k], 1000, &part));
    CU_ASSERT(!rp_parse_share("101%", INT64_MAX, &part));
}

static void sizes_are_parsed(void) {
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
        {"9223372036854775807.0", INT64_MAX},
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

/* An error of the C library from before is none of this number. */
static void numbers_are_parsed_after_an_error(void) {
    uint64_t n = 0;
    double x = 0;
    errno = ERANGE;
    CU_ASSERT(rp_parse_nat("5", &n) && n == 5);
    errno = ERANGE;
    CU_ASSERT(rp_parse_number("2.5", &x) && x == 2.5);
}

/* A suggested budget is at least the bytes needed, and at most 1% more. */
static void a_suggested_budget_is_rounded_up(void) {
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

void suite_quantity(void) {
    RP_SUITE("quantity");
    RP_TEST(sizes_are_parsed);
    RP_TEST(shares_are_exact);
    RP_TEST(numbers_are_parsed_after_an_error);
    RP_TEST(a_suggested_budget_is_rounded_up);
}
