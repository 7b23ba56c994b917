#include "cmd/cuda_build.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "base/mem.h"

/* ---- GPU and compiler ---- */

/* CUdevice_attribute of cuda.h. */
enum { CAPABILITY_MAJOR = 75, CAPABILITY_MINOR = 76 };

rp_rc rp_cuda_find_gpu(const char *caller, const char *advice, uint64_t gpu, char **arch,
                       struct rp_err *err) {
    int (*init)(unsigned) = NULL, (*count)(int *) = NULL;
    int (*get)(int *, int) = NULL, (*attribute)(int *, int, int) = NULL;
    int n = 0, device, major, minor;
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (driver == NULL)
        return rp_fail(err, RP_ENV, "%s: there is no GPU driver (libcuda.so.1); %s", caller,
                       advice);
    *(void **)&init = dlsym(driver, "cuInit");
    *(void **)&count = dlsym(driver, "cuDeviceGetCount");
    *(void **)&get = dlsym(driver, "cuDeviceGet");
    *(void **)&attribute = dlsym(driver, "cuDeviceGetAttribute");
    if (init == NULL || count == NULL || get == NULL || attribute == NULL || init(0) != 0 ||
        count(&n) != 0 || n == 0)
        return rp_fail(err, RP_ENV, "%s: there is no GPU; %s", caller, advice);
    if (gpu >= (uint64_t)n)
        return rp_fail(err, RP_ENV, "%s: there is no GPU %llu; the last is %d", caller,
                       (unsigned long long)gpu, n - 1);
    if (get(&device, (int)gpu) != 0 || attribute(&major, CAPABILITY_MAJOR, device) != 0 ||
        attribute(&minor, CAPABILITY_MINOR, device) != 0)
        return rp_fail(err, RP_ENV,
                       "%s: the driver does not report the architecture of GPU %llu",
                       caller, (unsigned long long)gpu);
    *arch = rp_format("sm_%d%d", major, minor);
    return RP_OK;
}

/* ---- the folder ---- */

static const int caught_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
enum { N_CAUGHT_SIGNALS = sizeof caught_signals / sizeof caught_signals[0] };
static struct sigaction old_actions[N_CAUGHT_SIGNALS];
static volatile sig_atomic_t pending_signal; /* the signal that arrived, or 0 */
static volatile pid_t running; /* the command, which leads its own process group */

static void on_signal(int number) {
    pending_signal = number;
    if (running > 0)
        kill(-running, number);
}

static int remove_one(const char *path, const struct stat *s, int type, struct FTW *f) {
    (void)s;
    (void)type;
    (void)f;
    return remove(path);
}

/* A new folder in $TMPDIR, or the one that is given, as an absolute path. */
static rp_rc make_folder(const char *given, char **folder, struct rp_err *err) {
    const char *tmp = getenv("TMPDIR");
    *folder = given == NULL ? rp_format("%s/remat-XXXXXX",
                                        tmp != NULL && tmp[0] == '/' ? tmp : "/tmp")
                            : rp_strdup(given);
    bool made = given == NULL ? mkdtemp(*folder) != NULL
                              : mkdir(given, 0777) == 0 || errno == EEXIST;
    char *path = made ? realpath(*folder, NULL) : NULL;
    rp_rc rc =
        path != NULL ? RP_OK : rp_fail(err, RP_ENV, "%s: %s", *folder, strerror(errno));
    free(*folder);
    *folder = path;
    return rc;
}

static void catch_signals(void) {
    struct sigaction catch = {.sa_handler = on_signal};
    pending_signal = 0;
    for (int i = 0; i < N_CAUGHT_SIGNALS; i++) {
        sigaction(caught_signals[i], NULL, &old_actions[i]);
        if (old_actions[i].sa_handler != SIG_IGN)
            sigaction(caught_signals[i], &catch, NULL);
    }
}

static void release_signals(void) {
    for (int i = 0; i < N_CAUGHT_SIGNALS; i++)
        sigaction(caught_signals[i], &old_actions[i], NULL);
    if (pending_signal != 0)
        raise(pending_signal);
}

