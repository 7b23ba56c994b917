/* pack: place the buffers of a CSV file in one arena. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/options.h"
#include "cmd/commands.h"
#include "cmd/common.h"
#include "pack/buffers_csv.h"
#include "pack/packer.h"

struct report {
    size_t n_buffers;
    uint64_t capacity; /* 0: none asked for */
    uint64_t arena;
    rp_rc found;
    struct rp_pack_stats stats;
};

static bool fits(const struct report *r) {
    return r->capacity == 0 || r->arena <= r->capacity;
}

static const char *verdict(const struct report *r) {
    if (r->arena == r->stats.bound)
        return "no arena can be smaller";
    if (r->found == RP_OK)
        return "as small as asked";
    return "the work limit came before anything smaller";
}

static void print_text(FILE *f, const struct report *r) {
    fprintf(f, "buffers  %zu\n", r->n_buffers);
    fprintf(f, "peak     %" PRIu64 "\n", r->stats.peak);
    fprintf(f, "arena    %" PRIu64 " (%s)\n", r->arena, verdict(r));
    if (r->capacity > 0 && r->capacity < r->stats.peak)
        fprintf(f, "capacity %" PRIu64 ": impossible, the peak is larger\n", r->capacity);
    else if (r->capacity > 0 && r->capacity < r->stats.bound)
        fprintf(f, "capacity %" PRIu64 ": impossible, proved\n", r->capacity);
    else if (r->capacity > 0)
        fprintf(f, "capacity %" PRIu64 ": %s\n", r->capacity,
                fits(r) ? "fits" : "not reached");
}

static void print_json(FILE *f, const struct report *r) {
    fprintf(f,
            "{\"buffers\":%zu,\"peak_bytes\":%" PRIu64 ",\"bound_bytes\":%" PRIu64
            ",\"arena_bytes\":%" PRIu64,
            r->n_buffers, r->stats.peak, r->stats.bound, r->arena);
    if (r->capacity > 0)
        fprintf(f, ",\"capacity_bytes\":%" PRIu64 ",\"fits\":%s", r->capacity,
                fits(r) ? "true" : "false");
    fprintf(f, ",\"work\":%" PRIu64 ",\"parts\":%" PRIu32 "}\n", r->stats.work,
            r->stats.n_parts);
}

static rp_rc check_sum(const struct rp_buffers_csv *csv, uint64_t alignment,
                       const char *file, struct rp_err *err) {
    uint64_t sum = 0;
    for (size_t i = 0; i < csv->buffers.n; i++)
        if (!rp_add(&sum, rp_rounding_up(csv->buffers.at[i].size, alignment)))
            return rp_fail(err, RP_INPUT, "%s:%zu: the sizes sum to 2^63 or more", file,
                           i + 2);
    return RP_OK;
}

static rp_rc pack_file(const char *path, const struct rp_pack_options *o, const char *out,
                       bool json, struct rp_err *err) {
    struct rp_buffers_csv csv;
    struct report r = {.capacity = o->capacity};
    rp_rc rc = rp_buffers_csv_load(path, &csv, err);
    if (rc == RP_OK)
        rc = check_sum(&csv, o->alignment, path, err);
    if (rc == RP_OK) {
        r.n_buffers = csv.buffers.n;
        r.found = rp_pack(csv.buffers.at, csv.buffers.n, o, &r.arena, &r.stats);
        if (json || rp_log_level() >= 0 || !fits(&r))
            (json ? print_json : print_text)(stdout, &r);
        if (out != NULL)
            rc = rp_buffers_csv_save(&csv, out, err);
        if (rc == RP_OK && !fits(&r))
            rc = RP_NO;
    }
    rp_buffers_csv_fini(&csv);
    return rc;
}

rp_rc rp_cmd_pack(int argc, char **argv, struct rp_err *err) {
    static const struct rp_command cmd = {
        "pack", "BUFFERS.csv",
        "Places buffers with given lifetimes in one arena, as small as it can be.",
        "BUFFERS.csv has the columns id, lower, upper and size (MiniMalloc's format): a\n"
        "buffer is live in [lower, upper). OUT.csv has the column offset as well.\n"
        "With --capacity the exit code is 1 if the arena is larger.\n"};
    struct rp_pack_options o = {.alignment = 1, .work_limit = RP_PACK_WORK};
    const char *out = NULL;
    bool json = false, done = false;
    int n = 0;
    const struct rp_option table[] = {
        {"capacity", 0, RP_OPT_BYTES, &o.capacity, "SIZE", "stop at an arena this small"},
        {"alignment", 0, RP_OPT_NAT, &o.alignment, "N", "of sizes and offsets (1)"},
        {"work-limit", 0, RP_OPT_NAT, &o.work_limit, "N",
         "steps of search, 1 to 4 ns each (3000000000)"},
        {"out", 'o', RP_OPT_STRING, (void *)&out, "OUT.csv", "write the offsets"},
        {"json", 0, RP_OPT_FLAG, &json, NULL, "report as one JSON object on stdout"},
        {0},
    };
    rp_rc rc = rp_options_parse(&cmd, table, argc, argv, &n, &done, err);
    if (rc != RP_OK || done)
        return rc;
    if (n != 1)
        return rp_fail(err, RP_USAGE, "pack: needs one BUFFERS.csv (try --help)");
    if (o.alignment == 0)
        return rp_fail(err, RP_USAGE, "pack: --alignment must be 1 or more");
    const struct rp_output outputs[] = {{"the report", "-"}, {"--out", out}};
    rc = rp_check_outputs("pack", outputs, 2, err);
    return rc == RP_OK ? pack_file(argv[1], &o, out, json, err) : rc;
}
