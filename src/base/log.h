/* log: messages and progress on standard error. Standard output belongs to the commands.
 *
 * Not thread-safe: one thread logs and shows progress. */
#ifndef RP_BASE_LOG_H
#define RP_BASE_LOG_H

#include <stdbool.h>
#include <stdio.h>

/* -1: errors only (-q), 0: default, 1: -v, 2: -vv, 3: -vvv (see RP_LOG). Set once, when the
 * options are parsed. */
void rp_log_set(int level);
int rp_log_level(void);
/* From now on a message is one write, so that those of several processes do not mix. Before
 * anything is written to standard error. */
void rp_log_by_line(void);

/* Prints one line "remat-plan: ..." if the level is at least `level`. */
void rp_log(int level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Prints a line for developers of remat-plan with -vvv, if built with `make DEBUG=1`.
 * Without that it costs nothing: the compiler checks the arguments, but they are not
 * evaluated. */
#ifdef RP_DEBUG
#define RP_LOG(...) rp_log(3, __VA_ARGS__)
#else
#define RP_LOG(...)                                                                        \
    do {                                                                                   \
        if (false)                                                                         \
            rp_log(3, __VA_ARGS__);                                                        \
    } while (0)
#endif

/* ---- colours ----
 *
 * Only on a terminal that knows them, and not if the environment has NO_COLOR
 * (https://no-color.org). */

enum rp_style { RP_HEADING, RP_ASIDE, RP_GOOD, RP_WARNING, RP_BAD };
void rp_put_styled(enum rp_style style, const char *text, FILE *f);

/* ---- progress: one line on a terminal that says how the work goes ----
 *
 * "TASK, at most 1 min 40 s left: STATE", cut at the right edge. The next one or a message
 * replaces it, and nothing of it stays. Only if standard error is a terminal that can erase
 * a line, and not with -q. */

/* Begins a task that is one of several: "point 3 of 12". It takes at most `own_s` seconds,
 * and those after it `after_s`; NAN if that is not known. */
void rp_progress_task(double own_s, double after_s, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Shows the state of the task, or of all the work if it has no tasks. `left_s` is how long
 * it takes at most. If nothing is left of that, or if it or `after_s` is not finite, the
 * line says how long the work has taken so far. */
void rp_progress(double left_s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* True if the line is shown and is older than a fifth of a second: for frequent calls. */
bool rp_progress_due(void);

bool rp_shows_progress(void); /* for programs that are run and show their own */
void rp_progress_end(void);   /* erases the line; a report may follow */

/* No more of it: for a forked process. Its parent's line stays until a message comes. */
void rp_progress_off(void);

/* Seconds on a monotonic clock. For limits and reports only: no decision of a search may
 * depend on it. */
double rp_seconds(void);

/* Seconds of processor time that this thread has taken. For reports only. */
double rp_thread_seconds(void);
/* The same of all threads, and of the child processes that have ended. */
double rp_process_seconds(void);

#endif
