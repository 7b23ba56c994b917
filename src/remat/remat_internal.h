/* SPDX-License-Identifier: MIT
 *
 * internal: what the library's files share. read.c turns JSON into `struct remat`; order.c
 * walks the steps once and fills in operands and waits. */
#ifndef REMAT_INTERNAL_H
#define REMAT_INTERNAL_H

#include "remat/remat.h"

struct json_t;

/* Operands and waits are in lists that grow while they are read, so steps hold places in
 * them until all is there. */
struct remat_span {
    size_t first, n;
};

struct remat_op_ends {
    struct remat_span inputs, outputs; /* in remat.ends */
    uint64_t workspace_bytes;
    bool recompute; /* false: must run exactly once */
};

struct remat {
    struct remat_totals totals;
    struct json_t *graph, *plan; /* hold all names */
    struct remat_tensor *tensors;
    struct remat_op *ops;
    struct remat_op_ends *op_ends;
    uint32_t *keep;
    struct remat_step *steps;
    struct {
        uint32_t *at;
        size_t n, cap;
    } ends; /* inputs and outputs of ops */
    struct {
        uint64_t *at;
        size_t n, cap;
    } given; /* "at" of all steps, REMAT_NOWHERE for null */
    struct remat_span *step_given, *step_operands, *step_waits;
    struct {
        struct remat_operand *at;
        size_t n, cap;
    } operands;
    struct {
        size_t *at;
        size_t n, cap;
    } waits;
};

/* Room for one more, then append; false without memory. */
#define REMAT_PUSH(v, x)                                                                   \
    (((v)->n < (v)->cap || remat_more((void **)&(v)->at, &(v)->cap, sizeof *(v)->at)) &&   \
     ((v)->at[(v)->n++] = (x), true))
bool remat_more(void **at, size_t *cap, size_t size);

/* Fills error->text unless it is filled; always false, to be returned. */
bool remat_say(struct remat_error *error, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* All of the graph, and the steps as far as the plan's text says them. */
bool remat_read(remat *r, const char *graph, size_t graph_len, const char *plan,
                size_t plan_len, struct remat_error *error);

/* Operands, waits and the places of what is kept. */
bool remat_order(remat *r, struct remat_error *error);

void remat_sha256(const void *bytes, size_t n, char hex[65]);

#endif
