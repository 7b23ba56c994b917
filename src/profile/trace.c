#include "profile/trace.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/io.h"
#include "base/mem.h"

/* ---- writing ---- */

static uint64_t dump_ranges(const struct rp_trace *t, FILE *f) {
    for (size_t i = 0; i < t->ranges.n; i++) {
        const struct rp_trace_range *x = &t->ranges.at[i];
        fprintf(f,
                "range %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %d %" PRIu64 " %s\n",
                x->id, x->parent, x->thread, x->step, x->has_workspace, x->workspace_bytes,
                x->name);
    }
    for (size_t i = 0; i < t->steps.n; i++) {
        const struct rp_trace_step *x = &t->steps.at[i];
        fprintf(f, "step %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
                x->number, x->range, x->thread, x->begin_ns, x->end_ns);
    }
    return t->ranges.n + t->steps.n;
}

static uint64_t dump_pairs(const char *name, const struct rp_trace_pair *at, size_t n,
                           FILE *f) {
    for (size_t i = 0; i < n; i++)
        fprintf(f, "%s %" PRIu64 " %" PRIu64 "\n", name, at[i].key, at[i].value);
    return n;
}

static uint64_t dump_work(const struct rp_trace *t, FILE *f) {
    for (size_t i = 0; i < t->calls.n; i++) {
        const struct rp_trace_call *x = &t->calls.at[i];
        fprintf(f, "call %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", x->correlation,
                x->thread, x->start_ns, x->end_ns);
    }
    for (size_t i = 0; i < t->works.n; i++) {
        const struct rp_trace_work *x = &t->works.at[i];
        fprintf(f,
                "work %s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
                " %" PRIu64 " %" PRIu64 "\n",
                rp_work_word[x->kind], x->correlation, x->node, x->start_ns, x->end_ns,
                x->device, x->stream, x->bytes);
    }
    for (size_t i = 0; i < t->overheads.n; i++) {
        const struct rp_trace_overhead *x = &t->overheads.at[i];
        fprintf(f, "over %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", x->kind,
                x->thread, x->start_ns, x->end_ns);
    }
    return t->calls.n + t->works.n + t->overheads.n;
}

static uint64_t dump_memory(const struct rp_trace *t, FILE *f) {
    for (size_t i = 0; i < t->memories.n; i++) {
        const struct rp_trace_memory *x = &t->memories.at[i];
        fprintf(f, "memory %s %s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
                x->release ? "free" : "alloc", rp_memory_word[x->place], x->correlation,
                x->address, x->bytes, x->time_ns);
    }
    return t->memories.n;
}

void rp_trace_dump(const struct rp_trace *t, char **text, size_t *len) {
    FILE *f = rp_text_open(text, len);
    uint64_t lines = 1;
    fprintf(f, "remat-trace 1 %" PRIu64 "\n", t->pid);
    if (t->cupti_version != 0)
        lines += fprintf(f, "cupti %" PRIu64 "\n", t->cupti_version) > 0;
    for (size_t i = 0; i < t->devices.n; i++)
        fprintf(f, "device %" PRIu64 " %" PRIu64 " %s\n", t->devices.at[i].id,
                t->devices.at[i].memory_bytes, t->devices.at[i].name);
    lines += t->devices.n + dump_ranges(t, f);
    lines += dump_pairs("ext", t->external.at, t->external.n, f);
    lines += dump_pairs("node", t->nodes.at, t->nodes.n, f);
    lines += dump_pairs("clone", t->clones.at, t->clones.n, f);
    lines += dump_work(t, f);
    lines += dump_memory(t, f);
    if (t->dropped != 0)
        lines += fprintf(f, "dropped %" PRIu64 "\n", t->dropped) > 0;
    if (t->torn != 0)
        lines += fprintf(f, "torn %" PRIu64 "\n", t->torn) > 0;
    if (t->error != NULL)
        lines += fprintf(f, "error %s\n", t->error) > 0;
    if (t->complete)
        fprintf(f, "end %" PRIu64 "\n", lines);
    rp_text_close(f);
}

void rp_trace_fini(struct rp_trace *t) {
    for (size_t i = 0; i < t->ranges.n; i++)
        free(t->ranges.at[i].name);
    for (size_t i = 0; i < t->devices.n; i++)
        free(t->devices.at[i].name);
    free(t->ranges.at);
    free(t->steps.at);
    free(t->external.at);
    free(t->nodes.at);
    free(t->clones.at);
    free(t->calls.at);
    free(t->works.at);
    free(t->overheads.at);
    free(t->memories.at);
    free(t->devices.at);
    free(t->error);
    free(t->file);
    *t = (struct rp_trace){0};
}

/* ---- looking up ---- */

/* index = that of the first entry whose field is at least key, by binary search. */
#define LOWER_BOUND(list, field, key, index)                                               \
    do {                                                                                   \
        size_t lower_end = (list).n;                                                       \
        index = 0;                                                                         \
        while (index < lower_end) {                                                        \
            size_t middle = index + (lower_end - index) / 2;                               \
            if ((list).at[middle].field < (key))                                           \
                index = middle + 1;                                                        \
            else                                                                           \
                lower_end = middle;                                                        \
        }                                                                                  \
    } while (0)

const struct rp_trace_range *rp_trace_range_of(const struct rp_trace *t, uint64_t id) {
    size_t i;
    LOWER_BOUND(t->ranges, id, id, i);
    return i < t->ranges.n && t->ranges.at[i].id == id ? &t->ranges.at[i] : NULL;
}

const struct rp_trace_call *rp_trace_call_of(const struct rp_trace *t, uint64_t corr) {
    size_t i;
    LOWER_BOUND(t->calls, correlation, corr, i);
    return i < t->calls.n && t->calls.at[i].correlation == corr ? &t->calls.at[i] : NULL;
}

const struct rp_trace_device *rp_trace_device_of(const struct rp_trace *t, uint64_t id) {
    size_t i;
    LOWER_BOUND(t->devices, id, id, i);
    return i < t->devices.n && t->devices.at[i].id == id ? &t->devices.at[i] : NULL;
}

static uint64_t find_pair(const struct rp_trace_pair *at, size_t n, uint64_t key) {
    struct {
        const struct rp_trace_pair *at;
        size_t n;
    } list = {at, n};
    size_t i;
    LOWER_BOUND(list, key, key, i);
    return i < n && at[i].key == key ? at[i].value : 0;
}

uint64_t rp_trace_caller(const struct rp_trace *t, uint64_t correlation) {
    return find_pair(t->external.at, t->external.n, correlation);
}

uint64_t rp_trace_launcher(const struct rp_trace *t, const struct rp_trace_work *w,
                           uint64_t *owner) {
    uint64_t launcher = rp_trace_caller(t, w->correlation);
    *owner = launcher;
    uint64_t node = w->node;
    /* A graph is copied when it is made executable, and the copy may be copied again. More
     * copies than there are lines would be a cycle. */
    for (size_t i = 0; node != 0 && i <= t->clones.n; i++) {
        uint64_t range = find_pair(t->nodes.at, t->nodes.n, node);
        if (range != 0) {
            *owner = range;
            break;
        }
        node = find_pair(t->clones.at, t->clones.n, node);
    }
    return launcher;
}
