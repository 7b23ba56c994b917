/* sweep_curve: the plans of a sweep's points as one curve of time over memory. */
#ifndef RP_CMD_SWEEP_CURVE_H
#define RP_CMD_SWEEP_CURVE_H

#include "cmd/sweep_points.h"

/* Loads the plans of all points. A plan that is worse than that of a smaller budget is
 * replaced by it. Then writes the curve and reports. RP_LIMIT: some points were not
 * planned. */
rp_rc rp_sweep_report(struct rp_sweep *s, bool json, struct rp_err *err);

#endif
