/* nvtx_small: the part of NVTX 3's own header that the traced program uses, for machines
 * that do not have it. Where NVTX is installed, the program is also built with the real
 * header. */
#ifndef RP_TESTS_NVTX_SMALL_H
#define RP_TESTS_NVTX_SMALL_H

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <wchar.h>

#include "profile/inject/nvtx.h"

typedef struct {
    uint16_t version, size;
    uint32_t category;
    int32_t colorType;
    uint32_t color;
    int32_t payloadType, reserved0;
    union {
        uint64_t ullValue;
        int64_t llValue;
        double dValue;
        uint32_t uiValue;
        int32_t iValue;
    } payload;
    int32_t messageType;
    union {
        const char *ascii;
        const wchar_t *unicode;
        void *registered;
    } message;
} nvtxEventAttributes_t;
typedef void *nvtxDomainHandle_t;
typedef void *nvtxStringHandle_t;
typedef uint64_t nvtxRangeId_t;

enum {
    NVTX_MESSAGE_TYPE_ASCII = 1,
    NVTX_MESSAGE_TYPE_UNICODE,
    NVTX_MESSAGE_TYPE_REGISTERED
};
enum {
    NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 = 1,
    NVTX_PAYLOAD_TYPE_DOUBLE = 3,
    NVTX_PAYLOAD_TYPE_UNSIGNED_INT32 = 4,
    NVTX_PAYLOAD_TYPE_INT32 = 5
};
#define NVTX_VERSION 3
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE ((uint16_t)sizeof(nvtxEventAttributes_t))

enum { SMALL_TABLE = 16 };
static nvtx_function *small_core[SMALL_TABLE], *small_core2[SMALL_TABLE];
static nvtx_function **small_core_at[SMALL_TABLE], **small_core2_at[SMALL_TABLE];
static pthread_once_t small_once = PTHREAD_ONCE_INIT;

/* SMALL_NVTX=N in the environment: the tables of an older NVTX, with N places. */
static int small_module(int module, nvtx_function ****table, unsigned *n) {
    if (module != NVTX_MODULE_CORE && module != NVTX_MODULE_CORE2)
        return 0;
    *table = module == NVTX_MODULE_CORE ? small_core_at : small_core2_at;
    const char *fewer = getenv("SMALL_NVTX");
    *n = fewer != NULL ? (unsigned)atoi(fewer) : SMALL_TABLE;
    return 1;
}

static const void *small_table(uint32_t id) {
    static const struct nvtx_callbacks callbacks = {sizeof callbacks, small_module};
    return id == NVTX_TABLE_CALLBACKS ? &callbacks : NULL;
}

static void small_init(void) {
    for (int i = 1; i < SMALL_TABLE; i++) {
        small_core_at[i] = &small_core[i];
        small_core2_at[i] = &small_core2[i];
    }
    const char *path = getenv("NVTX_INJECTION64_PATH");
    void *library = path ? dlopen(path, RTLD_LAZY) : NULL;
    int (*init)(nvtx_get_table *) = NULL;
    if (library != NULL)
        *(void **)&init = dlsym(library, "InitializeInjectionNvtx2");
    if (init != NULL)
        init(small_table);
}

/* Defines nvtxNAME as a call through the table. Without a tool it returns `none`. */
#define SMALL(returns, name, none, table, id, parameters, arguments)                       \
    static inline returns name parameters {                                                \
        pthread_once(&small_once, small_init);                                             \
        returns(*f) parameters = (returns(*) parameters)(table)[id];                       \
        return f ? f arguments : none;                                                     \
    }
SMALL(int, nvtxRangePushA, -2, small_core, NVTX_RANGE_PUSH_A, (const char *text), (text))
SMALL(int, nvtxRangePushW, -2, small_core, NVTX_RANGE_PUSH_W, (const wchar_t *text), (text))
SMALL(int, nvtxRangePushEx, -2, small_core, NVTX_RANGE_PUSH_EX,
      (const nvtxEventAttributes_t *a), (a))
SMALL(int, nvtxRangePop, -2, small_core, NVTX_RANGE_POP, (void), ())
SMALL(nvtxRangeId_t, nvtxRangeStartA, 0, small_core, NVTX_RANGE_START_A, (const char *text),
      (text))
SMALL(nvtxRangeId_t, nvtxRangeStartW, 0, small_core, NVTX_RANGE_START_W,
      (const wchar_t *text), (text))
SMALL(int, small_range_end, 0, small_core, NVTX_RANGE_END, (nvtxRangeId_t id), (id))
SMALL(nvtxDomainHandle_t, nvtxDomainCreateA, NULL, small_core2, NVTX_DOMAIN_CREATE_A,
      (const char *name), (name))
SMALL(nvtxDomainHandle_t, nvtxDomainCreateW, NULL, small_core2, NVTX_DOMAIN_CREATE_W,
      (const wchar_t *name), (name))
SMALL(nvtxStringHandle_t, nvtxDomainRegisterStringA, NULL, small_core2,
      NVTX_DOMAIN_REGISTER_STRING_A, (nvtxDomainHandle_t d, const char *text), (d, text))
SMALL(nvtxStringHandle_t, nvtxDomainRegisterStringW, NULL, small_core2,
      NVTX_DOMAIN_REGISTER_STRING_W, (nvtxDomainHandle_t d, const wchar_t *text), (d, text))
SMALL(int, nvtxDomainRangePushEx, -2, small_core2, NVTX_DOMAIN_RANGE_PUSH_EX,
      (nvtxDomainHandle_t d, const nvtxEventAttributes_t *a), (d, a))
SMALL(nvtxRangeId_t, nvtxDomainRangeStartEx, 0, small_core2, NVTX_DOMAIN_RANGE_START_EX,
      (nvtxDomainHandle_t d, const nvtxEventAttributes_t *a), (d, a))
SMALL(int, small_domain_range_end, 0, small_core2, NVTX_DOMAIN_RANGE_END,
      (nvtxDomainHandle_t d, nvtxRangeId_t id), (d, id))
SMALL(int, nvtxDomainRangePop, -2, small_core2, NVTX_DOMAIN_RANGE_POP,
      (nvtxDomainHandle_t d), (d))

static inline void nvtxRangeEnd(nvtxRangeId_t id) {
    small_range_end(id);
}

static inline void nvtxDomainRangeEnd(nvtxDomainHandle_t d, nvtxRangeId_t id) {
    small_domain_range_end(d, id);
}

#endif
