/* neighborhood: the restricted program around a schedule. It leaves few runs open, so that
 * a MIP over the whole graph has a thousand columns instead of a hundred thousand.
 *
 * Open are: every S; the runs R that the schedule makes; and R[t][j] if op j lies at most
 * `depth` edges back from op t along inputs. These are the runs that bring back what op t
 * reads from tensors that are held at most `depth` ops earlier. All other R are 0. Then S
 * is constant over most stages, and columns merge (formulation.h).
 *
 * In a training step, what is worth running again is made in the forward pass and wanted
 * in the backward pass. The turn between them is the op during which most bytes are in use
 * if everything is kept. Only ops before the turn are opened, in stages from the turn on.
 *
 * Thread safety: different objects may be used by different threads.
 */
#ifndef RP_SOLVE_LNS_NEIGHBORHOOD_H
#define RP_SOLVE_LNS_NEIGHBORHOOD_H

#include "solve/lp/formulation.h"

struct rp_neighborhood {
    struct rp_formulation base; /* of the whole instance */
    uint32_t turn;              /* op */
    double *point;              /* per column of base: value in the schedule */
    uint8_t *known;             /* per column: as in rp_formulation_options */
    bool *chosen;               /* per op before the turn: runs of it may be opened */
    uint32_t *distance;         /* per op: edges back from the stage's op */
    uint32_t *queue;            /* of ops, for the search back */
};
/* `p` must outlive `n`. The caller owns it. */
void rp_neighborhood_init(struct rp_neighborhood *n, const struct rp_instance *p);
void rp_neighborhood_fini(struct rp_neighborhood *n);

/* Fills n->known around `s`, for the chosen ops. False if the formulation cannot represent
 * `s`. */
bool rp_neighborhood_open(struct rp_neighborhood *n, const struct rp_schedule *s,
                          uint32_t depth);

#endif
