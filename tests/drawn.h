/* drawn: graphs small enough to draw, and the plans that policies make for them, as text.
 *
 * A step is written as in a diary: "f2" runs op f2, "-a" frees tensor a, ">a" copies it to
 * the host and "<a" back. A byte is copied in a nanosecond, each way. */
#ifndef RP_TESTS_DRAWN_H
#define RP_TESTS_DRAWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/policy_plan.h"
#include "solve/core/schedule.h"

/* An op: "f1" of the forward phase or "b1" of the backward phase, "conv" or another kind,
 * what it reads and what it makes. Its tensors have one-letter names. "s" is the sample. */
struct rp_drawn_op {
    const char *name, *kind, *reads, *makes;
    uint64_t bytes, time_ns; /* of each tensor made */
    bool once;               /* may not run again */
};

/* s -f1-> a -f2-> b ... -f6-> f; b6 reads e and f, each other b what its f read. */
extern const struct rp_drawn_op rp_long_chain[12];

/*  s -f1-> a -f2-> b -f3-> c -f4-> d -f5-> e     f5, b5 and b2 also read a, which f1 made
 *          '-----------------------'             four levels before f5 */
extern const struct rp_drawn_op rp_skip[10];

/* The last tensor made is kept. A capital letter is a parameter. The caller frees the
 * graph. */
void rp_draw(const struct rp_drawn_op *ops, size_t n, struct rp_graph *g);

/* Options for a plan without addresses within `bytes`. */
struct rp_policy_options rp_drawn_options(uint64_t bytes);

/* Compares a policy's steps with those expected, and checks that verify accepts them. */
void rp_drawn_check(const struct rp_graph *g, const char *policy,
                    struct rp_policy_options o, const char *expected);

/* Compares the rows in which x is held ("#"), copied in ("<"), or neither. */
void rp_drawn_check_rows(const struct rp_schedule *s, uint32_t x, const char *expected);

struct rp_drawn_plan {
    const char *policy;
    uint64_t budget;
    const char *steps;
};

/* Draws the graph, checks the plans and frees it. */
void rp_drawn_check_all(const struct rp_drawn_op *ops, size_t n_ops,
                        const struct rp_drawn_plan *plans, size_t n);
#define CHECK_ALL(ops, plans)                                                              \
    rp_drawn_check_all(ops, sizeof(ops) / sizeof(ops)[0], plans,                           \
                       sizeof(plans) / sizeof(plans)[0])

#endif
