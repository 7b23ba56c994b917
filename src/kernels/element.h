/* element: the types of tensors that kernels take, by their names in a graph: f32, f16,
 * bf16 and i32. RP_ELEMENT_F64 has no name there: it is only for tests (RP_BIND_F64).
 *
 * Thread-safe: read-only data.
 */
#ifndef RP_KERNELS_ELEMENT_H
#define RP_KERNELS_ELEMENT_H

#include <stdbool.h>

#include "kernels/fill.h"

/* False if `dtype` is NULL or another type; *e is not set then. */
bool rp_element_find(const char *dtype, enum rp_element *e);
size_t rp_element_bytes(enum rp_element e);

#endif
