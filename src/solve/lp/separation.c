#include "solve/lp/separation.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "solve/lp/sep_cover.h"
#include "solve/lp/sep_path.h"

#define EXACT_MIN_EFFICACY 1e-6

/* In this order: it is the order of the rows in the LP, on which the simplex method's path
 * depends. */
static const struct rp_cut_family *const families[] = {
    &rp_sep_memory_family,
    &rp_sep_cover_family,
    &rp_sep_path_family,
};
enum { N_FAMILIES = sizeof families / sizeof *families };
_Static_assert(N_FAMILIES <= RP_MAX_CUT_FAMILIES, "raise RP_MAX_CUT_FAMILIES");

const char *rp_cut_family_name(uint32_t k) {
    return k < N_FAMILIES ? families[k]->name : NULL;
}

void rp_separation_statistics_add(struct rp_separation_statistics *into,
                                  const struct rp_separation_statistics *from) {
    for (uint32_t k = 0; k < RP_MAX_CUT_FAMILIES; k++)
        into->found[k] += from->found[k];
    into->exact_covers += from->exact_covers;
    into->terms += from->terms;
}

void rp_separation_init(struct rp_separation *s, const struct rp_formulation *f,
                        uint32_t skip) {
    *s = (struct rp_separation){.formulation = f};
    rp_sep_memory_init(&s->memory, f, true);
    s->over = rp_calloc(f->instance->n_ops, sizeof *s->over);
    for (uint32_t k = 0; k < N_FAMILIES; k++)
        if (!(skip >> k & 1))
            s->state[k] = families[k]->create(f);
}

void rp_separation_fini(struct rp_separation *s) {
    for (uint32_t k = 0; k < N_FAMILIES; k++)
        if (s->state[k] != NULL)
            families[k]->destroy(s->state[k]);
    rp_sep_memory_fini(&s->memory);
    free(s->over);
    *s = (struct rp_separation){0};
}

/* All families that are found per stage, or all others. */
static uint32_t find_at(struct rp_separation *s, bool per_stage, uint32_t t,
                        const double *v, struct rp_row_set *rows,
                        struct rp_separation_statistics *stats) {
    uint32_t sum = 0;
    for (uint32_t k = 0; k < N_FAMILIES; k++) {
        if (s->state[k] == NULL || families[k]->per_stage != per_stage)
            continue;
        uint32_t n = families[k]->find(s->state[k], t, v, rows, &stats->terms);
        stats->found[k] += n;
        sum += n;
    }
    return sum;
}

uint32_t rp_separation_find(struct rp_separation *s, const double *v,
                            struct rp_row_set *rows,
                            struct rp_separation_statistics *stats) {
    uint32_t n = 0, n_stages = s->formulation->n_stages;
    for (uint32_t t = 0; t < n_stages; t++)
        n += find_at(s, true, t, v, rows, stats);
    return n + find_at(s, false, n_stages, v, rows, stats);
}

uint32_t rp_separation_exact(struct rp_separation *s, double *v, struct rp_row_set *rows,
                             struct rp_separation_statistics *stats) {
    uint32_t n = 0;
    for (uint32_t j = 0; j < s->formulation->n_cols; j++)
        v[j] = round(v[j]);
    for (uint32_t t = 0; t < s->formulation->n_stages; t++) {
        struct rp_row_set memory = {0};
        rp_sep_memory_sweep(&s->memory, t, v, s->over);
        uint32_t k = rp_sep_memory_worst(s->formulation, t, s->over);
        if (s->over[k] > 0) {
            rp_sep_memory_row(&s->memory, t, k, v, &memory);
            n += rp_sep_cover_find(&memory, 0, v, EXACT_MIN_EFFICACY, rows);
        }
        rp_row_set_fini(&memory);
    }
    stats->exact_covers += n;
    return n;
}
