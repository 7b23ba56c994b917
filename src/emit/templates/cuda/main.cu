/* SPDX-License-Identifier: MIT
 *
 * Runs the step without rematerialization, then the plan of plan.c. If the step does not fit
 * into the GPU's memory, it runs op by op, with its tensors on the host. Compares
 * the tensors that the step keeps or updates bit for bit, and times both. Writes one JSON
 * object to standard output.
 *
 *     replay [REPEATS [STEPS]]     how many runs are timed, how many training steps in a
 *                                  row are compared
 *
 * Exit code: 0 equal; 1 not equal; 4 there is nothing to compare with, since the step cannot
 * run at all; 77 no GPU; 5 other errors. */
#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>

#include "host_reference.cuh"

namespace {

constexpr int no_gpu = 77, environment = 5, no_reference = 4;
constexpr int poison = 0xff; /* a float of these bytes is NaN */

[[noreturn]] void die(const char *what, const char *why) {
    fprintf(stderr, "replay: %s: %s\n", what, why);
    exit(environment);
}

/* ---- memory ---- */

struct runner : machine {
    char *slab{};
    std::vector<cudaEvent_t> events; /* per step; null if no step waits for it */
    cudaEvent_t fork{}, join[REPLAY_N_QUEUES]{};
};

void open_events(runner &m) {
    TRY(cudaEventCreateWithFlags(&m.fork, cudaEventDisableTiming));
    for (auto &event : m.join)
        TRY(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
}

/* False if sources and arena do not fit. */
bool open_memory(runner &m, const replay_schedule &s) {
    if (!open_sources(m, s))
        return false;
    if (!allocate(&m.arena, s.arena_bytes, "the arena")) {
        TRY(cudaFree(m.sources));
        return false;
    }
    if (s.host_bytes > 0)
        TRY(cudaHostAlloc(&m.slab, s.host_bytes, cudaHostAllocDefault));
    m.events.assign(s.n_steps, nullptr);
    for (uint32_t k = 0; k < s.n_steps; k++)
        if (s.steps[k].awaited)
            TRY(cudaEventCreateWithFlags(&m.events[k], cudaEventDisableTiming));
    return true;
}

void close_memory(runner &m) {
    TRY(cudaFree(m.sources));
    TRY(cudaFree(m.arena));
    if (m.slab != nullptr)
        TRY(cudaFreeHost(m.slab));
    for (cudaEvent_t event : m.events)
        if (event != nullptr)
            TRY(cudaEventDestroy(event));
    m.arena = m.slab = nullptr;
    m.events.clear();
}

/* ---- one run ---- */

/* Pairs of events around the waits of the compute queue. The time between them is stall. */
struct stopwatch {
    std::vector<cudaEvent_t> events;
    void mark(cudaStream_t stream) {
        cudaEvent_t event;
        TRY(cudaEventCreate(&event));
        TRY(cudaEventRecord(event, stream));
        events.push_back(event);
    }
    uint64_t sum_ns() const {
        double ns = 0;
        for (size_t k = 0; k + 1 < events.size(); k += 2) {
            float ms = 0;
            TRY(cudaEventElapsedTime(&ms, events[k], events[k + 1]));
            ns += 1e6 * ms;
        }
        return (uint64_t)ns;
    }
    ~stopwatch() {
        for (cudaEvent_t event : events)
            cudaEventDestroy(event);
    }
};

void issue_run(runner &m, const replay_schedule &s, const replay_step &step) {
    const replay_op &op = program.ops[step.id];
    void *workspace = op.workspace_bytes > 0 ? m.arena + step.at : nullptr;
    run_op(m, op, *op.args, s.addresses + step.where, workspace, op.workspace_bytes);
}

struct run_options {
    bool overwrite;   /* freed memory */
    stopwatch *stall; /* or NULL */
};

void issue_step(runner &m, const replay_schedule &s, uint32_t k, const run_options &how) {
    const replay_step &step = s.steps[k];
    const int queue = step.what == REPLAY_SWAP_OUT  ? REPLAY_D2H
                      : step.what == REPLAY_SWAP_IN ? REPLAY_H2D
                                                    : REPLAY_COMPUTE;
    const cudaStream_t stream = m.streams[queue];
    const bool timed = how.stall != nullptr && queue == REPLAY_COMPUTE && step.n_waits > 0;
    if (timed)
        how.stall->mark(stream);
    for (uint32_t w = 0; w < step.n_waits; w++)
        TRY(cudaStreamWaitEvent(stream, m.events[s.waits[step.waits + w]], 0));
    if (timed)
        how.stall->mark(stream);
    if (step.what == REPLAY_RUN) {
        issue_run(m, s, step);
    } else {
        const uint64_t bytes = program.tensors[step.id].bytes;
        if (step.what == REPLAY_FREE && how.overwrite && bytes > 0)
            TRY(cudaMemsetAsync(m.arena + step.at, poison, bytes, stream));
        if (step.what == REPLAY_SWAP_OUT && bytes > 0)
            TRY(cudaMemcpyAsync(m.slab + step.host_at, m.arena + step.at, bytes,
                                cudaMemcpyDeviceToHost, stream));
        if (step.what == REPLAY_SWAP_IN && bytes > 0)
            TRY(cudaMemcpyAsync(m.arena + step.at, m.slab + step.host_at, bytes,
                                cudaMemcpyHostToDevice, stream));
    }
    if (step.awaited)
        TRY(cudaEventRecord(m.events[k], stream));
}

/* Both copy streams begin after earlier work of the compute stream, and its later work
 * waits for them. */
void issue(runner &m, const replay_schedule &s, const run_options &how) {
    const cudaStream_t compute = m.streams[REPLAY_COMPUTE];
    TRY(cudaEventRecord(m.fork, compute));
    for (int q = REPLAY_D2H; q < REPLAY_N_QUEUES; q++)
        TRY(cudaStreamWaitEvent(m.streams[q], m.fork, 0));
    for (uint32_t k = 0; k < s.n_steps; k++)
        issue_step(m, s, k, how);
    for (int q = REPLAY_D2H; q < REPLAY_N_QUEUES; q++) {
        TRY(cudaEventRecord(m.join[q], m.streams[q]));
        TRY(cudaStreamWaitEvent(compute, m.join[q], 0));
    }
}

void finish(const runner &m) {
    TRY(cudaStreamSynchronize(m.streams[REPLAY_COMPUTE]));
}

void wipe(const runner &m, const replay_schedule &s) {
    TRY(cudaMemset(m.arena, poison, s.arena_bytes));
    TRY(cudaDeviceSynchronize());
}

/* ---- comparing ---- */

size_t n_updated() {
    const std::vector<bool> updated = updated_sources();
    return (size_t)std::count(updated.begin(), updated.end(), true);
}

uint64_t sum_of(const void *on_device, uint64_t bytes) {
    std::vector<char> host(bytes);
    TRY(cudaMemcpy(host.data(), on_device, bytes, cudaMemcpyDeviceToHost));
    return rp_checksum(host.data(), bytes);
}

/* What a training step leaves, per tensor: what it keeps, and the sources that it updates,
 * on the host those that live there. 0 for other tensors. */
std::vector<uint64_t> sums_of_results(const runner &m, const replay_schedule &s) {
    const std::vector<bool> updated = updated_sources();
    std::vector<uint64_t> sums(program.n_tensors);
    for (uint32_t k = 0; k < program.n_keep; k++) {
        const uint32_t x = program.keep[k];
        sums[x] = sum_of(place(m, x, s.kept_at[k]), program.tensors[x].bytes);
    }
    for (uint32_t x = 0; x < program.n_tensors; x++)
        if (updated[x] && m.source_at[x] != REPLAY_NOWHERE)
            sums[x] = sum_of(m.sources + m.source_at[x], program.tensors[x].bytes);
    for (uint32_t k = 0; k < s.n_homes; k++) {
        const uint32_t x = s.homes[k].tensor;
        if (updated[x])
            sums[x] = rp_checksum(m.slab + s.homes[k].host_at, program.tensors[x].bytes);
    }
    return sums;
}

/* The first tensor that differs, or NULL. */
const char *difference(const std::vector<uint64_t> &a, const std::vector<uint64_t> &b) {
    for (size_t x = 0; x < a.size(); x++)
        if (a[x] != b[x])
            return program.tensors[x].name;
    return nullptr;
}

/* ---- timing ---- */

template <class Run> uint64_t median_ns(const runner &m, int repeats, Run run) {
    std::vector<float> times;
    cudaEvent_t begin, end;
    TRY(cudaEventCreate(&begin));
    TRY(cudaEventCreate(&end));
    for (int k = 0; k < repeats; k++) {
        float ms = 0;
        TRY(cudaEventRecord(begin, m.streams[REPLAY_COMPUTE]));
        run();
        TRY(cudaEventRecord(end, m.streams[REPLAY_COMPUTE]));
        finish(m);
        TRY(cudaEventElapsedTime(&ms, begin, end));
        times.push_back(ms);
    }
    TRY(cudaEventDestroy(begin));
    TRY(cudaEventDestroy(end));
    std::sort(times.begin(), times.end());
    return (uint64_t)(1e6 * times[times.size() / 2]);
}

/* How often a schedule runs: when it is timed, and when its results are compared. */
struct counts {
    int repeats, steps;
};

/* Results of one schedule. */
struct outcome {
    bool ran = false; /* on the device as a whole */
    std::vector<uint64_t> sums, graph_sums;
    uint64_t eager_ns = 0, graph_ns = 0, stall_ns = 0, outside_bytes = 0;
};

cudaGraphExec_t capture(runner &m, const replay_schedule &s) {
    const cudaStream_t compute = m.streams[REPLAY_COMPUTE];
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    TRY(cudaStreamBeginCapture(compute, cudaStreamCaptureModeRelaxed));
    issue(m, s, {false, nullptr});
    TRY(cudaStreamEndCapture(compute, &graph));
    TRY(cudaGraphInstantiate(&exec, graph, 0));
    TRY(cudaGraphDestroy(graph));
    return exec;
}

void time_eager(runner &m, const replay_schedule &s, int repeats, outcome &o) {
    issue(m, s, {false, nullptr}); /* warm up: loads modules and creates handles */
    finish(m);
    const uint64_t before = free_bytes();
    o.eager_ns = median_ns(m, repeats, [&] { issue(m, s, {false, nullptr}); });
    const uint64_t after = free_bytes();
    o.outside_bytes = before > after ? before - after : 0;
    stopwatch stall;
    issue(m, s, {false, &stall});
    finish(m);
    o.stall_ns = stall.sum_ns();
}

/* Training steps from the first content of the sources on. Nothing but sources goes from
 * step to step. */
template <class Run> void train(runner &m, const replay_schedule &s, int steps, Run run) {
    load_sources(m, s, m.slab);
    for (int k = 0; k < steps; k++) {
        wipe(m, s);
        run();
        finish(m);
    }
}

void time_graph(runner &m, const replay_schedule &s, const counts &n, outcome &o) {
    const cudaStream_t compute = m.streams[REPLAY_COMPUTE];
    cudaGraphExec_t exec;
    train(m, s, n.steps, [&] {
        exec = capture(m, s);
        TRY(cudaGraphLaunch(exec, compute));
        finish(m);
        TRY(cudaGraphExecDestroy(exec));
    });
    o.graph_sums = sums_of_results(m, s);
    exec = capture(m, s);
    o.graph_ns = median_ns(m, n.repeats, [&] { TRY(cudaGraphLaunch(exec, compute)); });
    TRY(cudaGraphExecDestroy(exec));
}

outcome execute(runner &m, const replay_schedule &s, const counts &n) {
    outcome o;
    if (!open_memory(m, s))
        return o;
    train(m, s, n.steps, [&] { issue(m, s, {true, nullptr}); });
    o.sums = sums_of_results(m, s);
    time_eager(m, s, n.repeats, o);
    time_graph(m, s, n, o);
    close_memory(m);
    o.ran = true;
    return o;
}

/* False if only a plan has room for this schedule. */
bool has_room(const replay_schedule &s) {
    uint64_t sources = 0;
    for (uint32_t x = 0; x < program.n_tensors; x++)
        sources += is_source(x) ? padded(program.tensors[x].bytes) : 0;
    const uint64_t usable = usable_bytes();
    return sources <= usable && s.arena_bytes <= usable - sources;
}

/* Keep-all on the device, or op by op. Without sums, neither is possible. */
outcome run_reference(runner &m, const counts &n) {
    outcome o;
    if (has_room(program.keep_all))
        o = execute(m, program.keep_all, n);
    if (o.ran)
        return o;
    const std::string why = run_on_host(m, n.steps, &o.sums);
    if (!why.empty())
        fprintf(stderr,
                "replay: nothing to compare with: the step without rematerialization does "
                "not fit into this GPU's memory; %s\n",
                why.c_str());
    return o;
}

/* ---- the report ---- */

void put_string(const char *s) {
    if (s == nullptr) {
        printf("null");
        return;
    }
    putchar('"');
    for (; *s != '\0'; s++)
        if (*s == '"' || *s == '\\')
            printf("\\%c", *s);
        else if ((unsigned char)*s < 0x20)
            printf("\\u%04x", (unsigned)(unsigned char)*s);
        else
            putchar(*s);
    putchar('"');
}

void put_times(const char *key, uint64_t predicted, const outcome &o) {
    printf(",\"%s\":{\"predicted\":%" PRIu64, key, predicted);
    if (o.ran)
        printf(",\"eager\":%" PRIu64 ",\"graph\":%" PRIu64 "}", o.eager_ns, o.graph_ns);
    else
        printf(",\"eager\":null,\"graph\":null}");
}

int report(const runner &m, const outcome &reference, const outcome &plan, int steps) {
    cudaDeviceProp device;
    TRY(cudaGetDeviceProperties(&device, 0));
    const bool known = !reference.sums.empty();
    const char *wrong = known ? difference(reference.sums, plan.sums) : nullptr;
    const char *graph_wrong = difference(plan.sums, plan.graph_sums);
    const replay_schedule &s = program.plan;
    printf("{\"target\":\"cuda\",\"device\":");
    put_string(device.name);
    printf(",\"graph\":");
    put_string(program.name);
    printf(",\"equal\":%s,\"wrong\":",
           !known ? "null" : wrong == nullptr ? "true" : "false");
    put_string(wrong);
    printf(",\"reference\":");
    put_string(reference.ran ? "keep-all" : known ? "op by op" : nullptr);
    printf(",\"graph_equal\":%s,\"training_steps\":%d,\"kept\":%" PRIu32
           ",\"updated\":%zu,\"steps\":%" PRIu32,
           graph_wrong == nullptr ? "true" : "false", steps, program.n_keep,
           n_updated(), s.n_steps);
    printf(",\"arena_bytes\":%" PRIu64 ",\"host_bytes\":%" PRIu64 ",\"fixed_bytes\":%" PRIu64
           ",\"outside_bytes\":%" PRIu64,
           s.arena_bytes, s.host_bytes, program.fixed_bytes, plan.outside_bytes);
    put_times("plan_ns", program.time_ns, plan);
    put_times("reference_ns", program.baseline_ns, reference);
    printf(",\"stall_ns\":{\"predicted\":%" PRIu64 ",\"measured\":%" PRIu64 "}",
           program.stall_ns, plan.stall_ns);
    printf(",\"implicit_gemm_calls\":%" PRIu64 ",\"part_calls\":%" PRIu64
           ",\"spare_calls\":%" PRIu64 ",\"declined\":",
           m.cuda.n_implicit_gemm, m.cuda.n_in_parts, m.cuda.n_fallbacks);
    put_string(m.cuda.declined[0] != '\0' ? m.cuda.declined : nullptr);
    printf("}\n");
    return wrong != nullptr || graph_wrong != nullptr ? 1 : known ? 0 : no_reference;
}

} // namespace

int main(int argc, char **argv) {
    const counts often = {argc > 1 ? std::max(1, atoi(argv[1])) : 5,
                          argc > 2 ? std::max(1, atoi(argv[2])) : n_updated() > 0 ? 2 : 1};
    int n = 0;
    const cudaError_t e = cudaGetDeviceCount(&n);
    if (e != cudaSuccess || n == 0) {
        fprintf(stderr, "replay: no GPU: %s\n",
                e != cudaSuccess ? cudaGetErrorString(e) : "none is there");
        return no_gpu;
    }
    runner m;
    open_streams(m);
    open_events(m);
    const outcome reference = run_reference(m, often);
    const outcome plan = execute(m, program.plan, often);
    if (!plan.ran)
        die("the plan", "its sources and its arena do not fit into this GPU's memory");
    const int code = report(m, reference, plan, often.steps);
    close_machine(m);
    return fflush(stdout) == 0 ? code : environment;
}
