/* interval_paths: path cuts of the interval model, as sep_path.h makes them for the program
 * without swaps.
 *
 * A fractional point may make a tensor in small fractions in many stages, and copy what
 * these runs read in other fractions. In a program, an op can only run in the stages a to b
 * if each of its inputs y is available at moment a (V), or is made in these stages. In the
 * first case y could also be read at moment a (H), or a run of these stages was the first
 * to read a copy of it (U). So
 *
 *   T[y] = V[a][y]   or   T[y] = H[a][y] + U[a][y] + .. + U[b][y]
 *
 * is 1 unless y is made in the stages a to b; and if it is made, the same holds for the
 * inputs of that run. Take a path x = y0, y1, .., ym of tensors, each an input of the op
 * that makes the one before, and let pm be the maker of ym:
 *
 *   (M13f)  W <= T[y0] + .. + T[ym] + R[a][pm] + .. + R[b][pm],
 *           W = R[b][r] for a reader r of y0, which is 1 for the first run of op b and
 * where y0 is kept and b = n,   or W = H[b+1][y0],   or W = V[b+1][y0].
 *
 * With the last W, T[y0] is V[a][y0]: y0 may have been on the host throughout.
 * W = H[b+1][y0] is not for tensors without bytes and pinned ones: they stay on the device
 * after their last reader, where V is 0.
 *
 * Not thread-safe: one object, one thread.
 */
#ifndef RP_SOLVE_MILP_INTERVAL_PATHS_H
#define RP_SOLVE_MILP_INTERVAL_PATHS_H

#include "solve/milp/interval_model.h"

/* What W is, unless it is V. */
enum rp_interval_want { RP_WANT_RUN, RP_WANT_READABLE, RP_WANT_KEPT };

struct rp_interval_paths {
    const struct rp_interval_model *model; /* borrowed */
    bool available;                        /* V may be used */
    const double *v;                       /* the point */
    double *runs;                          /* per op: sum of R over the window */
    double *copies;                        /* per tensor: sum of U over the window */
    double *supply;   /* per op: least right side beside T of what it makes */
    uint32_t *via;    /* per op: the next tensor of that path; RP_NONE: it ends here */
    uint32_t *length; /* per op: how many tensors follow */
    double *want;     /* per tensor: the largest W for this b but V[b+1] */
    uint32_t *reader; /* per tensor: r of that W, if it is a run */
    enum rp_interval_want *kind; /* per tensor: what that W is */
};
void rp_interval_paths_init(struct rp_interval_paths *c, const struct rp_interval_model *m);
void rp_interval_paths_fini(struct rp_interval_paths *c); /* safe on a zeroed one */

/* Appends cuts that v violates, each by enough for its length: for each tensor and b the
 * best, and of these the best n_ops. Without `available`, none of them has a column V. Adds
 * to *steps how many terms it looked at. Returns how many. */
uint32_t rp_interval_paths_find(struct rp_interval_paths *c, const double *v,
                                bool available, struct rp_interval_row *row,
                                struct rp_row_set *rows, uint64_t *steps);

#endif
