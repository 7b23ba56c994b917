/* budget_argument: `--budget` and `--activation-budget`, two ways to say how much device
 * memory a plan may take. Not thread-safe: commands run in one thread. */
#ifndef RP_CMD_BUDGET_ARGUMENT_H
#define RP_CMD_BUDGET_ARGUMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cmd/options.h"
#include "model/graph.h"

/* What the command line says; each is NULL if it is not given. Sizes are "8GiB", "4096" or
 * "60%". A share of `all` is one of keep-all's peak. `activations` is what the plan may
 * take on top of the fixed bytes and the kept bytes, and a share of it is one of what
 * keep-all takes on top of them at its peak (rp_keep_all_bytes, rp_kept_bytes). */
struct rp_budget_texts {
    const char *all, *activations;
};

struct rp_option rp_option_activation_budget(struct rp_budget_texts *t, const char *arg);

/* RP_USAGE unless exactly one of the two is given. If neither is, `initial` stands for
 * `--budget`, unless it is NULL. */
rp_rc rp_check_budget_texts(const char *command, const char *initial,
                            struct rp_budget_texts *t, struct rp_err *err);

/* The budget in bytes, for sources and arena together. RP_USAGE if the text is not a size,
 * or if the sum passes 63 bits. */
rp_rc rp_parse_budget(const char *command, const struct rp_budget_texts *t,
                      const struct rp_graph *g, bool addressed, uint64_t *budget,
                      struct rp_err *err);

struct rp_budgets {
    uint64_t *at;
    size_t n, cap;
};

/* The same for a list "A,B,C". An item may be a range "LOW..HIGH:N": N budgets from LOW to
 * HIGH, evenly spaced. On RP_OK there is at least one. The caller frees to->at in any case.
 */
rp_rc rp_parse_budgets(const char *command, const struct rp_budget_texts *t,
                       const struct rp_graph *g, bool addressed, struct rp_budgets *to,
                       struct rp_err *err);

#endif
