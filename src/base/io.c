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

/* Writes and syncs all of `text`, then closes fd. False, with errno set, if that fails. */
static bool write_and_close(int fd, mode_t mode, const char *text, size_t len) {
    bool ok = rp_write_all(fd, text, len) && fchmod(fd, mode) == 0 && fsync(fd) == 0;
    return close_written(fd, ok);
}

/* A temporary file beside `path`. While there is one, the signals that users end a program
 * with wait, so that none of them leaves it behind. */
struct beside {
    char *path;
    int fd; /* -1, with errno set: it could not be made */
    sigset_t signals;
};

static struct beside open_beside(const char *path) {
    struct beside b = {.path = rp_format("%s.tmp-XXXXXX", path)};
    sigset_t wait;
    sigemptyset(&wait);
    sigaddset(&wait, SIGHUP);
    sigaddset(&wait, SIGINT);
    sigaddset(&wait, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &wait, &b.signals);
    b.fd = mkstemp(b.path);
    return b;
}

/* Removes the file unless it was renamed. */
static void end_beside(struct beside *b, bool renamed) {
    if (b->fd >= 0 && !renamed)
        unlink(b->path);
    pthread_sigmask(SIG_SETMASK, &b->signals, NULL);
    free(b->path);
}

static rp_rc write_beside(const char *path, mode_t mode, const char *text, size_t len,
                          struct rp_err *err) {
    struct beside b = open_beside(path);
    bool ok =
        b.fd >= 0 && write_and_close(b.fd, mode, text, len) && rename(b.path, path) == 0;
    int why = errno;
    end_beside(&b, ok);
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

/* Creates the temporary file of write_beside and removes it. Returns 0 or the errno. */
static int probe_beside(const char *path) {
    char *real = real_target(path);
    if (real == NULL)
        return errno;
    struct beside b = open_beside(real);
    int why = b.fd < 0 ? errno : 0;
    if (b.fd >= 0)
        close(b.fd);
    end_beside(&b, false);
    free(real);
    return why;
}

rp_rc rp_probe_file(const char *path, struct rp_err *err) {
    int why = strcmp(path, "-") == 0 ? 0
              : is_special(path)     ? probe_special(path)
                                     : probe_beside(path);
    return why == 0 ? RP_OK : rp_fail(err, RP_ENV, "%s: %s", path, strerror(why));
}

bool rp_same_file(const char *a, const char *b) {
    struct stat s, t;
    if (stat(a, &s) != 0 || stat(b, &t) != 0)
        return strcmp(a, b) == 0;
    return S_ISREG(s.st_mode) && s.st_dev == t.st_dev && s.st_ino == t.st_ino;
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
