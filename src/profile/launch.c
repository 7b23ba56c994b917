#include "profile/launch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"

static const char library[] = "libremat_inject.so";
static const char *const injection_variables[] = {"CUDA_INJECTION64_PATH",
                                                  "NVTX_INJECTION64_PATH"};

/* ---- the library and the folder ---- */

/* Looks beside remat-plan, then where `make install` puts the library; NULL if it is in
 * neither place. */
static char *find_library(void) {
    char self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    if (n <= 0)
        return NULL;
    self[n] = '\0';
    char *slash = strrchr(self, '/');
    *slash = '\0';
    static const char *const places[] = {"", "/../lib/remat-plan"};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        char *path = rp_format("%s%s/%s", self, places[i], library);
        if (access(path, R_OK) == 0)
            return path;
        free(path);
    }
    return NULL;
}

static rp_rc make_folder(const char *given, char **folder, struct rp_err *err) {
    if (given == NULL) {
        const char *tmp = getenv("TMPDIR");
        *folder = rp_format("%s/remat-trace-XXXXXX", tmp && tmp[0] == '/' ? tmp : "/tmp");
        if (mkdtemp(*folder) != NULL)
            return RP_OK;
        return rp_fail(err, RP_ENV, "%s: %s", *folder, strerror(errno));
    }
    if ((mkdir(given, 0777) != 0 && errno != EEXIST) ||
        (*folder = realpath(given, NULL)) == NULL)
        return rp_fail(err, RP_ENV, "%s: %s", given, strerror(errno));
    return RP_OK;
}

/* ---- reading a folder ---- */

/* The process id in a trace's file name; 0 if the name is not a trace's. */
static unsigned long process_of(const char *name) {
    char *end;
    if (name[0] < '1' || name[0] > '9')
        return 0;
    unsigned long pid = strtoul(name, &end, 10);
    return strcmp(end, ".trace") == 0 ? pid : 0;
}

static int is_trace(const struct dirent *e) {
    return process_of(e->d_name) != 0;
}

static int by_process(const struct dirent **a, const struct dirent **b) {
    unsigned long x = process_of((*a)->d_name), y = process_of((*b)->d_name);
    return (x > y) - (x < y);
}

rp_rc rp_traces_load(const char *folder, struct rp_traces *t, struct rp_err *err) {
    struct dirent **found;
    rp_rc rc = RP_OK;
    int n = scandir(folder, &found, is_trace, by_process);
    if (n < 0)
        return rp_fail(err, RP_ENV, "%s: %s", folder, strerror(errno));
    for (int i = 0; i < n; i++) {
        char *path = rp_format("%s/%s", folder, found[i]->d_name);
        struct rp_trace a;
        if (rc == RP_OK && (rc = rp_trace_load(path, &a, err)) == RP_OK)
            rp_push(t, a);
        free(path);
        free(found[i]);
    }
    free(found);
    return rc;
}

void rp_traces_fini(struct rp_traces *t) {
    for (size_t i = 0; i < t->n; i++)
        rp_trace_fini(&t->at[i]);
    free(t->at);
}

static rp_rc refuse_old_traces(const char *folder, struct rp_err *err) {
    struct dirent **found;
    int n = scandir(folder, &found, is_trace, by_process);
    if (n < 0)
        return rp_fail(err, RP_ENV, "%s: %s", folder, strerror(errno));
    for (int i = 0; i < n; i++)
        free(found[i]);
    free(found);
    return n == 0 ? RP_OK
                  : rp_fail(err, RP_ENV, "%s: contains traces of an earlier run", folder);
}

static void remove_folder(const char *folder) {
    struct dirent **found;
    int n = scandir(folder, &found, is_trace, by_process);
    for (int i = 0; i < n; i++) {
        char *path = rp_format("%s/%s", folder, found[i]->d_name);
        unlink(path);
        free(path);
        free(found[i]);
    }
    if (n >= 0)
        free(found);
    rmdir(folder);
}

/* ---- running the command ---- */

