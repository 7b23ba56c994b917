#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/status.h"

static int log_level;
static bool progress_shown;
static double progress_time;

void rp_log_set(int level) {
    log_level = level;
}

int rp_log_level(void) {
    return log_level;
}

double rp_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void clear_progress(void) {
    if (progress_shown)
        fputs("\r\033[K", stderr);
    progress_shown = false;
}

void rp_log(int level, const char *fmt, ...) {
    if (level > log_level)
        return;
    clear_progress();
    char line[4096];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    fputs("remat-plan: ", stderr);
    rp_put_clean(line, stderr);
    fputc('\n', stderr);
}

void rp_progress(const char *fmt, ...) {
    if (fmt[0] == '\0') {
        clear_progress();
        return;
    }
    double now = rp_seconds();
    if (log_level < 0 || !isatty(STDERR_FILENO) || now < progress_time + 0.2)
        return;
    progress_time = now;
    clear_progress();
    va_list ap;
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fflush(stderr);
    progress_shown = true;
}
