/* link_fit: how fast the host link is, fitted over copies of many sizes, and how much
 * copies and kernels slow each other down. A program measures this by marking sections with
 * ranges:
 *
 *   rp:@h2d, rp:@d2h        copies in one direction, of several sizes
 *   rp:@both                copies in both directions at once
 *   rp:@compute             one kernel, again and again, alone
 *   rp:@compute+h2d, rp:@compute+d2h   the same kernel beside copies in that direction
 *
 * The model is that of the graph format: a copy of n bytes takes latency + n / rate.
 *
 * Thread-safe for different fits.
 */
#ifndef RP_PROFILE_JOIN_LINK_FIT_H
#define RP_PROFILE_JOIN_LINK_FIT_H

#include "profile/trace.h"

enum { RP_LINK_ALONE, RP_LINK_BOTH_WAYS, RP_LINK_BESIDE_KERNELS, RP_N_LINK_SETTINGS };
enum { RP_LINK_H2D, RP_LINK_D2H };
extern const char *const rp_link_setting_word[RP_N_LINK_SETTINGS]; /* "alone", ... */
extern const char *const rp_link_way_word[2];                      /* "h2d", "d2h" */

struct rp_copy_sample {
    uint64_t bytes, ns;
};

struct rp_copy_fit {
    uint32_t n; /* copies that were measured; 0: none, and no fit */
    uint64_t latency_ns, bytes_per_s;
};

/* Weighted least squares over the median of each size. The weights 1 / ns^2 minimise the
 * squares of relative errors. A negative latency becomes 0. False if there are
 * fewer than two sizes, or if larger copies do not take longer. Sorts the samples. */
bool rp_copy_fit_build(struct rp_copy_sample *samples, size_t n, struct rp_copy_fit *fit);

struct rp_link_fit {
    struct rp_copy_fit copies[RP_N_LINK_SETTINGS][2]; /* by setting and direction */
    /* The kernel's time beside copies in that direction, in thousandths of its time alone;
     * 0: not measured. */
    uint64_t kernel_permille[2];
};

/* Whether a range "rp:NAME" is one of these sections; name has no "rp:". */
bool rp_is_link_section(const char *name);

/* Returns RP_OK with an empty fit if the traces have no such sections. RP_ENV if a section
 * has none of the work that it is for, or if its copies cannot be fitted. */
rp_rc rp_link_fit_build(const struct rp_trace *traces, size_t n, struct rp_link_fit *fit,
                        struct rp_err *err);

#endif
