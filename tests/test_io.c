/* Tests of how files are read and written. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "base/mem.h"
#include "cmd/interrupt.h"
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

/* Not 0: the signal that comes as soon as a temporary file has been made or written. */
static int signal_after_mkstemp, signal_at_fsync;
static sigset_t blocked_at_fsync;
static bool no_nameless_files;

/* These take the place of the C library's. */

int mkstemp(char *template) {
    int fd = mkostemp(template, 0);
    if (signal_after_mkstemp != 0)
        raise(signal_after_mkstemp);
    return fd;
}

int fsync(int fd) {
    pthread_sigmask(SIG_BLOCK, NULL, &blocked_at_fsync);
    if (signal_at_fsync != 0)
        raise(signal_at_fsync);
    return fdatasync(fd);
}

int open(const char *path, int flags, ...) {
    va_list ap;
    va_start(ap, flags);
    mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(ap, mode_t) : 0;
    va_end(ap);
    if (no_nameless_files && (flags & O_TMPFILE) == O_TMPFILE) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return openat(AT_FDCWD, path, flags, mode);
}

/* A process of its own that SIGTERM ends once it has a temporary file beside `path`. */
static void end_while_writing(const char *path, bool only_probe) {
    struct rp_err err = {{0}};
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        signal(SIGTERM, SIG_DFL);
        no_nameless_files = true;
        signal_after_mkstemp = SIGTERM;
        if (only_probe)
            rp_probe_file(path, &err);
        else
            rp_write_file(path, "whole", 5, &err);
        _exit(0);
    }
    CU_ASSERT_EQUAL_FATAL(waitpid(pid, &status, 0), pid);
    CU_ASSERT(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
}

static void a_signal_leaves_no_temporary_file(void) {
    make_folder();
    char *path = path_in_folder("a");
    end_while_writing(path, true);
    CU_ASSERT_EQUAL(access(path, F_OK), -1);
    end_while_writing(path, false);
    check_contents(path, "whole");
    free(path);
    remove_folder((const char *const[]){"a", NULL});
}

