#include "solve/core/anneal_statistics.h"

void rp_anneal_statistics_add(struct rp_anneal_statistics *into,
                              const struct rp_anneal_statistics *from) {
    into->runs += from->runs;
    into->work += from->work;
    into->uphill += from->uphill;
    into->incumbents += from->incumbents;
    into->repaired += from->repaired;
    for (uint32_t i = 0; i < RP_MAX_MOVES; i++) {
        into->moves[i].proposed += from->moves[i].proposed;
        into->moves[i].infeasible += from->moves[i].infeasible;
        into->moves[i].accepted += from->moves[i].accepted;
        into->moves[i].improving += from->moves[i].improving;
    }
}

void rp_anneal_statistics_accept(struct rp_anneal_statistics *s, uint32_t row,
                                 double rise_ns) {
    s->moves[row].accepted++;
    s->moves[row].improving += rise_ns < 0;
    s->uphill += rise_ns > 0;
}
