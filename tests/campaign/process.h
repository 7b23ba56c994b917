/* process: runs a program and says how it ended, how long it took and what it wrote. */
#ifndef RP_CAMPAIGN_PROCESS_H
#define RP_CAMPAIGN_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct cam_order {
    const char *folder; /* where it runs; NAME.out and NAME.err are written there */
    const char *name;
    char *const *argv; /* argv[0] is the path of the program */
    int signals[2];    /* sent to it, 0: none; SIGPIPE must not end it */
    double signal_after_s[2];
    double give_up_s; /* then it is killed: it hangs */
};

struct cam_ended {
    int code, signal; /* exit code, or -1 and the signal that ended it */
    bool hung;
    double wall_s;
    double busy_s;       /* wall time without waiting for a core; at most the CPU time */
    double after_sign_s; /* the same since the first signal that ends it, or -1 */
    char *out, *err;     /* what it wrote; the caller frees both */
    size_t out_len, err_len;
};

void cam_run(const struct cam_order *order, struct cam_ended *e);
void cam_ended_fini(struct cam_ended *e);

/* Loops that keep processors busy beside a program, for two minutes at most. */
enum { CAM_MOST_LOOPS = 6 };
struct cam_load {
    pid_t loops[CAM_MOST_LOOPS];
    int n;
};
void cam_load_begin(struct cam_load *load, int n);
void cam_load_end(struct cam_load *load);

#endif
