#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "profile/record.h"
#include "run.h"

#if __has_include(<cupti.h>)
#include <cupti.h>
#include <cupti_activity_deprecated.h>
#define HAS_CUPTI 1
#endif

enum { CUDA_11_0 = 13, CUDA_13_0 = 130000 };

/* A record of `size` bytes that are all 0xee until set. */
struct made {
    uint8_t at[256];
    size_t size;
};

static struct made make(size_t size, uint32_t kind) {
    struct made m = {.size = size};
    memset(m.at, 0xee, sizeof m.at);
    memcpy(m.at, &kind, sizeof kind);
    return m;
}

static void set32(struct made *m, size_t at, uint32_t v) {
    memcpy(m->at + at, &v, sizeof v);
}

static void set64(struct made *m, size_t at, uint64_t v) {
    memcpy(m->at + at, &v, sizeof v);
}

/* A kernel record as in the structure of that size. A record below 160 bytes has no graph
 * node. */
static struct made kernel(size_t size) {
    struct made m = make(size, RP_CUPTI_CONCURRENT_KERNEL);
    set64(&m, 16, 1000);
    set64(&m, 24, 1700);
    set32(&m, 40, 1);
    set32(&m, 48, 7);
    set32(&m, 92, 55);
    if (size >= 160)
        set64(&m, 144, 9);
    return m;
}

static struct made copy(size_t size, uint32_t kind, uint8_t copy_kind) {
    struct made m = make(size, kind);
    bool two = kind == RP_CUPTI_MEMCPY2;
    m.at[4] = copy_kind;
    set64(&m, 8, 4096);
    set64(&m, 16, 10);
    set64(&m, 24, 30);
    set32(&m, 32, 2);
    set32(&m, 40, 3);
    set32(&m, two ? 60 : 44, 66);
    if (size >= (two ? 80 : 72))
        set64(&m, two ? 72 : 64, 8);
    return m;
}

static struct made external(uint32_t kind, uint64_t id, uint32_t correlation) {
    struct made m = make(24, RP_CUPTI_EXTERNAL_CORRELATION);
    set32(&m, 4, kind);
    set64(&m, 8, id);
    set32(&m, 16, correlation);
    return m;
}

static struct rp_record read_in(const struct made *m, uint32_t version) {
    struct rp_record r;
    CU_ASSERT(rp_record_read(m->at, m->size, version, &r));
    return r;
}

static void kernels_of_every_version_are_read(void) {
    static const size_t sizes[] = {144, 160, 168, 176, 200, 208, 216}; /* Kernel4..10 */
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct made m = kernel(sizes[i]);
        struct rp_record r = read_in(&m, i == 0 ? CUDA_11_0 - 1 : CUDA_13_0);
        CU_ASSERT_EQUAL(r.type, RP_RECORD_WORK);
        CU_ASSERT_EQUAL(r.work, RP_WORK_KERNEL);
        CU_ASSERT(r.start_ns == 1000 && r.end_ns == 1700);
        CU_ASSERT(r.device == 1 && r.stream == 7 && r.correlation == 55 && r.bytes == 0);
        CU_ASSERT_EQUAL(r.node, i == 0 ? 0 : 9);
    }
}

static void bytes_behind_a_record_without_a_node_are_not_its_node(void) {
    struct made m = kernel(144), c = copy(64, RP_CUPTI_MEMCPY, 1);
    struct rp_record r;
    CU_ASSERT(rp_record_read(m.at, sizeof m.at, CUDA_11_0 - 1, &r));
    CU_ASSERT_EQUAL(r.node, 0);
    CU_ASSERT(rp_record_read(c.at, sizeof c.at, CUDA_11_0 - 1, &r));
    CU_ASSERT_EQUAL(r.node, 0);
}

