/* families: one function a family, each in its own file; `variant` of the table's row says
 * which member. Each builds the forward pass and ends with rp_nn_cross_entropy. */
#ifndef RP_MODEL_ZOO_FAMILIES_H
#define RP_MODEL_ZOO_FAMILIES_H

struct rp_builder;

void rp_zoo_vgg(struct rp_builder *b);           /* 16, 19 */
void rp_zoo_resnet(struct rp_builder *b);        /* 18, 50, 101, 152 */
void rp_zoo_resnet_preact(struct rp_builder *b); /* 200, 1001 */
void rp_zoo_mobilenet_v1(struct rp_builder *b);
void rp_zoo_mobilenet_v2(struct rp_builder *b);
void rp_zoo_densenet(struct rp_builder *b); /* 121 */
void rp_zoo_googlenet(struct rp_builder *b);
void rp_zoo_inception_v3(struct rp_builder *b);
void rp_zoo_unet(struct rp_builder *b);
void rp_zoo_unet3d(struct rp_builder *b);
void rp_zoo_fcn8(struct rp_builder *b);
void rp_zoo_segnet(struct rp_builder *b);
void rp_zoo_vgg_unet(struct rp_builder *b);

enum { RP_BERT_BASE, RP_BERT_LARGE };
void rp_zoo_bert(struct rp_builder *b);
enum { RP_GPT2_SMALL, RP_GPT2_MEDIUM, RP_GPT2_LARGE, RP_GPT2_XL };
void rp_zoo_gpt2(struct rp_builder *b);
void rp_zoo_vit(struct rp_builder *b);
void rp_zoo_cait(struct rp_builder *b);
void rp_zoo_llama(struct rp_builder *b);
void rp_zoo_lstm_lm(struct rp_builder *b);
void rp_zoo_nmt(struct rp_builder *b);

#endif
