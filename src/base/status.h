/* err: one result code from the deepest function to the process's exit status. */
#ifndef RP_BASE_STATUS_H
#define RP_BASE_STATUS_H

typedef enum rp_rc {
    RP_OK = 0,    /* did what was asked (a plan that is not proven best is still 0) */
    RP_NO = 1,    /* sound negative answer: infeasible, plan rejected */
    RP_USAGE = 2, /* wrong command line */
    RP_INPUT = 3, /* a file we do not accept */
    RP_LIMIT = 4, /* a limit came before any answer */
    RP_ENV = 5,   /* disk, memory, driver, missing library */
    RP_BUG = 6    /* our own self-check failed */
} rp_rc;

/* The first message recorded wins; rp_clean_text has been over it. */
struct rp_err {
    char msg[1024];
};

/* Records the message unless one is there already, and returns `rc`, so that leaves can
 * `return rp_fail(...)`. */
rp_rc rp_fail(struct rp_err *err, rp_rc rc, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Names come from files, and nothing in them may move the reader's cursor: control
 * characters and bytes that are not UTF-8 become '?'. */
void rp_clean_text(char *text);

#endif
