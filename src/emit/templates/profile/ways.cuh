/* SPDX-License-Identifier: MIT
 *
 * ways: how each op is computed. Only main.cu includes this file. */
#pragma once

#include "job.cuh"

namespace {

/* A convolution's workspace is at most this part of the device's memory: 1 GiB of 16. More
 * would take the memory that planning saves. */
constexpr uint64_t workspace_part = 16;

uint64_t workspace_limit() {
    size_t left = 0, all = 0;
    TRY(cudaMemGetInfo(&left, &all));
    return all / workspace_part;
}

/* Chooses the fastest way that gives the same bits in every run. */
op_run choose(machine &m, const replay_op &op, uint64_t limit) {
    op_run r{std::string("rp:") + op.name, *op.args, {}, {}};
    if (strncmp(op.kernel, "conv", 4) == 0)
        r.args.algorithm = RP_IMPLICIT_PRECOMP_GEMM;
    if (rp_cuda_choose(&m.cuda, op.kernel, op.real, &r.args, limit, &r.way) != 0)
        die(op.name, m.cuda.error);
    r.why = m.cuda.declined;
    r.args.algorithm = r.way.algorithm;
    return r;
}

const char *algorithm_of(const op_run &r) {
    static const char *const word[] = {"", "implicit_gemm", "implicit_precomp_gemm",
                                       "algo_1", "direct"};
    return word[r.way.algorithm];
}

/* The algorithm of each op, "" if it is not a convolution, and the convolutions that are not
 * computed in the fastest way. */
void write_ways(const job &j, FILE *f) {
    const char *comma = "";
    fprintf(f, "\"algorithms\":[");
    for (size_t i = 0; i < j.ops.size(); i++)
        fprintf(f, "%s\"%s\"", i > 0 ? "," : "", algorithm_of(j.ops[i]));
    fprintf(f, "],\"slower\":[");
    for (size_t i = 0; i < j.ops.size(); i++) {
        const op_run &r = j.ops[i];
        if (r.why.empty())
            continue;
        fprintf(f, "%s{\"op\":%zu,\"way\":\"%s\",\"why\":\"%s\"}", comma, i,
                r.way.images < r.args.batch ? "parts" : algorithm_of(r), r.why.c_str());
        comma = ",";
    }
    fprintf(f, "]");
}

} // namespace
