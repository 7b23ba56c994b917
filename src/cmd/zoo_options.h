/* zoo_options: the options that shape a network of the zoo, for the commands that build
 * one.
 */
#ifndef RP_CMD_ZOO_OPTIONS_H
#define RP_CMD_ZOO_OPTIONS_H

#include "cmd/options.h"
#include "model/zoo/registry.h"

/* Options whose texts rp_zoo_options_parse parses once the network is known. NULL: not
 * given. */
struct rp_zoo_texts {
    const char *image, *dtype, *optimizer, *state_home, *param_home;
};

/* Rows for a command's option table: z is a struct rp_zoo_options, t a struct rp_zoo_texts.
 */
/* clang-format off */
#define RP_ZOO_ROWS(z, t)                                                                  \
    {"image", 0, RP_OPT_STRING, &(t)->image, "SIZE",                                       \
     "input size: 224, 416x608, or 192x192x128 for a volume"},                             \
    {"classes", 0, RP_OPT_NAT, &(z)->classes, "N", "number of classes of a classifier"},   \
    {"layers", 0, RP_OPT_NAT, &(z)->layers, "N", "number of repeated blocks"},             \
    {"width", 0, RP_OPT_NAT, &(z)->width, "N",                                             \
     "features of a token (bert, gpt2, llama)"},                                           \
    {"seq", 0, RP_OPT_NAT, &(z)->seq, "N", "tokens per sequence"},                         \
    {"steps", 0, RP_OPT_NAT, &(z)->steps, "N", "time steps of a recurrent network"},       \
    {"kv-heads", 0, RP_OPT_NAT, &(z)->kv_heads, "N",                                       \
     "number of key and value heads (llama-7b)"},                                          \
    {"loss-parts", 0, RP_OPT_NAT, &(z)->loss_parts, "N",                                   \
     "split logits and loss into N parts of the sequence"},                                \
    {"dtype", 0, RP_OPT_STRING, &(t)->dtype, "TYPE",                                       \
     "type of weights and activations: f32, f16 or bf16", rp_zoo_dtype_name},              \
    {"optimizer", 0, RP_OPT_STRING, &(t)->optimizer, "NAME",                               \
     "update the parameters: sgd, momentum, adam or adamw", rp_zoo_optimizer_name},        \
    {"state-home", 0, RP_OPT_STRING, &(t)->state_home, "HOME",                             \
     "home of parameters and optimizer state: device, host or any", rp_zoo_home_name},     \
    {"param-home", 0, RP_OPT_STRING, &(t)->param_home, "HOME",                             \
     "home of parameters, if it is another one", rp_zoo_home_name},                        \
    {"micro-batches", 0, RP_OPT_NAT, &(z)->micro_batches, "N",                             \
     "go through the batch in N parts, adding up gradients (1)"},                          \
    {"no-aux", 0, RP_OPT_FLAG, &(z)->no_aux, NULL, "leave out auxiliary classifiers"}
/* clang-format on */

/* The names of all networks, and what texts may be, each as an rp_names. */
const char *rp_network_name(size_t i);
const char *rp_zoo_dtype_name(size_t i);
const char *rp_zoo_optimizer_name(size_t i);
const char *rp_zoo_home_name(size_t i);

/* Parses the texts into `z`, for network `name`. RP_USAGE names the command, and the
 * nearest networks if there is no such one. */
rp_rc rp_zoo_options_parse(const char *command, const char *name,
                           const struct rp_zoo_texts *texts, struct rp_zoo_options *z,
                           struct rp_err *err);

#endif
