/* SPDX-License-Identifier: MIT
 *
 * layout: where the operands of each op are. Only main.cu includes this file. */
#pragma once

#include "job.cuh"

namespace {

constexpr uint64_t alignment = 512;

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

} // namespace
