/* args_literal: writes a kernel's parameters as source that is both C11 and C++20, for
 * emitted programs:
 *
 *     static const int64_t NAME_parts[] = {...};       (if it has parts)
 *     static const struct rp_kargs NAME = {.n_in = 2, ...};
 *
 * Fields that are 0 are left out. Floating-point numbers are hexadecimal, so they are
 * exact. Write errors stay with the stream.
 *
 * Thread-safe: nothing is kept between calls.
 */
#ifndef RP_KERNELS_ARGS_LITERAL_H
#define RP_KERNELS_ARGS_LITERAL_H

#include <stdio.h>

#include "kernels/kernel.h"

void rp_args_literal_write(const struct rp_kernel *k, const char *name, FILE *f);

#endif
