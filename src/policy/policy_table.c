#include "policy/policy_table.h"

#include <string.h>

#include "base/mem.h"

/* Each is defined at the end of its own file. */
extern const struct rp_policy rp_policy_keep_all, rp_policy_chen_sqrt,
    rp_policy_chen_greedy, rp_policy_revolve, rp_policy_dtr, rp_policy_vdnn_all,
    rp_policy_vdnn_conv, rp_policy_tflms, rp_policy_superneurons, rp_policy_capuchin,
    rp_policy_alibaba, rp_policy_libra, rp_policy_pytorch, rp_policy_zero_offload,
    rp_policy_layer_stream, rp_policy_offload_state;

/* The searches of solve/. */
static const struct rp_policy checkmate = {
    .name = "checkmate",
    .summary = "the best recomputation that is found (after Jain et al. 2020)",
    .fits_budget = true,
    .may_recompute = true,
};
static const struct rp_policy remat = {
    .name = "remat",
    .summary = "this program's own plan",
    .fits_budget = true,
    .may_recompute = true,
    .may_swap = true,
    .may_reorder = true,
};

const struct rp_policy *const rp_policies[] = {
    &rp_policy_keep_all,
    &rp_policy_chen_sqrt,
    &rp_policy_chen_greedy,
    &rp_policy_revolve,
    &rp_policy_dtr,
    &rp_policy_vdnn_all,
    &rp_policy_vdnn_conv,
    &rp_policy_tflms,
    &rp_policy_superneurons,
    &rp_policy_capuchin,
    &rp_policy_alibaba,
    &rp_policy_libra,
    &rp_policy_pytorch,
    &rp_policy_zero_offload,
    &rp_policy_layer_stream,
    &rp_policy_offload_state,
    &checkmate,
    &remat,
};
const size_t rp_n_policies = sizeof rp_policies / sizeof rp_policies[0];

const struct rp_policy *rp_policy_find(const char *name) {
    for (size_t i = 0; i < rp_n_policies; i++)
        if (strcmp(rp_policies[i]->name, name) == 0)
            return rp_policies[i];
    return NULL;
}

size_t rp_policy_index(const struct rp_policy *policy) {
    size_t i = 0;
    while (rp_policies[i] != policy)
        i++;
    return i;
}

static void set_initial(const struct rp_policy_option *option,
                        struct rp_policy_options *o) {
    void *to = (char *)o + option->offset;
    if (option->type == RP_POLICY_FLAG)
        *(bool *)to = option->initial != 0;
    else
        *(uint64_t *)to = option->initial;
}

void rp_policy_options_init(struct rp_policy_options *o) {
    *o = (struct rp_policy_options){
        .addressed = true, .host_bytes = RP_MAX_QUANTITY, .time_limit = 60, .seed = 1};
    for (size_t i = 0; i < rp_n_policies; i++)
        for (const struct rp_policy_option *option = rp_policies[i]->options;
             option != NULL && option->key != NULL; option++)
            set_initial(option, o);
}
