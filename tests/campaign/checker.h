/* checker: a second opinion on plans, written from the definition of the two files and from
 * nothing else. It reads both files with jansson and shares no code with src/, so a mistake
 * in a rule is not made twice. It knows versions 1 and 2 of the files.
 *
 * Sources: the numbered rules of the formats document; comments name them as "rule N".
 */
#ifndef RP_CAMPAIGN_CHECKER_H
#define RP_CAMPAIGN_CHECKER_H

#include <stdbool.h>
#include <stdint.h>

enum ck_verdict { CK_VALID, CK_INVALID, CK_BAD_FILE };

/* What a bound is about (rule 11). Version 1 plans do not say it, beyond a note. */
struct ck_bound_for {
    bool known, recompute, swap, any_order, schedules;
    uint64_t host_budget_bytes; /* UINT64_MAX: no limit */
};

/* What the time line gives, and what the plan says about its bound. */
struct ck_figures {
    uint64_t time_ns, baseline_time_ns, recompute_ns, stall_ns;
    uint64_t peak_bytes, arena_bytes, host_bytes, fixed_bytes;
    uint64_t budget_bytes, lower_bound_ns;
    bool complete; /* the steps obey the rules, so the figures above are known */
    bool addressed;
    bool reruns, swaps; /* the plan runs an op again; copies something */
    bool given_order;   /* its first runs are in the graph's order */
    bool schedule;      /* no op runs twice between two first runs, and those in order, and
                           none after the last */
    struct ck_bound_for bound_for;
};

/* Judges a plan. `why` says what is wrong with a plan or file that is not valid. */
enum ck_verdict ck_check(const char *graph_path, const char *plan_path,
                         struct ck_figures *figures, char why[256]);

/* Whether this is a graph file. Otherwise `why` says why not. */
bool ck_check_graph(const char *graph_path, char why[256]);

#endif