/* Where the file system has files without names. */
static void a_kill_leaves_no_temporary_file(void) {
    struct rp_err err = {{0}};
    int status;
    make_folder();
    char *path = path_in_folder("a");
    int fd = open(folder, O_TMPFILE | O_WRONLY, 0600);
    if (fd >= 0) {
        close(fd);
        CU_ASSERT_EQUAL(rp_write_file(path, "old", 3, &err), RP_OK);
        pid_t pid = fork();
        if (pid == 0) {
            signal_at_fsync = SIGKILL;
            rp_write_file(path, "whole", 5, &err);
            _exit(0);
        }
        CU_ASSERT_EQUAL_FATAL(waitpid(pid, &status, 0), pid);
        CU_ASSERT(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        check_contents(path, "old");
    }
    free(path);
    remove_folder((const char *const[]){"a", NULL}); /* fails if it holds anything else */
}

static void files_without_names_are_not_needed(void) {
    struct rp_err err = {{0}};
    make_folder();
    char *path = path_in_folder("a");
    no_nameless_files = true;
    CU_ASSERT_EQUAL(rp_probe_file(path, &err), RP_OK);
    CU_ASSERT_EQUAL(access(path, F_OK), -1);
    CU_ASSERT_EQUAL(rp_write_file(path, "one", 3, &err), RP_OK);
    CU_ASSERT_EQUAL(rp_write_file(path, "two", 3, &err), RP_OK);
    no_nameless_files = false;
    check_contents(path, "two");
    free(path);
    remove_folder((const char *const[]){"a", NULL});
}

static char *linked(const char *name, const char *to) {
    char *path = path_in_folder(name);
    CU_ASSERT_EQUAL(symlink(to, path), 0);
    return path;
}

static void outputs_are_one_file_by_any_name(void) {
    struct rp_err err = {{0}};
    make_folder();
    char *new = path_in_folder("new"), *old = path_in_folder("old"),
         *dotted = path_in_folder("./new"), *doubled = path_in_folder("/new"),
         *folder_link = linked("folder", "."), *through = path_in_folder("folder/new"),
         *other = path_in_folder("other"), *hard = path_in_folder("hard");
    CU_ASSERT(rp_same_output(new, new) && rp_same_output(new, dotted));
    CU_ASSERT(rp_same_output(new, doubled) && rp_same_output(dotted, through));
    CU_ASSERT(!rp_same_output(new, other) && !rp_same_output(new, "new"));
    CU_ASSERT_EQUAL(rp_write_file(old, "text", 4, &err), RP_OK);
    CU_ASSERT_EQUAL(link(old, hard), 0);
    char *soft = linked("soft", "old");
    CU_ASSERT(rp_same_output(old, hard) && rp_same_output(soft, old));
    CU_ASSERT(!rp_same_output(old, new) && !rp_same_output(new, old));
    CU_ASSERT(rp_replaces(soft, old) && rp_replaces(old, hard) && !rp_replaces(new, old));
    CU_ASSERT(!rp_same_output("/dev/null", "/dev/null"));
    CU_ASSERT(rp_same_output("/dev/full", "/dev/full"));
    CU_ASSERT(!rp_replaces("/dev/null", "/dev/null"));
    char *const all[] = {new,     old,   dotted, doubled, folder_link,
                         through, other, hard,   soft};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        free(all[i]);
    remove_folder((const char *const[]){"old", "folder", "hard", "soft", NULL});
}

/* Only the signals that users end a program with wait while a file is written. */
static void other_signals_do_not_wait(void) {
    struct rp_err err = {{0}};
    sigset_t after;
    make_folder();
    char *path = path_in_folder("a");
    CU_ASSERT_EQUAL(rp_write_file(path, "text", 4, &err), RP_OK);
    pthread_sigmask(SIG_BLOCK, NULL, &after);
    for (int s = 1; s < 32; s++) {
        CU_ASSERT_EQUAL(sigismember(&blocked_at_fsync, s),
                        s == SIGHUP || s == SIGINT || s == SIGTERM || s == SIGXCPU);
        CU_ASSERT_EQUAL(sigismember(&after, s), 0);
    }
    free(path);
    remove_folder((const char *const[]){"a", NULL});
}

static void a_new_file_has_the_mode_that_umask_leaves(void) {
    struct rp_err err = {{0}};
    struct stat st;
    make_folder();
    char *path = path_in_folder("a");
    mode_t before = umask(027);
    CU_ASSERT_EQUAL(rp_write_file(path, "text", 4, &err), RP_OK);
    CU_ASSERT_EQUAL(umask(before), 027);
    CU_ASSERT(stat(path, &st) == 0 && (st.st_mode & 07777) == 0640);
    free(path);
    remove_folder((const char *const[]){"a", NULL});
}

/* The number that the next file gets. */
static int next_descriptor(void) {
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    close(fd);
    return fd;
}

static void no_file_stays_open(void) {
    struct rp_err err = {{0}};
    int before = next_descriptor();
    make_folder();
    rp_hold_standard_streams(); /* all are open */
    char *path = path_in_folder("a");
    CU_ASSERT_EQUAL(rp_probe_file(path, &err), RP_OK);
    CU_ASSERT_EQUAL(rp_write_file(path, "text", 4, &err), RP_OK);
    CU_ASSERT_EQUAL(rp_write_file("/dev/null", "text", 4, &err), RP_OK);
    check_contents(path, "text");
    CU_ASSERT_EQUAL(next_descriptor(), before);
    free(path);
    remove_folder((const char *const[]){"a", NULL});
}

/* The memory of a text may hold an older and longer one. */
static void a_text_ends_where_its_file_does(void) {
    struct rp_err err = {{0}};
    make_folder();
    char *path = path_in_folder("a");
    for (int k = 0; k < 4; k++) {
        CU_ASSERT_EQUAL(rp_write_file(path, "a longer text", 13, &err), RP_OK);
        check_contents(path, "a longer text");
        CU_ASSERT_EQUAL(rp_write_file(path, "text", 4, &err), RP_OK);
        check_contents(path, "text");
    }
    free(path);
    remove_folder((const char *const[]){"a", NULL});
}

/* How many bytes the next calls of write() take at most; the last stays. */
static size_t write_limits[2] = {SIZE_MAX, SIZE_MAX};

/* Takes the place of the C library's. */
ssize_t write(int fd, const void *bytes, size_t n) {
    size_t limit = write_limits[0];
    write_limits[0] = write_limits[1];
    return limit == 0 ? 0 : syscall(SYS_write, fd, bytes, n < limit ? n : limit);
}

static void a_text_is_written_in_as_many_parts_as_it_takes(void) {
    char text[8] = "";
    int fd[2];
    CU_ASSERT_EQUAL_FATAL(pipe(fd), 0);
    write_limits[0] = 3;
    write_limits[1] = 1;
    bool ok = rp_write_all(fd[1], "a text", 6);
    write_limits[0] = 0; /* as if there were no place, and then as if there were */
    write_limits[1] = SIZE_MAX;
    bool nothing_taken = !rp_write_all(fd[1], "!", 1);
    write_limits[0] = SIZE_MAX;
    CU_ASSERT(ok && nothing_taken);
    CU_ASSERT_EQUAL(read(fd[0], text, sizeof text), 6);
    CU_ASSERT_STRING_EQUAL(text, "a text");
    close(fd[0]);
    close(fd[1]);
}

static void do_nothing(int signal_number) {
    (void)signal_number;
}

/* Nobody reads the FIFO. The timer sends a signal again and again, so one comes while the
 * writer waits, and the wait ends. */
static void a_signal_ends_the_wait_for_the_reader_of_a_fifo(void) {
    struct rp_err err = {{0}};
    struct sigaction action = {.sa_handler = do_nothing}, old;
    struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
    make_folder();
    char *path = path_in_folder("fifo");
    CU_ASSERT_EQUAL_FATAL(mkfifo(path, 0600), 0);
    sigaction(SIGALRM, &action, &old);
    setitimer(ITIMER_REAL, &often, NULL);
    CU_ASSERT_EQUAL(rp_write_file(path, "text", 4, &err), RP_LIMIT);
    setitimer(ITIMER_REAL, &never, NULL);
    sigaction(SIGALRM, &old, NULL);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.msg, "interrupted while writing"));
    free(path);
    remove_folder((const char *const[]){"fifo", NULL});
}

