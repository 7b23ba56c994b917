/* The threads of a block as contexts that switch at barriers. */
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

#include <cuda_runtime.h>

dim3 gridDim, blockDim, blockIdx, threadIdx;

void (*on_work)(int stream, uint64_t ns, uint64_t bytes);
bool (*on_first_kernel)(void);
static bool cannot_run;

enum { MAX_THREADS = 1024, STACK = 64 << 10 };

static ucontext_t scheduler, thread[MAX_THREADS];
static char stacks[MAX_THREADS][STACK];
static bool finished[MAX_THREADS];
static unsigned current, n_launches;
static void (*body)(void *);
static void *closure;
static int any;

static void run_thread(void) {
    body(closure);
    finished[current] = true;
    swapcontext(&thread[current], &scheduler);
}

void __syncthreads(void) {
    swapcontext(&thread[current], &scheduler);
}

int __syncthreads_or(int condition) {
    any |= condition;
    __syncthreads();
    const int result = any;
    __syncthreads();
    any = 0;
    __syncthreads();
    return result;
}

static void resume(unsigned t) {
    current = t;
    threadIdx = dim3(t % blockDim.x, t / blockDim.x, 0);
    swapcontext(&scheduler, &thread[t]);
}

static void start(unsigned t) {
    getcontext(&thread[t]);
    thread[t].uc_stack.ss_sp = stacks[t];
    thread[t].uc_stack.ss_size = STACK;
    thread[t].uc_link = NULL;
    makecontext(&thread[t], run_thread, 0);
    finished[t] = false;
}

static void run_block(unsigned n) {
    unsigned n_finished = 0;
    for (unsigned t = 0; t < n; t++)
        start(t);
    while (n_finished < n) {
        for (unsigned i = 0; i < n; i++)
            resume(n_launches % 2 == 0 ? i : n - 1 - i);
        n_finished = 0;
        for (unsigned t = 0; t < n; t++)
            n_finished += finished[t];
        if (n_finished != 0 && n_finished != n) {
            puts("FAILED: a barrier that not all threads of a block reach");
            exit(1);
        }
    }
}

void emulate(dim3 blocks, dim3 threads, void (*run)(void *), void *with) {
    const unsigned n = threads.x * threads.y;
    if (n_launches == 0 && on_first_kernel != NULL)
        cannot_run = !on_first_kernel();
    n_launches++;
    if (cannot_run)
        return;
    if (on_work != NULL)
        on_work(0, 1000 + blocks.x, 0);
    body = run;
    closure = with;
    gridDim = blocks;
    blockDim = threads;
    for (unsigned b = 0; b < blocks.x; b++) {
        blockIdx = dim3(b, 0, 0);
        run_block(n);
    }
}

cudaError_t cudaPeekAtLastError(void) {
    return cannot_run ? cudaErrorMemoryAllocation : cudaSuccess;
}