static void copies_and_fills_of_every_version_are_read(void) {
    static const size_t sizes[] = {64, 72, 80, 88, 96};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct made c = copy(sizes[i], RP_CUPTI_MEMCPY, 1);
        struct made s = copy(sizes[i] == 96 ? 88 : sizes[i], RP_CUPTI_MEMSET, 1);
        struct rp_record r = read_in(&c, i == 0 ? CUDA_11_0 - 1 : CUDA_13_0);
        CU_ASSERT(r.work == RP_WORK_H2D && r.bytes == 4096 && r.correlation == 66);
        CU_ASSERT(r.start_ns == 10 && r.end_ns == 30 && r.device == 2 && r.stream == 3);
        CU_ASSERT_EQUAL(r.node, i == 0 ? 0 : 8);
        r = read_in(&s, i == 0 ? CUDA_11_0 - 1 : CUDA_13_0);
        CU_ASSERT(r.work == RP_WORK_SET && r.bytes == 4096 && r.correlation == 66);
    }
}

static void copies_between_devices_are_read(void) {
    static const size_t sizes[] = {72, 80, 88, 96};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct made m = copy(sizes[i], RP_CUPTI_MEMCPY2, 1);
        struct rp_record r = read_in(&m, i == 0 ? CUDA_11_0 - 1 : CUDA_13_0);
        CU_ASSERT(r.work == RP_WORK_COPY && r.correlation == 66 && r.bytes == 4096);
        CU_ASSERT_EQUAL(r.node, i == 0 ? 0 : 8);
    }
}

static void the_direction_of_a_copy_is_read(void) {
    static const enum rp_work_kind want[11] = {
        RP_WORK_COPY, RP_WORK_H2D,  RP_WORK_D2H,  RP_WORK_H2D,  RP_WORK_D2H, RP_WORK_COPY,
        RP_WORK_COPY, RP_WORK_COPY, RP_WORK_COPY, RP_WORK_COPY, RP_WORK_COPY};
    for (uint8_t kind = 0; kind < 11; kind++) {
        struct made m = copy(96, RP_CUPTI_MEMCPY, kind);
        CU_ASSERT_EQUAL(read_in(&m, CUDA_13_0).work, want[kind]);
    }
}

static void calls_ids_overheads_and_devices_are_read(void) {
    static const char name[] = "Toy";
    struct made m = make(40, RP_CUPTI_RUNTIME);
    set64(&m, 8, 100);
    set64(&m, 16, 200);
    set32(&m, 28, 31);
    set32(&m, 32, 55);
    struct rp_record r = read_in(&m, CUDA_13_0);
    CU_ASSERT(r.type == RP_RECORD_CALL && r.start_ns == 100 && r.end_ns == 200);
    CU_ASSERT(r.thread == 31 && r.correlation == 55);
    set32(&m, 0, RP_CUPTI_DRIVER);
    CU_ASSERT_EQUAL(read_in(&m, CUDA_13_0).type, RP_RECORD_CALL);

    m = external(RP_CUPTI_CUSTOM2, (uint64_t)1 << 40, 55);
    r = read_in(&m, CUDA_13_0);
    CU_ASSERT(r.type == RP_RECORD_EXTERNAL && r.external == (uint64_t)1 << 40);
    CU_ASSERT_EQUAL(r.correlation, 55);
    m = external(RP_CUPTI_CUSTOM2 - 1, 4, 55); /* PyTorch's */
    CU_ASSERT_EQUAL(read_in(&m, CUDA_13_0).type, RP_RECORD_OTHER);

    for (uint32_t object = 1; object <= 3; object++) {
        m = make(object == 1 ? 40 : object == 2 ? 48 : 56, RP_CUPTI_OVERHEAD);
        set32(&m, 4, 2 << 16);
        set32(&m, 8, object);
        set32(&m, 16, 31);
        set64(&m, 24, 5);
        set64(&m, 32, 6);
        r = read_in(&m, CUDA_13_0);
        CU_ASSERT(r.type == RP_RECORD_OVERHEAD && r.overhead_kind == 2 << 16);
        CU_ASSERT(r.start_ns == 5 && r.end_ns == 6);
        CU_ASSERT_EQUAL(r.thread, object == 2 ? 31 : 0); /* kind 2: of a thread */
    }

    m = make(144, RP_CUPTI_DEVICE);
    set64(&m, 16, 1 << 30);
    set32(&m, 112, 3);
    const char *p = name;
    memcpy(m.at + 136, &p, sizeof p);
    r = read_in(&m, CUDA_13_0);
    CU_ASSERT(r.type == RP_RECORD_DEVICE && r.device == 3 && r.bytes == 1 << 30);
    CU_ASSERT_PTR_EQUAL(r.name, name);
}

