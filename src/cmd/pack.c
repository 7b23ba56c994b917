/* pack: places the buffers of a CSV file in one arena. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/json_writer.h"
#include "base/log.h"
#include "base/mem.h"
#include "cmd/commands.h"
#include "cmd/common.h"
#include "pack/buffers_csv.h"
#include "pack/packer.h"

struct report {
    size_t n_buffers;
    uint64_t capacity; /* 0: no limit */
    rp_rc found;
    struct rp_pack_result result;
    struct rp_pack_statistics statistics;
};

static bool fits(const struct report *r) {
    return r->capacity == 0 || r->result.arena_bytes <= r->capacity;
}

static const char *verdict(const struct report *r) {
    if (r->result.arena_bytes == r->result.bound_bytes)
        return "no arena can be smaller";
    if (r->found == RP_OK)
        return "as small as asked";
    return "the work limit came before anything smaller";
}

static void print_text(const struct report *r) {
    printf("buffers  %zu\n", r->n_buffers);
    printf("peak     %" PRIu64 "\n", r->result.peak_bytes);
    printf("arena    %" PRIu64 " (%s)\n", r->result.arena_bytes, verdict(r));
    if (r->capacity > 0 && r->capacity < r->result.peak_bytes)
        printf("capacity %" PRIu64 ": impossible, the peak is larger\n", r->capacity);
    else if (r->capacity > 0 && r->capacity < r->result.bound_bytes)
        printf("capacity %" PRIu64 ": impossible, proved\n", r->capacity);
    else if (r->capacity > 0)
        printf("capacity %" PRIu64 ": %s\n", r->capacity, fits(r) ? "fits" : "not reached");
}

static void print_json(const struct report *r) {
    struct rp_json_writer w = rp_json_writer_on(stdout);
    rp_json_object(&w, NULL);
    rp_json_uint(&w, "buffers", r->n_buffers);
    rp_json_uint(&w, "peak_bytes", r->result.peak_bytes);
    rp_json_uint(&w, "bound_bytes", r->result.bound_bytes);
    rp_json_uint(&w, "arena_bytes", r->result.arena_bytes);
    if (r->capacity > 0) {
        rp_json_uint(&w, "capacity_bytes", r->capacity);
        rp_json_bool(&w, "fits", fits(r));
    }
    rp_json_uint(&w, "work", r->statistics.work);
    rp_json_uint(&w, "parts", r->statistics.components);
    rp_json_end(&w);
    rp_json_finish(&w);
}

/* `alignment` becomes the least one that suits all buffers. */
static rp_rc check_alignments(const struct rp_buffers_csv *csv, uint64_t *alignment,
                              const char *file, struct rp_err *err) {
    for (size_t i = 0; i < csv->alignments.n; i++) {
        *alignment = rp_piecewise_alignment(*alignment, csv->alignments.at[i]);
        if (*alignment == 0)
            return rp_fail(err, RP_INPUT,
                           "%s:%zu: the alignments have no common multiple below 2^62",
                           file, i + 2);
    }
    return RP_OK;
}

static rp_rc check_sum(const struct rp_buffers_csv *csv, uint64_t alignment,
                       const char *file, struct rp_err *err) {
    uint64_t sum = 0;
    rp_rc rc = check_alignments(csv, &alignment, file, err);
    for (size_t i = 0; i < csv->buffers.n && rc == RP_OK; i++) {
        uint64_t size = csv->buffers.at[i].size;
        if (!rp_add(&sum, rp_round_up(size, alignment)))
            rc = rp_fail(err, RP_INPUT, "%s:%zu: the sizes sum to 2^63 or more", file,
                         i + 2);
    }
    return rc;
}

/* Files without gaps and alignments go to the packer of plans, which is the stronger one.
 */
static rp_rc pack(struct rp_buffers_csv *csv, const struct rp_pack_options *o,
                  struct report *r, struct rp_err *err) {
    struct rp_piecewise p = {csv->buffers.at, csv->buffers.n, csv->alignments.at,
                             csv->gaps.at, csv->gaps.n};
    bool plain = csv->gaps.n == 0;
    for (size_t i = 0; i < p.n && plain; i++)
        plain = p.alignments[i] == 1;
    r->n_buffers = p.n;
    if (plain)
        r->found = rp_pack(p.buffers, p.n, o, &r->result, &r->statistics);
    else
        r->found = rp_pack_piecewise(&p, o, &r->result, &r->statistics);
    return rp_piecewise_is_sound(&p, o->alignment, r->result.arena_bytes)
               ? RP_OK
               : rp_fail(err, RP_BUG, "pack: two buffers overlap (please report this)");
}

static rp_rc pack_file(const char *path, const struct rp_pack_options *o, const char *out,
                       bool json, struct rp_err *err) {
    struct rp_buffers_csv csv;
    struct report r = {.capacity = o->capacity};
    rp_rc rc = rp_buffers_csv_load(path, &csv, err);
    if (rc == RP_OK)
        rc = check_sum(&csv, o->alignment, path, err);
    if (rc == RP_OK)
        rc = pack(&csv, o, &r, err);
    if (rc == RP_OK) {
        if (json || rp_log_level() >= 0 || !fits(&r))
            (json ? print_json : print_text)(&r);
        if (out != NULL)
            rc = rp_buffers_csv_save(&csv, out, err);
        if (rc == RP_OK && !fits(&r))
            rc = RP_NO;
    }
    rp_buffers_csv_fini(&csv);
    return rc;
}

static rp_rc run(int argc, char **argv, struct rp_err *err) {
    struct rp_pack_options o = {.alignment = 1, .work_limit = RP_PACK_WORK};
    const char *out = NULL;
    bool json = false, done = false;
    int n = 0;
    const struct rp_option table[] = {
        {"capacity", 0, RP_OPT_BYTES, &o.capacity, "SIZE",
         "stop when the arena is at most this large"},
        {"alignment", 0, RP_OPT_NAT, &o.alignment, "N",
         "make sizes and offsets multiples of N (1)"},
        {"work-limit", 0, RP_OPT_NAT, &o.work_limit, "N",
         "stop after N search steps of 1 to 4 ns each (3000000000)"},
        {"out", 'o', RP_OPT_STRING, (void *)&out, "OUT.csv",
         "write the buffers with their offsets"},
        rp_option_json(&json),
        {0},
    };
    rp_rc rc = rp_options_parse(&rp_cmd_pack, table, argc, argv, &n, &done, err);
    if (rc != RP_OK || done)
        return rc;
    if (o.alignment == 0)
        return rp_fail(err, RP_USAGE, "pack: --alignment must be 1 or more");
    const struct rp_named_file files[] = {
        {"BUFFERS.csv", argv[1], .input = true}, {"the report", "-"}, {"--out", out}};
    rc = rp_check_files("pack", files, 3, err);
    return rc == RP_OK ? pack_file(argv[1], &o, out, json, err) : rc;
}

const struct rp_command rp_cmd_pack = {
    .name = "pack",
    .operands = "BUFFERS.csv",
    .min_operands = 1,
    .max_operands = 1,
    .summary = "Place buffers with given lifetimes in the smallest arena",
    .detail =
        "BUFFERS.csv has the columns id, lower, upper and size, as MiniMalloc's files\n"
        "do: a buffer is live in [lower, upper). It may have alignment, of the offset,\n"
        "and gaps, \"3-5 7-8\", in which the buffer keeps its address, but others may use\n"
        "its bytes; hint is ignored. OUT.csv has the column offset as well.\n"
        "With --capacity, the exit code is 1 if the arena is larger than that.\n",
    .run = run,
};
