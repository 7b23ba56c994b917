/* SPDX-License-Identifier: MIT */
/* ref_bodies: all kernels in one number type. ref_TYPE.c and cuda/cuda_TYPE.cu choose the
 * type (ref_real.h) and include this. The order matters: later bodies use functions of
 * earlier ones. */
#include "kernels/ref_real.h"

#include "kernels/ref_elements.h"

#include "kernels/ref_moves.h"

#include "kernels/ref_conv.h"

#include "kernels/ref_cells.h"
#include "kernels/ref_optimizers.h"
#include "kernels/ref_pool.h"
#include "kernels/ref_products.h"

#ifdef __CUDACC__
#include "kernels/cuda/parts.cuh"
#include "kernels/cuda/sums.cuh"
#else
#include "kernels/ref_norm.h"
#include "kernels/ref_sums.h"
#endif
