/* inject: the entry points of libremat_inject.so, which `remat-plan profile -- COMMAND`
 * loads into the command's processes. CUDA loads it through CUDA_INJECTION64_PATH when it
 * starts, NVTX through NVTX_INJECTION64_PATH at the first range. The library records what
 * the program's ranges launched, and changes nothing in the program.
 *
 * CUPTI belongs to the process that started it. A child after fork may mark ranges, but
 * must not call CUPTI, because the call would hang.
 *
 * Thread-safe: NVTX and CUPTI call from any thread.
 */
#ifndef RP_PROFILE_INJECT_INJECT_H
#define RP_PROFILE_INJECT_INJECT_H

#include "profile/inject/nvtx.h"

/* Names and results are those that CUDA and NVTX require: 1 if the library is in use. */
int InitializeInjection(void) __attribute__((visibility("default")));
int InitializeInjectionNvtx2(nvtx_get_table *get_table)
    __attribute__((visibility("default")));

#endif
