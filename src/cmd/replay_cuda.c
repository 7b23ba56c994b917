#include "cmd/replay_cuda.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/cuda_build.h"
#include "emit/project.h"

/* Exit codes of the program (templates/cuda/main.cu). */
enum { EQUAL = 0, NOT_EQUAL = 1, NO_REFERENCE = 4, NO_GPU = 77 };

static const char caller[] = "verify: --replay cuda";

/* The program's report decides: RP_OK only if it says that all is equal. */
static rp_rc judge(const char *folder, const char *json, struct rp_err *err) {
    json_t *report = json_loads(json, 0, NULL);
    const json_t *equal = json_object_get(report, "equal");
    const bool known = json_is_boolean(equal);
    const bool good =
        json_is_true(equal) && json_is_true(json_object_get(report, "graph_equal"));
    json_decref(report);
    if (good)
        return RP_OK;
    if (known)
        return rp_fail(err, RP_NO, "replay on the GPU: not equal bit for bit: %.700s",
                       json);
    char *why = rp_cuda_first_line(folder, "err");
    rp_rc rc = rp_fail(err, RP_LIMIT, "%s: %.700s", caller, why);
    free(why);
    return rc;
}

static rp_rc run_program(const char *folder, uint32_t n_steps, char **json,
                         struct rp_err *err) {
    char steps[16];
    snprintf(steps, sizeof steps, "%" PRIu32, n_steps);
    char *const argv[] = {"./replay", "5", n_steps > 0 ? steps : NULL, NULL};
    const int code = rp_cuda_run(folder, argv);
    if (code != EQUAL && code != NOT_EQUAL && code != NO_REFERENCE)
        return rp_cuda_fail(caller, folder,
                            code == NO_GPU ? "there is no GPU" : "the program failed", err);
    *json = rp_cuda_first_line(folder, "out");
    return judge(folder, *json, err);
}

rp_rc rp_cuda_replay(const struct rp_replay_tables *t, uint32_t n_steps, char **json,
                     struct rp_err *err) {
    char *arch = NULL, *folder = NULL;
    uint64_t bytes;
    *json = NULL;
    rp_rc rc = rp_cuda_find_gpu(caller, "--replay ref runs the plan on the CPU instead", 0,
                                &arch, err);
    if (rc == RP_OK)
        rc = rp_cuda_open_folder(NULL, &folder, err);
    if (rc == RP_OK)
        rc = rp_project_write(t, RP_TARGET_CUDA, folder, &bytes, err);
    if (rc == RP_OK)
        rc = rp_cuda_build(caller, folder, arch, "replay", err);
    if (rc == RP_OK)
        rc = run_program(folder, n_steps, json, err);
    rp_cuda_close_folder(NULL, folder);
    free(arch);
    return rc;
}
