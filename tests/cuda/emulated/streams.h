/* The part of CUDA that an emitted program uses besides kernels, on a CPU: streams, events,
 * copies.
 *
 * The first stream computes, at once. The others delay their work: until its events allow
 * it or, with LATE in the environment, until somebody waits for it. So a missing wait
 * changes the values.
 *
 * Each stream has a clock. Work takes an invented time on it, and a pause follows each
 * kernel: a long one if it was launched by itself, a short one in a CUDA graph. */
#ifndef RP_TESTS_STREAMS_H
#define RP_TESTS_STREAMS_H

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <deque>
#include <functional>
#include <map>
#include <vector>

#include "traced.h"

enum { PAUSE_NS = 700, PAUSE_IN_GRAPH_NS = 200 };

struct emulated_event {
    bool done = true;
    uint64_t ns = 0;
};
typedef emulated_event *cudaEvent_t;

/* A task that returns false cannot run yet. */
struct emulated_stream {
    bool computes;
    uint64_t ns;
    std::deque<std::function<bool()>> tasks;
};

inline std::vector<emulated_stream *> streams;
inline bool captured; /* a graph holds what was done while it was captured */
inline bool capturing;
inline uint64_t graph_ns;

inline void emulate_kernel(int stream, uint64_t ns, uint64_t bytes) {
    if (capturing) {
        graph_ns += ns + PAUSE_IN_GRAPH_NS;
        return;
    }
    streams[stream]->ns += ns + PAUSE_NS;
    traced(FAKE_KERNEL, stream, ns, bytes);
}
inline const bool hears_of_kernels = (on_work = emulate_kernel, true);

inline bool do_first(emulated_stream *s) {
    if (s->tasks.empty() || !s->tasks.front()())
        return false;
    s->tasks.pop_front();
    return true;
}

inline bool do_some() {
    bool any = false;
    for (emulated_stream *s : streams)
        any |= do_first(s);
    return any;
}

inline cudaError_t do_all() {
    while (do_some())
        continue;
    return cudaSuccess;
}

inline cudaError_t add(cudaStream_t stream, std::function<bool()> task) {
    ((emulated_stream *)stream)->tasks.push_back(task);
    return getenv("LATE") == nullptr ? do_all() : cudaSuccess;
}

inline int number_of(cudaStream_t stream) {
    return (int)(std::find(streams.begin(), streams.end(), stream) - streams.begin());
}

inline bool computes(cudaStream_t stream) {
    return ((emulated_stream *)stream)->computes;
}

/* ---- streams and events ---- */

enum { cudaEventDisableTiming = 2, cudaHostAllocDefault = 0 };

inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t *to, int) {
    streams.push_back(new emulated_stream{streams.empty(), 0, {}});
    *to = streams.back();
    return cudaSuccess;
}
inline cudaError_t cudaStreamDestroy(cudaStream_t stream) {
    streams.erase(std::find(streams.begin(), streams.end(), stream));
    delete (emulated_stream *)stream;
    return cudaSuccess;
}
inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t *to, int) {
    *to = new emulated_event;
    return cudaSuccess;
}
inline cudaError_t cudaEventCreate(cudaEvent_t *to) {
    return cudaEventCreateWithFlags(to, 0);
}
inline cudaError_t cudaEventDestroy(cudaEvent_t event) {
    delete event;
    return cudaSuccess;
}
inline cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
    event->done = computes(stream);
    event->ns = ((emulated_stream *)stream)->ns;
    return event->done ? add(stream, [] { return true; })
                       : add(stream, [=] { return event->done = true; });
}
inline cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, int) {
    if (!computes(stream))
        return add(stream, [=] { return event->done; });
    while (!event->done)
        if (!do_some()) {
            fprintf(stderr, "a wait for ever\n");
            abort();
        }
    return cudaSuccess;
}
enum { cudaErrorNotReady = 600 };
inline cudaError_t cudaStreamQuery(cudaStream_t) {
    return cudaSuccess;
}
inline cudaError_t cudaStreamSynchronize(cudaStream_t) {
    return do_all();
}
inline cudaError_t cudaDeviceSynchronize() {
    if (traced_sync != nullptr)
        traced_sync();
    return do_all();
}
inline cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to) {
    *ms = 1e-6f * (float)(to->ns - from->ns);
    return cudaSuccess;
}

/* ---- memory ---- */

/* In the environment: MEMORY is the size of the device's memory in bytes, and MODULES what
 * the first kernel takes of it, as libraries do that load their kernels late. */
