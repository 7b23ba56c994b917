/* SPDX-License-Identifier: MIT
 *
 * read: graph and plan from JSON, with every number checked. */
#ifndef REMAT_READ_H
#define REMAT_READ_H

#include "remat/remat_internal.h"

/* Reads all of the graph, and of the steps what the plan's text says; remat_order fills in
 * the rest. False with *error filled. What was read is freed by remat_close in any case. */
bool remat_read(remat *r, const char *graph, size_t graph_len, const char *plan,
                size_t plan_len, struct remat_error *error);

#endif
