/* SPDX-License-Identifier: MIT
 *
 * machine: a GPU that holds the step's sources, but for those that live on the host, and
 * can run ops of plan.c. Only main.cu includes this file. */
#pragma once

#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/cuda/cuda.h"
#include "replay.h"

extern "C" const struct replay_program program;

namespace {

/* Each operand begins at a multiple of 512 bytes. */
uint64_t padded(uint64_t bytes) {
    return (bytes + 511) / 512 * 512;
}

/* Defined by main.cu: reports one line and exits. */
[[noreturn]] void die(const char *what, const char *why);

void try_(const char *what, cudaError_t e) {
    if (e != cudaSuccess)
        die(what, cudaGetErrorString(e));
}
#define TRY(call) try_(#call, call)

struct machine {
    rp_cuda cuda{};
    cudaStream_t streams[REPLAY_N_QUEUES]{};
    char *sources{}, *arena{};
    std::vector<uint64_t> source_at; /* per tensor: in `sources`, or REPLAY_NOWHERE */
};

bool is_source(uint32_t x) {
    return program.tensors[x].fill != REPLAY_NO_FILL;
}

/* Per tensor: is it a source that ops update? */
std::vector<bool> updated_sources() {
    std::vector<bool> updated(program.n_tensors);
    for (uint32_t i = 0; i < program.n_ops; i++) {
        const replay_op &op = program.ops[i];
        for (uint32_t e = op.ends + op.n_in; e < op.ends + op.n_in + op.n_out; e++)
            updated[program.ends[e]] = is_source(program.ends[e]);
    }
    return updated;
}

void open_streams(machine &m) {
    for (auto &stream : m.streams)
        TRY(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    if (rp_cuda_open(&m.cuda, m.streams[REPLAY_COMPUTE]) != 0)
        die("the GPU", m.cuda.error);
}

/* False if the memory does not fit. */
bool allocate(char **to, uint64_t bytes, const char *what) {
    const cudaError_t e = cudaMalloc(to, std::max<uint64_t>(bytes, 1));
    if (e != cudaErrorMemoryAllocation)
        try_(what, e);
    else
        cudaGetLastError();
    return e == cudaSuccess;
}

/* Allocates the sources that stay on the device under this schedule. False if they do not
 * fit. */
bool open_sources(machine &m, const replay_schedule &s) {
    uint64_t bytes = 0;
    std::vector<bool> on_host(program.n_tensors);
    for (uint32_t k = 0; k < s.n_homes; k++)
        on_host[s.homes[k].tensor] = true;
    m.source_at.assign(program.n_tensors, REPLAY_NOWHERE);
    for (uint32_t x = 0; x < program.n_tensors; x++)
        if (is_source(x) && !on_host[x]) {
            m.source_at[x] = bytes;
            bytes += padded(program.tensors[x].bytes);
        }
    return allocate(&m.sources, bytes, "the sources");
}

/* Gives all sources their first content, on the device or in the slab. */
void load_sources(machine &m, const replay_schedule &s, char *slab) {
    for (uint32_t k = 0; k < s.n_homes; k++)
        rp_fill_values(&program.fills[program.tensors[s.homes[k].tensor].fill],
                       slab + s.homes[k].host_at);
    for (uint32_t x = 0; x < program.n_tensors; x++) {
        if (m.source_at[x] == REPLAY_NOWHERE)
            continue;
        std::vector<char> host(program.tensors[x].bytes);
        rp_fill_values(&program.fills[program.tensors[x].fill], host.data());
        TRY(cudaMemcpy(m.sources + m.source_at[x], host.data(), host.size(),
                       cudaMemcpyHostToDevice));
    }
}

void close_machine(machine &m) {
    rp_cuda_close(&m.cuda);
    for (auto stream : m.streams)
        TRY(cudaStreamDestroy(stream));
}

uint64_t free_bytes() {
    size_t left = 0, all = 0;
    TRY(cudaMemGetInfo(&left, &all));
    return left;
}

/* A part of the free memory is for modules that libraries load later. */
uint64_t usable_bytes() {
    return free_bytes() - free_bytes() / 16;
}

void *place(const machine &m, uint32_t x, uint64_t at) {
    return at == REPLAY_NOWHERE ? m.sources + m.source_at[x] : m.arena + at;
}

/* at[]: addresses of what the op reads, then of what it writes. */
void run_op(machine &m, const replay_op &op, const rp_kargs &args, const uint64_t *at,
            void *workspace, uint64_t workspace_bytes) {
    const void *in[64];
    void *out[64];
    std::vector<const void *> many_in;
    std::vector<void *> many_out;
    const void **ins = in;
    void **outs = out;
    if (op.n_in > 64) {
        many_in.resize(op.n_in);
        ins = many_in.data();
    }
    if (op.n_out > 64) {
        many_out.resize(op.n_out);
        outs = many_out.data();
    }
    for (uint32_t k = 0; k < op.n_in; k++)
        ins[k] = place(m, program.ends[op.ends + k], at[k]);
    for (uint32_t k = 0; k < op.n_out; k++)
        outs[k] = place(m, program.ends[op.ends + op.n_in + k], at[op.n_in + k]);
    if (((rp_cuda_fn *)op.run)(&m.cuda, &args, ins, outs, workspace, workspace_bytes) != 0)
        die(op.name, m.cuda.error);
}

} // namespace
