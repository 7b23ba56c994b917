/* SPDX-License-Identifier: MIT */
#define RP_INSTANCE_F16
#include "kernels/ref_bodies.h"
