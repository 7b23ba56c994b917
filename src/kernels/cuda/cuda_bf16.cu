/* SPDX-License-Identifier: MIT */
#define RP_INSTANCE_BF16
#include "kernels/ref_bodies.h"
