/* families: one function a family, each in its own file; `variant` of the table's row says
 * which member. Each builds the forward pass and ends with rp_nn_cross_entropy. */
#ifndef RP_MODEL_ZOO_FAMILIES_H
#define RP_MODEL_ZOO_FAMILIES_H

struct rp_build;

void rp_zoo_vgg(struct rp_build *b); /* 16, 19 */

#endif
