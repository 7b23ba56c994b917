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

/* How long the whole step takes when nothing traces it: medians, launched op by op and as a
 * CUDA graph. */
struct rp_untraced_step {
    uint64_t eager_ns, graph_ns;
};
/* Whose gaps between kernels op times contain. */
enum rp_gaps { RP_GAPS_NONE, RP_GAPS_GRAPH, RP_GAPS_EAGER };
enum { RP_N_GAPS = 3 };
extern const char *const rp_gaps_word[RP_N_GAPS]; /* "none", "graph", "eager" */

/* The time between two pieces of work of the step, on average: what the step takes beyond
 * the sum of its ops, divided by the number of its kernels, copies and fills. 0 if that sum
 * is larger, since tracing makes kernels longer too. */
uint64_t rp_gap_ns(const struct rp_joined_costs *c, uint64_t step_ns);

/* Adds the gap to the time of each op, once for each piece of its work, and states all
 * figures in attrs.profile. Call rp_annotate_costs first. RP_INPUT if the sum of times
 * passes the limit of graphs. */
rp_rc rp_annotate_gaps(struct rp_graph *g, const struct rp_joined_costs *c,
                       const struct rp_untraced_step *step, enum rp_gaps which,
                       const char *file, struct rp_err *err);

/* Sets the device's bandwidths to those of copies in one direction alone, if measured, and
 * the latency to the longer of both directions. All fits go into attrs.profile.copies, so
 * call rp_annotate_costs first. */
void rp_annotate_link(struct rp_graph *g, const struct rp_link_fit *fit);

#endif
