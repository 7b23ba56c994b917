/* SPDX-License-Identifier: MIT
 *
 * job: the step on the GPU, and how long parts of it take. Only main.cu includes this
 * file. */
#pragma once

#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <string>

#include "machine.cuh"

namespace {

/* Exit codes, those of remat-plan. */
constexpr int out_of_time = 4, environment = 5;

/* Writes the reason into the notes and ends the program. */
[[noreturn]] void fail(int exit_code, const char *what, const char *why);

bool shows_progress;

void progress(const char *what, int k, int n) {
    if (shows_progress)
        fprintf(stderr, "\r%s %d of %d\033[K%s", what, k, n, k == n ? "\r\033[K" : "");
}

/* How an op is computed. */
struct op_run {
    std::string range;
    rp_kargs args;
    rp_cuda_way way;
    std::string why; /* it is not the fastest way; empty if it is */
};

/* Where the operands of all ops are. */
struct layout {
    std::vector<uint64_t> at; /* per entry of program.ends */
    uint64_t arena_bytes;
    bool whole; /* each tensor has a place of its own, as in a replay */
};

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
    const uint64_t bytes = r.way.workspace_bytes;
    run_op(j, op, r.args, j.l.at.data() + op.ends, bytes > 0 ? j.workspace : nullptr, bytes);
}

void run_all(job &j) {
    for (uint32_t i = 0; i < program.n_ops; i++)
        run_one(j, i);
}

void finish() {
    TRY(cudaDeviceSynchronize());
}

/* The time between two events around `run`, which issues work on the stream. */
template <class F> double milliseconds(cudaStream_t stream, F run) {
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

/* What is asked for. */
struct measuring {
    int n_steps;
    double warm_up_seconds, limit_seconds;
};

struct warm_up_runs {
    int n;
    double ms; /* of all */
};

/* Runs the step for this much of the GPU's time, since a GPU that was idle takes a while to
 * reach its clocks, but at most a second longer on the host's clock: a step may keep the GPU
 * busy for a small part of its time. Runs it at least twice, since libraries load kernels
 * in the first run. */
warm_up_runs warm_up(job &j, double seconds) {
    using clock = std::chrono::steady_clock;
    const auto latest = clock::now() + std::chrono::duration<double>(seconds + 1);
    warm_up_runs w{};
    for (; w.n < 2 || (w.ms < 1000 * seconds && clock::now() < latest); w.n++)
        w.ms += milliseconds(j.streams[REPLAY_COMPUTE], [&] { run_all(j); });
    return w;
}

/* How many steps of `wanted` can be measured within the limit after the warm-up, if each
 * runs `times` times; 0 or less if none can. */
int steps_within(double limit_seconds, const warm_up_runs &w, int wanted, int times) {
    const double left_ms = 1000 * limit_seconds - w.ms, step_ms = times * w.ms / w.n;
    return left_ms < wanted * step_ms ? (int)(left_ms / step_ms) : wanted;
}

} // namespace
