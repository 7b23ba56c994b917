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
/* The same with tensor 1 on the host in between. */
#define SWAPPED                                                                            \
    A ",{'swap_out':1,'host_at':4}," B ",{'free':1}," C ",{'free':2},"                     \
      "{'swap_in':1,'at':0}," D
#define SIZES "'budget_bytes':36,'addressed':true,'arena_bytes':28,'host_bytes':16"
#define SUM "'budget_bytes':34,'addressed':false,'arena_bytes':26,'host_bytes':0"

/* w -f-> x; x -g-> y,z; u updates w from y; x,w -h-> v; e updates t. f, u and e are
 * ordered, g cannot rewrite, z is held. s may live on the host, t must. The link is that of
 * rp_net: 8 bytes take 18 ns in and 26 ns out. */
extern const char rp_state[];

#define ROOM(homes)                                                                        \
    "'budget_bytes':100,'addressed':true,'arena_bytes':40,'host_bytes':24,'homes':" homes
#define SUM_ROOM(homes)                                                                    \
    "'budget_bytes':100,'addressed':false,'arena_bytes':40,'host_bytes':8,'homes':" homes
#define T_HOME "[{'tensor':1,'host_at':0}]"
#define RUN_F "{'run':0,'at':[0]}"
#define RUN_G "{'run':1,'at':[8,16]}"
#define RUN_U "{'run':2,'at':[]}"
#define RUN_H "{'run':3,'at':[24]}"
#define T_IN_AND_OUT "{'swap_in':1,'at':28},{'run':4,'at':[]},{'swap_out':1,'host_at':0}"
#define FREE_T "{'free':1}"

/* The text with " for '. The caller frees it. */
char *rp_quoted(const char *text);

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
