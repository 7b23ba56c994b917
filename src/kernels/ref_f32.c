/* SPDX-License-Identifier: MIT */
#define RP_INSTANCE_F32
#include "kernels/ref_bodies.h"
