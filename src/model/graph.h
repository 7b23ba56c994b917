/* graph: one training step as data: its tensors, the ops that make them in execution order,
 * and what each costs. The file format is "remat-graph", versions 1 and 2
 * (docs/formats.md).
 *
 * Invariants (rp_graph_check establishes them, everything else relies on them):
 *   - every tensor has at most one producer; an op reads only sources (tensors without a
 *     producer) and outputs of earlier ops; an op names no tensor twice;
 *   - an op without outputs has recompute == false, or updates a source;
 *   - an op updates only sources, which are not among its inputs; it runs exactly once;
 *   - a held tensor has a producer, and a home other than the device has a source only;
 *   - the sum of all op times fits in 63 bits, and so does the sum of all tensor bytes and
 *     workspaces, each rounded up to the alignment.
 *
 * Units: bytes and nanoseconds, in 63 bits. Tensors and ops are named by their index.
 * Ownership: a graph owns all it points to. Its owner ends it with rp_graph_fini.
 * Errors: RP_INPUT names the file, the place in it and the rule; RP_ENV: the file cannot be
 * read or written.
 * Threads: only graph*.c, the zoo and the profiler write a graph. Once it is checked, any
 * number of threads may read it.
 */
#ifndef RP_MODEL_GRAPH_H
#define RP_MODEL_GRAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#define RP_NONE UINT32_MAX /* no tensor, no op */

struct json_t; /* jansson's; `attrs` and `notes` are free-form JSON objects, or NULL */

enum rp_tensor_kind { RP_PARAMETER, RP_STATE, RP_INPUT_TENSOR, RP_ACTIVATION, RP_GRADIENT };
enum rp_phase { RP_PHASE_NONE, RP_FORWARD, RP_BACKWARD, RP_UPDATE };

/* Where a source's content lies when the step begins, and lies up to date when it ends.
 * ANY: the plan decides. */
enum rp_home { RP_HOME_DEVICE, RP_HOME_HOST, RP_HOME_ANY };

/* One piece of storage. A view owns none, so it is part of its base here. */
struct rp_tensor {
    char *name;
    uint64_t bytes;
    enum rp_tensor_kind kind;
    char *dtype;     /* or NULL */
    uint64_t *shape; /* n_dims sizes; NULL if the shape is not stated */
    size_t n_dims;
    bool held;         /* stays on the device from its first making to the end */
    enum rp_home home; /* of a source */
    struct json_t *attrs;
    uint32_t producer; /* op, or RP_NONE for a source (set by rp_graph_check) */
};

struct rp_op {
    char *name, *kind;
    uint32_t *inputs, *outputs; /* tensors */
    uint32_t n_inputs, n_outputs;
    uint32_t *updates; /* sources that it reads and replaces in place */
    uint32_t n_updates;
    uint64_t time_ns;
    uint64_t workspace_bytes; /* live only while the op runs */
    enum rp_phase phase;
    bool recompute; /* false: the op must run exactly once; so it is with updates */
    bool ordered;   /* first runs of such ops keep their order */
    /* It cannot write outputs where they lie. When it runs again, outputs that are on the
     * device stay as they are, and their bytes count as further workspace of that run. */
    bool cannot_rewrite;
    struct json_t *attrs;
};

struct rp_device {
    char *name;               /* or NULL */
    uint64_t memory_bytes;    /* 0: not stated */
    uint64_t h2d_bytes_per_s; /* 0: not stated; a plan may swap only if both are */
    uint64_t d2h_bytes_per_s;
    uint64_t copy_latency_ns;
    uint64_t alignment_bytes; /* >= 1; 512 if not stated */
};

struct rp_graph {
    char *name, *time_source;
    bool has_device;         /* the file has a "device" object */
    struct rp_device device; /* alignment_bytes is set even without one */
    struct rp_tensor *tensors;
    uint32_t n_tensors;
    struct rp_op *ops;
    uint32_t n_ops;
    uint32_t *keep; /* tensors that must be on the device when the step ends */
    uint32_t n_keep;
    bool free_order; /* a planner should look for another order of first runs by itself */
    struct json_t *attrs, *notes;
    char sha256[65]; /* of the file's bytes; set by load, parse and save */

    /* The rest is derived by rp_graph_check. The ops with tensor x among their inputs, in
     * op order, are readers[reader_start[x]] .. readers[reader_start[x + 1] - 1]. */
    uint32_t *reader_start, *readers;
    bool *kept; /* per tensor: is it in `keep`? */
    /* Sum over the sources whose home is the device or any, not rounded up: what is fixed
     * on the device if a plan leaves on it what it may. */
    uint64_t fixed_bytes;
    uint64_t total_time_ns; /* sum over ops: the time without a memory limit */
};

/* Reads a file ("-": standard input), or text in memory (`file` names it in messages). The
 * caller owns `g` on RP_OK; otherwise it is empty. */
rp_rc rp_graph_load(const char *path, struct rp_graph *g, struct rp_err *err);
rp_rc rp_graph_parse(const char *text, size_t len, const char *file, struct rp_graph *g,
                     struct rp_err *err);

/* The text of the file. The same graph gives the same bytes. The caller frees *text. */
void rp_graph_dump(const struct rp_graph *g, char **text, size_t *len);

/* Writes that text to a file ("-": standard output), whole or not at all. Sets g->sha256.
 */
rp_rc rp_graph_save(struct rp_graph *g, const char *path, struct rp_err *err);

/* Checks the invariants above and fills the derived fields, again if they were filled. */
rp_rc rp_graph_check(struct rp_graph *g, const char *file, struct rp_err *err);

void rp_graph_fini(struct rp_graph *g); /* safe on an empty or zeroed graph */

/* Words of the file format. */
extern const char *const rp_tensor_kind_word[5];
extern const char *const rp_phase_word[4]; /* [RP_PHASE_NONE] is NULL */
extern const char *const rp_home_word[3];

#endif
