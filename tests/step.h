/* step: a graph run once with the reference kernels, every tensor in storage of its own,
 * for tests. */
#ifndef RP_TESTS_STEP_H
#define RP_TESTS_STEP_H

#include "kernels/kernel.h"

struct rp_step_run {
    const struct rp_graph *g;
    enum rp_bind how;
    struct rp_kernel *kernels;
    void **at; /* per tensor */
};

/* Binds every op and fills every source. A failure fails the test. */
void rp_step_open(struct rp_step_run *s, const struct rp_graph *g, enum rp_bind how);
void rp_step_run_op(struct rp_step_run *s, uint32_t op);
void rp_step_run_all(struct rp_step_run *s);
void rp_step_run_forward(struct rp_step_run *s); /* ops before the first backward one */
void rp_step_close(struct rp_step_run *s);

uint64_t rp_step_count(const struct rp_graph *g, uint32_t x); /* elements */
size_t rp_step_bytes(const struct rp_step_run *s, uint32_t x);
uint32_t rp_step_loss(const struct rp_graph *g);
uint32_t rp_step_param_of(const struct rp_graph *g,
                          uint32_t grad); /* RP_NONE: no gradient */

/* Runs op `op` with kernels bound `how`. The operands are given as f64 numbers and rounded
 * to the op's types; the results are converted back. in[k] and out[k] have as many elements
 * as the operands. */
void rp_step_run_apart(const struct rp_graph *g, uint32_t op, enum rp_bind how,
                       double *const *in, double **out);

/* Element i of an operand of a graph's dtype, with kernels bound `how`. */
double rp_step_get(const char *dtype, enum rp_bind how, const void *at, uint64_t i);
/* The largest relative error of rounding a number to the dtype. */
double rp_step_rounding(const char *dtype);

#endif