static struct made memory(uint32_t operation, uint32_t kind) {
    struct made m = make(128, RP_CUPTI_MEMORY2);
    set32(&m, 4, operation);
    set32(&m, 8, kind);
    set32(&m, 12, 55);
    set64(&m, 16, (uint64_t)1 << 40);
    set64(&m, 24, 4096);
    set64(&m, 32, 77);
    return m;
}

static void allocations_and_releases_are_read(void) {
    for (uint32_t kind = 0; kind < 10; kind++) {
        struct made m = memory(1, kind);
        struct rp_record r = read_in(&m, CUDA_13_0);
        if (kind < 2 || kind > 7) {
            CU_ASSERT_EQUAL(r.type, RP_RECORD_OTHER); /* unknown or pageable */
            continue;
        }
        CU_ASSERT(r.type == RP_RECORD_MEMORY && !r.release && r.correlation == 55);
        CU_ASSERT(r.address == (uint64_t)1 << 40 && r.bytes == 4096 && r.start_ns == 77);
        CU_ASSERT_EQUAL(r.place, kind == 2 ? RP_MEMORY_PINNED : RP_MEMORY_DEVICE);
    }
    struct made m = memory(2, 3);
    CU_ASSERT(read_in(&m, CUDA_13_0).release);
    m = memory(3, 3);
    CU_ASSERT_EQUAL(read_in(&m, CUDA_13_0).type, RP_RECORD_OTHER);
}

static void records_of_other_kinds_are_skipped(void) {
    for (uint32_t kind = 0; kind < 64; kind++) {
        struct made m = make(200, kind);
        bool ours = kind == 1 || kind == 2 || kind == 3 || kind == 4 || kind == 5 ||
                    kind == 8 || kind == 10 || kind == 17 || kind == 22;
        CU_ASSERT_EQUAL(read_in(&m, CUDA_13_0).type != RP_RECORD_OTHER, ours);
    }
}

/* ---- buffers ---- */

/* Walks a buffer as CUPTI does, which knows the sizes of its records. */
static size_t size_of(const uint8_t *record) {
    uint32_t kind;
    memcpy(&kind, record, sizeof kind);
    switch (kind) {
    case RP_CUPTI_CONCURRENT_KERNEL:
        return 216;
    case RP_CUPTI_MEMCPY:
        return 96;
    case RP_CUPTI_EXTERNAL_CORRELATION:
        return 24;
    default:
        return 0;
    }
}

static int next(uint8_t *buffer, size_t valid, uint8_t **record) {
    uint8_t *at = *record ? *record + size_of(*record) : buffer;
    if (at >= buffer + valid)
        return RP_CUPTI_MAX_LIMIT_REACHED;
    *record = at;
    if (buffer + valid - at < 4)
        return RP_CUPTI_SUCCESS; /* not even the kind of the record is complete */
    if (size_of(at) == 0)
        return RP_CUPTI_INVALID_KIND;
    return RP_CUPTI_SUCCESS;
}

static int always_the_first(uint8_t *buffer, size_t valid, uint8_t **record) {
    (void)valid;
    *record = buffer;
    return RP_CUPTI_SUCCESS;
}

static int outside(uint8_t *buffer, size_t valid, uint8_t **record) {
    *record = buffer + valid;
    return RP_CUPTI_SUCCESS;
}

static void add(void *to, const struct rp_record *r) {
    *(uint64_t *)to = *(uint64_t *)to * 10 + (uint64_t)r->type;
}

