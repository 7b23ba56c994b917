/* A stand-in for libcuda.so.1 with the functions that remat-plan calls. GPUS in the
 * environment is the number of devices (1), CAPABILITY their compute capability (90),
 * which they do not report if it is 0. */
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT int cuInit(unsigned flags);
EXPORT int cuDeviceGetCount(int *n);
EXPORT int cuDeviceGet(int *device, int number);
EXPORT int cuDeviceGetAttribute(int *value, int attribute, int device);

int cuInit(unsigned flags) {
    return (int)flags;
}

int cuDeviceGetCount(int *n) {
    const char *gpus = getenv("GPUS");
    *n = gpus != NULL ? atoi(gpus) : 1;
    return 0;
}

int cuDeviceGet(int *device, int number) {
    *device = number;
    return 0;
}

int cuDeviceGetAttribute(int *value, int attribute, int device) {
    const char *given = getenv("CAPABILITY");
    const int capability = given != NULL ? atoi(given) : 90;
    *value = attribute == 75 ? capability / 10 : capability % 10;
    return device < 0 || capability == 0;
}