static const int signals[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
enum { N_SIGNALS = sizeof signals / sizeof signals[0] };
static volatile pid_t running;
static volatile sig_atomic_t pending_signal;

static void forward_signal(int number) {
    pending_signal = number;
    if (running > 0)
        kill(running, number);
}

/* As in a shell, an interrupt is for the command. The terminal sends it to the command too,
 * so it is ignored here. Signals that only this process gets are forwarded. In both cases
 * this process continues, to read the traces or to remove them. */
static void take_over_signals(struct sigaction *before) {
    pending_signal = 0;
    for (int i = 0; i < N_SIGNALS; i++) {
        const bool terminal = signals[i] == SIGINT || signals[i] == SIGQUIT;
        struct sigaction now = {.sa_handler = terminal ? SIG_IGN : forward_signal};
        sigaction(signals[i], NULL, &before[i]);
        if (before[i].sa_handler != SIG_IGN)
            sigaction(signals[i], &now, NULL);
    }
}

/* Runs in the child. Returns only if the command cannot be run. */
static void exec_command(char *const argv[], const char *path, const char *folder,
                         const struct sigaction *before) {
    for (size_t i = 0; i < sizeof injection_variables / sizeof injection_variables[0]; i++)
        setenv(injection_variables[i], path, 1);
    setenv("REMAT_TRACE", folder, 1);
    signal(SIGPIPE, SIG_DFL); /* main ignores it, and the command would inherit that */
    for (int i = 0; i < N_SIGNALS; i++)
        sigaction(signals[i], &before[i], NULL);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    execvp(argv[0], argv);
}

static rp_rc wait_for(pid_t child, const char *name, struct rp_err *err) {
    int status;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return rp_fail(err, RP_ENV, "%s: %s", name, strerror(errno));
    if (WIFSIGNALED(status))
        return rp_fail(err, RP_ENV, "%s was killed by signal %d (%s)", name,
                       WTERMSIG(status), strsignal(WTERMSIG(status)));
    if (WEXITSTATUS(status) != 0)
        return rp_fail(err, RP_ENV, "%s ended with exit code %d", name,
                       WEXITSTATUS(status));
    return RP_OK;
}

/* The pipe closes when the command starts. If execvp fails, its errno comes through it. */
static rp_rc follow(pid_t child, int from_child, const char *name, struct rp_err *err) {
    ssize_t n;
    int failure = 0;
    running = child;
    if (pending_signal != 0)
        kill(child, pending_signal);
    while ((n = read(from_child, &failure, sizeof failure)) < 0 && errno == EINTR)
        ;
    if (n == sizeof failure)
        rp_fail(err, RP_ENV, "cannot run %s: %s", name, strerror(failure));
    return wait_for(child, name, err);
}

static rp_rc spawn(char *const argv[], const char *path, const char *folder,
                   struct rp_err *err) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return rp_fail(err, RP_ENV, "pipe: %s", strerror(errno));
    struct sigaction before[N_SIGNALS];
    take_over_signals(before);
    pid_t child = fork();
    if (child == 0) {
        exec_command(argv, path, folder, before);
        const int failure = errno;
        ssize_t n = write(ends[1], &failure, sizeof failure);
        _exit(n == sizeof failure ? 127 : 126);
    }
    int fork_errno = errno;
    close(ends[1]);
    rp_rc rc = child < 0 ? rp_fail(err, RP_ENV, "fork: %s", strerror(fork_errno))
                         : follow(child, ends[0], argv[0], err);
    close(ends[0]);
    running = 0;
    for (int i = 0; i < N_SIGNALS; i++)
        sigaction(signals[i], &before[i], NULL);
    return rc;
}

/* The caller frees *path. */
static rp_rc find_usable_library(char **path, struct rp_err *err) {
    *path = NULL;
    for (size_t i = 0; i < sizeof injection_variables / sizeof injection_variables[0];
         i++) {
        const char *other = getenv(injection_variables[i]);
        if (other != NULL && other[0] != '\0')
            return rp_fail(err, RP_ENV,
                           "%s is set to %s, so another tool is tracing; unset it",
                           injection_variables[i], other);
    }
    *path = find_library();
    return *path != NULL
               ? RP_OK
               : rp_fail(err, RP_ENV,
                         "%s is neither beside this program nor in ../lib/remat-plan",
                         library);
}

rp_rc rp_traces_ready(struct rp_err *err) {
    char *path;
    rp_rc rc = find_usable_library(&path, err);
    free(path);
    return rc;
}

rp_rc rp_traces_run(char *const argv[], const char *given, struct rp_traces *t,
                    struct rp_err *err) {
    char *path, *folder = NULL;
    rp_rc rc = find_usable_library(&path, err);
    if (rc == RP_OK)
        rc = make_folder(given, &folder, err);
    if (rc == RP_OK)
        rc = refuse_old_traces(folder, err);
    if (rc == RP_OK)
        rc = spawn(argv, path, folder, err);
    if (rc == RP_OK)
        rc = rp_traces_load(folder, t, err);
    if (folder != NULL && given == NULL)
        remove_folder(folder);
    free(folder);
    free(path);
    return rc;
}