/* Signals come all the time while the reader waits for the two parts of the text. */
static void signals_do_not_cut_off_what_is_read(void) {
    struct sigaction action = {.sa_handler = do_nothing}, old;
    struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
    int fd[2];
    CU_ASSERT_EQUAL_FATAL(pipe(fd), 0);
    pid_t pid = fork();
    if (pid == 0) {
        usleep(10000);
        bool ok = rp_write_all(fd[1], "two ", 4);
        usleep(10000);
        _exit(ok && rp_write_all(fd[1], "parts", 5) ? 0 : 1);
    }
    close(fd[1]);
    char *path = rp_format("/dev/fd/%d", fd[0]);
    sigaction(SIGALRM, &action, &old);
    setitimer(ITIMER_REAL, &often, NULL);
    check_contents(path, "two parts");
    setitimer(ITIMER_REAL, &never, NULL);
    sigaction(SIGALRM, &old, NULL);
    CU_ASSERT_EQUAL(waitpid(pid, NULL, 0), pid);
    close(fd[0]);
    free(path);
}

/* Closed standard streams are held by files whose use fails. */
static void closed_standard_streams_are_held(void) {
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        char c;
        for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
            close(fd);
        rp_hold_standard_streams();
        bool failed = read(STDIN_FILENO, &c, 1) < 0 && write(STDOUT_FILENO, "x", 1) < 0 &&
                      write(STDERR_FILENO, "x", 1) < 0;
        _exit(failed && open("/dev/null", O_RDONLY) > STDERR_FILENO ? 0 : 1);
    }
    CU_ASSERT_EQUAL_FATAL(waitpid(pid, &status, 0), pid);
    CU_ASSERT_EQUAL(status, 0);
}

/* A call that waits returns when Ctrl-C comes. */
static void the_handler_of_interrupts_ends_waiting_calls(void) {
    struct sigaction interrupt, terminate, now;
    sigaction(SIGINT, NULL, &interrupt);
    sigaction(SIGTERM, NULL, &terminate);
    CU_ASSERT_PTR_NOT_NULL(rp_watch_interrupts());
    CU_ASSERT_EQUAL(sigaction(SIGINT, NULL, &now), 0);
    CU_ASSERT_EQUAL(now.sa_flags & SA_RESTART, 0);
    sigaction(SIGINT, &interrupt, NULL);
    sigaction(SIGTERM, &terminate, NULL);
}

static void text_is_cleaned_on_its_way_out(void) {
    char *text;
    size_t len;
    FILE *f = rp_text_open(&text, &len);
    rp_put_clean("a\033[1m \302\233 \303\251\177\377", f);
    rp_text_close(f);
    CU_ASSERT_STRING_EQUAL(text, "a\\x1b[1m \\u009b \303\251\\x7f\\xff");
    free(text);
}

void suite_io(void) {
    RP_SUITE("io");
    RP_TEST(writing_replaces_a_file_and_keeps_its_mode);
    RP_TEST(writing_through_a_link_keeps_the_link);
    RP_TEST(errors_name_the_file_and_the_reason);
    RP_TEST(a_probe_predicts_whether_writing_works_and_leaves_no_file);
    RP_TEST(a_signal_leaves_no_temporary_file);
    RP_TEST(a_kill_leaves_no_temporary_file);
    RP_TEST(files_without_names_are_not_needed);
    RP_TEST(outputs_are_one_file_by_any_name);
    RP_TEST(other_signals_do_not_wait);
    RP_TEST(a_new_file_has_the_mode_that_umask_leaves);
    RP_TEST(no_file_stays_open);
    RP_TEST(a_text_ends_where_its_file_does);
    RP_TEST(a_text_is_written_in_as_many_parts_as_it_takes);
    RP_TEST(signals_do_not_cut_off_what_is_read);
    RP_TEST(closed_standard_streams_are_held);
    RP_TEST(a_signal_ends_the_wait_for_the_reader_of_a_fifo);
    RP_TEST(the_handler_of_interrupts_ends_waiting_calls);
    RP_TEST(text_is_cleaned_on_its_way_out);
}
