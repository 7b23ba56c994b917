/* fixture: a graph small enough to plan by hand, and plans written as text with ' for ". */
#ifndef RP_TESTS_FIXTURE_H
#define RP_TESTS_FIXTURE_H

#include "model/graph.h"
#include "model/plan.h"
#include "verify/verifier.h"

/* w -a-> x -b-> y,z; y -c-> u; x,z,u -d-> v. Only c may not run twice. The link copies a
 * byte a nanosecond in and half a byte out, with a latency of 10 ns. */
extern const char rp_net[];

/* Steps of valid plans. Sizes with alignment: x 8, y 8, z 4, u 8, v 4, workspace of b 8. */
#define A "{'run':0,'at':[0]}"
#define B "{'run':1,'at':[8,16],'workspace_at':20}"
#define C "{'run':2,'at':[20]}"
#define FREE_Y "{'free':2}"
#define D "{'run':3,'at':[8]}"
#define ALL A "," B "," C "," FREE_Y "," D
#define SIZES "'budget_bytes':36,'addressed':true,'arena_bytes':28,'host_bytes':16"
#define SUM "'budget_bytes':34,'addressed':false,'arena_bytes':26,'host_bytes':0"

struct rp_world {
    struct rp_graph g;
    struct rp_plan p;
    struct rp_err err;
    struct rp_verdict v;
};

/* Parses a graph and a plan for it. The claims are made true by the naive checker if it
 * accepts the steps. */
void rp_world_open(struct rp_world *w, const char *graph, const char *sizes,
                   const char *steps);
void rp_world_close(struct rp_world *w);

#endif
