/* interval_memory: rows of the interval model (interval_model.h) about what is on the
 * device while ops run again.
 *
 * Let op t read y0, or let y0 be readable at moment t+1: W = 1, or W = H[t+1][y0]. Take a
 * path y0, y1, .., ym of tensors, each an input of the op that makes the one before, and
 * let pm be the maker of ym. Then
 *
 *   P = W - U[t][y0] - .. - U[t][ym] - R[t][pm]
 *
 * is 1 only if at any moment of stage t one of these tensors is on the device: y0 from the
 * last run of its maker in this stage on, before that y1 from the last run of its own maker
 * on, and so on, and ym from the beginning. With W = H[t+1][y0] and m = 0,
 * F[t][y0] - U[t][y0] is added, since a copy in flight throughout the stage has storage.
 *
 *   (M9)   sum over paths of min(bytes of y0 .. ym) P
 *          + (what op k reads, makes and works in) R[t][k] <= limit.
 *
 * No two of the paths have a tensor in common, and op k < t neither reads nor makes one.
 *
 * Now let x and z be two tensors with such W, made by k and l, of which neither touches
 * what the other makes. If both run again in stage t, and no copy of x or z is read there
 * first, then one of both is there while the maker of the other runs for the last time:
 *
 *   (M13h) sum over paths as in (M9), which touch neither op,
 *          + min(working set of k + bytes[z], working set of l + bytes[x])
 *            (W[x] - U[t][x] + R[t][k] + W[z] - U[t][z] + R[t][l] - 3) <= limit.
 *
 * Not thread-safe: one object, one thread.
 */
#ifndef RP_SOLVE_MILP_INTERVAL_MEMORY_H
#define RP_SOLVE_MILP_INTERVAL_MEMORY_H

#include "base/mem.h"
#include "solve/milp/interval_model.h"

enum { RP_MAX_MEMORY_PATH = 6 }; /* tensors; rows with shorter paths hold as well */

struct rp_memory_path {
    uint32_t n, y[RP_MAX_MEMORY_PATH];
    double bytes, value; /* the smallest tensor's, scaled; P at the point */
};

/* The runs that a row is about: of op[0], or the later one of the last two of op[0] and
 * op[1], which make x[0] and x[1]. */
struct rp_memory_runs {
    uint32_t n, op[2], x[2];
    double bytes,
        value; /* what the row has them take, scaled, and how often, at the point */
};

struct rp_interval_memory {
    const struct rp_interval_model *model; /* borrowed */
    const double *v;                       /* the point */
    uint32_t t;                            /* the stage */
    RP_VEC(uint32_t) wanted;               /* tensors with W */
    bool *is_taken;                        /* per tensor: no path can have it */
    RP_VEC(struct rp_memory_path) path;
    /* The row with the largest left side so far. */
    double most;
    struct rp_memory_runs runs;
    RP_VEC(struct rp_memory_path) path_of_most;
    uint64_t steps;
};
void rp_interval_memory_init(struct rp_interval_memory *c,
                             const struct rp_interval_model *m);
void rp_interval_memory_fini(struct rp_interval_memory *c); /* safe on a zeroed one */

/* Appends the row (M9) of stage t that v violates most, if that is by `least` scaled bytes
 * or more: all tensors that are there by half or more are paths of their own, and others
 * get the best path that is left. Adds to *steps how many terms it looked at. Returns how
 * many rows. */
uint32_t rp_interval_memory_find(struct rp_interval_memory *c, const double *v,
                                 double least, uint32_t t, struct rp_interval_row *row,
                                 struct rp_row_set *rows, uint64_t *steps);
/* The same for (M13h). */
uint32_t rp_interval_memory_find_two(struct rp_interval_memory *c, const double *v,
                                     double least, uint32_t t, struct rp_interval_row *row,
                                     struct rp_row_set *rows, uint64_t *steps);

#endif
