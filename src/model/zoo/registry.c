#include "model/zoo/registry.h"

#include <string.h>

/* Defined at the end of the file of their family. */
extern const struct rp_zoo_entry rp_net_vgg16, rp_net_vgg19, rp_net_resnet18,
    rp_net_resnet50, rp_net_resnet101, rp_net_resnet152, rp_net_resnet200,
    rp_net_resnet1001, rp_net_mobilenet_v1, rp_net_mobilenet_v2, rp_net_densenet121,
    rp_net_googlenet, rp_net_inception_v3, rp_net_unet, rp_net_unet3d, rp_net_fcn8,
    rp_net_segnet, rp_net_vgg_unet, rp_net_bert_base, rp_net_bert_large, rp_net_gpt2,
    rp_net_gpt2_medium, rp_net_gpt2_large, rp_net_gpt2_xl, rp_net_vit_b16, rp_net_cait_s24,
    rp_net_llama_7b, rp_net_lstm_lm, rp_net_nmt;

const struct rp_zoo_entry *const rp_zoo_registry[] = {
    &rp_net_vgg16,        &rp_net_vgg19,        &rp_net_resnet18,    &rp_net_resnet50,
    &rp_net_resnet101,    &rp_net_resnet152,    &rp_net_resnet200,   &rp_net_resnet1001,
    &rp_net_mobilenet_v1, &rp_net_mobilenet_v2, &rp_net_densenet121, &rp_net_googlenet,
    &rp_net_inception_v3, &rp_net_unet,         &rp_net_unet3d,      &rp_net_fcn8,
    &rp_net_segnet,       &rp_net_vgg_unet,     &rp_net_bert_base,   &rp_net_bert_large,
    &rp_net_gpt2,         &rp_net_gpt2_medium,  &rp_net_gpt2_large,  &rp_net_gpt2_xl,
    &rp_net_vit_b16,      &rp_net_cait_s24,     &rp_net_llama_7b,    &rp_net_lstm_lm,
    &rp_net_nmt};
const size_t rp_zoo_n_entries = sizeof rp_zoo_registry / sizeof rp_zoo_registry[0];

const struct rp_zoo_entry *rp_zoo_find(const char *name) {
    for (size_t i = 0; i < rp_zoo_n_entries; i++)
        if (strcmp(rp_zoo_registry[i]->name, name) == 0)
            return rp_zoo_registry[i];
    return NULL;
}
