#include "profile/inject/out.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_LINE = 4096 };

/* Not stdio, because a child must be able to drop the lines that its parent buffered. */
static struct {
    pthread_mutex_t lock;
    enum { NOT_OPEN, OPEN, CLOSED } state;
    int file; /* while it is open */
    size_t n;
    uint64_t lines;
    char text[1 << 16];
} out = {.lock = PTHREAD_MUTEX_INITIALIZER};

const char *rp_out_folder(void) {
    const char *folder = getenv("REMAT_TRACE");
    return folder != NULL && folder[0] == '/' ? folder : NULL;
}

/* After a write error the file has no end line, so readers see that it is incomplete. */
static void write_out(void) {
    for (size_t done = 0; done < out.n && out.state == OPEN;) {
        ssize_t n = write(out.file, out.text + done, out.n - done);
        if (n >= 0)
            done += (size_t)n;
        else if (errno != EINTR)
            out.state = CLOSED;
    }
    out.n = 0;
}

static void append(const char *line, size_t len) {
    if (out.n + len + 1 > sizeof out.text)
        write_out();
    memcpy(out.text + out.n, line, len);
    out.text[out.n + len] = '\n';
    out.n += len + 1;
    out.lines++;
}

static void open_file(void) {
    char path[MAX_LINE];
    const char *folder = rp_out_folder();
    out.state = CLOSED;
    if (folder == NULL)
        return;
    int n = snprintf(path, sizeof path, "%s/%ld.trace", folder, (long)getpid());
    if (n >= (int)sizeof path)
        return;
    out.file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (out.file < 0)
        return;
    out.state = OPEN;
    char head[64];
    n = snprintf(head, sizeof head, "remat-trace 1 %ld", (long)getpid());
    append(head, (size_t)n);
    write_out();
}

void rp_out_line(const char *fmt, ...) {
    char line[MAX_LINE];
    va_list args;
    int saved = errno; /* this runs within calls of the program */
    va_start(args, fmt);
    int n = vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    if (n >= (int)sizeof line)
        n = sizeof line - 1;
    for (int i = 0; i < n; i++)
        if ((unsigned char)line[i] < ' ')
            line[i] = '?';
    pthread_mutex_lock(&out.lock);
    if (out.state == NOT_OPEN)
        open_file();
    if (out.state == OPEN)
        append(line, (size_t)n);
    pthread_mutex_unlock(&out.lock);
    errno = saved;
}

void rp_out_flush(void) {
    int saved = errno;
    pthread_mutex_lock(&out.lock);
    write_out();
    pthread_mutex_unlock(&out.lock);
    errno = saved;
}

void rp_out_close(void) {
    char line[64];
    pthread_mutex_lock(&out.lock);
    if (out.state == OPEN) {
        int n = snprintf(line, sizeof line, "end %" PRIu64, out.lines);
        append(line, (size_t)n);
        write_out();
        close(out.file);
    }
    out.state = CLOSED;
    pthread_mutex_unlock(&out.lock);
}

void rp_out_before_fork(void) {
    pthread_mutex_lock(&out.lock);
}

void rp_out_in_parent(void) {
    pthread_mutex_unlock(&out.lock);
}

void rp_out_in_child(void) {
    if (out.state == OPEN)
        close(out.file);
    out.state = NOT_OPEN;
    out.n = 0;
    out.lines = 0;
    pthread_mutex_unlock(&out.lock);
}
