/* SPDX-License-Identifier: MIT
 *
 * host_reference: the step without rematerialization for a GPU that it does not fit. All
 * tensors are on the host. The operands of one op after the other are copied to the device,
 * and what it writes is copied back. Only main.cu includes this file. */
#pragma once

#include <unistd.h>

#include <new>
#include <string>

#include "machine.cuh"

namespace {

/* Where an op's operands and its workspace are on the device. */
struct staging {
    std::vector<uint64_t> at; /* per operand */
    uint64_t workspace_at, bytes;
};

/* A source that the op updates is an operand twice, but in one place. */
staging stage(const replay_op &op) {
    const uint32_t *begin = program.ends + op.ends, n = op.n_in + op.n_out;
    staging s{};
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t same = (uint32_t)(std::find(begin, begin + k, begin[k]) - begin);
        s.at.push_back(same < k ? s.at[same] : s.bytes);
        if (same == k)
            s.bytes += padded(program.tensors[begin[k]].bytes);
    }
    s.workspace_at = s.bytes;
    s.bytes += padded(op.workspace_bytes);
    return s;
}

/* Device memory for the largest op. */
uint64_t max_staging() {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < program.n_ops; i++)
        bytes = std::max(bytes, stage(program.ops[i]).bytes);
    return bytes;
}

/* The step's tensors on the host. */
struct host_step {
    std::vector<uint32_t> order;    /* of ops */
    std::vector<uint32_t> last_use; /* per tensor: index in `order`; n_ops: never freed */
    std::vector<std::vector<char>> at; /* per tensor; empty before it is made and once freed */
};

host_step open_host_step() {
    host_step h;
    h.last_use.resize(program.n_tensors);
    h.at.resize(program.n_tensors);
    for (uint32_t k = 0; k < program.keep_all.n_steps; k++)
        if (program.keep_all.steps[k].what == REPLAY_RUN)
            h.order.push_back(program.keep_all.steps[k].id);
    for (uint32_t k = 0; k < h.order.size(); k++) {
        const replay_op &op = program.ops[h.order[k]];
        for (uint32_t e = op.ends; e < op.ends + op.n_in + op.n_out; e++)
            h.last_use[program.ends[e]] = k;
    }
    for (uint32_t x = 0; x < program.n_tensors; x++)
        if (is_source(x))
            h.last_use[x] = program.n_ops;
    for (uint32_t k = 0; k < program.n_keep; k++)
        h.last_use[program.keep[k]] = program.n_ops;
    return h;
}

/* Roughly: the arena also holds the workspace of the ops. */
uint64_t host_bytes() {
    uint64_t bytes = program.keep_all.arena_bytes;
    for (uint32_t x = 0; x < program.n_tensors; x++)
        if (is_source(x))
            bytes += program.tensors[x].bytes;
    return bytes;
}

/* $REPLAY_HOST_BYTES, else the machine's memory. */
uint64_t host_limit() {
    const char *given = getenv("REPLAY_HOST_BYTES");
    return given != nullptr ? strtoull(given, nullptr, 10)
                            : (uint64_t)sysconf(_SC_PHYS_PAGES) *
                                  (uint64_t)sysconf(_SC_PAGESIZE);
}

void run_staged(machine &m, host_step &h, const replay_op &op) {
    const staging s = stage(op);
    for (uint32_t k = 0; k < op.n_in; k++) {
        const std::vector<char> &from = h.at[program.ends[op.ends + k]];
        TRY(cudaMemcpy(m.arena + s.at[k], from.data(), from.size(), cudaMemcpyHostToDevice));
    }
    TRY(cudaDeviceSynchronize());
    run_op(m, op, *op.args, s.at.data(),
           op.workspace_bytes > 0 ? m.arena + s.workspace_at : nullptr, op.workspace_bytes);
    TRY(cudaDeviceSynchronize());
    for (uint32_t k = op.n_in; k < op.n_in + op.n_out; k++) {
        const uint32_t x = program.ends[op.ends + k];
        h.at[x].resize(program.tensors[x].bytes);
        TRY(cudaMemcpy(h.at[x].data(), m.arena + s.at[k], h.at[x].size(),
                       cudaMemcpyDeviceToHost));
    }
}

void run_host_step(machine &m, host_step &h) {
    for (uint32_t k = 0; k < h.order.size(); k++) {
        const replay_op &op = program.ops[h.order[k]];
        run_staged(m, h, op);
        for (uint32_t e = op.ends; e < op.ends + op.n_in + op.n_out; e++)
            if (h.last_use[program.ends[e]] == k)
                std::vector<char>().swap(h.at[program.ends[e]]);
    }
}

void load_host_sources(host_step &h) {
    for (uint32_t x = 0; x < program.n_tensors; x++)
        if (is_source(x)) {
            h.at[x].resize(program.tensors[x].bytes);
            rp_fill_values(&program.fills[program.tensors[x].fill], h.at[x].data());
        }
}

/* As sums_of_results. */
std::vector<uint64_t> host_sums(const host_step &h) {
    std::vector<bool> wanted = updated_sources();
    std::vector<uint64_t> sums(program.n_tensors);
    for (uint32_t k = 0; k < program.n_keep; k++)
        wanted[program.keep[k]] = true;
    for (uint32_t x = 0; x < program.n_tensors; x++)
        if (wanted[x])
            sums[x] = rp_checksum(h.at[x].data(), h.at[x].size());
    return sums;
}

/* Runs training steps and sets *sums. Returns why that is not possible, or an empty string.
 */
std::string run_on_host(machine &m, int steps, std::vector<uint64_t> *sums) {
    const uint64_t needed = host_bytes(), limit = host_limit();
    if (needed > limit)
        return "op by op it needs " + std::to_string(needed) +
               " bytes on the host, more than " + std::to_string(limit);
    if (!allocate(&m.arena, max_staging(), "the operands of an op"))
        return "the largest op does not fit either";
    try {
        host_step h = open_host_step();
        load_host_sources(h);
        for (int k = 0; k < steps; k++)
            run_host_step(m, h);
        *sums = host_sums(h);
    } catch (const std::bad_alloc &) {
        return "op by op there is no memory for its tensors on the host";
    }
    TRY(cudaFree(m.arena));
    m.arena = nullptr;
    return "";
}

} // namespace
