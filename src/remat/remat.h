/* SPDX-License-Identifier: MIT
 *
 * remat: walk a plan of remat-plan in a runtime of your own.
 *
 * A plan says what to run, free and move, in which order, at which address. The library
 * reads it together with its graph and calls back for each step, in order, with everything
 * the step needs: byte offsets in one device arena and one host slab, and the earlier steps
 * on other queues that it must wait for. Your runtime does the work and owns the memory.
 *
 *     struct remat_error error;
 *     remat *r = remat_load("g.json", "plan.json", &error);
 *     if (r == NULL) ... error.text ...
 *     const struct remat_totals *t = remat_totals(r);
 *     ... allocate t->arena_bytes of device and t->host_bytes of pinned host memory ...
 *     static const struct remat_calls calls = {run, release, swap_out, swap_in};
 *     remat_walk(r, &calls, &my_runtime);
 *     remat_close(r);
 *
 * There are three queues, each in order: compute (runs and frees), device to host
 * (swap_out) and host to device (swap_in). On a GPU they are three streams, every step with
 * `awaited` records an event behind itself, and every entry of `waits` is a stream that
 * waits for such an event. The training step is over when all three queues are empty.
 *
 * remat_load refuses what cannot be walked: ids, addresses and sizes out of range, a run
 * whose input is not on the device, a free of a tensor that is not there, a second run of
 * an op with "recompute": false, an op that would find a source after the wrong number of
 * updates, a host copy out of date, a plan for another graph. `remat-plan verify` checks
 * the rest: that ranges do not overlap, and that times and claims are right.
 *
 * Both versions of the files are read.
 *
 * Thread safety: nothing is changed after remat_load, so many threads may use one plan.
 */
#ifndef REMAT_H
#define REMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct remat remat;

struct remat_error {
    char text[512]; /* "FILE: place: rule"; one line, always terminated */
};

/* NULL, with *error filled, if a file cannot be read or the plan cannot be walked. `error`
 * may be NULL. remat_parse takes the files' bytes; its messages call them "graph" and
 * "plan". */
remat *remat_load(const char *graph_path, const char *plan_path, struct remat_error *error);
remat *remat_parse(const char *graph, size_t graph_len, const char *plan, size_t plan_len,
                   struct remat_error *error);
void remat_close(remat *r); /* safe on NULL */

struct remat_totals {
    const char *graph_name;
    bool addressed; /* false: no addresses, so the runtime places tensors itself */
    uint64_t budget_bytes;
    uint64_t fixed_bytes; /* of the sources that lie on the device, outside the arena */
    uint64_t arena_bytes, host_bytes;
    uint64_t alignment_bytes; /* of every address */
    uint64_t time_ns;         /* the plan's claim */
    uint32_t n_ops, n_tensors, n_keep;
    size_t n_steps;
};

/* What this and the functions below return is valid until remat_close, with everything it
 * points to. They return NULL for a number out of range. */
const struct remat_totals *remat_totals(const remat *r);

/* No address in the arena: the tensor is a source that stays where it is, or the plan has
 * no addresses. */
#define REMAT_NOWHERE UINT64_MAX

struct remat_tensor {
    const char *name;
    uint64_t bytes;
    bool source;   /* its content exists before the training step; only updates change it */
    bool kept;     /* still on the device when it ends */
    uint64_t last; /* address of a kept tensor at the end, or REMAT_NOWHERE */
    /* A source that lives on the host: when the step begins and when it ends its content is
     * at host_at in the slab. The plan copies it to the device and back. */
    bool on_host;
    uint64_t host_at; /* REMAT_NOWHERE for other tensors */
};
const struct remat_tensor *remat_tensor(const remat *r, uint32_t tensor);

struct remat_op {
    const char *name, *kind;
    uint64_t time_ns;
};
const struct remat_op *remat_op(const remat *r, uint32_t op);
const uint32_t *remat_keep(const remat *r); /* n_keep tensors, in the graph's order */

enum remat_what { REMAT_RUN, REMAT_FREE, REMAT_SWAP_OUT, REMAT_SWAP_IN };
enum remat_queue { REMAT_COMPUTE, REMAT_D2H, REMAT_H2D, REMAT_N_QUEUES };

struct remat_operand {
    uint32_t tensor;
    uint64_t at; /* byte offset in the arena, or REMAT_NOWHERE */
};

struct remat_step {
    size_t number; /* 0 .. n_steps-1 */
    enum remat_what what;
    enum remat_queue queue;
    uint32_t id;      /* of the op for a run, else of the tensor */
    const char *name; /* of that op or tensor */

    /* For runs. Outputs that are on the device already are rewritten where they are. If the
     * op cannot ("rewrites": false), they stay, and `at` is a place behind its workspace
     * where it makes them again for nobody. Updates are sources that the op reads and
     * changes where they are. */
    uint32_t n_inputs, n_outputs, n_updates;
    const struct remat_operand *inputs, *outputs, *updates;
    uint64_t workspace_at, workspace_bytes;
    bool again; /* the op has run before in this step of training */

    /* For all others. host_at is for swaps only. */
    uint64_t at, host_at, bytes;

    /* Earlier steps on other queues that must have ended before this one begins, except
     * those for which an earlier step of this queue has already waited. */
    const size_t *waits;
    size_t n_waits;
    bool awaited; /* a later step waits for this one */
};
const struct remat_step *remat_step(const remat *r, size_t number);

/* Called for each step in order, with the `user` of remat_walk. A NULL call is left out.
 * The first result that is not 0 ends the walk, and remat_walk returns it. */
struct remat_calls {
    int (*run)(void *user, const struct remat_step *step);
    int (*free)(void *user, const struct remat_step *step);
    int (*swap_out)(void *user, const struct remat_step *step);
    int (*swap_in)(void *user, const struct remat_step *step);
};
int remat_walk(const remat *r, const struct remat_calls *calls, void *user);

#ifdef __cplusplus
}
#endif

#endif