/* The types of the records read, as decimal digits; 0 if the buffer was torn. `cut` bytes
 * are missing at its end. */
static uint64_t walk(const struct made *m, size_t n, size_t cut, rp_next_record *how) {
    size_t len = 0;
    uint64_t types = 0;
    for (size_t i = 0; i < n; i++)
        len += m[i].size;
    uint8_t *buffer = malloc(len);
    CU_ASSERT_PTR_NOT_NULL_FATAL(buffer);
    for (size_t i = 0, at = 0; i < n; at += m[i].size, i++)
        memcpy(buffer + at, m[i].at, m[i].size);
    uint8_t *exact = malloc(len - cut); /* sanitizers report a read past the end */
    CU_ASSERT_PTR_NOT_NULL_FATAL(exact);
    memcpy(exact, buffer, len - cut);
    bool whole = rp_records_walk(exact, len - cut, CUDA_13_0, how, add, &types);
    free(buffer);
    free(exact);
    return whole ? types : 0;
}

static void a_buffer_is_read_to_its_end(void) {
    struct made m[] = {external(RP_CUPTI_CUSTOM2, 1, 55), kernel(216), external(3, 1, 55),
                       copy(96, RP_CUPTI_MEMCPY, 2)};
    CU_ASSERT_EQUAL(walk(m, 4, 0, next), RP_RECORD_EXTERNAL * 100 + RP_RECORD_WORK * 11);
}

static void torn_buffers_are_refused(void) {
    struct made m[] = {external(RP_CUPTI_CUSTOM2, 1, 55), kernel(216)};
    CU_ASSERT_EQUAL(walk(m, 2, 216 - 95, next), 0); /* ends within the prefix */
    CU_ASSERT_EQUAL(walk(m, 2, 213, next), 0);      /* ends within the kind */
    struct made strange[] = {external(RP_CUPTI_CUSTOM2, 1, 55), make(40, 6)};
    CU_ASSERT_EQUAL(walk(strange, 2, 0, next), 0); /* CUPTI says: not a record */
}

static void a_walk_that_makes_no_progress_is_refused(void) {
    struct made m[] = {kernel(216)};
    CU_ASSERT_EQUAL(walk(m, 1, 0, always_the_first), 0);
    CU_ASSERT_EQUAL(walk(m, 1, 0, outside), 0);
}

