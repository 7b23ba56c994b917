/* SPDX-License-Identifier: MIT
 *
 * sha256: the digest that ties a plan to its graph (FIPS 180-4).
 *
 * Needs libc only, since libremat (src/remat/) is built with it too. Thread-safe.
 */
#ifndef RP_BASE_SHA256_H
#define RP_BASE_SHA256_H

#include <stddef.h>

/* Writes 64 lower-case hexadecimal digits and a NUL to `hex`. */
void rp_sha256_hex(const void *bytes, size_t n, char hex[65]);

#endif
