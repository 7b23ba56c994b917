#include "process.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"
#include "base/mem.h"

static double now_s(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void redirect(const char *path, int flags, int fd) {
    int file = open(path, flags, 0666);
    if (file < 0 || dup2(file, fd) < 0)
        _exit(127);
    close(file);
}

static pid_t start(const struct cam_order *o, const char *out, const char *err) {
    fflush(NULL);
    /* Shells start what is in the background with it ignored, and it may come at once. */
    signal(SIGINT, SIG_DFL);
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    setpgid(0, 0);
    redirect("/dev/null", O_RDONLY, 0);
    redirect(out, O_WRONLY | O_CREAT | O_TRUNC, 1);
    redirect(err, O_WRONLY | O_CREAT | O_TRUNC, 2);
    if (chdir(o->folder) != 0)
        _exit(127);
    execv(o->argv[0], o->argv);
    _exit(127);
}

/* How long the main thread has waited for a core. Readable until the process is reaped. */
static double waited_s(pid_t pid) {
    char path[64];
    unsigned long long ran, waited = 0;
    snprintf(path, sizeof path, "/proc/%d/schedstat", (int)pid);
    FILE *f = fopen(path, "r");
    if (f == NULL)
        return 0;
    if (fscanf(f, "%llu %llu", &ran, &waited) != 2)
        waited = 0;
    fclose(f);
    return 1e-9 * (double)waited;
}

static double cpu_s(const struct rusage *u) {
    return (double)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) +
           1e-6 * (double)(u->ru_utime.tv_usec + u->ru_stime.tv_usec);
}

static double least(double a, double b) {
    return a < b ? a : b;
}

/* Waits for the end without reaping, and sends the signals when they are due. */
static void watch(const struct cam_order *o, pid_t pid, double begin, double *signalled,
                  double *waited_then, struct cam_ended *e) {
    siginfo_t info;
    int sent = 0;
    for (double t = 0;; t = now_s() - begin) {
        info.si_pid = 0;
        if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
            info.si_pid != 0)
            return;
        while (sent < 2 && o->signals[sent] != 0 && t >= o->signal_after_s[sent]) {
            if (*signalled == 0 && o->signals[sent] != SIGPIPE) {
                *signalled = now_s();
                *waited_then = waited_s(pid);
            }
            kill(pid, o->signals[sent++]);
        }
        if (t > o->give_up_s && t > o->give_up_s + waited_s(pid)) {
            e->hung = true;
            kill(-pid, SIGKILL);
        }
        usleep(t < 0.05 ? 200 : 2000);
    }
}

void cam_run(const struct cam_order *o, struct cam_ended *e) {
    struct rusage usage;
    struct rp_err ignored = {{0}};
    double begin = now_s(), signalled = 0, waited_then = 0;
    int status = 0;
    char *out = rp_format("%s/%s.out", o->folder, o->name);
    char *err = rp_format("%s/%s.err", o->folder, o->name);
    *e = (struct cam_ended){.code = -1, .after_sign_s = -1};
    pid_t pid = start(o, out, err);
    if (pid < 0)
        abort();
    watch(o, pid, begin, &signalled, &waited_then, e);
    double waited = waited_s(pid), end = now_s();
    wait4(pid, &status, 0, &usage);
    kill(-pid, SIGKILL); /* what it may have left behind */
    e->wall_s = end - begin;
    e->busy_s = least(e->wall_s - waited, cpu_s(&usage));
    if (signalled > 0)
        e->after_sign_s = least(end - signalled - (waited - waited_then), cpu_s(&usage));
    if (WIFEXITED(status))
        e->code = WEXITSTATUS(status);
    else
        e->signal = WTERMSIG(status);
    if (rp_read_file(out, &e->out, &e->out_len, &ignored) != RP_OK)
        e->out = rp_strdup("");
    if (rp_read_file(err, &e->err, &e->err_len, &ignored) != RP_OK)
        e->err = rp_strdup("");
    free(out);
    free(err);
}

void cam_load_begin(struct cam_load *load, int n) {
    fflush(NULL);
    for (load->n = 0; load->n < n; load->n++) {
        pid_t pid = fork();
        if (pid < 0)
            abort();
        if (pid == 0) {
            alarm(120);
            for (volatile unsigned turns = 0;; turns++)
                ;
        }
        load->loops[load->n] = pid;
    }
}

void cam_load_end(struct cam_load *load) {
    for (int k = 0; k < load->n; k++) {
        kill(load->loops[k], SIGKILL);
        waitpid(load->loops[k], NULL, 0);
    }
    load->n = 0;
}

void cam_ended_fini(struct cam_ended *e) {
    free(e->out);
    free(e->err);
}
