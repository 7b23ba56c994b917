/* replay_cuda: `verify --replay cuda`. */
#ifndef RP_CMD_REPLAY_CUDA_H
#define RP_CMD_REPLAY_CUDA_H

#include "base/status.h"
#include "emit/replay_tables.h"

/* Writes the CUDA program of these tables to a temporary folder, builds it and runs it.
 * *json is the object that it printed, for the caller to free; NULL if it did not run.
 * RP_NO: values differ. RP_LIMIT: there is nothing to compare them with: the
 * step fits neither the GPU nor, op by op, the host. RP_ENV: no GPU, driver or compiler. */
rp_rc rp_cuda_replay(const struct rp_replay_tables *t, uint32_t n_steps, char **json,
                     struct rp_err *err);

#endif
