#include "base/log.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/status.h"

static int log_level;

void rp_log_set(int level) {
    log_level = level;
}

void rp_log_by_line(void) {
    static char buffer[8192]; /* a line has 4096 */
    setvbuf(stderr, buffer, _IOLBF, sizeof buffer);
}

int rp_log_level(void) {
    return log_level;
}

static double seconds_of(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double rp_seconds(void) {
    return seconds_of(CLOCK_MONOTONIC);
}

double rp_thread_seconds(void) {
    return seconds_of(CLOCK_THREAD_CPUTIME_ID);
}

static double seconds_in(struct timeval t) {
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

double rp_process_seconds(void) {
    struct rusage own, children;
    getrusage(RUSAGE_SELF, &own);
    getrusage(RUSAGE_CHILDREN, &children);
    return seconds_in(own.ru_utime) + seconds_in(own.ru_stime) +
           seconds_in(children.ru_utime) + seconds_in(children.ru_stime);
}

/* ---- colours ---- */

/* True if escape sequences may be written there. */
static bool is_terminal(int fd) {
    const char *term = getenv("TERM");
    return isatty(fd) && term != NULL && strcmp(term, "dumb") != 0;
}

void rp_put_styled(enum rp_style style, const char *text, FILE *f) {
    static const char *const codes[] = {
        [RP_HEADING] = "1",  [RP_ASIDE] = "2",  [RP_GOOD] = "32",
        [RP_WARNING] = "33", [RP_BAD] = "1;31",
    };
    const char *no_color = getenv("NO_COLOR");
    if (is_terminal(fileno(f)) && (no_color == NULL || no_color[0] == '\0'))
        fprintf(f, "\033[%sm%s\033[m", codes[style], text);
    else
        fputs(text, f);
}

/* ---- progress ---- */

/* What the line consists of, and when it was drawn. */
static struct {
    bool off, shown;
    double begin, drawn; /* rp_seconds(): of the first line, of the last; 0: none */
    double after_s, left_s;
    char task[128], state[192];
} progress;

bool rp_shows_progress(void) {
    return !progress.off && log_level >= 0 && is_terminal(STDERR_FILENO);
}

static void erase(void) {
    if (progress.shown) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
    }
    progress.shown = false;
}

/* Writes "48 s", "1 min 40 s" or "2 h 5 min". */
static void show_seconds(double seconds, char text[32]) {
    unsigned long s = (unsigned long)(seconds < 0     ? 0
                                      : seconds > 1e9 ? 1e9
                                                      : seconds + 0.5);
    if (s < 60)
        snprintf(text, 32, "%lu s", s);
    else if (s < 3600)
        snprintf(text, 32, "%lu min %lu s", s / 60, s % 60);
    else
        snprintf(text, 32, "%lu h %lu min", s / 3600, s / 60 % 60);
}

static void draw(void) {
    char line[512], time[32];
    struct winsize size = {0};
    double now = rp_seconds(), left_s = progress.left_s + progress.after_s;
    bool limited = isfinite(left_s) && left_s > 0;
    if (progress.begin == 0)
        progress.begin = now;
    progress.drawn = now;
    show_seconds(limited ? left_s : now - progress.begin, time);
    int n = snprintf(line, sizeof line, "%s%s%s%s %s%s%s", progress.task,
                     progress.task[0] != '\0' ? ", " : "", limited ? "at most " : "", time,
                     limited ? "left" : "so far", progress.state[0] != '\0' ? ": " : "",
                     progress.state);
    ioctl(STDERR_FILENO, TIOCGWINSZ, &size);
    if (size.ws_col > 0 && n >= size.ws_col)
        line[size.ws_col - 1] = '\0';
    erase();
    rp_put_clean(line, stderr);
    fflush(stderr);
    progress.shown = true;
}

void rp_progress_task(double own_s, double after_s, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(progress.task, sizeof progress.task, fmt, ap);
    va_end(ap);
    progress.after_s = after_s;
    progress.left_s = own_s;
    progress.state[0] = '\0';
    if (rp_shows_progress())
        draw();
}

void rp_progress(double left_s, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(progress.state, sizeof progress.state, fmt, ap);
    va_end(ap);
    progress.left_s = left_s;
    if (rp_shows_progress())
        draw();
}

bool rp_progress_due(void) {
    return progress.shown && rp_seconds() > progress.drawn + 0.2;
}

void rp_progress_end(void) {
    erase();
    progress.task[0] = progress.state[0] = '\0';
    progress.after_s = 0;
}

void rp_progress_off(void) {
    progress.off = true;
}

/* ---- messages ---- */

void rp_log(int level, const char *fmt, ...) {
    if (level > log_level)
        return;
    erase();
    char line[4096];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    if (level > 0)
        fputs("remat-plan:", stderr);
    else
        rp_put_styled(level < 0 ? RP_BAD : RP_WARNING, "remat-plan:", stderr);
    fputc(' ', stderr);
    rp_put_clean(line, stderr);
    fputc('\n', stderr);
}
