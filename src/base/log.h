/* log: what goes to standard error. Standard output belongs to the commands. */
#ifndef RP_BASE_LOG_H
#define RP_BASE_LOG_H

#include <stdbool.h>

/* -1: errors only (-q), 0: default, 1: -v, 2: -vv. Set once by a command's options. */
void rp_log_set(int level);
int rp_log_level(void);

/* One line "remat-plan: ..." on standard error; shown from `level` up. */
void rp_log(int level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* A line for developers of this program, on -vvv. Costs nothing unless built with
 * `make DEBUG=1`: the arguments are checked by the compiler and not evaluated. */
#ifdef RP_DEBUG
#define RP_LOG(...) rp_log(3, __VA_ARGS__)
#else
#define RP_LOG(...)                                                                        \
    do {                                                                                   \
        if (false)                                                                         \
            rp_log(3, __VA_ARGS__);                                                        \
    } while (0)
#endif

/* One line that the next progress or log call replaces. Shown only on a terminal, not with
 * -q, and at most five times a second. An empty text clears it. */
void rp_progress(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Seconds on a clock that never goes back; for limits and reports only, never for choices.
 */
double rp_seconds(void);

#endif
