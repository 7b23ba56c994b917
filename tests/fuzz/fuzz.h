/* fuzz: the entry point of a fuzz target. libFuzzer or run_seeds.c calls it with the bytes
 * of one input. */
#ifndef RP_TESTS_FUZZ_H
#define RP_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
