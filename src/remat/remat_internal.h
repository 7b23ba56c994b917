/* SPDX-License-Identifier: MIT
 *
 * remat_internal: what the files of libremat share. Running out of memory is an error here,
 * because the library must not end its user's process. Not thread-safe while a plan is
 * read. */
#ifndef REMAT_INTERNAL_H
#define REMAT_INTERNAL_H

#include "remat/remat.h"

struct json_t;

/* A vector: elements at[0 .. n-1]. */
#define REMAT_VEC(type)                                                                    \
    struct {                                                                               \
        type *at;                                                                          \
        size_t n, cap;                                                                     \
    }

/* Appends x to *v, a REMAT_VEC; false without memory. */
#define REMAT_PUSH(v, x)                                                                   \
    (((v)->n < (v)->cap || remat_grow((void **)&(v)->at, &(v)->cap, sizeof *(v)->at)) &&   \
     ((v)->at[(v)->n++] = (x), true))
/* Doubles the capacity of *at, in elements of `size` bytes; false without memory. */
bool remat_grow(void **at, size_t *cap, size_t size);

/* Elements first .. first + n - 1 of a vector. While a vector grows its elements move, so
 * steps get pointers to them only after everything is read. */
struct remat_span {
    size_t first, n;
};

/* What an op reads, makes or updates, and how many updates it finds the tensor after. */
struct remat_end {
    uint32_t tensor, n_updates;
};

struct remat_op_details {
    struct remat_span inputs, outputs, updates; /* in remat.ends */
    uint64_t workspace_bytes;
    bool recompute; /* false: must run exactly once */
    bool rewrites;  /* false: cannot write outputs where they lie */
};

struct remat_tensor_details {
    bool may_be_listed, must_be_listed; /* among the plan's homes */
    uint32_t n_updates;                 /* by the ops that were read so far */
};

struct remat {
    struct remat_totals totals;
    struct json_t *graph, *plan; /* own all names */
    struct remat_tensor *tensors;
    struct remat_op *ops;
    struct remat_op_details *op_details;         /* per op */
    struct remat_tensor_details *tensor_details; /* per tensor */
    uint32_t *keep;
    struct remat_step *steps;
    REMAT_VEC(struct remat_end) ends;
    REMAT_VEC(uint64_t) addresses; /* "at" of all steps, REMAT_NOWHERE for null */
    REMAT_VEC(struct remat_operand) operands;
    REMAT_VEC(size_t) waits;
    struct remat_span *step_addresses, *step_operands, *step_waits; /* per step */
};

/* Fills error->text unless it is filled already. Always false, so that callers can return
 * it. `error` may be NULL. */
bool remat_fail(struct remat_error *error, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#endif
