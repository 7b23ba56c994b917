/* sep_path: path cuts, which forbid a fractional point to make a tensor in small fractions.
 *
 * Rows (2) and (3) let the LP hold 3% of y, make 3% of x from it in each of 30 stages, and
 * end up with all of x. In a real schedule, x is on the device after stage b only if it was
 * there before stage a <= b, or was made in the window of stages a to b. If it was made,
 * its input y was on the device in the window, so y was there before stage a or was made in
 * the window as well; and so on. Take a path x = y0, y1, .., ym of tensors, each an input
 * of the op that makes the one before, and let pm be the maker of ym:
 *
 *   (5)  W <= S[a][y0] + .. + S[a][ym] + R[a][pm] + .. + R[b][pm],
 *        W = S[b+1][y0], or R[b][r] for a reader r of y0.
 *
 * (5) holds for every sound schedule. At a given point, one pass over the ops finds the
 * best paths of all tensors for one window [a, b].
 *
 * Certificates and docs/certificate.md call these rows "window".
 */
#ifndef RP_SOLVE_LP_SEP_PATH_H
#define RP_SOLVE_LP_SEP_PATH_H

#include "base/mem.h"
#include "base/stop.h"
#include "solve/lp/formulation.h"

struct rp_stage_run {
    uint32_t op;
    double value; /* of R in that stage */
};

/* The stages a to b, and the tensor at which a path begins: a row before it is written. */
struct rp_path_window {
    double efficacy; /* the violation divided by the Euclidean norm of the row */
    uint32_t a, b, x;
};
/* Sorts n elements of `size` bytes, each of which begins with a window: the most efficient
 * first. */
void rp_path_windows_sort(void *at, size_t n, size_t size);

/* Working memory for one formulation. Not thread-safe: one for each thread. */
struct rp_sep_path {
    const struct rp_formulation *formulation; /* borrowed */
    struct rp_stop *stop; /* ends the search for windows; may be NULL (the default) */
    uint32_t *active;     /* ops that run again at the point, ascending */
    uint32_t n_active;
    bool *is_active; /* per op */
    /* Runs again that are not 0 at the point: those of stage t are stage_runs.at[i] for
     * run_start[t] <= i < run_start[t + 1]. */
    uint32_t *run_start;
    RP_VEC(struct rp_stage_run) stage_runs;
    double *runs;     /* per op: sum of R over the window */
    double *supply;   /* per op: least right side of (5) without S[a][y0] */
    uint32_t *via;    /* per op: y1 of that path, RP_NONE if the path ends here */
    uint32_t *length; /* per op: terms S of that path */
    double *want;     /* per tensor: W for this b */
    uint32_t *reader; /* per tensor: r of that W, RP_NONE for S[b+1] */
};
void rp_sep_path_init(struct rp_sep_path *s, const struct rp_formulation *f);
void rp_sep_path_fini(struct rp_sep_path *s); /* safe on a zeroed one */

/* Appends rows (5) whose efficacy at point v is at least min_efficacy: the violation
 * divided by the Euclidean norm of the row. It takes the row of highest efficacy for each
 * tensor and b, and of these the best max_rows. Returns how many. */
uint32_t rp_sep_path_find(struct rp_sep_path *s, const double *v, double min_efficacy,
                          uint32_t max_rows, struct rp_row_set *rows);

/* Branch and cut's family (separation.h): at most as many rows as there are ops. */
struct rp_cut_family;
extern const struct rp_cut_family rp_sep_path_family;

#endif
