/* ref_real: the three number types of the reference kernels. A file ref_TYPE.c defines one
 * RP_INSTANCE_TYPE, includes this and then the bodies, ref_*.h.
 *
 *   real   how tensors in the network's type are stored
 *   acc    what sums and functions are computed in
 *   stat   storage of what is f32 with f16, and of acc's precision otherwise
 *
 * get() and put() go between real and acc; FN(conv) is the instance's rp_ref_conv_TYPE;
 * MATH(exp) is exp or expf.
 */
#ifndef RP_KERNELS_REF_REAL_H
#define RP_KERNELS_REF_REAL_H

#include <math.h>
#include <string.h>

#include "kernels/half.h"
#include "kernels/ref.h"

#if defined RP_INSTANCE_F32
typedef float real, acc, stat;
#define FN(name) rp_ref_##name##_f32
#define MATH(function) function##f
static inline acc get(real x) {
    return x;
}
static inline real put(acc x) {
    return x;
}
#elif defined RP_INSTANCE_F16
typedef uint16_t real;
typedef float acc, stat;
#define FN(name) rp_ref_##name##_f16
#define MATH(function) function##f
static inline acc get(real x) {
    return rp_from_half(x);
}
static inline real put(acc x) {
    return rp_to_half(x);
}
#elif defined RP_INSTANCE_F64
typedef double real, acc, stat;
#define FN(name) rp_ref_##name##_f64
#define MATH(function) function
static inline acc get(real x) {
    return x;
}
static inline real put(acc x) {
    return x;
}
#endif

/* Every kernel is one of these. */
#define KERNEL(name)                                                                       \
    void FN(name)(const struct rp_kargs *a, const void *const *in, void *const *out)

#endif
