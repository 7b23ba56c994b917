/* sha256: the digest that ties a plan to its graph (FIPS 180-4). */
#ifndef RP_BASE_SHA256_H
#define RP_BASE_SHA256_H

#include <stddef.h>

/* `hex` gets 64 lower-case digits and a NUL. */
void rp_sha256_hex(const void *bytes, size_t n, char hex[65]);

#endif
