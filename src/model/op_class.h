/* op_class: which ops are matrix products, by the name of their kind.
 *
 * Names are those of this project's zoo, ONNX, ATen and JAX (docs/formats.md lists them).
 * Upper and lower case are the same, but they say where a word begins ("ConvTranspose",
 * not "Convert").
 *
 * Thread-safe: there is no shared state.
 */
#ifndef RP_MODEL_OP_CLASS_H
#define RP_MODEL_OP_CLASS_H

#include "model/graph.h"

/* Decides which share of the peak an op reaches. */
enum rp_op_class { RP_CLASS_DENSE, RP_CLASS_GROUPED, RP_CLASS_MEMORY };
enum { RP_N_CLASSES = 3 };
extern const char *const rp_op_class_word[RP_N_CLASSES];

/* The op's kind without what PyTorch's names add: "aten." and leading underscores. Points
 * into the kind. */
const char *rp_op_base_kind(const struct rp_op *op);

/* By the op's kind. Kinds that are not known are RP_CLASS_MEMORY. */
enum rp_op_class rp_op_class(const struct rp_op *op);

#endif
