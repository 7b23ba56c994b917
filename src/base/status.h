/* status: one result code from the deepest function to the process's exit code, and the
 * message that goes with it. Not thread-safe: one struct rp_err, one thread. */
#ifndef RP_BASE_STATUS_H
#define RP_BASE_STATUS_H

#include <stddef.h>
#include <stdint.h>
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

/* Holds the first message recorded, cleaned by rp_clean_into. Empty: none. */
struct rp_err {
    char msg[1024];
};

/* Records the message, unless there is one already, and returns `rc`, so that a function
 * can `return rp_fail(...)`. */
rp_rc rp_fail(struct rp_err *err, rp_rc rc, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- names on their way to people ----
 *
 * Names come from files. They must not move the terminal's cursor, nor look like others:
 * control characters, those that change the direction of text or take no room, and bytes
 * that are not UTF-8 become escapes such as \x1b and \u202e. All names go through these
 * functions, unless they go to JSON, which has escapes of its own for them. */

/* As much of it as fits, in whole characters. */
void rp_clean_into(char *to, size_t size, const char *text);
/* The caller frees it. */
char *rp_clean_copy(const char *text);
void rp_put_clean(const char *text, FILE *f);
/* The first of these characters, of code *c and *n bytes; NULL: there is none. */
const char *rp_find_hidden(const char *text, uint32_t *c, size_t *n);
/* Between `before` and a newline, which are written as they are. */
void rp_put_clean_line(const char *before, const char *text, FILE *f);

#endif
