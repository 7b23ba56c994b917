/* What the real cudnn.h uses of it. */
#ifndef RP_TESTS_CUDA_RUNTIME_API_H
#define RP_TESTS_CUDA_RUNTIME_API_H

#include <cuda_runtime.h>

typedef struct CUgraph_st *cudaGraph_t;

#endif
