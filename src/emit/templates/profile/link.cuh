/* SPDX-License-Identifier: MIT
 *
 * link: copies of many sizes, alone, in both directions at once and beside kernels, each
 * setting in an NVTX range. Only main.cu includes this file. */
#pragma once

#include <cmath>

#include <nvtx3/nvToolsExt.h>

#include "job.cuh"

namespace {

constexpr size_t min_copy = (size_t)64 << 10, largest_copy = (size_t)256 << 20;
constexpr int copies_of_a_size = 10;
constexpr int kernels_alone = 20, max_beside = 1000;

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
    const double copies_ms = milliseconds(stream_of(j, way), [&] { copy_every_size(j, way); });
    const double op_ms = milliseconds(compute, [&] {
        for (int k = 0; k < 10; k++)
            run_one(j, op);
    }) / 10;
    const double enough = op_ms > 0 ? std::ceil(copies_ms / op_ms) : max_beside;
    const int times = (int)std::min(std::max(enough, 1.0), (double)max_beside);
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
 * sizes. Their memory is left free until the steps are measured, so that CUPTI sees what a
 * step holds without it. Returns its size on the device. */
uint64_t reserve_link(job &j) {
    j.largest_copy = 4 * min_copy;
    while (4 * j.largest_copy <= std::min<uint64_t>(largest_copy, free_bytes() / 16))
        j.largest_copy *= 4;
    return 2 * j.largest_copy;
}

void open_link(job &j) {
    for (int way = to_device; way <= to_host; way++) {
        TRY(cudaMalloc(&j.device[way], j.largest_copy));
        TRY(cudaHostAlloc(&j.host[way], j.largest_copy, cudaHostAllocDefault));
        memset(j.host[way], 0, j.largest_copy);
    }
}

void close_link(job &j) {
    for (int way = to_device; way <= to_host; way++) {
        TRY(cudaFree(j.device[way]));
        TRY(cudaFreeHost(j.host[way]));
    }
}

void measure_link(job &j) {
    open_link(j);
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
    close_link(j);
}

} // namespace
