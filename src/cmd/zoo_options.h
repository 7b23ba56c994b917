/* The options that shape a network of the zoo, for the commands that build one. */
#ifndef RP_CMD_ZOO_OPTIONS_H
#define RP_CMD_ZOO_OPTIONS_H

#include "base/options.h"
#include "model/zoo/networks.h"

/* Options whose text rp_zoo_take reads. */
struct rp_zoo_words {
    const char *image, *dtype;
};

/* Rows for a command's option table. */
#define RP_ZOO_ROWS(z, words)                                                              \
    {"image",         0,      RP_OPT_STRING,                                               \
     &(words)->image, "SIZE", "224, 416x608, or 192x192x128 of a volume"},                 \
        {"classes", 0, RP_OPT_NAT, &(z)->classes, "N", "what a classifier tells apart"},   \
        {"layers", 0, RP_OPT_NAT, &(z)->layers, "N", "of the block that is repeated"},     \
        {"seq", 0, RP_OPT_NAT, &(z)->seq, "N", "tokens in a sequence"},                    \
        {"steps",     0,   RP_OPT_NAT,                                                     \
         &(z)->steps, "N", "that a recurrent network is unrolled over"},                   \
        {"kv-heads",     0,   RP_OPT_NAT,                                                  \
         &(z)->kv_heads, "N", "heads of keys and values (llama-7b)"},                      \
        {"loss-parts",     0,   RP_OPT_NAT,                                                \
         &(z)->loss_parts, "N", "of the sequence, with logits and loss of their own"},     \
        {"dtype",         0,      RP_OPT_STRING,                                           \
         &(words)->dtype, "TYPE", "of weights and activations: f32, f16"},                 \
    {                                                                                      \
        "no-aux", 0, RP_OPT_FLAG, &(z)->no_aux, NULL, "without auxiliary classifiers"      \
    }

/* Reads the words into `z`, for network `name`. RP_USAGE names the command. */
rp_rc rp_zoo_take(const char *command, const char *name, const struct rp_zoo_words *words,
                  struct rp_zoo_options *z, struct rp_err *err);

#endif
