#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "base/json_writer.h"
#include "run.h"

/* Calls write() and compares what it wrote. */
static void expect(void (*write)(struct rp_json_writer *w), const char *expected) {
    char *text;
    size_t len;
    FILE *f = rp_text_open(&text, &len);
    struct rp_json_writer w = rp_json_writer_on(f);
    write(&w);
    rp_json_finish(&w);
    rp_text_close(f);
    CU_ASSERT_STRING_EQUAL(text, expected);
    CU_ASSERT_EQUAL(len, strlen(expected));
    free(text);
}

static void write_scalars(struct rp_json_writer *w) {
    rp_json_object(w, NULL);
    rp_json_uint(w, "largest", UINT64_MAX);
    rp_json_int(w, "least", INT64_MIN);
    rp_json_double(w, "seconds", 0.0625, 3);
    rp_json_bool(w, "yes", true);
    rp_json_bool(w, "no", false);
    rp_json_null(w, "nothing");
    rp_json_raw(w, "percent", "12.5000");
    rp_json_end(w);
}

static void every_kind_of_scalar_is_written_in_full(void) {
    expect(write_scalars,
           "{\"largest\":18446744073709551615,\"least\":-9223372036854775808,"
           "\"seconds\":0.062,\"yes\":true,\"no\":false,\"nothing\":null,"
           "\"percent\":12.5000}\n");
}

static void write_nested(struct rp_json_writer *w) {
    rp_json_array(w, NULL);
    rp_json_object(w, NULL);
    rp_json_end(w);
    rp_json_array(w, NULL);
    rp_json_end(w);
    rp_json_object(w, NULL);
    rp_json_array(w, "a");
    rp_json_uint(w, NULL, 1);
    rp_json_array(w, NULL);
    rp_json_uint(w, NULL, 2);
    rp_json_end(w);
    rp_json_uint(w, NULL, 3);
    rp_json_end(w);
    rp_json_object(w, "b");
    rp_json_bool(w, "c", true);
    rp_json_end(w);
    rp_json_null(w, "d");
    rp_json_end(w);
    rp_json_end(w);
}

static void commas_separate_items_at_every_depth(void) {
    expect(write_nested, "[{},[],{\"a\":[1,[2],3],\"b\":{\"c\":true},\"d\":null}]\n");
}

static void write_strings(struct rp_json_writer *w) {
    rp_json_object(w, NULL);
    rp_json_string(w, "plain", "caf\xc3\xa9/x");
    rp_json_string(w, "escaped", "a\"b\\c\nd\x01");
    rp_json_string(w, "not UTF-8",
                   "a\xff"
                   "b");
    rp_json_string(w, "key \"quoted\"", "");
    rp_json_end(w);
}

static void strings_and_keys_are_escaped(void) {
    expect(write_strings,
           "{\"plain\":\"caf\xc3\xa9/x\",\"escaped\":\"a\\\"b\\\\c\\nd\\u0001\","
           "\"not UTF-8\":\"a\\\\xffb\",\"key \\\"quoted\\\"\":\"\"}\n");
}

static void write_value(struct rp_json_writer *w) {
    json_t *value = json_pack("{s:i, s:[s]}", "x", 1, "y", "z");
    rp_json_array(w, NULL);
    rp_json_value(w, NULL, value);
    rp_json_value(w, NULL, value);
    rp_json_end(w);
    json_decref(value);
}

static void a_jansson_value_is_written_compactly(void) {
    expect(write_value, "[{\"x\":1,\"y\":[\"z\"]},{\"x\":1,\"y\":[\"z\"]}]\n");
}

static void write_lines(struct rp_json_writer *w) {
    rp_json_object(w, NULL);
    rp_json_uint(w, "version", 1);
    rp_json_newline(w);
    rp_json_array(w, "ops");
    for (unsigned i = 0; i < 2; i++) {
        rp_json_newline(w);
        rp_json_array(w, NULL);
        rp_json_uint(w, NULL, i);
        rp_json_end(w);
    }
    rp_json_newline(w);
    rp_json_end(w);
    rp_json_end(w);
}

static void a_newline_follows_the_comma_of_the_item_before(void) {
    expect(write_lines, "{\"version\":1,\n\"ops\":[\n[0],\n[1]\n]}\n");
}

/* Does misuse() end the process by an assert? The message is discarded. */
static bool aborts(void (*misuse)(struct rp_json_writer *w)) {
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        FILE *f =
            freopen("/dev/null", "w", stderr) != NULL ? fopen("/dev/null", "w") : NULL;
        struct rp_json_writer w = rp_json_writer_on(f);
        if (f != NULL)
            misuse(&w);
        _exit(0);
    }
    int status = 0;
    CU_ASSERT_EQUAL_FATAL(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static void leave_open(struct rp_json_writer *w) {
    rp_json_array(w, NULL);
    rp_json_finish(w);
}

static void write_nothing(struct rp_json_writer *w) {
    rp_json_finish(w);
}

static void write_two_values(struct rp_json_writer *w) {
    rp_json_null(w, NULL);
    rp_json_null(w, NULL);
}

static void close_twice(struct rp_json_writer *w) {
    rp_json_array(w, NULL);
    rp_json_end(w);
    rp_json_end(w);
}

static void put_key_in_array(struct rp_json_writer *w) {
    rp_json_array(w, NULL);
    rp_json_null(w, "key");
}

static void leave_key_out(struct rp_json_writer *w) {
    rp_json_object(w, NULL);
    rp_json_null(w, NULL);
}

static void nest_too_deeply(struct rp_json_writer *w) {
    for (int i = 0; i <= RP_JSON_MAX_DEPTH; i++)
        rp_json_array(w, NULL);
}

static void nest_deeply(struct rp_json_writer *w) {
    for (int i = 0; i < RP_JSON_MAX_DEPTH; i++)
        rp_json_array(w, NULL);
    for (int i = 0; i < RP_JSON_MAX_DEPTH; i++)
        rp_json_end(w);
}

static void misuse_fails_an_assert(void) {
    CU_ASSERT(!aborts(nest_deeply));
    CU_ASSERT(aborts(leave_open));
    CU_ASSERT(aborts(write_nothing));
    CU_ASSERT(aborts(write_two_values));
    CU_ASSERT(aborts(close_twice));
    CU_ASSERT(aborts(put_key_in_array));
    CU_ASSERT(aborts(leave_key_out));
    CU_ASSERT(aborts(nest_too_deeply));
}

void suite_json_writer(void) {
    RP_SUITE("json_writer");
    RP_TEST(every_kind_of_scalar_is_written_in_full);
    RP_TEST(commas_separate_items_at_every_depth);
    RP_TEST(strings_and_keys_are_escaped);
    RP_TEST(a_jansson_value_is_written_compactly);
    RP_TEST(a_newline_follows_the_comma_of_the_item_before);
    RP_TEST(misuse_fails_an_assert);
}
