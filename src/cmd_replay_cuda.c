/* `verify --replay cuda`: the emitted program written into a folder for the moment, built
 * and run. What the machine lacks is said in one line. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io.h"
#include "base/mem.h"
#include "cmd_replay.h"
#include "emit/program.h"

enum { NO_GPU = 77 }; /* exit code of the program (templates/cuda/main.cu) */

/* ---- what there is ---- */

static rp_rc find_gpu(struct rp_err *err) {
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (driver == NULL)
        return rp_fail(err, RP_ENV, "verify: --replay cuda: no GPU driver (libcuda.so.1)");
    int (*init)(unsigned) = NULL, (*count)(int *) = NULL;
    *(void **)&init = dlsym(driver, "cuInit");
    *(void **)&count = dlsym(driver, "cuDeviceGetCount");
    int n = 0;
    if (init == NULL || count == NULL || init(0) != 0 || count(&n) != 0 || n == 0)
        return rp_fail(err, RP_ENV, "verify: --replay cuda: no GPU is there");
    return RP_OK;
}

/* $CUDA_HOME's, else PATH's, else the usual place's. */
static rp_rc find_nvcc(char **nvcc, struct rp_err *err) {
    const char *home = getenv("CUDA_HOME"), *path = getenv("PATH");
    char *places = rp_format("%s%s%s:/usr/local/cuda/bin", home != NULL ? home : "",
                             home != NULL ? "/bin:" : "", path != NULL ? path : "");
    *nvcc = NULL;
    for (char *state, *p = strtok_r(places, ":", &state); p != NULL && *nvcc == NULL;
         p = strtok_r(NULL, ":", &state)) {
        *nvcc = rp_format("%s/nvcc", p);
        if (access(*nvcc, X_OK) != 0) {
            free(*nvcc);
            *nvcc = NULL;
        }
    }
    free(places);
    if (*nvcc == NULL)
        return rp_fail(err, RP_ENV, "verify: --replay cuda: no CUDA compiler (nvcc)");
    return RP_OK;
}

/* ---- a folder for the moment ---- */

static int remove_one(const char *path, const struct stat *s, int type, struct FTW *f) {
    (void)s;
    (void)type;
    (void)f;
    return remove(path);
}

static char *open_folder(struct rp_err *err) {
    const char *tmp = getenv("TMPDIR");
    char *folder = rp_format("%s/remat-replay-XXXXXX", tmp != NULL ? tmp : "/tmp");
    if (mkdtemp(folder) != NULL)
        return folder;
    rp_fail(err, RP_ENV, "%s: %s", folder, strerror(errno));
    free(folder);
    return NULL;
}

static void close_folder(char *folder) {
    nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    free(folder);
}

/* ---- running ---- */

/* Runs argv in `folder`, its output in files `out` and `err` there. The exit code; 255 if
 * it could not be run. */
static int run_in(const char *folder, char *const *argv) {
    const pid_t child = fork();
    int status = 0;
    if (child < 0)
        return 255;
    if (child == 0) {
        if (chdir(folder) != 0)
            _exit(255);
        const int out = open("out", O_WRONLY | O_CREAT | O_TRUNC, 0666);
        const int err = open("err", O_WRONLY | O_CREAT | O_TRUNC, 0666);
        dup2(out, STDOUT_FILENO);
        dup2(err, STDERR_FILENO);
        execvp(argv[0], argv);
        _exit(255);
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
}

/* What it said, less the line's end; empty if nothing. The caller frees it. */
static char *said(const char *folder, const char *name) {
    struct rp_err ignored = {{0}};
    char *path = rp_format("%s/%s", folder, name), *text = NULL;
    size_t len = 0;
    if (rp_read_file(path, &text, &len, &ignored) != RP_OK)
        text = rp_strdup("");
    text[strcspn(text, "\n")] = '\0';
    free(path);
    return text;
}

static rp_rc failed(const char *folder, const char *what, struct rp_err *err) {
    char *why = said(folder, "err");
    rp_rc rc = rp_fail(err, RP_ENV, "verify: --replay cuda: %s: %.400s", what,
                       why[0] != '\0' ? why : "it said nothing");
    free(why);
    return rc;
}

static rp_rc build(const char *folder, const char *nvcc, struct rp_err *err) {
    char *word = rp_format("NVCC=%s", nvcc);
    char *const argv[] = {"make", "-s", "-j4", word, NULL};
    const int code = run_in(folder, argv);
    free(word);
    return code == 0 ? RP_OK : failed(folder, "the program does not build", err);
}

static rp_rc carry_out(const char *folder, char **json, struct rp_err *err) {
    char *const argv[] = {"./replay", NULL};
    const int code = run_in(folder, argv);
    if (code != 0 && code != 1)
        return failed(folder, code == NO_GPU ? "no GPU" : "the program fails", err);
    *json = said(folder, "out");
    if (code == 0)
        return RP_OK;
    return rp_fail(err, RP_NO, "replay on the GPU: not equal bit for bit: %.700s", *json);
}

rp_rc rp_cuda_replay(const struct rp_tables *t, char **json, struct rp_err *err) {
    char *nvcc = NULL;
    uint64_t bytes;
    *json = NULL;
    rp_rc rc = find_gpu(err);
    if (rc == RP_OK)
        rc = find_nvcc(&nvcc, err);
    if (rc != RP_OK)
        return rc;
    char *folder = open_folder(err);
    rc = folder != NULL ? rp_program_write(t, RP_TARGET_CUDA, folder, &bytes, err) : RP_ENV;
    if (rc == RP_OK)
        rc = build(folder, nvcc, err);
    if (rc == RP_OK)
        rc = carry_out(folder, json, err);
    if (folder != NULL)
        close_folder(folder);
    free(nvcc);
    return rc;
}
