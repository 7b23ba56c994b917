/* fuzz: one entry a target, called by libFuzzer or by replay.c with one input's bytes. */
#ifndef RP_TESTS_FUZZ_H
#define RP_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
