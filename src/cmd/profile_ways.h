/* profile_ways: convolutions that a GPU's libraries do not compute in the fastest way, as
 * the profiling program found them. They are kept in the graph's notes.profile.slower: an
 * object with the names of the ops for each way, implicit_gemm, parts and direct.
 *
 * Not thread-safe: rp_ways_warn logs. */
#ifndef RP_CMD_PROFILE_WAYS_H
#define RP_CMD_PROFILE_WAYS_H

#include <jansson.h>

#include "base/json_writer.h"
#include "model/graph.h"

/* Warns once for each way. `slower` is the program's list of {"op", "way", "why"}. Returns
 * the object for the notes, which the caller owns; NULL if the list is empty. */
json_t *rp_ways_warn(const struct rp_graph *g, const json_t *slower);

/* The line and the member of the report; nothing if there are no such convolutions. */
void rp_ways_print(const struct rp_graph *g, FILE *f);
void rp_ways_write(struct rp_json_writer *w, const struct rp_graph *g);

#endif
