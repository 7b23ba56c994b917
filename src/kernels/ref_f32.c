/* SPDX-License-Identifier: MIT */
#define RP_INSTANCE_F32
#include "kernels/ref_real.h"

/* The order matters: later bodies use functions of earlier ones. */
#include "kernels/ref_elements.h"

#include "kernels/ref_moves.h"

#include "kernels/ref_conv.h"

#include "kernels/ref_cells.h"
#include "kernels/ref_pool.h"
#include "kernels/ref_products.h"

#include "kernels/ref_norm.h"
#include "kernels/ref_sums.h"
