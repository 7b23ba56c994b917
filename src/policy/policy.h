/* policy: published ways to plan a training step, on the same graphs as our own.
 *
 * Each policy is a file that cites its paper and says where it had to be interpreted. It
 * records steps on a tape; the plan made of them is an ordinary one, with addresses if
 * wanted, and passes verify. Some know the budget and aim for it, others have one plan for
 * every budget: that may not fit, and the report says so.
 */
#ifndef RP_POLICY_POLICY_H
#define RP_POLICY_POLICY_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/graph.h"
#include "model/plan.h"
#include "policy/recorder.h"

enum rp_ctrld { RP_CHAIN_RULE, RP_DIRECT_ORDER };

struct rp_tflms_options {
    uint64_t n_tensors; /* how many tensors may be swapped, in forward order */
    uint64_t lb, ub;    /* levels between a swap-in's trigger and its use */
    enum rp_ctrld ctrld;
    bool fuse_swapins, swap_branches;
    uint64_t branch_threshold; /* levels */
};

struct rp_policy_options {
    uint64_t budget_bytes; /* for sources and arena together */
    bool addressed;
    bool no_recompute;   /* no op may run again; for policies that can do without */
    bool no_swap;        /* nothing is copied; for policies that can do without */
    uint64_t host_bytes; /* for all host copies together */
    struct rp_tflms_options tflms;
    double time_limit; /* seconds, of the policies that search (checkmate, remat) */
    bool ignore_clock; /* their work limit alone counts */
    double gap;        /* a search stops when time <= bound * (1 + gap) */
    uint64_t seed;
    const struct rp_plan *start; /* a valid plan that a search begins with; may be NULL */
    const volatile sig_atomic_t *stop; /* Ctrl-C; may be NULL */
};

/* Options as the papers have them; one minute of search. */
void rp_policy_options_init(struct rp_policy_options *o);

/* Records a whole step on the tape, empty before. p->limit_bytes is the budget. */
typedef void rp_record(const struct rp_instance *p, const struct rp_policy_options *o,
                       struct rp_recorder *t);

struct rp_policy {
    const char *name, *summary;
    rp_record *record; /* NULL: a search of solve/ */
    bool aims;         /* at the budget: a smaller limit may give a smaller plan */
    bool slow;         /* takes seconds on graphs of thousands of ops */
    bool remake;       /* ops may run again, */
    bool moves;        /* tensors may be swapped, */
    bool swaps;        /* or must be: needs a device with both bandwidths */
};

extern const struct rp_policy rp_policies[];
extern const size_t rp_n_policies;
const struct rp_policy *rp_policy_find(const char *name); /* NULL if there is none */

/* It can plan without any op running again; without copies. */
bool rp_policy_spares_recompute(const struct rp_policy *policy);
bool rp_policy_spares_swap(const struct rp_policy *policy);

struct rp_policy_report {
    bool fits;                    /* the plan is within the budget, and its copies too */
    uint64_t needed_bytes;        /* sources and arena (or peak, without addresses) */
    uint64_t out_bytes, in_bytes; /* moved */
    char reason[512];             /* RP_NO, RP_LIMIT: why there is no plan */
};

/* RP_OK: `plan` is complete but not yet verified; the caller owns it. Its budget_bytes is
 * the budget, or what it needs where it does not fit. RP_NO, RP_LIMIT: there is none, and
 * report->reason says why. A search has o->start and the best plan of the policies
 * that aim to begin with, and never returns a slower one that fits. RP_INPUT: a sum passes
 * 63 bits. */
rp_rc rp_policy_plan(const struct rp_graph *g, const struct rp_policy *policy,
                     const struct rp_policy_options *o, struct rp_plan *plan,
                     struct rp_policy_report *report, struct rp_err *err);

/* Below 0 if `a` is the better plan, above if `b` is: by time, then by bytes copied, then
 * by how often ops run. Both are valid for `g`. */
int rp_plan_order(const struct rp_graph *g, const struct rp_plan *a,
                  const struct rp_plan *b);

/* Keep-all's plan if it is within the budget, which nothing beats; else the fastest of the
 * policies that aim at it and that `search` may begin with: what every search here begins
 * with. The caller owns it if true comes back. */
bool rp_best_policy_plan(const struct rp_graph *g, const struct rp_policy *search,
                         const struct rp_policy_options *o, struct rp_plan *plan);

/* ---- one file each ---- */
rp_record rp_record_keep_all, rp_record_chen_sqrt, rp_record_chen_greedy;
rp_record rp_record_revolve, rp_record_dtr;
rp_record rp_record_vdnn_all, rp_record_vdnn_conv, rp_record_tflms;
rp_record rp_record_superneurons, rp_record_capuchin, rp_record_alibaba, rp_record_libra;

#endif
