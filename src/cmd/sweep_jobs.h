/* sweep_jobs: a sweep as commands that others run: GNU parallel, or Slurm. Both go through
 * the rounds one after the other; within a round all points can be planned at once. Not
 * thread-safe: it prints. */
#ifndef RP_CMD_SWEEP_JOBS_H
#define RP_CMD_SWEEP_JOBS_H

#include "cmd/sweep_points.h"

/* Prints one command for each listed point that is not planned. */
void rp_sweep_print_jobs(const struct rp_sweep *s);

/* Prints a shell script that submits a job array for each round, which waits for the round
 * before it, and a job that joins the points. */
void rp_sweep_print_slurm(const struct rp_sweep *s);

#endif
