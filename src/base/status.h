/* status: one result code from the deepest function to the process's exit code, and the
 * message that goes with it. Not thread-safe: one struct rp_err, one thread. */
#ifndef RP_BASE_STATUS_H
#define RP_BASE_STATUS_H

#include <stdio.h>

typedef enum rp_rc {
    RP_OK = 0,    /* done (also if a plan is not proved optimal) */
    RP_NO = 1,    /* the answer is no: no plan can exist, or the plan is rejected */
    RP_USAGE = 2, /* wrong command line */
    RP_INPUT = 3, /* a file we do not accept */
    RP_LIMIT = 4, /* a limit or an interrupt came before the answer was complete */
    RP_ENV = 5,   /* disk, memory, driver, missing library */
    RP_BUG = 6    /* our check of our own result failed */
} rp_rc;

/* Holds the first message recorded, cleaned by rp_clean_text. Empty: none. */
struct rp_err {
    char msg[1024];
};

/* Records the message, unless there is one already, and returns `rc`, so that a function
 * can `return rp_fail(...)`. */
rp_rc rp_fail(struct rp_err *err, rp_rc rc, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Replaces control characters and bytes that are not UTF-8 by '?'. Names come from files,
 * and must not be able to move the terminal's cursor. */
void rp_clean_text(char *text);

/* Writes `text` as rp_clean_text makes it. All names go through it, unless they go to JSON,
 * which has escapes for them. */
void rp_put_clean(const char *text, FILE *f);

#endif
