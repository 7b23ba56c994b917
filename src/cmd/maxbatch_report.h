/* maxbatch_report: what `maxbatch` found, in words, as JSON and as CSV. Not thread-safe: it
 * prints. */
#ifndef RP_CMD_MAXBATCH_REPORT_H
#define RP_CMD_MAXBATCH_REPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "cmd/maxbatch_search.h"

/* Prints the answers, and sorts their points by batch. One answer is shown with all points
 * in words, several as a table. JSON has all points in any case. */
void rp_maxbatch_report(struct rp_maxbatch_answer *answers, size_t n, bool json);

/* Writes a line for each answer. RP_ENV if that fails. */
rp_rc rp_maxbatch_save_csv(const struct rp_maxbatch_answer *answers, size_t n,
                           const char *path, struct rp_err *err);

#endif
