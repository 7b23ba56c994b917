/* vdnn-all and vdnn-conv: Rhu, Gimelshein, Clemons, Zulfiqar and Keckler, "vDNN:
 * Virtualized Deep Neural Networks for Scalable, Memory-Efficient Neural Network Design",
 * MICRO 2016, arXiv 1602.08124.
 *
 * The input feature maps of all layers (vDNN_all), or of convolutions only (vDNN_conv), are
 * copied out while their last forward consumer computes. The compute stream waits for the
 * copy at that layer's end and releases the memory (section 3.2, figure 9). In the backward
 * phase the feature maps of one layer are copied in while the layer after it in forward
 * order, the one before it in backward order, computes (section 3.3, figure 10: the search
 * for a layer to prefetch ends at the next convolution).
 *
 * Interpretation: a layer is a forward op. What the backward phase does not read is freed
 * as liveness allows, not copied. The backward pass of a layer begins where the first of
 * its feature maps is needed. No layer is given a slower, smaller algorithm.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "policy/interval_steps.h"
#include "policy/intervals.h"
#include "policy/phases.h"
#include "policy/policy.h"

static bool is_offloaded(const struct rp_instance *p, uint32_t n_forward, uint32_t x,
                         bool all) {
    bool read = false;
    for (uint32_t e = p->reader_start[x]; e < p->reader_start[x + 1]; e++)
        if (p->readers[e] < n_forward && (all || rp_is_convolution(p, p->readers[e])))
            read = true;
    return read && rp_backward_need(p, n_forward, x) != RP_NONE;
}

/* The stage at which the backward layer before `need` begins: the latest stage before
 * `need` in which another offloaded tensor is first needed. */
static uint32_t layer_before(const bool *layer_begins, uint32_t need, uint32_t n_forward) {
    uint32_t t = need;
    while (t > n_forward && !layer_begins[t - 1])
        t--;
    return t > n_forward ? t - 1 : n_forward;
}

static void record(const struct rp_instance *p, struct rp_recorder *r, bool all) {
    uint32_t n_forward = rp_forward_ops(p);
    struct rp_interval_actions a;
    bool *layer_begins = rp_calloc((size_t)p->n_ops + 1, sizeof *layer_begins);
    rp_interval_actions_init(p, &a);
    a.wait_for_swap_out = true;
    for (uint32_t x = 0; x < p->n_tensors && p->producer[x] < n_forward; x++)
        if (is_offloaded(p, n_forward, x, all))
            layer_begins[rp_backward_need(p, n_forward, x)] = true;
    for (uint32_t x = 0; x < p->n_tensors && p->producer[x] < n_forward; x++) {
        if (!is_offloaded(p, n_forward, x, all))
            continue;
        uint32_t need = rp_backward_need(p, n_forward, x);
        uint32_t e = rp_interval_ending_from(p, x, need);
        a.action[e] = RP_INTERVAL_SWAP;
        a.swap_out_stage[x] = rp_forward_last(p, n_forward, x);
        a.trigger[e] = layer_before(layer_begins, need, n_forward);
    }
    rp_interval_steps_record(&a, r, NULL);
    rp_interval_actions_fini(&a);
    free(layer_begins);
}

static void record_all(const struct rp_instance *p, const struct rp_policy_options *o,
                       struct rp_recorder *r) {
    (void)o;
    record(p, r, true);
}

static void record_conv(const struct rp_instance *p, const struct rp_policy_options *o,
                        struct rp_recorder *r) {
    (void)o;
    record(p, r, false);
}

const struct rp_policy rp_policy_vdnn_all = {
    .name = "vdnn-all",
    .summary = "swap all layers' inputs (Rhu et al. 2016)",
    .record = record_all,
    .may_swap = true,
    .needs_swap = true,
};

const struct rp_policy rp_policy_vdnn_conv = {
    .name = "vdnn-conv",
    .summary = "swap convolutions' inputs (Rhu et al. 2016)",
    .record = record_conv,
    .may_swap = true,
    .needs_swap = true,
};
