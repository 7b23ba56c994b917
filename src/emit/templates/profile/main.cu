/* SPDX-License-Identifier: MIT
 *
 * Runs the step without rematerialization again and again, for `remat-plan profile GRAPH`.
 *
 *   profile traced NOTES GPU STEPS WARM_UP LIMIT PROGRESS
 *   profile timed NOTES GPU STEPS WARM_UP LIMIT PROGRESS
 *
 * `traced` marks steps and ops with NVTX ranges, and then copies data of many sizes.
 * `timed` measures how long the whole step takes without a tracer, eagerly and as a CUDA
 * graph, and reads the GPU's clocks.
 *
 * NOTES is a file. It gets one JSON object with what the trace does not contain, or, if the
 * exit code is not 0, one line with the reason. The step first runs for WARM_UP seconds.
 * Fewer than STEPS steps are measured if warm-up and steps would take more than LIMIT seconds.
 * PROGRESS 1: report progress on standard error.
 *
 * If the step fits into the GPU's memory, it runs on the values that it computes. If not,
 * the operands of each op are placed next to each other, after those of the op before, and
 * again from the start of the memory when its end is reached. Then the ops run in the same
 * order, each on memory of its own size, but on values that are not the step's. The time of
 * a kernel does not depend on them: an index out of range reads and writes nothing
 * (docs/ops.md). */
#include "layout.cuh"
#include "link.cuh"
#include "timing.cuh"
#include "ways.cuh"

namespace {

const char *notes_path;

void fail(int exit_code, const char *what, const char *why) {
    FILE *f = fopen(notes_path, "w");
    if (f != nullptr) {
        fprintf(f, "%s: %s\n", what, why);
        fclose(f);
    }
    exit(exit_code);
}

void die(const char *what, const char *why) {
    fail(environment, what, why);
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

/* Leaves `reserved` bytes, and a sixteenth of the rest for CUPTI and for modules that are
 * loaded later. */
layout open_arena(machine &m, uint64_t reserved) {
    const uint64_t left = free_bytes() - std::min(free_bytes(), reserved);
    const uint64_t limit = (left - left / 16) / alignment * alignment;
    const bool fits = program.keep_all.arena_bytes <= limit;
    const uint64_t bytes = fits ? program.keep_all.arena_bytes : limit;
    TRY(cudaMalloc(&m.arena, std::max(bytes, alignment)));
    return fits ? whole_step() : op_by_op(bytes);
}

/* ---- steps ---- */

/* CUPTI requests a buffer in the first call after a flush, and steps are flushed. So the
 * first call is not an op's. */
void run_marked_step(job &j) {
    nvtxRangePushA("rp:step");
    finish();
    for (uint32_t i = 0; i < program.n_ops; i++) {
        push(j.ops[i].range.c_str(), j.ops[i].way.workspace_bytes);
        run_one(j, i);
        nvtxRangePop();
    }
    finish(); /* within the range, so that all work is complete when it ends */
    nvtxRangePop();
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
    const uint64_t limit = workspace_limit();
    for (uint32_t i = 0; i < program.n_ops; i++) {
        j.ops.push_back(choose(j, program.ops[i], limit));
        workspace = std::max(workspace, j.ops[i].way.workspace_bytes);
    }
    if (workspace > 0)
        TRY(cudaMalloc(&j.workspace, workspace));
    j.l = open_arena(j, reserve_link(j));
}

void close_job(job &j) {
    TRY(cudaFree(j.workspace));
    TRY(cudaFree(j.arena));
    close_machine(j);
}

FILE *open_notes() {
    FILE *f = fopen(notes_path, "w");
    if (f == nullptr)
        exit(environment);
    return f;
}

void close_notes(FILE *f) {
    if (fclose(f) != 0)
        exit(environment);
}

void write_notes(job &j) {
    int driver = 0, runtime = 0, blas = 0;
    TRY(cudaDriverGetVersion(&driver));
    TRY(cudaRuntimeGetVersion(&runtime));
    if (cublasGetVersion(j.cuda.blas, &blas) != CUBLAS_STATUS_SUCCESS)
        die("cublasGetVersion", "it failed");
    FILE *f = open_notes();
    fprintf(f,
            "{\"versions\":{\"cuda_driver\":%d,\"cuda_runtime\":%d,\"cudnn\":%zu,"
            "\"cublas\":%d},\"whole\":%s,\"spare_calls\":%" PRIu64 ",",
            driver, runtime, cudnnGetVersion(), blas, j.l.whole ? "true" : "false",
            j.cuda.n_fallbacks);
    write_ways(j, f);
    fprintf(f, "}\n");
    close_notes(f);
}

void run_traced(job &j, const measuring &how) {
    const warm_up_runs w = warm_up(j, how.warm_up_seconds);
    const int n_steps = std::max(1, steps_within(how.limit_seconds, w, how.n_steps, 1));
    j.cuda.n_fallbacks = 0;
    /* One step more, because readers of the trace leave the first one out. */
    for (int k = 0; k <= n_steps; k++) {
        run_marked_step(j);
        progress("measuring: step", k, n_steps);
    }
    j.cuda.n_fallbacks /= (uint64_t)n_steps + 1;
    write_notes(j);
    measure_link(j);
}

void run_timed(job &j, int gpu, const measuring &how) {
    clocks c;
    open_clocks(c, gpu);
    const timing t = time_steps(j, how, c);
    FILE *f = open_notes();
    fprintf(f,
            "{\"eager_ns\":%" PRIu64 ",\"graph_ns\":%" PRIu64
            ",\"warm_up_steps\":%d,\"clocks\":",
            t.eager_ns, t.graph_ns, t.warm_up_steps);
    write_clocks(c, f);
    fprintf(f, "}\n");
    close_notes(f);
}

} // namespace

int main(int argc, char **argv) {
    if (argc != 8)
        return environment;
    const bool traced = strcmp(argv[1], "traced") == 0;
    notes_path = argv[2];
    const int gpu = atoi(argv[3]);
    const measuring how = {atoi(argv[4]), atof(argv[5]), atof(argv[6])};
    shows_progress = argv[7][0] == '1';
    open_gpu(gpu);
    job j;
    open_job(j);
    if (traced)
        run_traced(j, how);
    else
        run_timed(j, gpu, how);
    close_job(j);
    return 0;
}
