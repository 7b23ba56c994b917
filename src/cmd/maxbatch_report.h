/* maxbatch_report: what `maxbatch` found, in words or as JSON. */
#ifndef RP_CMD_MAXBATCH_REPORT_H
#define RP_CMD_MAXBATCH_REPORT_H

#include <stdbool.h>

#include "cmd/maxbatch_search.h"

/* Prints the points in ascending order of batches, which it sorts, and the result. */
void rp_maxbatch_report(const struct rp_maxbatch_options *o, struct rp_maxbatch *m,
                        bool json);

#endif
