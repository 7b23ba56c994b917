/* cost: a device model that predicts the time of an op from its arithmetic and its memory
 * traffic (the roofline of Williams, Waterman and Patterson, CACM 52(4), 2009):
 *
 *   time = max(flops / (peak rate * efficiency), traffic / (bandwidth * efficiency))
 *          + launch
 *
 * An op states its "flops" in `attrs`. If it states none, if all its tensors are of
 * integers or truth values, or if their type is not known (arithmetic.h), only its traffic
 * counts; convolutions and matrix products of other tensors must state them. An op also
 * states its "traffic_bytes", unless it reads each input once, writes each output once, and
 * reads and writes each update once. All arithmetic is in integers, rounded up, so every
 * machine writes the same file.
 *
 * Thread-safe: functions write only what they are given.
 */
#ifndef RP_MODEL_COST_H
#define RP_MODEL_COST_H

#include "base/status.h"
#include "model/device.h"
#include "model/graph.h"
#include "model/op_class.h"

/* Sets every op's time_ns, the device section and time_source ("analytic:NAME"). Workspace
 * stays as it is: 0 from the zoo, since convolutions as implicit matrix products need none.
 * RP_INPUT names the op and what it lacks, or says that a sum passes 63 bits; some ops may
 * have new times then. `file` names the graph in messages. */
rp_rc rp_cost_apply(struct rp_graph *g, const struct rp_device_model *model,
                    const char *file, struct rp_err *err);

/* The kinds of ops whose time is doubtful once rp_cost_apply has set it, with commas
 * between them: kinds that are not known and state more arithmetic than streaming has, and
 * products that have only tensors of integers and so are charged by their traffic. NULL:
 * there are none. The caller frees it. */
char *rp_cost_doubtful_kinds(const struct rp_graph *g, const struct rp_device_model *model,
                             const char *file);

/* The dtype of the first op whose arithmetic counts as nothing because its dtype is not
 * known; NULL if there is none. Points into the graph. */
const char *rp_cost_unknown_dtype(const struct rp_graph *g);

#endif