inline size_t setting(const char *name, size_t usual) {
    const char *bytes = getenv(name);
    return bytes != nullptr ? strtoull(bytes, nullptr, 10) : usual;
}
inline size_t device_memory() {
    return setting("MEMORY", (size_t)1 << 30);
}
inline size_t memory_used;
inline std::map<const void *, size_t> memory_sizes;

inline bool take_memory(size_t n) {
    if (n > device_memory() - memory_used)
        return false;
    memory_used += n;
    return true;
}
inline const bool loads_late =
    (on_first_kernel = [] { return take_memory(setting("MODULES", 0)); }) != nullptr;

template <class T> cudaError_t cudaMalloc(T **to, size_t n) {
    if (!take_memory(n))
        return cudaErrorMemoryAllocation;
    cudaMalloc((void *)to, n);
    memory_sizes[*to] = n;
    traced_at(FAKE_ALLOC, *to, n);
    return cudaSuccess;
}
template <class T> cudaError_t cudaHostAlloc(T **to, size_t n, int) {
    cudaMalloc((void *)to, n);
    traced_at(FAKE_PIN, *to, n);
    return cudaSuccess;
}
inline cudaError_t cudaFreeHost(void *at) {
    traced_at(FAKE_UNPIN, at, 0);
    return cudaFree(at);
}
inline cudaError_t free_on_device(void *at) {
    memory_used -= memory_sizes[at];
    memory_sizes.erase(at);
    traced_at(FAKE_FREE, at, 0);
    return cudaFree(at);
}
#define cudaFree free_on_device
inline cudaError_t cudaMemGetInfo(size_t *left, size_t *all) {
    *all = device_memory();
    *left = *all - memory_used;
    return cudaSuccess;
}
inline cudaError_t cudaMemcpy(void *to, const void *from, size_t n, int) {
    memcpy(to, from, n);
    return cudaSuccess;
}
/* 16 GB/s and 1 us to the device, 8 GB/s and 2 us to the host. */
inline cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t n, int way,
                                   cudaStream_t stream) {
    const bool in = way == cudaMemcpyHostToDevice;
    const uint64_t ns = in ? 1000 + n / 16 : 2000 + n / 8;
    ((emulated_stream *)stream)->ns += ns;
    traced(in ? FAKE_H2D : FAKE_D2H, number_of(stream), ns, n);
    return add(stream, [=] {
        memcpy(to, from, n);
        return true;
    });
}
inline cudaError_t memset_unless_captured(void *at, int byte, size_t n) {
    if (!captured)
        memset(at, byte, n);
    return cudaSuccess;
}
#define cudaMemset memset_unless_captured

/* ---- the device; graphs ---- */

struct cudaDeviceProp {
    char name[256];
};
typedef int cudaGraph_t, cudaGraphExec_t;
enum { cudaStreamCaptureModeRelaxed = 2 };

inline cudaError_t cudaGetDeviceCount(int *n) {
    start_driver();
    *n = 1;
    return cudaSuccess;
}
inline cudaError_t cudaSetDevice(int) {
    return cudaSuccess;
}
inline cudaError_t cudaDeviceGetPCIBusId(char *to, int n, int gpu) {
    snprintf(to, (size_t)n, "0000:%02X:00.0", gpu + 1);
    return cudaSuccess;
}
inline cudaError_t cudaDriverGetVersion(int *version) {
    *version = 13000;
    return cudaSuccess;
}
inline cudaError_t cudaRuntimeGetVersion(int *version) {
    return cudaDriverGetVersion(version);
}
inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp *device, int) {
    strcpy(device->name, "emulated");
    return cudaSuccess;
}
inline cudaError_t cudaGetLastError() {
    return cudaSuccess;
}
inline cudaError_t cudaStreamBeginCapture(cudaStream_t, int) {
    capturing = true;
    graph_ns = 0;
    return cudaSuccess;
}
inline cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t *) {
    capturing = false;
    return do_all();
}
inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t *, cudaGraph_t, int) {
    captured = true;
    return cudaSuccess;
}
inline cudaError_t cudaGraphDestroy(cudaGraph_t) {
    return cudaSuccess;
}
inline cudaError_t cudaGraphLaunch(cudaGraphExec_t, cudaStream_t stream) {
    ((emulated_stream *)stream)->ns += graph_ns;
    return cudaSuccess;
}
inline cudaError_t cudaGraphExecDestroy(cudaGraphExec_t) {
    captured = false;
    return cudaSuccess;
}

#endif
