/* A stand-in for libnvidia-ml.so.1, NVIDIA's management library: one GPU, at the bus
 * address that the stand-ins for CUDA give to the first. NVML in the environment changes
 * it: "none" fails to start, "bare" reports neither power nor limits. */
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

enum { SUCCESS = 0, NOT_SUPPORTED = 3, NOT_FOUND = 6, UNINITIALIZED = 1 };

EXPORT int nvmlInit_v2(void);
EXPORT int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, void **device);
EXPORT int nvmlDeviceGetClockInfo(void *device, int which, unsigned *mhz);
EXPORT int nvmlDeviceGetPowerUsage(void *device, unsigned *mw);
EXPORT int nvmlDeviceGetEnforcedPowerLimit(void *device, unsigned *mw);
EXPORT int nvmlDeviceGetCurrentClocksEventReasons(void *device, unsigned long long *bits);

static int is(const char *what) {
    const char *given = getenv("NVML");
    return given != NULL && strcmp(given, what) == 0;
}

int nvmlInit_v2(void) {
    return is("none") ? UNINITIALIZED : SUCCESS;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, void **device) {
    static int gpu;
    *device = &gpu;
    return strcmp(bus, "0000:01:00.0") == 0 ? SUCCESS : NOT_FOUND;
}

int nvmlDeviceGetClockInfo(void *device, int which, unsigned *mhz) {
    *mhz = which == 1 ? 1980 : 2619;
    return device != NULL ? SUCCESS : NOT_FOUND;
}

int nvmlDeviceGetPowerUsage(void *device, unsigned *mw) {
    *mw = 412500;
    return device == NULL || is("bare") ? NOT_SUPPORTED : SUCCESS;
}

int nvmlDeviceGetEnforcedPowerLimit(void *device, unsigned *mw) {
    *mw = 700000;
    return device == NULL || is("bare") ? NOT_SUPPORTED : SUCCESS;
}

int nvmlDeviceGetCurrentClocksEventReasons(void *device, unsigned long long *bits) {
    *bits = is("bare") ? 1 : 5;
    return device != NULL ? SUCCESS : NOT_FOUND;
}
