/* policy: published ways to plan a training step, on the same graphs as our own.
 *
 * Each policy is a file that cites its paper, says where the paper had to be interpreted,
 * and ends with its entry, a struct rp_policy. policy_table.h lists the entries. A policy
 * records steps (recorder.h). The plan made of them is an ordinary one, with addresses if
 * wanted, and verify judges it. Some policies know the budget and fit it. Others have one
 * plan for every budget; it may not fit, and the report says so.
 *
 * Thread-safe: calls share nothing but constant tables.
 */
#ifndef RP_POLICY_POLICY_H
#define RP_POLICY_POLICY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/stop.h"
#include "model/graph.h"
#include "model/plan.h"
#include "policy/recorder.h"
#include "solve/engine/engine.h"

enum rp_ctrld { RP_CHAIN_RULE, RP_DIRECT_ORDER };

struct rp_tflms_options {
    uint64_t n_tensors; /* how many tensors may be swapped, in forward order */
    uint64_t lb, ub;    /* levels between a swap-in's trigger and its use */
    uint64_t ctrld;     /* enum rp_ctrld */
    bool fuse_swapins, swap_branches;
    uint64_t branch_threshold; /* levels */
};

enum rp_checkpoint { RP_CHECKPOINT_FIT, RP_CHECKPOINT_NONE, RP_CHECKPOINT_SQRT };

/* Of the policies that stream sources from the host (source_rule.h). */
struct rp_stream_options {
    uint64_t window;     /* units */
    uint64_t checkpoint; /* enum rp_checkpoint */
    uint64_t bucket_mib; /* of offload-state; 0: everything at once */
};

struct rp_policy_options {
    uint64_t budget_bytes; /* for sources and arena together */
    bool addressed;        /* give every byte an address */
    bool no_recompute;     /* no op may run again; for policies that can do without */
    bool no_swap;          /* nothing is copied; for policies that can do without */
    uint64_t host_bytes;   /* limit for all host copies together */
    struct rp_tflms_options tflms;
    struct rp_stream_options zero_offload, layer_stream, offload_state;
    uint64_t
        pytorch_millionths;   /* budget of policy pytorch; UINT64_MAX: the best of some */
    bool libra_no_refinement; /* libra keeps nothing again that it gave up */
    bool given_order; /* ops run first in the graph's order; for policies that can choose */
    double time_limit;     /* seconds, of the policies that search (checkmate, remat) */
    bool ignore_clock;     /* only the amount of work limits the search */
    double gap;            /* a search stops when time <= bound * (1 + gap) */
    enum rp_engine engine; /* of a search; it is loaded */
    uint64_t seed;
    const struct rp_plan *start; /* a valid plan that a search begins with; may be NULL */
    struct rp_stop *stop; /* Ctrl-C, and the deadline of the policy at work; may be NULL */
};

/* An option of one policy. On the command line it follows the policy's name:
 * `--policy NAME:KEY=VALUE`, or `NAME:KEY` for a flag. */
struct rp_policy_option {
    const char *key;
    enum rp_policy_option_type {
        RP_POLICY_FLAG,  /* bool */
        RP_POLICY_NAT,   /* uint64_t */
        RP_POLICY_SHARE, /* uint64_t: millionths, from a number from 0 to 1 */
        RP_POLICY_CHOICE /* uint64_t: the index of a word */
    } type;
    const char *values; /* in help: "N"; of a choice its words, "|" between them */
    const char *help;
    size_t offset;    /* of the value in struct rp_policy_options */
    uint64_t initial; /* the default; UINT64_MAX means no limit, or (SHARE) not given */
};

/* Records a whole step. The recorder is empty; p->limit_bytes is the budget without the
 * sources. */
typedef void rp_record(const struct rp_instance *p, const struct rp_policy_options *o,
                       struct rp_recorder *r);

struct rp_policy {
    const char *name, *summary;
    rp_record *record;   /* NULL: a search of solve/ */
    bool fits_budget;    /* plans for the budget: a smaller one may give a smaller plan */
    bool slow;           /* takes seconds on graphs of thousands of ops */
    bool makes_schedule; /* has none on graphs that are too large for a schedule */
    bool may_recompute;  /* ops may run again */
    bool may_swap;       /* tensors may be swapped */
    bool needs_swap;     /* has no plan unless the device states both bandwidths */
    bool moves_sources;  /* plans sources that live on the host; needs some that may */
    bool may_reorder;    /* searches other orders where the graph leaves its order free */
    bool captured_only;  /* searches begin with its plan only if the graph was captured */
    const struct rp_policy_option *options; /* ends with a NULL key; NULL: it has none */
    /* Returns what is wrong with the combination of option values, or NULL. The member may
     * be NULL. */
    const char *(*check)(const struct rp_policy_options *o);
};

/* True if the policy has a plan even if no op may run again, or even if nothing may be
 * swapped. */
bool rp_policy_can_avoid_recompute(const struct rp_policy *policy);
bool rp_policy_can_avoid_swap(const struct rp_policy *policy);

/* True if the policy records steps, and is fast on any graph. */
bool rp_policy_is_quick(const struct rp_policy *policy);

/* False if the policy is about sources that live on the host, and the graph has none that
 * may. */
bool rp_policy_has_sources(const struct rp_policy *policy, const struct rp_graph *g);

struct rp_policy_report {
    bool fits;                    /* the plan and its host copies are within the limits */
    uint64_t needed_bytes;        /* sources and arena (or peak, without addresses) */
    uint64_t out_bytes, in_bytes; /* copied */
    char reason[512];             /* RP_NO, RP_LIMIT: why there is no plan */
};

/* The policy's plan, without looking at any other policy. `policy` records steps. Returns
 * as rp_policy_plan. */
rp_rc rp_policy_record_plan(const struct rp_graph *g, const struct rp_policy *policy,
                            const struct rp_policy_options *o, struct rp_plan *plan,
                            struct rp_policy_report *report, struct rp_err *err);

/* Below 0 if `a` is the better plan, above if `b` is: by time, then by bytes copied, then
 * by how often ops run. Both are valid for `g`. */
int rp_plan_order(const struct rp_graph *g, const struct rp_plan *a,
                  const struct rp_plan *b);

/* The bytes of all copies out and in; *n_runs gets how often ops run. */
uint64_t rp_plan_copied_bytes(const struct rp_graph *g, const struct rp_plan *plan,
                              uint64_t *n_runs);

#endif
