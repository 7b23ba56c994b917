/* SPDX-License-Identifier: MIT
 *
 * clocks: the GPU's clocks and power, from the driver's management library (NVML), if it is
 * installed. nvidia-smi needs the same library. Only main.cu includes this file. */
#pragma once

#include <cinttypes>
#include <cstdio>
#include <dlfcn.h>
#include <unistd.h>

#include "machine.cuh"

namespace {

enum { NVML_SUCCESS = 0, NVML_CLOCK_SM = 1, NVML_CLOCK_MEM = 2 };

struct clocks {
    void *device{}; /* null: nothing is known */
    int (*get_clock)(void *, int, unsigned *){};
    int (*get_power)(void *, unsigned *){};
    int (*get_limit)(void *, unsigned *){};
    int (*get_reasons)(void *, unsigned long long *){};

    std::vector<unsigned> sm_mhz, memory_mhz, power_mw; /* in the order they were read */
    unsigned limit_mw{};
    unsigned long long reasons{}; /* why clocks were not higher, of all readings */
};

template <class F> bool find(void *library, const char *name, F &f) {
    f = (F)dlsym(library, name);
    return f != nullptr;
}

/* By its address on the bus: CUDA and NVML number GPUs in different ways. */
void open_clocks(clocks &c, int gpu) {
    int (*init)() = nullptr;
    int (*get_device)(const char *, void **) = nullptr;
    char bus[32] = "";
    void *nvml = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (nvml == nullptr || !find(nvml, "nvmlInit_v2", init) ||
        !find(nvml, "nvmlDeviceGetHandleByPciBusId_v2", get_device) ||
        !find(nvml, "nvmlDeviceGetClockInfo", c.get_clock))
        return;
    find(nvml, "nvmlDeviceGetPowerUsage", c.get_power);
    find(nvml, "nvmlDeviceGetEnforcedPowerLimit", c.get_limit);
    if (!find(nvml, "nvmlDeviceGetCurrentClocksEventReasons", c.get_reasons))
        find(nvml, "nvmlDeviceGetCurrentClocksThrottleReasons", c.get_reasons);
    TRY(cudaDeviceGetPCIBusId(bus, sizeof bus, gpu));
    if (init() != NVML_SUCCESS || get_device(bus, &c.device) != NVML_SUCCESS)
        c.device = nullptr;
}

/* Takes a hundredth of a second. What the GPU does not report is left out. */
void read_clocks(clocks &c) {
    unsigned value = 0;
    unsigned long long reasons = 0;
    if (c.device == nullptr)
        return;
    if (c.get_clock(c.device, NVML_CLOCK_SM, &value) == NVML_SUCCESS)
        c.sm_mhz.push_back(value);
    if (c.get_clock(c.device, NVML_CLOCK_MEM, &value) == NVML_SUCCESS)
        c.memory_mhz.push_back(value);
    if (c.get_power != nullptr && c.get_power(c.device, &value) == NVML_SUCCESS)
        c.power_mw.push_back(value);
    if (c.get_limit != nullptr && c.get_limit(c.device, &value) == NVML_SUCCESS)
        c.limit_mw = value;
    if (c.get_reasons != nullptr && c.get_reasons(c.device, &reasons) == NVML_SUCCESS)
        c.reasons |= reasons;
    usleep(10000);
}

unsigned median(std::vector<unsigned> v) {
    std::sort(v.begin(), v.end());
    return v[v.size() / 2];
}

/* nvmlClocksEventReasons. Idle (1) is left out, since the first reading may come early. */
void write_reasons(unsigned long long reasons, FILE *f) {
    static const struct {
        unsigned long long bits;
        const char *word;
    } words[] = {{2, "set clocks"},
                 {4, "power"},
                 {8 | 128, "hardware slowdown"},
                 {16, "sync boost"},
                 {32 | 64, "heat"},
                 {256, "display clocks"}};
    const char *comma = "";
    for (const auto &w : words)
        if ((reasons & w.bits) != 0) {
            fprintf(f, "%s\"%s\"", comma, w.word);
            comma = ",";
        }
}

/* A JSON object; null if nothing is known. */
void write_clocks(const clocks &c, FILE *f) {
    if (c.sm_mhz.empty()) {
        fprintf(f, "null");
        return;
    }
    fprintf(f, "{\"sm_mhz\":%u,\"lowest_sm_mhz\":%u", median(c.sm_mhz),
            *std::min_element(c.sm_mhz.begin(), c.sm_mhz.end()));
    if (!c.memory_mhz.empty())
        fprintf(f, ",\"memory_mhz\":%u", median(c.memory_mhz));
    if (!c.power_mw.empty())
        fprintf(f, ",\"power_mw\":%u", median(c.power_mw));
    if (c.limit_mw > 0)
        fprintf(f, ",\"power_limit_mw\":%u", c.limit_mw);
    fprintf(f, ",\"limited_by\":[");
    write_reasons(c.reasons, f);
    fprintf(f, "]}");
}

} // namespace