#ifdef HAS_CUPTI
#define AT(type, field, want) CU_ASSERT_EQUAL(offsetof(CUpti_Activity##type, field), want)
#define SAME(theirs, ours) CU_ASSERT_EQUAL((int)(theirs), (int)(ours))
#define KERNEL(type, bytes)                                                                \
    AT(type, start, 16);                                                                   \
    AT(type, end, 24);                                                                     \
    AT(type, deviceId, 40);                                                                \
    AT(type, streamId, 48);                                                                \
    AT(type, correlationId, 92);                                                           \
    CU_ASSERT_EQUAL(sizeof(CUpti_Activity##type), bytes)
#define COPY(type, bytes_)                                                                 \
    AT(type, bytes, 8);                                                                    \
    AT(type, start, 16);                                                                   \
    AT(type, end, 24);                                                                     \
    AT(type, deviceId, 32);                                                                \
    AT(type, streamId, 40);                                                                \
    CU_ASSERT_EQUAL(sizeof(CUpti_Activity##type), bytes_)

#define MEMORY(type)                                                                       \
    AT(type, memoryOperationType, 4);                                                      \
    AT(type, memoryKind, 8);                                                               \
    AT(type, correlationId, 12);                                                           \
    AT(type, address, 16);                                                                 \
    AT(type, bytes, 24);                                                                   \
    AT(type, timestamp, 32)

static void offsets_equal_those_of_the_installed_headers(void) {
    KERNEL(Kernel4, 144);
    KERNEL(Kernel5, 160);
    KERNEL(Kernel6, 168);
    KERNEL(Kernel7, 176);
    KERNEL(Kernel8, 200);
    KERNEL(Kernel9, 208);
    KERNEL(Kernel10, 216);
    AT(Kernel5, graphNodeId, 144);
    AT(Kernel10, graphNodeId, 144);
    COPY(Memcpy, 64);
    COPY(Memcpy3, 72);
    COPY(Memcpy4, 80);
    COPY(Memcpy5, 88);
    COPY(Memcpy6, 96);
    AT(Memcpy, copyKind, 4);
    AT(Memcpy6, copyKind, 4);
    AT(Memcpy, correlationId, 44);
    AT(Memcpy6, correlationId, 44);
    AT(Memcpy3, graphNodeId, 64);
    AT(Memcpy6, graphNodeId, 64);
    COPY(Memset, 64);
    COPY(Memset2, 72);
    COPY(Memset3, 80);
    COPY(Memset4, 88);
    AT(Memset, correlationId, 44);
    AT(Memset4, correlationId, 44);
    AT(Memset2, graphNodeId, 64);
    AT(Memset4, graphNodeId, 64);
    COPY(Memcpy2, 72);
    COPY(MemcpyPtoP4, 96);
    AT(Memcpy2, correlationId, 60);
    AT(MemcpyPtoP4, correlationId, 60);
    AT(MemcpyPtoP2, graphNodeId, 72);
    AT(MemcpyPtoP4, graphNodeId, 72);
    AT(API, start, 8);
    AT(API, end, 16);
    AT(API, threadId, 28);
    AT(API, correlationId, 32);
    AT(ExternalCorrelation, externalKind, 4);
    AT(ExternalCorrelation, externalId, 8);
    AT(ExternalCorrelation, correlationId, 16);
    AT(Overhead, objectId, 12);
    AT(Overhead, start, 24);
    AT(Overhead2, start, 24);
    AT(Overhead3, start, 24);
    AT(Overhead3, end, 32);
    AT(Device2, name, 136);
    AT(Device5, name, 136);
    AT(Device5, id, 112);
    AT(Device5, globalMemorySize, 16);
    MEMORY(Memory2);
    MEMORY(Memory3);
    MEMORY(Memory4);
    SAME(CUPTI_ACTIVITY_KIND_MEMORY2, RP_CUPTI_MEMORY2);
    SAME(CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION, 1);
    SAME(CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE, 2);
    SAME(CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE, 1);
    SAME(CUPTI_ACTIVITY_MEMORY_KIND_PINNED, 2);
    SAME(CUPTI_ACTIVITY_MEMORY_KIND_MANAGED_STATIC, 7);
    SAME(CUPTI_ACTIVITY_KIND_OVERHEAD, RP_CUPTI_OVERHEAD);
    SAME(CUPTI_ACTIVITY_KIND_MEMCPY2, RP_CUPTI_MEMCPY2);
    SAME(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, RP_CUPTI_EXTERNAL_CORRELATION);
    SAME(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2, RP_CUPTI_CUSTOM2);
    SAME(CUPTI_ERROR_MAX_LIMIT_REACHED, RP_CUPTI_MAX_LIMIT_REACHED);
    SAME(CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED, RP_CUPTI_MULTIPLE_SUBSCRIBERS);
}
#endif

void suite_record(void) {
    RP_SUITE("record");
    RP_TEST(kernels_of_every_version_are_read);
    RP_TEST(bytes_behind_a_record_without_a_node_are_not_its_node);
    RP_TEST(copies_and_fills_of_every_version_are_read);
    RP_TEST(copies_between_devices_are_read);
    RP_TEST(the_direction_of_a_copy_is_read);
    RP_TEST(calls_ids_overheads_and_devices_are_read);
    RP_TEST(allocations_and_releases_are_read);
    RP_TEST(records_of_other_kinds_are_skipped);
    RP_TEST(a_buffer_is_read_to_its_end);
    RP_TEST(torn_buffers_are_refused);
    RP_TEST(a_walk_that_makes_no_progress_is_refused);
#ifdef HAS_CUPTI
    RP_TEST(offsets_equal_those_of_the_installed_headers);
#endif
}
