#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"

void rp_hold_standard_streams(void) {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            /* open() takes the lowest free number, fd. The wrong direction makes its use
             * fail. */
            (void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

const char *rp_path_name(const char *path) {
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

rp_rc rp_read_file(const char *path, char **text, size_t *len, struct rp_err *err) {
    bool is_stdin = strcmp(path, "-") == 0;
    RP_VEC(char) buf = {0};
    rp_rc rc = RP_OK;
    FILE *f = is_stdin ? stdin : fopen(path, "rb");
    if (f == NULL)
        return rp_fail(err, RP_ENV, "%s: %s", rp_path_name(path), strerror(errno));
    do {
        if (buf.cap - buf.n < 65537) {
            buf.cap = 2 * buf.cap + 131072;
            buf.at = rp_realloc(buf.at, buf.cap, 1);
        }
        errno = 0;
        clearerr(f);
        buf.n += fread(buf.at + buf.n, 1, buf.cap - buf.n - 1, f);
    } while (!feof(f) && (!ferror(f) || errno == EINTR));
    if (ferror(f))
        rc = rp_fail(err, RP_ENV, "%s: %s", rp_path_name(path),
                     strerror(errno ? errno : EIO));
    if (!is_stdin)
        fclose(f);
    if (rc != RP_OK) {
        free(buf.at);
        return rc;
    }
    buf.at[buf.n] = '\0';
    *text = buf.at;
    *len = buf.n;
    return RP_OK;
}

bool rp_write_all(int fd, const char *text, size_t len) {
    while (len > 0) {
        ssize_t n = write(fd, text, len);
        if (n <= 0)
            return false;
        text += n;
        len -= (size_t)n;
    }
    return true;
}

/* Closes a file that was written, if `ok`, to the end. False, with errno set, if not. */
static bool close_written(int fd, bool ok) {
    int why = errno;
    if (close(fd) != 0 && ok)
        return false;
    errno = why;
    return ok;
}

/* Writes into a device or a pipe. A rename would replace it. A signal ends the wait for a
 * reader, who may never come. */
static rp_rc write_special(const char *path, const char *text, size_t len,
                           struct rp_err *err) {
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool ok = fd >= 0 && close_written(fd, rp_write_all(fd, text, len));
    if (!ok && errno == EINTR)
        return rp_fail(err, RP_LIMIT, "%s: interrupted while writing", path);
    return ok ? RP_OK : rp_fail(err, RP_ENV, "%s: %s", path, strerror(errno));
}

/* Writes and syncs all of `text`. False, with errno set, if that fails. */
static bool write_and_sync(int fd, mode_t mode, const char *text, size_t len) {
    return rp_write_all(fd, text, len) && fchmod(fd, mode) == 0 && fsync(fd) == 0;
}

/* The folder that `path` lies in. The caller frees it. */
static char *folder_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash == NULL   ? rp_strdup(".")
           : slash == path ? rp_strdup("/")
                           : rp_format("%.*s", (int)(slash - path), path);
}

/* A file in the folder of `path` that has no name yet, so that nothing is left of it
 * whatever ends the program. -1: this file system has none. */
static int open_nameless(const char *path) {
    char *folder = folder_of(path);
    int fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    free(folder);
    return fd;
}

/* Names it. A file of that name is replaced: for a moment the new one has another name, one
 * that no other process takes. False, with errno set, if it cannot be named. */
static bool name_file(int fd, const char *path) {
    char *from = rp_format("/proc/self/fd/%d", fd), *folder = folder_of(path);
    char *between = rp_format("%s/.remat-plan.tmp-%ld-%d", folder, (long)getpid(), fd);
    bool ok = linkat(AT_FDCWD, from, AT_FDCWD, path, AT_SYMLINK_FOLLOW) == 0;
    if (!ok && errno == EEXIST) {
        unlink(between); /* of a process that was killed here */
        ok = linkat(AT_FDCWD, from, AT_FDCWD, between, AT_SYMLINK_FOLLOW) == 0 &&
             rename(between, path) == 0;
        int why = errno;
        if (!ok)
            unlink(between);
        errno = why;
    }
    free(from);
    free(folder);
    free(between);
    return ok;
}

/* The same with a name from the start. */
static bool write_named(const char *path, mode_t mode, const char *text, size_t len) {
    char *beside = rp_format("%s.tmp-XXXXXX", path);
    int fd = mkstemp(beside);
    bool ok = fd >= 0 && close_written(fd, write_and_sync(fd, mode, text, len)) &&
              rename(beside, path) == 0;
    int why = errno;
    if (fd >= 0 && !ok)
        unlink(beside);
    free(beside);
    errno = why;
    return ok;
}

static bool write_new(const char *path, mode_t mode, const char *text, size_t len) {
    int fd = open_nameless(path);
    if (fd < 0)
        return write_named(path, mode, text, len);
    bool written = write_and_sync(fd, mode, text, len), named = false;
    if (written)
        named = name_file(fd, path);
    int why = errno;
    close(fd);
    if (written && !named && why == ENOENT) /* without /proc it cannot be named */
        return write_named(path, mode, text, len);
    errno = why;
    return named;
}

/* While there may be a temporary file, the signals that users end a program with wait, so
 * that none of them leaves it behind. */
static void hold_signals(sigset_t *before) {
    static const int ending[] = {SIGHUP, SIGINT, SIGTERM, SIGXCPU};
    sigset_t wait;
    sigemptyset(&wait);
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
        sigaddset(&wait, ending[i]);
    pthread_sigmask(SIG_BLOCK, &wait, before);
}

static rp_rc write_beside(const char *path, mode_t mode, const char *text, size_t len,
                          struct rp_err *err) {
    sigset_t before;
    hold_signals(&before);
    bool ok = write_new(path, mode, text, len);
    int why = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return ok ? RP_OK : rp_fail(err, RP_ENV, "%s: %s", path, strerror(why));
}

/* True if the file exists and is not a regular one. It is written in place, not replaced.
 */
static bool is_special(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && !S_ISREG(st.st_mode);
}

/* Follows a link ("/dev/stdout" is one), because its target is to be replaced and not the
 * link. NULL, with errno set, if the target does not exist. The caller frees the path. */
static char *real_target(const char *path) {
    struct stat st;
    bool is_link = lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
    return is_link ? realpath(path, NULL) : rp_strdup(path);
}

rp_rc rp_write_file(const char *path, const char *text, size_t len, struct rp_err *err) {
    struct stat st;
    if (strcmp(path, "-") == 0) {
        fwrite(text, 1, len, stdout);
        return rp_close_stdout(RP_OK, err);
    }
    if (is_special(path))
        return write_special(path, text, len, err);
    mode_t mask = umask(0);
    umask(mask);
    mode_t mode = stat(path, &st) == 0 ? st.st_mode & 0777 : 0666 & ~mask;
    char *real = real_target(path);
    rp_rc rc = real != NULL ? write_beside(real, mode, text, len, err)
                            : rp_fail(err, RP_ENV, "%s: %s", path, strerror(errno));
    free(real);
    return rc;
}

/* Returns 0 or the errno of the failure. Does not open a pipe, which may have no reader
 * yet.
 */
static int probe_special(const char *path) {
    struct stat st;
    if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
        return EISDIR;
    return access(path, W_OK) == 0 ? 0 : errno;
}

/* Creates a file with a name beside `path` and removes it. Returns 0 or the errno. */
static int probe_named(const char *path) {
    sigset_t before;
    char *beside = rp_format("%s.tmp-XXXXXX", path);
    hold_signals(&before);
    int fd = mkstemp(beside), why = fd < 0 ? errno : 0;
    if (fd >= 0) {
        close(fd);
        unlink(beside);
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    free(beside);
    return why;
}

/* Creates the temporary file of write_beside. Returns 0 or the errno. */
static int probe_beside(const char *path) {
    struct stat st;
    char *real = real_target(path);
    if (real == NULL || (lstat(real, &st) != 0 && errno != ENOENT)) {
        int why = errno;
        free(real);
        return why;
    }
    int fd = open_nameless(real), why = fd < 0 ? probe_named(real) : 0;
    if (fd >= 0)
        close(fd);
    free(real);
    return why;
}

rp_rc rp_probe_file(const char *path, struct rp_err *err) {
    int why = strcmp(path, "-") == 0 ? 0
              : is_special(path)     ? probe_special(path)
                                     : probe_beside(path);
    return why == 0 ? RP_OK : rp_fail(err, RP_ENV, "%s: %s", path, strerror(why));
}

/* What is at the path; "-" is standard input or output. */
static bool is_there(const char *path, bool input, struct stat *st) {
    if (strcmp(path, "-") == 0)
        return fstat(input ? STDIN_FILENO : STDOUT_FILENO, st) == 0;
    return stat(path, st) == 0;
}

static bool is_same(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Would these two be the same file, which neither is yet? */
static bool same_new_file(const char *a, const char *b) {
    const char *a_slash = strrchr(a, '/'), *b_slash = strrchr(b, '/');
    struct stat s, t;
    if (strcmp(a_slash ? a_slash + 1 : a, b_slash ? b_slash + 1 : b) != 0)
        return false;
    char *a_folder = folder_of(a), *b_folder = folder_of(b);
    bool same = stat(a_folder, &s) == 0 && stat(b_folder, &t) == 0 && is_same(&s, &t);
    free(a_folder);
    free(b_folder);
    return same || strcmp(a, b) == 0;
}

bool rp_same_output(const char *a, const char *b) {
    struct stat s, t, null;
    bool a_there = is_there(a, false, &s), b_there = is_there(b, false, &t);
    if (!a_there && !b_there)
        return same_new_file(a, b);
    if (!a_there || !b_there || !is_same(&s, &t))
        return false;
    return stat("/dev/null", &null) != 0 || !is_same(&s, &null);
}

bool rp_replaces(const char *output, const char *input) {
    struct stat s, t;
    return is_there(output, false, &s) && is_there(input, true, &t) && is_same(&s, &t) &&
           (S_ISREG(s.st_mode) || S_ISFIFO(s.st_mode));
}

/* A memory stream fails only if memory runs out. */
FILE *rp_text_open(char **text, size_t *len) {
    FILE *f = open_memstream(text, len);
    if (f == NULL)
        rp_out_of_memory();
    return f;
}

void rp_text_close(FILE *f) {
    if (fclose(f) != 0)
        rp_out_of_memory();
}

rp_rc rp_text_save(FILE *f, char **text, size_t *len, const char *path,
                   struct rp_err *err) {
    rp_text_close(f);
    rp_rc rc = rp_write_file(path, *text, *len, err);
    free(*text);
    return rc;
}

rp_rc rp_close_stdout(rp_rc rc, struct rp_err *err) {
    if (fflush(stdout) == 0 && !ferror(stdout))
        return rc;
    /* Nobody could read the "no", so the failed output is reported instead. */
    if (rc <= RP_NO)
        err->msg[0] = '\0';
    return rp_fail(err, RP_ENV, "cannot write standard output");
}
