/* Tests of how files are read and written. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"
#include "base/mem.h"
#include "run.h"

static char *folder; /* each test removes the folder it made */

static char *path_in_folder(const char *name) {
    return rp_format("%s/%s", folder, name);
}

static void make_folder(void) {
    folder = rp_strdup("/tmp/remat-plan-test-XXXXXX");
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
}

static void remove_folder(const char *const *names) {
    for (; *names != NULL; names++) {
        char *path = path_in_folder(*names);
        unlink(path);
        free(path);
    }
    CU_ASSERT_EQUAL(rmdir(folder), 0); /* fails if a file was left behind */
    free(folder);
}

static void check_contents(const char *path, const char *want) {
    char *text = NULL;
    size_t len = 0;
    struct rp_err err = {{0}};
    CU_ASSERT_EQUAL_FATAL(rp_read_file(path, &text, &len, &err), RP_OK);
    CU_ASSERT_STRING_EQUAL(text, want);
    CU_ASSERT_EQUAL(len, strlen(want));
    free(text);
}

static void writing_replaces_a_file_and_keeps_its_mode(void) {
    struct rp_err err = {{0}};
    struct stat st;
    make_folder();
    char *path = path_in_folder("a");
    CU_ASSERT_EQUAL(rp_write_file(path, "one", 3, &err), RP_OK);
    check_contents(path, "one");
    CU_ASSERT_EQUAL(chmod(path, 0640), 0);
    CU_ASSERT_EQUAL(rp_write_file(path, "two", 3, &err), RP_OK);
    check_contents(path, "two");
    CU_ASSERT(stat(path, &st) == 0 && (st.st_mode & 07777) == 0640);
    free(path);
    remove_folder((const char *const[]){"a", NULL});
}

static void writing_through_a_link_keeps_the_link(void) {
    struct rp_err err = {{0}};
    struct stat st;
    make_folder();
    char *path = path_in_folder("a"), *link = path_in_folder("link");
    CU_ASSERT_EQUAL(rp_write_file(path, "one", 3, &err), RP_OK);
    CU_ASSERT_EQUAL(symlink("a", link), 0);
    CU_ASSERT_EQUAL(rp_write_file(link, "two", 3, &err), RP_OK);
    check_contents(path, "two");
    CU_ASSERT(lstat(link, &st) == 0 && S_ISLNK(st.st_mode));
    unlink(path);
    CU_ASSERT_EQUAL(rp_write_file(link, "two", 3, &err), RP_ENV);
    free(path);
    free(link);
    remove_folder((const char *const[]){"link", NULL});
}

static void errors_name_the_file_and_the_reason(void) {
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

static void a_probe_predicts_whether_writing_works_and_leaves_no_file(void) {
    struct rp_err err = {{0}};
    make_folder();
    char *path = path_in_folder("a"), *link = path_in_folder("link"),
         *other = path_in_folder("other");
    CU_ASSERT_EQUAL(rp_probe_file("-", &err), RP_OK);
    CU_ASSERT_EQUAL(rp_probe_file(path, &err), RP_OK);
    CU_ASSERT_EQUAL(access(path, F_OK), -1);
    CU_ASSERT_EQUAL(rp_write_file(path, "one", 3, &err), RP_OK);
    CU_ASSERT_EQUAL(rp_probe_file(path, &err), RP_OK);
    check_contents(path, "one");
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

void suite_io(void) {
    RP_SUITE("io");
    RP_TEST(writing_replaces_a_file_and_keeps_its_mode);
    RP_TEST(writing_through_a_link_keeps_the_link);
    RP_TEST(errors_name_the_file_and_the_reason);
    RP_TEST(a_probe_predicts_whether_writing_works_and_leaves_no_file);
}
