/* interval_cuts: rows of the interval model that a point violates: (M9), (M10) and (M11) of
 * interval_model.h, and (M13), which hold for all programs too:
 *
 *   (M13a) lifted covers of (M8) and (M16), as in lp/sep_cover.h.
 *
 *   (M13b) waits. Let C be a set of copies that must end within an interval (as in (M10) or
 *     (M11)), y = 1 where one is made, and D the op time of the interval. With
 *     lambda = (sum of their times) - D > 0,
 *         sum of d[u] >= lambda - sum over C of min(time, lambda) (1 - y).
 *     If all are made, that is (M10) or (M11). Each that is left out takes min(time,
 * lambda) off the right side, which is then 0 or less, or as in the row without it. (The
 * flow cover of Padberg, Van Roy and Wolsey, "Valid linear inequalities for fixed charge
 *     problems", 1985, with the d[u] as the flow.) For copies in, y is U[u][x], and a copy
 *     in flight at the start, F[s][x] = 1, takes as much off again.
 *
 *   (M13c) early frees. If x is freed in stage u, its copy out has taken out[x] between
 *     moment p + 1 and there, and has waited for all but D(p, u) of it. Copies out wait at
 *     different times, so over any x with p >= a
 *         sum of d[u], a < u <= b >= sum over x and u <= b of
 *                                    max(0, out[x] - D(p, u)) Q[u][x].
 *
 *   (M13d) round trips. If x is read after a copy in stage t, both copies lie between:
 *         sum of d[u], p < u <= t >= (out[x] + in[x] - D(p, t)) U[t][x].
 *
 *   (M13e) chains, see interval_chains.h.
 *
 *   (M13f) paths, see interval_paths.h.
 *
 *   (M13h) two makers, see interval_memory.h.
 *
 * (M13g), mixed-integer rounding of rows that are known already, is in sep_mir.h.
 *
 * Not thread-safe: one object, one thread.
 */
#ifndef RP_SOLVE_MILP_INTERVAL_CUTS_H
#define RP_SOLVE_MILP_INTERVAL_CUTS_H

#include "base/mem.h"
#include "solve/milp/interval_model.h"
#include "solve/milp_cuts/interval_chains.h"
#include "solve/milp_cuts/interval_memory.h"
#include "solve/milp_cuts/interval_paths.h"

enum rp_interval_family {
    RP_CUT_MEMORY_K,   /* (M9) */
    RP_CUT_MEMORY_TWO, /* (M13h) */
    RP_CUT_OUT,        /* (M10) */
    RP_CUT_IN,         /* (M11) */
    RP_CUT_COVER,      /* (M13a) of (M8) */
    RP_CUT_WAIT_OUT,   /* (M13b) of copies out */
    RP_CUT_WAIT_IN,    /* (M13b) of copies in */
    RP_CUT_EARLY_FREE, /* (M13c) */
    RP_CUT_ROUND_TRIP, /* (M13d) */
    RP_CUT_CHAIN,      /* (M13e) */
    RP_CUT_PATH,       /* (M13f) */
    RP_CUT_ROOM,       /* (M13a) of (M16). Left out: no column V in paths either */
    RP_CUT_ROUNDING    /* (M13g). Not found here */
};
enum { RP_CUT_FAMILIES = RP_CUT_ROUNDING };

struct rp_interval_cuts {
    const struct rp_interval_model *model; /* borrowed */
    struct rp_interval_row row;
    uint32_t *read_start;          /* per stage t: where its part of `read` begins */
    RP_VEC(uint32_t) read;         /* the tensors x with U[t][x] */
    double *d_before;              /* per t: sum of d[u], u < t, at the point */
    double *need;                  /* per tensor: its part of the sum of (M11) */
    uint32_t *seen, n_sums;        /* per tensor: the last sum that had it; sums so far */
    struct rp_interval_copy *copy; /* of the interval that is looked at */
    uint32_t n_copies, cap_copies;
    struct rp_interval_paths paths;
    struct rp_interval_chains chains;
    struct rp_interval_memory memory;
    struct rp_row_set found;     /* one row that is weighed */
    uint64_t n[RP_CUT_FAMILIES]; /* rows found so far */
    uint64_t steps;              /* of all calls; work is counted by them */
};
void rp_interval_cuts_init(struct rp_interval_cuts *c, const struct rp_interval_model *m);
void rp_interval_cuts_fini(struct rp_interval_cuts *c); /* safe on a zeroed one */

/* Appends rows of the families that `v` violates by `least` (scaled time or bytes) or more,
 * at most one per family and stage, or tensor and stage, and returns how many. Bit k of
 * `skip` leaves family k out. With least = 1e-6 it finds a row for every 0/1 point that
 * violates one of (M9) to (M11). */
uint32_t rp_interval_cuts_find(struct rp_interval_cuts *c, const double *v, double least,
                               uint32_t skip, struct rp_row_set *rows);

#endif
