/* SPDX-License-Identifier: MIT
 *
 * step_order: which earlier steps each step must wait for, and where its operands are.
 *
 * The steps are walked once, as a runtime would, to know where every tensor is. Waits are
 * those of the time line of the plan format (docs/formats.md) and one more: a run that
 * rewrites an output waits for the copies of it that are under way, which would otherwise
 * mix old and new bytes. (An update waits for them by the time line.) */
#ifndef REMAT_STEP_ORDER_H
#define REMAT_STEP_ORDER_H

#include "remat/remat_internal.h"

/* Fills in operands, waits and the final addresses of kept tensors, after remat_read. False
 * with *error filled if the plan cannot be walked. Not thread-safe. */
bool remat_order(remat *r, struct remat_error *error);

#endif
