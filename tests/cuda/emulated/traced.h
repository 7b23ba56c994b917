/* What a GPU program does when its driver starts, and what the driver tells CUPTI. Here it
 * is the stand-in of tests/traced, which makes the records that CUPTI would make. */
#ifndef RP_TESTS_TRACED_H
#define RP_TESTS_TRACED_H

#include <cuda_runtime.h>
#include <dlfcn.h>

#include "traced/fake_cupti.h"

inline fake_launch_fn *traced_launch;
inline fake_sync_fn *traced_sync;
inline fake_memory_fn *traced_memory;

inline void traced_at(enum fake_memory what, const void *at, uint64_t bytes) {
    if (traced_memory != nullptr)
        traced_memory(what, (uint64_t)(uintptr_t)at, bytes);
}

inline void traced(enum fake_kind kind, int stream, uint64_t ns, uint64_t bytes) {
    const struct fake_work work = {kind, (uint32_t)stream + 1, ns, bytes, 0};
    if (traced_launch != nullptr)
        traced_launch(&work, 1);
}

/* Like libcuda in cuInit. */
inline void start_driver() {
    const char *path = getenv("CUDA_INJECTION64_PATH"), *paper = getenv("REMAT_CUPTI");
    void *library = path != nullptr ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : nullptr;
    auto init =
        library != nullptr ? (int (*)())dlsym(library, "InitializeInjection") : nullptr;
    if (init == nullptr || init() != 1 || paper == nullptr)
        return;
    void *cupti = dlopen(paper, RTLD_NOW | RTLD_NOLOAD);
    if (cupti == nullptr)
        return;
    traced_launch = (fake_launch_fn *)dlsym(cupti, "fake_launch");
    traced_sync = (fake_sync_fn *)dlsym(cupti, "fake_sync");
    traced_memory = (fake_memory_fn *)dlsym(cupti, "fake_memory");
}

#endif
