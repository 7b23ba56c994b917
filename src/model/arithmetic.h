/* arithmetic: what the dtype of a tensor says of the arithmetic of an op on it.
 *
 * Thread-safe: read-only data.
 */
#ifndef RP_MODEL_ARITHMETIC_H
#define RP_MODEL_ARITHMETIC_H

#include <stdint.h>

#include "model/device.h"

/* RP_NUMBER_F8 is any floating-point number of 8 bits or fewer. RP_NUMBER_C32, C64 and C128
 * are complex numbers of two f16, f32 and f64. */
enum rp_number {
    RP_NUMBER_F64,
    RP_NUMBER_F32,
    RP_NUMBER_F16,
    RP_NUMBER_BF16,
    RP_NUMBER_F8,
    RP_NUMBER_C32,
    RP_NUMBER_C64,
    RP_NUMBER_C128,
    RP_NUMBER_INTEGER, /* truth values too */
    RP_NUMBER_UNKNOWN
};

/* By the short name of a graph ("f32", "f8e4m3fn", "c64", "i4", "bool"), or by that of
 * PyTorch, JAX or NumPy ("float32", "float8_e4m3fn", "complex64", "int4"), in letters of
 * either case. */
enum rp_number rp_number_of(const char *dtype);

/* Operations of matrix products per second, in the unit that an op's "flops" have. One of
 * complex numbers, of which formulas count each product as one, takes four of real ones.
 * A device without arithmetic for f8 computes in its fastest 16-bit type. Integers and
 * unknown numbers have the rate of f32. */
uint64_t rp_number_flops(const struct rp_device_model *m, enum rp_number number);

#endif
