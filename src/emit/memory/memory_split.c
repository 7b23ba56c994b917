#include "emit/memory/memory_split.h"

#include <stdlib.h>

#include "base/format.h"
#include "base/mem.h"

const int rp_memory_kinds[RP_N_MEMORY_KINDS] = {
    RP_ACTIVATION, RP_GRADIENT, RP_PARAMETER, RP_STATE, RP_INPUT_TENSOR, RP_WORKSPACE};

const char *const rp_memory_kind_word[RP_N_MEMORY_KINDS] = {
    [RP_ACTIVATION] = "activations", [RP_GRADIENT] = "gradients",
    [RP_PARAMETER] = "parameters",   [RP_STATE] = "state",
    [RP_INPUT_TENSOR] = "inputs",    [RP_WORKSPACE] = "workspace"};

void rp_memory_split_add(struct rp_memory_split *s, int kind, uint64_t bytes) {
    s->of[kind] += bytes;
    s->bytes += bytes;
}

void rp_memory_split_take(struct rp_memory_split *s, int kind, uint64_t bytes) {
    s->of[kind] -= bytes;
    s->bytes -= bytes;
}

struct rp_memory_split rp_memory_split_fixed(const struct rp_graph *g,
                                             const struct rp_plan *p) {
    struct rp_memory_split s = {0};
    for (uint32_t x = 0; x < g->n_tensors; x++)
        if (g->tensors[x].producer == RP_NONE)
            rp_memory_split_add(&s, g->tensors[x].kind, g->tensors[x].bytes);
    for (size_t k = 0; k < p->homes.n; k++) {
        const struct rp_tensor *t = &g->tensors[p->homes.at[k].tensor];
        rp_memory_split_take(&s, t->kind, t->bytes);
    }
    return s;
}

struct rp_memory_split rp_memory_split_host(const struct rp_graph *g,
                                            const struct rp_plan *p) {
    struct rp_memory_split s = {0};
    uint64_t alignment = p->addressed ? g->device.alignment_bytes : 1;
    bool *on_host = rp_calloc(g->n_tensors, sizeof *on_host);
    for (size_t k = 0; k < p->homes.n; k++)
        on_host[p->homes.at[k].tensor] = true;
    for (size_t k = 0; k < p->steps.n; k++)
        if (p->steps.at[k].kind == RP_SWAP_OUT)
            on_host[p->steps.at[k].id] = true;
    for (uint32_t x = 0; x < g->n_tensors; x++)
        if (on_host[x])
            rp_memory_split_add(&s, g->tensors[x].kind,
                                rp_round_up(g->tensors[x].bytes, alignment));
    free(on_host);
    return s;
}

void rp_memory_split_print(const struct rp_memory_split *s, FILE *f) {
    const char *before = "";
    for (int i = 0; i < RP_N_MEMORY_KINDS; i++) {
        int kind = rp_memory_kinds[i];
        if (s->of[kind] == 0)
            continue;
        fprintf(f, "%s%s %s", before, rp_memory_kind_word[kind],
                rp_show_bytes(s->of[kind]).s);
        before = ", ";
    }
    fputs(s->bytes == 0 ? "nothing" : "", f);
}

void rp_memory_split_json(const struct rp_memory_split *s, const char *key,
                          struct rp_json_writer *w) {
    rp_json_object(w, key);
    for (int i = 0; i < RP_N_MEMORY_KINDS; i++)
        rp_json_uint(w, rp_memory_kind_word[rp_memory_kinds[i]], s->of[rp_memory_kinds[i]]);
    rp_json_end(w);
}
