/* quantity: numbers, sizes and shares of the command line. All functions leave the result
 * alone if they return false. Thread-safe: there is no shared state. */
#ifndef RP_CMD_QUANTITY_H
#define RP_CMD_QUANTITY_H

#include <stdbool.h>
#include <stdint.h>

/* Parses a whole number from 0 to 2^63-1. */
bool rp_parse_nat(const char *text, uint64_t *value);

/* Parses a number of 0 or more, in decimal. */
bool rp_parse_number(const char *text, double *value);

/* Parses a size: digits with an optional fraction and suffix K M G T (also KiB..TiB: powers
 * of 1024; KB..TB: powers of 1000; B). False on junk, negative sizes, overflow and
 * fractions of a byte. */
bool rp_parse_bytes(const char *text, uint64_t *bytes);

/* Parses a percentage above 0, such as 62.5%, of `whole` bytes, which is below 2^63. The
 * fraction of a byte is dropped. False on junk and overflow. */
bool rp_parse_share(const char *text, uint64_t whole, uint64_t *part);

#endif
