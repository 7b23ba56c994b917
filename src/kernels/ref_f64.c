/* SPDX-License-Identifier: MIT */
#define RP_INSTANCE_F64
#include "kernels/ref_bodies.h"
