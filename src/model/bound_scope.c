#include "model/bound_scope.h"

#include "base/format.h"
#include "base/json_writer.h"

const struct rp_bound_scope rp_bound_for_all_plans = {
    .recompute = true,
    .swap = true,
    .any_order = true,
    .all_programs = true,
    .host_budget_bytes = RP_NO_LIMIT,
};

void rp_bound_scope_json(const struct rp_bound_scope *b, const char *key,
                         struct rp_json_writer *w) {
    rp_json_object(w, key);
    rp_json_bool(w, "recompute", b->recompute);
    rp_json_bool(w, "swap", b->swap);
    if (b->host_budget_bytes == RP_NO_LIMIT)
        rp_json_null(w, "host_budget_bytes");
    else
        rp_json_uint(w, "host_budget_bytes", b->host_budget_bytes);
    rp_json_string(w, "order", b->any_order ? "any" : "given");
    rp_json_string(w, "programs", b->all_programs ? "all" : "schedules");
    rp_json_end(w);
}

void rp_bound_scope_print(const struct rp_bound_scope *b, const struct rp_graph *g,
                          FILE *f) {
    const char *before = " for plans ";
    bool can_swap = g->device.h2d_bytes_per_s > 0 && g->device.d2h_bytes_per_s > 0;
    const struct {
        bool narrow;
        const char *words;
    } parts[] = {
        {!b->recompute, "without recomputation"},
        {!b->swap && can_swap, "without swaps"},
        {!b->any_order && g->free_order, "in the graph's order"},
        {!b->all_programs, "with no op twice between two first runs"},
    };
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
        if (parts[k].narrow) {
            fprintf(f, "%s%s", before, parts[k].words);
            before = ", ";
        }
    if (b->swap && can_swap && b->host_budget_bytes != RP_NO_LIMIT)
        fprintf(f, "%swith at most %s on the host", before,
                rp_show_bytes(b->host_budget_bytes).s);
}
