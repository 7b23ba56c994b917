/* SPDX-License-Identifier: MIT
 *
 * timing: how long the whole step takes when nothing traces it, so with the gaps between
 * its kernels: launched one by one, and as one CUDA graph. Only main.cu includes this
 * file. */
#pragma once

#include "clocks.cuh"
#include "job.cuh"

namespace {

struct timing {
    uint64_t eager_ns, graph_ns; /* medians */
    int warm_up_steps;
};

template <class F> uint64_t median_ns(job &j, int n, F step) {
    std::vector<double> ms;
    for (int k = 0; k < n; k++)
        ms.push_back(milliseconds(j.streams[REPLAY_COMPUTE], step));
    std::sort(ms.begin(), ms.end());
    return (uint64_t)(1e6 * (ms[(n - 1) / 2] + ms[n / 2]) / 2 + 0.5);
}

cudaGraphExec_t capture(job &j) {
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    const cudaStream_t compute = j.streams[REPLAY_COMPUTE];
    TRY(cudaStreamBeginCapture(compute, cudaStreamCaptureModeRelaxed));
    run_all(j);
    TRY(cudaStreamEndCapture(compute, &graph));
    TRY(cudaGraphInstantiate(&exec, graph, 0));
    TRY(cudaGraphDestroy(graph));
    return exec;
}

/* Reads the clocks while graphs run for a quarter of a second: once a step has ended they
 * may change at once. */
void read_clocks_under_load(job &j, cudaGraphExec_t exec, uint64_t graph_ns, clocks &c) {
    constexpr uint64_t load_ns = 250000000, max_graphs = 1000;
    const cudaStream_t compute = j.streams[REPLAY_COMPUTE];
    const uint64_t n = std::min(load_ns / std::max<uint64_t>(graph_ns, 1) + 1, max_graphs);
    for (uint64_t k = 0; k < n; k++)
        TRY(cudaGraphLaunch(exec, compute));
    do
        read_clocks(c);
    while (cudaStreamQuery(compute) == cudaErrorNotReady);
    finish();
}

/* A step runs as a graph once more, without being timed. */
timing time_steps(job &j, const measuring &how, clocks &c) {
    timing t{};
    const cudaStream_t compute = j.streams[REPLAY_COMPUTE];
    const warm_up_runs w = warm_up(j, how.warm_up_seconds);
    const int n_steps = steps_within(how.limit_seconds, w, how.n_steps, 2);
    if (n_steps < 1)
        fail(out_of_time, "the step",
             "it takes longer than the time limit allows; raise --time-limit or profile a "
             "smaller batch");
    t.warm_up_steps = w.n;
    t.eager_ns = median_ns(j, n_steps, [&] { run_all(j); });
    const cudaGraphExec_t exec = capture(j);
    TRY(cudaGraphLaunch(exec, compute)); /* the first launch moves it to the device */
    finish();
    t.graph_ns = median_ns(j, n_steps, [&] { TRY(cudaGraphLaunch(exec, compute)); });
    read_clocks_under_load(j, exec, t.graph_ns, c);
    TRY(cudaGraphExecDestroy(exec));
    return t;
}

} // namespace
