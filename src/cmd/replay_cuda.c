#include "cmd/replay_cuda.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd/cuda_build.h"
#include "emit/project.h"

enum { NO_GPU = 77 }; /* exit code of the program (templates/cuda/main.cu) */

static const char caller[] = "verify: --replay cuda";

static rp_rc run_program(const char *folder, uint32_t n_steps, char **json,
                         struct rp_err *err) {
    char steps[16];
    snprintf(steps, sizeof steps, "%" PRIu32, n_steps);
    char *const argv[] = {"./replay", "5", n_steps > 0 ? steps : NULL, NULL};
    const int code = rp_cuda_run(folder, argv);
    if (code != 0 && code != 1)
        return rp_cuda_fail(caller, folder,
                            code == NO_GPU ? "there is no GPU" : "the program failed", err);
    *json = rp_cuda_first_line(folder, "out");
    if (code == 0)
        return RP_OK;
    return rp_fail(err, RP_NO, "replay on the GPU: not equal bit for bit: %.700s", *json);
}

rp_rc rp_cuda_replay(const struct rp_replay_tables *t, uint32_t n_steps, char **json,
                     struct rp_err *err) {
    char *nvcc = NULL, *arch = NULL, *folder = NULL;
    uint64_t bytes;
    *json = NULL;
    rp_rc rc = rp_cuda_find_gpu(caller, "--replay ref runs the plan on the CPU instead", 0,
                                &arch, err);
    if (rc == RP_OK)
        rc = rp_cuda_find_nvcc(caller, &nvcc, err);
    if (rc == RP_OK)
        rc = rp_cuda_open_folder(&folder, err);
    if (rc == RP_OK)
        rc = rp_project_write(t, RP_TARGET_CUDA, folder, &bytes, err);
    if (rc == RP_OK)
        rc = rp_cuda_build(caller, folder, nvcc, arch, "replay", err);
    if (rc == RP_OK)
        rc = run_program(folder, n_steps, json, err);
    rp_cuda_close_folder(folder);
    free(nvcc);
    free(arch);
    return rc;
}
