/* SPDX-License-Identifier: MIT
 *
 * machine: a GPU that holds the step's sources and can run ops of plan.c. Only main.cu
 * includes this file. */
#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/cuda/cuda.h"
#include "replay.h"

extern "C" const struct replay_program program;

namespace {

constexpr uint64_t source_alignment = 512;

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
    std::vector<uint64_t> source_at; /* per tensor */
};

void open_streams(machine &m) {
    for (auto &stream : m.streams)
        TRY(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    if (rp_cuda_open(&m.cuda, m.streams[REPLAY_COMPUTE]) != 0)
        die("libraries", m.cuda.error);
}

void load_sources(machine &m) {
    uint64_t bytes = 0;
    m.source_at.resize(program.n_tensors);
    for (uint32_t x = 0; x < program.n_tensors; x++)
        if (program.tensors[x].fill != REPLAY_NO_FILL) {
            m.source_at[x] = bytes;
            bytes += (program.tensors[x].bytes + source_alignment - 1) / source_alignment *
                     source_alignment;
        }
    TRY(cudaMalloc(&m.sources, std::max<uint64_t>(bytes, 1)));
    for (uint32_t x = 0; x < program.n_tensors; x++) {
        const replay_tensor &t = program.tensors[x];
        if (t.fill == REPLAY_NO_FILL)
            continue;
        std::vector<char> host(t.bytes);
        rp_fill_values(&program.fills[t.fill], host.data());
        TRY(cudaMemcpy(m.sources + m.source_at[x], host.data(), t.bytes,
                       cudaMemcpyHostToDevice));
    }
}

void close_machine(machine &m) {
    rp_cuda_close(&m.cuda);
    for (auto stream : m.streams)
        TRY(cudaStreamDestroy(stream));
    TRY(cudaFree(m.sources));
}

uint64_t free_bytes() {
    size_t left = 0, all = 0;
    TRY(cudaMemGetInfo(&left, &all));
    return left;
}

void *place(const machine &m, uint32_t x, uint64_t at) {
    return at == REPLAY_NOWHERE ? m.sources + m.source_at[x] : m.arena + at;
}

/* at[]: addresses of the inputs, then of the outputs. */
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
