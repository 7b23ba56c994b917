/* cost: the time of an op on a device, from its arithmetic and its memory traffic.
 *
 *   time = max(flops / (peak rate * efficiency), traffic / (bandwidth * efficiency))
 *          + launch                                                            (roofline)
 *
 * An op states its "flops" and, where it does not read its inputs and write its outputs
 * once each, its "traffic_bytes" in `attrs`. All arithmetic is in integers: every machine
 * gets the same file.
 */
#ifndef RP_MODEL_COST_H
#define RP_MODEL_COST_H

#include "base/status.h"
#include "model/device.h"
#include "model/graph.h"

/* What limits an op's share of the peak. */
enum rp_op_class { RP_CLASS_DENSE, RP_CLASS_GROUPED, RP_CLASS_MEMORY };
enum { RP_N_CLASSES = 3 };
extern const char *const rp_op_class_word[RP_N_CLASSES];

/* From the op's kind; kinds it does not know are RP_CLASS_MEMORY. */
enum rp_op_class rp_op_class(const struct rp_op *op);

/* Sets every op's time, the device section and time_source. Workspace stays as it is (0
 * from the zoo: convolution as implicit matrix products needs none). RP_INPUT names the op
 * and what it lacks; `g` may then hold some times already. */
rp_rc rp_cost_apply(struct rp_graph *g, const struct rp_device_model *model,
                    const char *file, struct rp_err *err);

#endif
