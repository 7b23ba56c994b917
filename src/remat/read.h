/* SPDX-License-Identifier: MIT
 *
 * read: graph and plan from JSON, with every number checked. */
#ifndef REMAT_READ_H
#define REMAT_READ_H

#include "remat/remat_internal.h"

/* Reads the graph, and those members of the steps that the plan states; remat_order fills
 * in the others. Returns false with *error filled on failure. remat_close frees what was
 * read in any case. Not thread-safe: one remat, one thread. */
bool remat_read(remat *r, const char *graph, size_t graph_len, const char *plan,
                size_t plan_len, struct remat_error *error);

#endif
