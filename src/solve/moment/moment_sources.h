/* moment_sources: what a moment (moment_relaxation.h) says of the copies of sources that
 * may live on the host, and so of the time of every program.
 *
 * Let w be such a source, in_ns and out_ns the times of its copies, and c the op that runs
 * for the first time at the moment. Let
 *
 *   r[w] = 1: w stays on the device for good; 0: it lives on the host,
 *   h[w] = 1: w has storage on the device while c runs,
 *   z:        the bytes of tensors that are on the host alone then (`room`),
 *   e:        the time of the program beyond the sum T of all op times (`extra`),
 *   P, Q:     the time up to the end of that run of c, and from then on (`until`, `from`).
 *
 * A source that lives on the host comes in before its first use. If an op uses it before c
 * or c does, that copy has ended when c starts. If a later op or the end needs it and it
 * has no storage while c runs, it comes in once more, and that copy starts after c has
 * ended, since the compute clock of its step is not before. What the last op that updates
 * it has made goes out after that op. No two copies of one queue overlap. Hence every
 * program meets
 *
 *   (12) r[w] <= h[w],    h[w] = 1 if c uses w,    r[w] = 0 if its home is the host
 *   (13) (10) with sum of bytes[w] h[w] on its left side,   z <= sum of bytes[x] S[x]
 *   (14) sum over all w that are used of in_ns[w] (1 - r[w])
 *        + sum over those used before and needed after of in_ns[w] (1 - h[w])
 *        + in_rate z                                                  <= T + e
 *   (15) sum over all w that are updated of out_ns[w] (1 - r[w]) + out_rate z <= T + e
 *   (16) sum over A of time[j] R[j] <= e,    P + Q <= T + e
 *   (17) P >= times of A and c,
 *        P >= time[c] + sum over those used before of in_ns[w] (1 - r[w]),
 *        P >= time[c] + out_rate z
 *   (18) Q >= times of D but c + sum over A of time[j] R[j],
 *        Q >= sum over those needed after of in_ns[w] (1 - h[w]) + in_rate z,
 *        Q >= sum over those whose last update is in D of out_ns[w] (1 - r[w])
 *   (19) z + sum of bytes[w] (1 - r[w]) <= host limit
 *   (20) sum over the w that op k does not use of bytes[w] r[w] <= limit - working set of k
 *        for ops with large working sets: what they read and make, and workspace
 *
 * The rates are those of the tensor with the least time per byte (lp/copy_rate.h). The
 * minimum of T + e is a bound for every choice of homes, since each is a point of r. With
 * little memory, (14) is the argument of red-blue pebbling (Hong and Kung, "I/O
 * complexity", STOC 1981): what is used on both sides of a moment and does not lie in the
 * memory then is read twice. (15) with (17) and (18) is the bound of a flow shop on two
 * machines (Johnson, "Optimal two- and three-stage production schedules", 1954): the queue
 * that writes back waits until the first update can have run.
 *
 * Thread safety: nothing is kept between calls.
 */
#ifndef RP_SOLVE_MOMENT_MOMENT_SOURCES_H
#define RP_SOLVE_MOMENT_MOMENT_SOURCES_H

#include "solve/moment/moment_relaxation.h"

/* Adds the columns and rows above to the moment of op c, of which side[] are the sides. The
 * instance has sources that may live on the host, and may swap. fold: sources that are
 * alike get one column (fold.h). The linear program is the same, but smaller; branch and
 * bound cannot tell them apart. */
void rp_moment_add_sources(struct rp_moment *m, const struct rp_instance *p, uint32_t c,
                           const enum rp_side *side, bool fold);

/* What (14) to (18) give without the linear program, if no source stays on the device and
 * half of the memory is for sources: a figure by which moments are chosen, not a bound. */
uint64_t rp_moment_copies_ns(const struct rp_instance *p, uint32_t c,
                             const enum rp_side *side);

#endif
