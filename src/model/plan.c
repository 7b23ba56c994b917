#include "model/plan.h"

#include <jansson.h>
#include <stdlib.h>

uint64_t rp_plan_fixed_bytes(const struct rp_plan *p, const struct rp_graph *g) {
    uint64_t bytes = g->fixed_bytes;
    for (size_t k = 0; k < p->homes.n; k++) {
        const struct rp_tensor *t = &g->tensors[p->homes.at[k].tensor];
        bytes -= t->home == RP_HOME_ANY ? t->bytes : 0;
    }
    return bytes;
}

void rp_plan_fini(struct rp_plan *p) {
    free(p->graph_name);
    free(p->graph_sha256);
    free(p->steps.at);
    free(p->at.at);
    free(p->homes.at);
    json_decref(p->notes);
    *p = (struct rp_plan){0};
}
