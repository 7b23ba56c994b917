/* host_budget: how much host memory the copies of a plan may take, in commands that assume
 * a usual host (maxbatch, compare, sweep). Not thread-safe: it prints. */
#ifndef RP_CMD_HOST_BUDGET_H
#define RP_CMD_HOST_BUDGET_H

#include "base/json_writer.h"
#include "cmd/options.h"

struct rp_host_budget {
    uint64_t bytes; /* for all host copies together; RP_MAX_QUANTITY: no limit */
    bool given;     /* by --host-budget */
};

/* The row --host-budget of an option table. It sets *to; UINT64_MAX: it was not given. */
struct rp_option rp_option_host_budget(uint64_t *to);

/* The limit given, or else the host memory of the device's usual server. There is no limit
 * if rp_device_find does not know `device`, or if that is NULL. */
struct rp_host_budget rp_host_budget_choose(uint64_t given, const char *device);

/* A line of a report, and a member "host_budget_bytes" of a JSON object: null without a
 * limit. */
void rp_host_budget_print(const struct rp_host_budget *h);
void rp_host_budget_json(const struct rp_host_budget *h, struct rp_json_writer *w);

#endif
