/* cases: training steps of one layer each, so that every op kind of the zoo occurs in
 * unusual shapes. Every operand is a parameter, the output of the layer is multiplied by
 * constants, and the loss is the cross entropy of the result. */
#ifndef RP_TESTS_CASES_H
#define RP_TESTS_CASES_H

#include "model/zoo/layers_seq.h"

struct rp_case {
    const char *name;
    void (*layer)(struct rp_builder *b); /* or NULL: */
    const char *unary; /* the kind of an elementwise op with one operand */
};

extern const struct rp_case rp_cases[];
extern const size_t rp_n_cases;

/* The step's graph: forward, loss, backward. The caller frees it. */
struct rp_graph rp_case_graph(const struct rp_case *c, enum rp_dtype dtype);

/* Calls check for the graph of every case, with this dtype. */
void rp_case_all(enum rp_dtype dtype, void (*check)(const struct rp_graph *g));

#endif
