#include "profile/record.h"

#include <string.h>

const char *const rp_work_word[RP_N_WORK_KINDS] = {"kernel", "set", "copy", "h2d", "d2h"};
const char *const rp_memory_word[RP_N_MEMORY_PLACES] = {"device", "pinned"};

/* API version of CUDA 11.0, in which records of kernels, copies and fills got graphNodeId.
 */
enum { FIRST_WITH_NODES = 13 };

static uint32_t u32(const uint8_t *r, size_t at) {
    uint32_t v;
    memcpy(&v, r + at, sizeof v);
    return v;
}

static uint64_t u64(const uint8_t *r, size_t at) {
    uint64_t v;
    memcpy(&v, r + at, sizeof v);
    return v;
}

/* The length of the prefix that is read of a record of this kind, without the graph node; 0
 * for kinds that are not read. */
static size_t prefix_of(uint32_t kind) {
    switch (kind) {
    case RP_CUPTI_KERNEL:
    case RP_CUPTI_CONCURRENT_KERNEL:
        return 96;
    case RP_CUPTI_MEMCPY:
    case RP_CUPTI_MEMSET:
        return 48;
    case RP_CUPTI_MEMCPY2:
        return 64;
    case RP_CUPTI_DRIVER:
    case RP_CUPTI_RUNTIME:
        return 36;
    case RP_CUPTI_EXTERNAL_CORRELATION:
        return 20;
    case RP_CUPTI_OVERHEAD:
        return 40;
    case RP_CUPTI_DEVICE:
        return 144;
    case RP_CUPTI_MEMORY2:
        return 40;
    default:
        return 0;
    }
}

/* CUpti_ActivityMemcpyKind: HTOD 1, DTOH 2, HTOA 3, ATOH 4. Arrays are on the device. */
static enum rp_work_kind copy_kind(uint8_t kind) {
    if (kind == 1 || kind == 3)
        return RP_WORK_H2D;
    return kind == 2 || kind == 4 ? RP_WORK_D2H : RP_WORK_COPY;
}

static void read_work(const uint8_t *r, uint32_t kind, size_t available, uint32_t version,
                      struct rp_record *out) {
    bool kernel = kind == RP_CUPTI_KERNEL || kind == RP_CUPTI_CONCURRENT_KERNEL;
    size_t node = kernel ? 144 : kind == RP_CUPTI_MEMCPY2 ? 72 : 64;
    size_t device = kernel ? 40 : 32;
    out->type = RP_RECORD_WORK;
    out->start_ns = u64(r, 16);
    out->end_ns = u64(r, 24);
    out->device = u32(r, device);
    out->stream = u32(r, device + 8);
    out->correlation = u32(r, kernel ? 92 : kind == RP_CUPTI_MEMCPY2 ? 60 : 44);
    if (!kernel)
        out->bytes = u64(r, 8);
    if (kernel)
        out->work = RP_WORK_KERNEL;
    else if (kind == RP_CUPTI_MEMSET)
        out->work = RP_WORK_SET;
    else
        out->work = kind == RP_CUPTI_MEMCPY2 ? RP_WORK_COPY : copy_kind(r[4]);
    if (version >= FIRST_WITH_NODES && available >= node + 8)
        out->node = u64(r, node);
}

static void read_overhead(const uint8_t *r, struct rp_record *out) {
    enum {
        OBJECT_THREAD = 2
    }; /* CUPTI_ACTIVITY_OBJECT_THREAD: two ids, process and thread */
    out->type = RP_RECORD_OVERHEAD;
    out->overhead_kind = u32(r, 4);
    out->thread = u32(r, 8) == OBJECT_THREAD ? u32(r, 16) : 0;
    out->start_ns = u64(r, 24);
    out->end_ns = u64(r, 32);
}

/* CUpti_ActivityMemoryKind: PINNED 2, DEVICE 3, ARRAY 4, MANAGED 5, DEVICE_STATIC 6,
 * MANAGED_STATIC 7. CUpti_ActivityMemoryOperationType: ALLOCATION 1, RELEASE 2. */
static void read_memory(const uint8_t *r, struct rp_record *out) {
    const uint32_t operation = u32(r, 4), kind = u32(r, 8);
    if (operation < 1 || operation > 2 || kind < 2 || kind > 7)
        return;
    out->type = RP_RECORD_MEMORY;
    out->release = operation == 2;
    out->place = kind == 2 ? RP_MEMORY_PINNED : RP_MEMORY_DEVICE;
    out->correlation = u32(r, 12);
    out->address = u64(r, 16);
    out->bytes = u64(r, 24);
    out->start_ns = u64(r, 32);
}

bool rp_record_read(const void *record, size_t available, uint32_t version,
                    struct rp_record *out) {
    const uint8_t *r = record;
    *out = (struct rp_record){0};
    if (available < sizeof(uint32_t))
        return false;
    uint32_t kind = u32(r, 0);
    size_t prefix = prefix_of(kind);
    if (available < prefix)
        return false;
    switch (kind) {
    case RP_CUPTI_DRIVER:
    case RP_CUPTI_RUNTIME:
        out->type = RP_RECORD_CALL;
        out->start_ns = u64(r, 8);
        out->end_ns = u64(r, 16);
        out->thread = u32(r, 28);
        out->correlation = u32(r, 32);
        break;
    case RP_CUPTI_EXTERNAL_CORRELATION:
        if (u32(r, 4) != RP_CUPTI_CUSTOM2)
            break;
        out->type = RP_RECORD_EXTERNAL;
        out->external = u64(r, 8);
        out->correlation = u32(r, 16);
        break;
    case RP_CUPTI_OVERHEAD:
        read_overhead(r, out);
        break;
    case RP_CUPTI_DEVICE:
        out->type = RP_RECORD_DEVICE;
        out->bytes = u64(r, 16);
        out->device = u32(r, 112);
        memcpy(&out->name, r + 136, sizeof out->name);
        break;
    case RP_CUPTI_MEMORY2:
        read_memory(r, out);
        break;
    default:
        if (prefix != 0)
            read_work(r, kind, available, version, out);
    }
    return true;
}

bool rp_records_walk(uint8_t *buffer, size_t valid_bytes, uint32_t version,
                     rp_next_record *next, rp_take_record *take, void *to) {
    uint8_t *record = NULL;
    for (;;) {
        const uint8_t *before = record;
        int status = next(buffer, valid_bytes, &record);
        if (status != RP_CUPTI_SUCCESS)
            return status == RP_CUPTI_MAX_LIMIT_REACHED;
        if (record < buffer || record >= buffer + valid_bytes ||
            (before != NULL && record <= before))
            return false;
        struct rp_record r;
        if (!rp_record_read(record, (size_t)(buffer + valid_bytes - record), version, &r))
            return false;
        if (r.type != RP_RECORD_OTHER)
            take(to, &r);
    }
}
