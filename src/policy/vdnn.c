/* vdnn-all and vdnn-conv: Rhu, Gimelshein, Clemons, Zulfiqar and Keckler, "vDNN:
 * Virtualized Deep Neural Networks for Scalable, Memory-Efficient Neural Network Design",
 * MICRO 2016, arXiv 1602.08124.
 *
 * The input feature maps of all layers (vDNN_all), or of convolutions only (vDNN_conv), are
 * copied out while their last forward consumer computes; the compute stream waits for the
 * copy at that layer's end and releases the memory (section 3.2, figure 9). In the backward
 * phase the feature maps of one layer are copied in while the layer after it in forward
 * order, the one before it in backward order, computes (section 3.3, figure 10: the search
 * for a layer to prefetch ends at the next convolution).
 *
 * Interpretation: a layer is a forward op; what the backward phase does not read is not
 * copied but freed, as liveness allows. The backward pass of a layer begins where the first
 * of its feature maps is needed. No layer is given a slower, smaller algorithm.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "policy/gap_actions.h"
#include "policy/phases.h"
#include "policy/policy.h"

static bool chosen(const struct rp_instance *p, uint32_t n_forward, uint32_t x, bool all) {
    bool read = false;
    for (uint32_t e = p->reader_start[x]; e < p->reader_start[x + 1]; e++)
        if (p->readers[e] < n_forward && (all || rp_is_convolution(p, p->readers[e])))
            read = true;
    return read && rp_backward_need(p, n_forward, x) != RP_NONE;
}

/* The stage that begins the backward layer before the one that starts at `need`: the
 * latest stage, before `need`, in which another chosen tensor is first needed. */
static uint32_t layer_before(const bool *starts, uint32_t need, uint32_t n_forward) {
    uint32_t t = need;
    while (t > n_forward && !starts[t - 1])
        t--;
    return t > n_forward ? t - 1 : n_forward;
}

static void record(const struct rp_instance *p, struct rp_recorder *t, bool all) {
    uint32_t n_forward = rp_forward_ops(p);
    struct rp_gap_actions f;
    bool *starts = rp_calloc((size_t)p->n_ops + 1, sizeof *starts);
    rp_gap_actions_init(p, &f);
    f.prompt = true;
    for (uint32_t x = 0; x < p->n_tensors && p->producer[x] < n_forward; x++)
        if (chosen(p, n_forward, x, all))
            starts[rp_backward_need(p, n_forward, x)] = true;
    for (uint32_t x = 0; x < p->n_tensors && p->producer[x] < n_forward; x++) {
        if (!chosen(p, n_forward, x, all))
            continue;
        uint32_t need = rp_backward_need(p, n_forward, x);
        uint32_t e = rp_gap_ending_from(p, x, need);
        f.fate[e] = RP_SWAP;
        f.out_at[x] = rp_forward_last(p, n_forward, x);
        f.trigger[e] = layer_before(starts, need, n_forward);
    }
    rp_gap_actions_emit(&f, t, NULL);
    rp_gap_actions_fini(&f);
    free(starts);
}

void rp_record_vdnn_all(const struct rp_instance *p, const struct rp_policy_options *o,
                        struct rp_recorder *t) {
    (void)o;
    record(p, t, true);
}

void rp_record_vdnn_conv(const struct rp_instance *p, const struct rp_policy_options *o,
                         struct rp_recorder *t) {
    (void)o;
    record(p, t, false);
}
