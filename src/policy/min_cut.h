/* min_cut: a minimum cut of a network with one source and one sink, found through a maximum
 * flow (Dinic, "Algorithm for solution of a problem of maximum flow in networks with power
 * estimation", Soviet Math. Doklady 11, 1970).
 *
 * Thread-safe: functions write only what they are given.
 */
#ifndef RP_POLICY_MIN_CUT_H
#define RP_POLICY_MIN_CUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/mem.h"
#include "base/stop.h"

/* The capacity of an arc that no cut should hold. The capacities of all other arcs together
 * must be less. */
#define RP_UNCUTTABLE ((uint64_t)1 << 62)

struct rp_arc {
    uint32_t from, to;
    uint64_t capacity;
};

struct rp_network {
    uint32_t n_vertices;
    RP_VEC(struct rp_arc) arcs; /* the owner frees arcs.at */
};

/* Divides the vertices in two, so that the arcs from the source's side to the sink's have
 * the least capacity together. Of several such cuts it is the one with the fewest vertices
 * on the sink's side. sink_side has room for n_vertices. Some cut must hold no arc of
 * capacity RP_UNCUTTABLE. Returns the capacity of the cut. Once `stop` hits (it may be
 * NULL), it returns early, and the answer is of no use. */
uint64_t rp_min_cut(const struct rp_network *network, uint32_t source, uint32_t sink,
                    struct rp_stop *stop, bool *sink_side);

#endif
