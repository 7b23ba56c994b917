/* initial_values: what a graph's sources hold before the step, in a replay. Labels and ids
 * are random in their range. Weights are scaled by their fan-in, so that activations keep
 * their size from layer to layer. Scales and variances are in [0.5, 1.5). What an optimizer
 * keeps is 0, and a 16-bit parameter is its f32 copy rounded.
 *
 * Thread-safe: nothing is kept between calls.
 */
#ifndef RP_KERNELS_INITIAL_VALUES_H
#define RP_KERNELS_INITIAL_VALUES_H

#include "kernels/kernel.h"

/* *fill says how to fill source x; its seed is x, but for the f32 copy of a parameter,
 * which has the parameter's. RP_INPUT if x has no shape, or a dtype other than f32, f16,
 * bf16 and i32. `file` is g's name in messages. */
rp_rc rp_initial_values(const struct rp_graph *g, uint32_t x, enum rp_bind how,
                        const char *file, struct rp_fill *fill, struct rp_err *err);

#endif
