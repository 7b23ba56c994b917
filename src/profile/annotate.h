/* annotate: writes measurements into a graph, in the form that docs/profile.md gives.
 *
 * Thread-safe for different graphs.
 */
#ifndef RP_PROFILE_ANNOTATE_H
#define RP_PROFILE_ANNOTATE_H

#include "profile/join/join.h"
#include "profile/join/link_fit.h"

/* Sets op times, workspaces that were stated or measured, the device's name and memory,
 * time_source "cupti:NAME", and attrs.profile of each op and of the graph. `file` is g's
 * name in messages. RP_INPUT if the sum of times passes the limit of graphs. */
rp_rc rp_annotate_costs(struct rp_graph *g, const struct rp_joined_costs *c,
                        const char *file, struct rp_err *err);

/* Sets the device's bandwidths to those of copies in one direction alone, if measured, and
 * the latency to the longer of both directions. All fits go into attrs.profile.copies, so
 * call rp_annotate_costs first. */
void rp_annotate_link(struct rp_graph *g, const struct rp_link_fit *fit);

#endif
