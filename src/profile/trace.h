/* trace: what one traced process did on the device, as the injected library wrote it: which
 * range of the program launched which work, and when the device ran it. There is one file
 * per process, and each line states one fact (docs/profile.md). Lines may come in any
 * order. Ids link them:
 *
 *     range --external id--> ext --correlation id--> work
 *
 * Times are nanoseconds on one clock per process.
 *
 * Thread-safe for different traces. Many threads may read one trace while none writes it.
 */
#ifndef RP_PROFILE_TRACE_H
#define RP_PROFILE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mem.h"
#include "base/status.h"
#include "profile/record.h"

/* A range "rp:NAME" of one thread. */
struct rp_trace_range {
    uint64_t id, parent, thread; /* parent 0: none */
    uint64_t step;               /* number of the step in which it began, or 0 */
    uint64_t workspace_bytes;    /* the range's payload */
    bool has_workspace;
    char *name; /* without "rp:" */
};

/* The range "rp:step": steps are numbered from 1 in the order they began. */
struct rp_trace_step {
    uint64_t number, range, thread;
    uint64_t begin_ns, end_ns; /* end_ns 0: it did not end */
};

struct rp_trace_pair {
    uint64_t key, value;
};

struct rp_trace_call {
    uint64_t correlation, thread, start_ns, end_ns;
};

/* A kernel, copy or fill on the device. start_ns and end_ns are 0 if CUPTI gave no times.
 */
struct rp_trace_work {
    enum rp_work_kind kind;
    uint64_t correlation, node; /* node: of the CUDA graph that launched it, or 0 */
    uint64_t start_ns, end_ns;
    uint64_t device, stream;
    uint64_t bytes; /* 0 for kernels */
};

/* An interval that tracing took from one thread of the program; thread 0: from all. */
struct rp_trace_overhead {
    uint64_t kind, thread, start_ns, end_ns;
};

/* Memory that was allocated or released; the bytes of a release are 0. */
struct rp_trace_memory {
    bool release;
    enum rp_memory_place place;
    uint64_t correlation, address, bytes, time_ns;
};

struct rp_trace_device {
    uint64_t id, memory_bytes;
    char *name;
};

struct rp_trace {
    char *file; /* its name in messages */
    uint64_t pid, cupti_version;
    RP_VEC(struct rp_trace_range) ranges;       /* by id */
    RP_VEC(struct rp_trace_step) steps;         /* by number */
    RP_VEC(struct rp_trace_pair) external;      /* by correlation id: range */
    RP_VEC(struct rp_trace_pair) nodes;         /* by graph node: range it was created in */
    RP_VEC(struct rp_trace_pair) clones;        /* by graph node: node it is a copy of */
    RP_VEC(struct rp_trace_call) calls;         /* by correlation id */
    RP_VEC(struct rp_trace_work) works;         /* by start */
    RP_VEC(struct rp_trace_overhead) overheads; /* by start */
    RP_VEC(struct rp_trace_memory) memories;    /* by time */
    RP_VEC(struct rp_trace_device) devices;     /* by id */
    uint64_t dropped;                           /* records that CUPTI had no room for */
    uint64_t torn; /* buffers that ended in the middle of a record */
    char *error;   /* why nothing could be measured, or NULL */
    bool complete; /* it has its end line */
};

/* Reads and sorts a trace. RP_INPUT: "file: line N: rule". The caller owns `t` on RP_OK; it
 * is empty otherwise. A trace without its end line is accepted, with `complete` false. */
rp_rc rp_trace_parse(const char *text, size_t len, const char *file, struct rp_trace *t,
                     struct rp_err *err);
/* The same for a file; RP_ENV if it cannot be read, and `t` is then as before. */
rp_rc rp_trace_load(const char *path, struct rp_trace *t, struct rp_err *err);

/* The same trace as text, sorted: parse gives it back. The caller frees *text. */
void rp_trace_dump(const struct rp_trace *t, char **text, size_t *len);

void rp_trace_fini(struct rp_trace *t); /* safe on an empty or zeroed trace */

/* NULL if there is none. */
const struct rp_trace_range *rp_trace_range_of(const struct rp_trace *t, uint64_t id);
const struct rp_trace_call *rp_trace_call_of(const struct rp_trace *t, uint64_t corr);
const struct rp_trace_device *rp_trace_device_of(const struct rp_trace *t, uint64_t id);

/* The id of the innermost range in which a call of CUDA was made, or 0. */
uint64_t rp_trace_caller(const struct rp_trace *t, uint64_t correlation);

/* The range that launched work, or 0. *owner is the range that the work belongs to. That is
 * the same one, but for work of a CUDA graph it is the range that its node was created in.
 */
uint64_t rp_trace_launcher(const struct rp_trace *t, const struct rp_trace_work *w,
                           uint64_t *owner);

#endif
