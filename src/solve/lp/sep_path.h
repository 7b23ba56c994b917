/* window: rows that a fractional point breaks by making a tensor bit by bit.
 *
 * Rows (2) and (3) let the LP hold 3% of y, make 3% of x from it in each of 30 stages, and
 * end up with all of x. In a real schedule, x is on the device after stage b only if it was
 * there before stage a <= b, or was made in between; then its input y was on the device in
 * between, so it was there before stage a or was made in between; and so on. For a path
 * x = y0, y1, .., ym of tensors, each an input of the op that makes the one before, and pm
 * the maker of ym:
 *
 *   (5)  W <= S[a][y0] + .. + S[a][ym] + R[a][pm] + .. + R[b][pm],
 *        W = S[b+1][y0], or R[b][r] for a reader r of y0.
 *
 * This holds for every sound schedule. At a given point the best path for all x is found
 * by one pass over the ops for each window [a, b].
 */
#ifndef RP_SOLVE_LP_SEP_PATH_H
#define RP_SOLVE_LP_SEP_PATH_H

#include "solve/lp/formulation.h"

struct rp_sep_path {
    const struct rp_formulation *form;
    uint32_t *active; /* ops that run again at the point, ascending */
    uint32_t n_active;
    bool *is_active;  /* per op */
    double *runs;     /* per op: sum of R over the window */
    double *supply;   /* per op: least right-hand side of (5) without S[a][y0] */
    uint32_t *via;    /* per op: y1 of that path, RP_NONE if it ends here */
    uint32_t *length; /* per op: terms S of that path */
    double *want;     /* per tensor: W for this b */
    uint32_t *reader; /* per tensor: r of that W, RP_NONE for S[b+1] */
};
void rp_sep_path_init(struct rp_sep_path *w, const struct rp_formulation *f);
void rp_sep_path_fini(struct rp_sep_path *w);

/* Appends rows (5) that point v violates by at least `least` over their length (in the
 * Euclidean sense), for each tensor and b the one violated most; at most `most` rows.
 * Returns how many. */
uint32_t rp_sep_path_find(struct rp_sep_path *w, const double *v, double least,
                          uint32_t most, struct rp_row_set *rows);

#endif
