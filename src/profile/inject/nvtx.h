/* nvtx: the interface that NVTX 3 offers to tools. At a program's first NVTX call, the tool
 * gets tables in which it replaces NVTX's functions by its own. The declarations are taken
 * from nvtxTypes.h and nvtxImpl.h of NVTX 3.
 *
 * Thread-safe, as NVTX's functions are.
 */
#ifndef RP_PROFILE_INJECT_NVTX_H
#define RP_PROFILE_INJECT_NVTX_H

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

typedef void nvtx_function(void);
typedef const void *nvtx_get_table(uint32_t id);

enum { NVTX_TABLE_CALLBACKS = 1 };
enum { NVTX_MODULE_CORE = 1, NVTX_MODULE_CORE2 = 5 };

struct nvtx_callbacks {
    size_t size;
    /* *table becomes an array of n pointers to function pointers. */
    int (*module)(int module, nvtx_function ****table, unsigned *n);
};

/* NvtxCallbackIdCore */
enum {
    NVTX_RANGE_START_EX = 4,
    NVTX_RANGE_START_A = 5,
    NVTX_RANGE_START_W = 6,
    NVTX_RANGE_END = 7,
    NVTX_RANGE_PUSH_EX = 8,
    NVTX_RANGE_PUSH_A = 9,
    NVTX_RANGE_PUSH_W = 10,
    NVTX_RANGE_POP = 11
};
/* NvtxCallbackIdCore2 */
enum {
    NVTX_DOMAIN_RANGE_START_EX = 2,
    NVTX_DOMAIN_RANGE_END = 3,
    NVTX_DOMAIN_RANGE_PUSH_EX = 4,
    NVTX_DOMAIN_RANGE_POP = 5,
    NVTX_DOMAIN_REGISTER_STRING_A = 10,
    NVTX_DOMAIN_REGISTER_STRING_W = 11,
    NVTX_DOMAIN_CREATE_A = 12,
    NVTX_DOMAIN_CREATE_W = 13
};

enum { NVTX_MESSAGE_ASCII = 1, NVTX_MESSAGE_UNICODE = 2, NVTX_MESSAGE_REGISTERED = 3 };
enum {
    NVTX_PAYLOAD_U64 = 1,
    NVTX_PAYLOAD_I64 = 2,
    NVTX_PAYLOAD_U32 = 4,
    NVTX_PAYLOAD_I32 = 5
};

/* nvtxEventAttributes_v2 */
struct nvtx_attributes {
    uint16_t version, size;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type, reserved;
    union {
        uint64_t u64;
        int64_t i64;
        uint32_t u32;
        int32_t i32;
    } payload;
    int32_t message_type;
    union {
        const char *ascii;
        const wchar_t *unicode;
        const void *registered;
    } message;
};

/* Puts our functions into the tables of one shared library. Each library that uses NVTX has
 * its own tables. */
void rp_nvtx_attach(nvtx_get_table *get_table);

/* Around fork, like those of out.h. */
void rp_nvtx_before_fork(void);
void rp_nvtx_after_fork(void);

#endif