rp_rc rp_cuda_open_folder(const char *given, char **folder, struct rp_err *err) {
    catch_signals();
    rp_rc rc = make_folder(given, folder, err);
    if (rc != RP_OK)
        release_signals();
    return rc;
}

void rp_cuda_close_folder(const char *given, char *folder) {
    if (folder == NULL)
        return;
    if (given == NULL)
        nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    free(folder);
    release_signals();
}

/* ---- running ---- */

static void run_in_child(const char *folder, char *const *argv) {
    setpgid(0, 0);
    signal(SIGPIPE, SIG_DFL); /* main ignores it, and scripts would print errors */
    for (int i = 0; i < N_CAUGHT_SIGNALS; i++)
        sigaction(caught_signals[i], &old_actions[i], NULL);
    if (chdir(folder) == 0) {
        dup2(open("out", O_WRONLY | O_CREAT | O_TRUNC, 0666), STDOUT_FILENO);
        dup2(open("err", O_WRONLY | O_CREAT | O_TRUNC, 0666), STDERR_FILENO);
        execvp(argv[0], argv);
        perror(argv[0]);
    }
    _exit(255);
}

int rp_cuda_run(const char *folder, char *const *argv) {
    int status = 0;
    if (pending_signal != 0)
        return 255;
    const pid_t child = fork();
    if (child < 0)
        return 255;
    if (child == 0)
        run_in_child(folder, argv);
    setpgid(child, child); /* both processes do this, because either may be first */
    running = child;
    if (pending_signal != 0)
        kill(-child, pending_signal); /* it arrived before `running` was set */
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    running = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

static char *read_file(const char *folder, const char *name) {
    struct rp_err ignored = {{0}};
    char *path = rp_format("%s/%s", folder, name), *text = NULL;
    size_t len = 0;
    if (access(path, R_OK) != 0 || rp_read_file(path, &text, &len, &ignored) != RP_OK)
        text = rp_strdup("");
    free(path);
    return text;
}

char *rp_cuda_first_line(const char *folder, const char *name) {
    char *text = read_file(folder, name);
    text[strcspn(text, "\n")] = '\0';
    return text;
}

static bool says_why(const char *line) {
    static const char *const words[] = {"error", "fatal", "*** ", "undefined reference",
                                        "cannot find"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strstr(line, words[i]) != NULL)
            return true;
    return false;
}

/* The first line that says why, since warnings come before it. An error of make's is
 * "Makefile:LINE: *** TEXT.  Stop."; only TEXT is kept. */
static char *error_line(const char *folder) {
    char *text = read_file(folder, "err"), *line = NULL;
    for (char *state, *p = strtok_r(text, "\n", &state); p != NULL && line == NULL;
         p = strtok_r(NULL, "\n", &state))
        if (says_why(p))
            line = rp_strdup(p);
    free(text);
    if (line == NULL)
        return rp_cuda_first_line(folder, "err");
    char *stars = strstr(line, "*** "), *stop = strstr(line, ".  Stop.");
    if (stop != NULL)
        *stop = '\0';
    if (stars != NULL)
        memmove(line, stars + 4, strlen(stars + 4) + 1);
    return line;
}

rp_rc rp_cuda_fail(const char *caller, const char *folder, const char *what,
                   struct rp_err *err) {
    char *line = error_line(folder);
    rp_rc rc = rp_fail(err, RP_ENV, "%s: %s: %.400s", caller, what,
                       line[0] != '\0' ? line : "no error output");
    free(line);
    return rc;
}

rp_rc rp_cuda_build(const char *caller, const char *folder, const char *arch,
                    const char *name, struct rp_err *err) {
    char *device = rp_format("ARCH=%s", arch), *program = rp_format("NAME=%s", name);
    char *const argv[] = {"make", "-s", "-j4", device, program, NULL};
    /* If make runs remat-plan, its options must not reach this make. */
    unsetenv("MAKEFLAGS");
    const int code = rp_cuda_run(folder, argv);
    free(device);
    free(program);
    return code == 0 ? RP_OK
                     : rp_cuda_fail(caller, folder, "the program cannot be built", err);
}
