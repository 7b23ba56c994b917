/* copies: how fast the host link is, fitted over copies of many sizes, and what copying and
 * computing do to each other. A program measures it by marking sections with ranges:
 *
 *   rp:@h2d, rp:@d2h        copies one way, of several sizes
 *   rp:@both                copies both ways at once
 *   rp:@compute             some kernel, again and again, alone
 *   rp:@compute+h2d, rp:@compute+d2h   the same kernel beside copies that way
 *
 * A copy of n bytes is taken to last latency + n / rate: the format's own model.
 */
#ifndef RP_PROFILE_LINK_FIT_H
#define RP_PROFILE_LINK_FIT_H

#include "model/graph.h"
#include "profile/trace.h"

struct rp_copy_sample {
    uint64_t bytes, ns;
};

struct rp_copy_fit {
    uint32_t n; /* copies it is from; 0: not measured */
    uint64_t latency_ns, bytes_per_s;
};

/* The medians of each size, fitted so that the squares of relative errors are least; a
 * latency is not negative. False if there are fewer than two sizes, or if more bytes do not
 * take longer. Sorts the samples. */
bool rp_copy_fit(struct rp_copy_sample *samples, size_t n, struct rp_copy_fit *fit);

enum { RP_ALONE, RP_BOTH_WAYS, RP_BESIDE_KERNELS, RP_N_SETTINGS };
enum { RP_TO_DEVICE, RP_TO_HOST };

struct rp_link_fit {
    struct rp_copy_fit fit[RP_N_SETTINGS][2]; /* by setting and direction */
    /* A kernel's time beside copies of that direction, in thousandths of its time alone;
     * 0: not measured. */
    uint64_t kernel_permille[2];
};

/* RP_ENV if a section is there whose copies cannot be fitted. Nothing is measured if there
 * are no such sections. */
rp_rc rp_link_fit_measure(const struct rp_trace *traces, size_t n, struct rp_link_fit *c,
                          struct rp_err *err);

/* Rates and latency of the device section, where measured: each way alone, the longer
 * latency. All of it goes into attrs.profile.copies. */
void rp_link_fit_apply(const struct rp_link_fit *c, struct rp_graph *g);

#endif
