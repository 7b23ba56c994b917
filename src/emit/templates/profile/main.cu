/* SPDX-License-Identifier: MIT
 *
 * Runs the step without rematerialization again and again, then copies of many sizes. Each
 * is in an NVTX range, for `remat-plan profile GRAPH` to trace.
 *
 *   profile NOTES GPU STEPS PROGRESS
 *
 * NOTES is a file. It gets one JSON object with what the trace does not contain, or, if the
 * exit code is not 0, one line with the reason. PROGRESS 1: report progress on standard
 * error.
 *
 * If the step fits into the GPU's memory, it runs on the values that it computes. If not,
 * the operands of each op are placed next to each other, after those of the op before, and
 * again from the start of the memory when its end is reached. Then the ops run in the same
 * order, each on memory of its own size, but on values that are not the step's. The time of
 * a kernel does not depend on them: an index out of range reads and writes nothing
 * (docs/ops.md). */
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <nvtx3/nvToolsExt.h>

#include "machine.cuh"

namespace {

constexpr int environment = 5;
/* Larger than a convolution's operands usually are. More would take the memory that
 * planning saves. */
constexpr size_t max_workspace = (size_t)1 << 30;
constexpr size_t min_copy = (size_t)64 << 10, largest_copy = (size_t)256 << 20;
constexpr int warm_up = 2, copies_of_a_size = 10;
constexpr int kernels_alone = 20, max_beside = 1000;

const char *notes_path;
bool shows_progress;

[[noreturn]] void die(const char *what, const char *why) {
    FILE *f = fopen(notes_path, "w");
    if (f != nullptr) {
        fprintf(f, "%s: %s\n", what, why);
        fclose(f);
    }
    exit(environment);
}

void progress(const char *what, int k, int n) {
    if (shows_progress)
        fprintf(stderr, "\r%s %d of %d\033[K%s", what, k, n,
                k == n ? "\r\033[K" : "");
}

void push(const char *name, uint64_t workspace_bytes) {
    nvtxEventAttributes_t a{};
    a.version = NVTX_VERSION;
    a.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    a.messageType = NVTX_MESSAGE_TYPE_ASCII;
    a.message.ascii = name;
    a.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
    a.payload.ullValue = workspace_bytes;
    nvtxRangePushEx(&a);
}

/* ---- how each op is computed ---- */

struct op_run {
    std::string range;
    rp_kargs args;
    const char *algorithm; /* of a convolution, or NULL */
    size_t workspace_bytes;
};

size_t query_workspace(machine &m, const replay_op &op, const rp_kargs &args) {
    size_t bytes = 0;
    m.cuda.declined[0] = '\0';
    if (rp_cuda_workspace(&m.cuda, op.kernel, op.real, &args, &bytes) != 0)
        die(op.name, m.cuda.error);
    return bytes;
}

/* Chooses algorithms that give the same bits in every run: for convolutions cuDNN's with
 * workspace, if it is supported and its workspace is not too large, otherwise our own
 * kernel without workspace. */
op_run choose(machine &m, const replay_op &op) {
    op_run r{std::string("rp:") + op.name, *op.args, nullptr, 0};
    if (strncmp(op.kernel, "conv", 4) != 0) {
        r.workspace_bytes = query_workspace(m, op, r.args);
        return r;
    }
    /* Both are forward convolutions of cuDNN. */
    const bool forward = strcmp(op.kernel, "conv") == 0 ||
                         strcmp(op.kernel, "conv_transpose_grad_input") == 0;
    r.args.algorithm = forward ? RP_IMPLICIT_PRECOMP_GEMM : RP_ALGO_1;
    r.algorithm = forward ? "implicit_precomp_gemm" : "algo_1";
    r.workspace_bytes = query_workspace(m, op, r.args);
    if (r.workspace_bytes > max_workspace || m.cuda.declined[0] != '\0') {
        r.args.algorithm = RP_DIRECT;
        r.algorithm = "direct";
        r.workspace_bytes = 0;
    }
    return r;
}

/* ---- where operands are ---- */

constexpr uint64_t alignment = 512;

struct layout {
    std::vector<uint64_t> at; /* per entry of program.ends */
    uint64_t arena_bytes;
    bool whole;
};

/* The tensor's size in the arena; 0 for a source, which is outside. */
uint64_t arena_size(uint32_t x) {
    if (program.tensors[x].fill != REPLAY_NO_FILL)
        return 0;
    const uint64_t bytes = std::max<uint64_t>(program.tensors[x].bytes, 1);
    return (bytes + alignment - 1) / alignment * alignment;
}

uint32_t n_ends() {
    const replay_op &last = program.ops[program.n_ops - 1];
    return last.ends + last.n_in + last.n_out;
}

layout whole_step() {
    const replay_schedule &s = program.keep_all;
    layout l{std::vector<uint64_t>(n_ends()), s.arena_bytes, true};
    for (uint32_t k = 0; k < s.n_steps; k++) {
        const replay_op &op = program.ops[s.steps[k].id];
        std::copy_n(s.addresses + s.steps[k].where, op.n_in + op.n_out, l.at.data() + op.ends);
    }
    return l;
}

/* Places the operands of each op after those of the op before, and from the start again
 * when the end is reached. */
layout op_by_op(uint64_t arena_bytes) {
    layout l{std::vector<uint64_t>(n_ends(), REPLAY_NOWHERE), arena_bytes, false};
    uint64_t next = 0;
    for (uint32_t i = 0; i < program.n_ops; i++) {
        const replay_op &op = program.ops[i];
        uint64_t bytes = 0;
        for (uint32_t e = op.ends; e < op.ends + op.n_in + op.n_out; e++)
            bytes += arena_size(program.ends[e]);
        if (bytes > arena_bytes)
            die(op.name, "its operands do not fit into this GPU's memory; profile a smaller "
                         "batch");
        if (next + bytes > arena_bytes)
            next = 0;
        for (uint32_t e = op.ends; e < op.ends + op.n_in + op.n_out; e++) {
            if (program.tensors[program.ends[e]].fill != REPLAY_NO_FILL)
                continue;
            l.at[e] = next;
            next += arena_size(program.ends[e]);
        }
    }
    return l;
}

/* Leaves a sixteenth of the memory for CUPTI and for modules that are loaded later. */
layout open_arena(machine &m) {
    const uint64_t left = free_bytes();
    const uint64_t limit = (left - left / 16) / alignment * alignment;
    const bool fits = program.keep_all.arena_bytes <= limit;
    const uint64_t bytes = fits ? program.keep_all.arena_bytes : limit;
    TRY(cudaMalloc(&m.arena, std::max(bytes, alignment)));
    return fits ? whole_step() : op_by_op(bytes);
}

/* ---- steps ---- */

struct job : machine {
    std::vector<op_run> ops;
    layout l;
    char *workspace{};
    char *device[2]{}, *host[2]{}; /* for copies: to the device, to the host */
    size_t largest_copy{};
};

void run_one(job &j, uint32_t i) {
    const replay_op &op = program.ops[i];
    const op_run &r = j.ops[i];
    run_op(j, op, r.args, j.l.at.data() + op.ends, r.workspace_bytes > 0 ? j.workspace : nullptr,
           r.workspace_bytes);
}

void finish() {
    TRY(cudaDeviceSynchronize());
}

void run_step(job &j, bool marked) {
    if (marked)
        nvtxRangePushA("rp:step");
    for (uint32_t i = 0; i < program.n_ops; i++) {
        if (marked)
            push(j.ops[i].range.c_str(), j.ops[i].workspace_bytes);
        run_one(j, i);
        if (marked)
            nvtxRangePop();
    }
    finish(); /* within the range, so that all work is complete when it ends */
    if (marked)
        nvtxRangePop();
}

/* ---- the host link ---- */

enum { to_device, to_host };

cudaStream_t stream_of(const job &j, int way) {
    return j.streams[way == to_device ? REPLAY_H2D : REPLAY_D2H];
}

void copy(job &j, int way, size_t bytes) {
    if (way == to_device)
        TRY(cudaMemcpyAsync(j.device[way], j.host[way], bytes, cudaMemcpyHostToDevice,
                            stream_of(j, way)));
    else
        TRY(cudaMemcpyAsync(j.host[way], j.device[way], bytes, cudaMemcpyDeviceToHost,
                            stream_of(j, way)));
}

void copy_every_size(job &j, int way) {
    for (size_t bytes = min_copy; bytes <= j.largest_copy; bytes *= 4)
        copy(j, way, bytes);
}

void copies_alone(job &j, int way) {
    nvtxRangePushA(way == to_device ? "rp:@h2d" : "rp:@d2h");
    for (int k = 0; k < copies_of_a_size; k++)
        copy_every_size(j, way);
    finish();
    nvtxRangePop();
}

/* One size at a time, so that both directions are busy for about the same time. */
void copies_both_ways(job &j) {
    nvtxRangePushA("rp:@both");
    for (size_t bytes = min_copy; bytes <= j.largest_copy; bytes *= 4) {
        for (int k = 0; k < copies_of_a_size; k++) {
            copy(j, to_device, bytes);
            copy(j, to_host, bytes);
        }
        finish();
    }
    nvtxRangePop();
}

template <class F> float milliseconds(cudaStream_t stream, F run) {
    cudaEvent_t begin, end;
    float ms = 0;
    TRY(cudaEventCreate(&begin));
    TRY(cudaEventCreate(&end));
    TRY(cudaEventRecord(begin, stream));
    run();
    TRY(cudaEventRecord(end, stream));
    finish();
    TRY(cudaEventElapsedTime(&ms, begin, end));
    TRY(cudaEventDestroy(begin));
    TRY(cudaEventDestroy(end));
    return ms;
}

/* The op with the most operand bytes, which competes with copies for memory bandwidth. */
uint32_t max_traffic_op() {
    uint32_t max_op = 0;
    uint64_t max_bytes = 0;
    for (uint32_t i = 0; i < program.n_ops; i++) {
        const replay_op &op = program.ops[i];
        uint64_t bytes = 0;
        for (uint32_t e = op.ends; e < op.ends + op.n_in + op.n_out; e++)
            bytes += program.tensors[program.ends[e]].bytes;
        if (bytes > max_bytes) {
            max_op = i;
            max_bytes = bytes;
        }
    }
    return max_op;
}

/* Runs one op again and again beside copies, for about as long as the copies take. */
void compute_beside(job &j, uint32_t op, int way) {
    const cudaStream_t compute = j.streams[REPLAY_COMPUTE];
    const float copies_ms = milliseconds(stream_of(j, way), [&] { copy_every_size(j, way); });
    const float op_ms = milliseconds(compute, [&] {
        for (int k = 0; k < 10; k++)
            run_one(j, op);
    }) / 10;
    const float enough = op_ms > 0 ? std::ceil(copies_ms / op_ms) : max_beside;
    const int times = (int)std::min(std::max(enough, 1.0f), (float)max_beside);
    cudaEvent_t begin;
    TRY(cudaEventCreateWithFlags(&begin, cudaEventDisableTiming));
    nvtxRangePushA(way == to_device ? "rp:@compute+h2d" : "rp:@compute+d2h");
    for (int k = 0; k < copies_of_a_size; k++) {
        TRY(cudaEventRecord(begin, compute));
        TRY(cudaStreamWaitEvent(stream_of(j, way), begin, 0));
        copy_every_size(j, way);
        for (int t = 0; t < times; t++)
            run_one(j, op);
        finish();
    }
    nvtxRangePop();
    TRY(cudaEventDestroy(begin));
}

void compute_alone(job &j, uint32_t op) {
    run_one(j, op);
    finish();
    nvtxRangePushA("rp:@compute");
    for (int k = 0; k < kernels_alone; k++)
        run_one(j, op);
    finish();
    nvtxRangePop();
}

/* Copies use at most a sixteenth of the device's memory in each direction, but at least two
 * sizes. */
void open_link(job &j) {
    j.largest_copy = 4 * min_copy;
    while (4 * j.largest_copy <= std::min<uint64_t>(largest_copy, free_bytes() / 16))
        j.largest_copy *= 4;
    for (int way = to_device; way <= to_host; way++) {
        TRY(cudaMalloc(&j.device[way], j.largest_copy));
        TRY(cudaHostAlloc(&j.host[way], j.largest_copy, cudaHostAllocDefault));
        memset(j.host[way], 0, j.largest_copy);
    }
}

void measure_link(job &j) {
    const uint32_t op = max_traffic_op();
    int done = 0;
    for (int way = to_device; way <= to_host; way++) {
        copies_alone(j, way);
        progress("measuring copies: part", ++done, 6);
    }
    copies_both_ways(j);
    progress("measuring copies: part", ++done, 6);
    compute_alone(j, op);
    progress("measuring copies: part", ++done, 6);
    for (int way = to_device; way <= to_host; way++) {
        compute_beside(j, op, way);
        progress("measuring copies: part", ++done, 6);
    }
}

/* ---- beginning and end ---- */

void open_gpu(int gpu) {
    int n = 0;
    const cudaError_t e = cudaGetDeviceCount(&n);
    if (e != cudaSuccess)
        die("no GPU", cudaGetErrorString(e));
    if (gpu >= n)
        die("no such GPU", "there are fewer");
    TRY(cudaSetDevice(gpu));
}

void open_job(job &j) {
    size_t workspace = 0;
    open_streams(j);
    if (program.fixed_bytes > free_bytes())
        die("the step's inputs and parameters", "they do not fit into this GPU's memory; "
                                                "profile a smaller batch");
    if (!open_sources(j, program.keep_all))
        die("the step's inputs and parameters", "there is no memory for them");
    load_sources(j, program.keep_all, nullptr);
    for (uint32_t i = 0; i < program.n_ops; i++) {
        j.ops.push_back(choose(j, program.ops[i]));
        workspace = std::max(workspace, j.ops[i].workspace_bytes);
    }
    if (workspace > 0)
        TRY(cudaMalloc(&j.workspace, workspace));
    open_link(j);
    j.l = open_arena(j);
}

void close_job(job &j) {
    for (int way = to_device; way <= to_host; way++) {
        TRY(cudaFree(j.device[way]));
        TRY(cudaFreeHost(j.host[way]));
    }
    TRY(cudaFree(j.workspace));
    TRY(cudaFree(j.arena));
    close_machine(j);
}

void write_notes(job &j) {
    int driver = 0, runtime = 0, blas = 0;
    TRY(cudaDriverGetVersion(&driver));
    TRY(cudaRuntimeGetVersion(&runtime));
    if (cublasGetVersion(j.cuda.blas, &blas) != CUBLAS_STATUS_SUCCESS)
        die("cublasGetVersion", "it failed");
    FILE *f = fopen(notes_path, "w");
    if (f == nullptr)
        exit(environment);
    fprintf(f,
            "{\"versions\":{\"cuda_driver\":%d,\"cuda_runtime\":%d,\"cudnn\":%zu,"
            "\"cublas\":%d},\"whole\":%s,\"spare_calls\":%" PRIu64 ",\"algorithms\":[",
            driver, runtime, cudnnGetVersion(), blas, j.l.whole ? "true" : "false",
            j.cuda.n_fallbacks);
    for (size_t i = 0; i < j.ops.size(); i++)
        fprintf(f, "%s\"%s\"", i > 0 ? "," : "",
                j.ops[i].algorithm != nullptr ? j.ops[i].algorithm : "");
    fprintf(f, "]}\n");
    if (fclose(f) != 0)
        exit(environment);
}

} // namespace

int main(int argc, char **argv) {
    if (argc != 5)
        return environment;
    notes_path = argv[1];
    const int n_steps = atoi(argv[3]);
    shows_progress = argv[4][0] == '1';
    open_gpu(atoi(argv[2]));
    job j;
    open_job(j);
    for (int k = 0; k < warm_up; k++)
        run_step(j, false);
    j.cuda.n_fallbacks = 0;
    /* One step more, because readers of the trace leave the first one out. */
    for (int k = 0; k <= n_steps; k++) {
        run_step(j, true);
        progress("measuring: step", k, n_steps);
    }
    j.cuda.n_fallbacks /= (uint64_t)n_steps + 1;
    write_notes(j);
    measure_link(j);
    close_job(j);
    return 0;
}
