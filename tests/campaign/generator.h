/* generator: random graphs for the campaign, as the text of a graph file. They have every
 * shape that we could think of, also shapes that no network has. The same state of the
 * random numbers and the same wishes give the same text on any machine. Half of them use
 * what version 2 of the format adds.
 */
#ifndef RP_CAMPAIGN_GENERATOR_H
#define RP_CAMPAIGN_GENERATOR_H

#include <stdbool.h>
#include <stdint.h>

#include "gen.h"

struct cam_wish {
    uint32_t min_ops, max_ops;
    bool for_brute_force; /* few tensors, small numbers, bandwidths, alignment 1 */
    bool plain;           /* no extreme numbers: every sum is far below 2^63 */
    bool homes;           /* many sources live on the host, or may do so */
    bool wide;            /* ops have many inputs and outputs */
};

/* What a case has to know of a graph without reading it again. */
struct cam_graph {
    char *text; /* the caller frees it */
    uint32_t n_ops, n_tensors;
    bool swappable;      /* the device has both bandwidths */
    bool extreme;        /* it may be refused: a sum may overflow, or all times are 0 */
    bool free_order;     /* it asks for another order of first runs by itself */
    bool lives_on_host;  /* a source does: it is planned in the given order only */
    bool may_live_there; /* a source may: no order is sought that was not asked for */
};

void cam_generate(struct rp_rng *r, const struct cam_wish *wish, struct cam_graph *g);

/* A wish for up to 60 ops, mostly for up to 30 whose times are about those of copies. */
struct cam_wish cam_small_wish(struct rp_rng *r);

/* A number of 1 .. 2^bits-1 whose number of digits is uniform. */
uint64_t cam_log_uniform(struct rp_rng *r, uint32_t bits);
uint32_t cam_between(struct rp_rng *r, uint32_t low, uint32_t high);

#endif
