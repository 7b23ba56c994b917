/* one_op: a graph of a single op, written with ' for ":
 *
 *     {'kind': 'scale', 'attrs': {'factor': 2},
 *      'in': [['f32', [2], [1, 3]]], 'out': [['f32', [2], [2, 6]]]}
 *
 * An operand is its dtype, its shape and (to run it) its elements. */
#ifndef RP_TESTS_ONE_OP_H
#define RP_TESTS_ONE_OP_H

#include "model/graph.h"

/* The caller frees it. Its tensors are the inputs, then the outputs. */
struct rp_graph rp_one_op(const char *text);

/* Runs the op with kernels of its own dtypes and with f64 kernels. Both must give the
 * elements of 'out', up to `tolerance`. */
void rp_one_op_gives(const char *text, double tolerance);

#endif
