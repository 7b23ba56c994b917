/* log: messages and progress on standard error. Standard output belongs to the commands.
 *
 * Not thread-safe: one thread logs and shows progress. */
#ifndef RP_BASE_LOG_H
#define RP_BASE_LOG_H

#include <stdbool.h>

/* -1: errors only (-q), 0: default, 1: -v, 2: -vv, 3: -vvv (see RP_LOG). Set once, when the
 * options are parsed. */
void rp_log_set(int level);
int rp_log_level(void);

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

/* Shows a line that the next progress or log call replaces; an empty text clears it. Only
 * on a terminal, not with -q, and at most five times a second. */
void rp_progress(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Seconds on a monotonic clock. For limits and reports only: no decision of a search may
 * depend on it. */
double rp_seconds(void);

#endif
