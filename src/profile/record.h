/* record: reads CUPTI's activity records through the prefixes that all versions share.
 *
 * libcupti writes the newest structure of its own version. Since CUDA 11 structures have
 * only grown at their ends, so this reader works with CUDA 11 to 13. Offsets are those of
 * cupti_activity.h and cupti_activity_deprecated.h of CUDA 13.0, and the tests compare them
 * with these headers if they are installed. Only CUPTI knows the sizes of records, so it
 * walks the buffers itself.
 *
 * This file is also loaded into traced programs (inject/). It uses only libc, and nothing
 * in it ends the process.
 *
 * Thread-safe: nothing is kept between calls.
 */
#ifndef RP_PROFILE_RECORD_H
#define RP_PROFILE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum rp_work_kind { RP_WORK_KERNEL, RP_WORK_SET, RP_WORK_COPY, RP_WORK_H2D, RP_WORK_D2H };
enum { RP_N_WORK_KINDS = 5 };
extern const char *const rp_work_word[RP_N_WORK_KINDS]; /* kernel set copy h2d d2h */

enum rp_memory_place { RP_MEMORY_DEVICE, RP_MEMORY_PINNED };
enum { RP_N_MEMORY_PLACES = 2 };
extern const char *const rp_memory_word[RP_N_MEMORY_PLACES]; /* device pinned */

/* CUpti_ActivityKind */
enum {
    RP_CUPTI_MEMCPY = 1,
    RP_CUPTI_MEMSET = 2,
    RP_CUPTI_KERNEL = 3,
    RP_CUPTI_DRIVER = 4,
    RP_CUPTI_RUNTIME = 5,
    RP_CUPTI_DEVICE = 8,
    RP_CUPTI_CONCURRENT_KERNEL = 10,
    RP_CUPTI_OVERHEAD = 17,
    RP_CUPTI_MEMCPY2 = 22, /* between two devices */
    RP_CUPTI_EXTERNAL_CORRELATION = 39,
    RP_CUPTI_MEMORY2 = 49 /* allocations and releases; since CUDA 11.1 */
};
/* CUpti_ExternalCorrelationKind: PyTorch's profiler takes CUSTOM0 and CUSTOM1. */
enum { RP_CUPTI_CUSTOM2 = 5 };
/* CUptiResult */
enum {
    RP_CUPTI_SUCCESS = 0,
    RP_CUPTI_MAX_LIMIT_REACHED = 12,
    RP_CUPTI_INVALID_KIND = 21,
    RP_CUPTI_INSUFFICIENT_PRIVILEGES = 35,
    RP_CUPTI_MULTIPLE_SUBSCRIBERS = 39,
    RP_CUPTI_UNKNOWN = 999
};

struct rp_record {
    enum {
        RP_RECORD_OTHER, /* a kind that is not read */
        RP_RECORD_WORK,
        RP_RECORD_CALL,
        RP_RECORD_EXTERNAL,
        RP_RECORD_OVERHEAD,
        RP_RECORD_DEVICE,
        RP_RECORD_MEMORY /* at start_ns */
    } type;
    enum rp_work_kind work;
    uint32_t correlation, device, stream, thread, overhead_kind;
    uint64_t start_ns, end_ns;
    uint64_t bytes; /* of a copy or fill, of an allocation, or of the device's memory */
    uint64_t node;  /* of the CUDA graph that launched it, or 0 */
    uint64_t external;
    enum rp_memory_place place;
    uint64_t address; /* of memory */
    bool release;     /* or else an allocation */
    const char *name; /* the device's; CUPTI's string */
};

/* Reads one record, of which `available` bytes can be read. `version` is cuptiGetVersion's.
 * False if the record is longer. */
bool rp_record_read(const void *record, size_t available, uint32_t version,
                    struct rp_record *out);

/* cuptiActivityGetNextRecord: *record is NULL before the first. */
typedef int rp_next_record(uint8_t *buffer, size_t valid_bytes, uint8_t **record);
typedef void rp_take_record(void *to, const struct rp_record *r);

/* Calls take(to, ..) for every record of the buffer that is not RP_RECORD_OTHER. False if
 * the buffer ends in the middle of a record. */
bool rp_records_walk(uint8_t *buffer, size_t valid_bytes, uint32_t version,
                     rp_next_record *next, rp_take_record *take, void *to);

#endif
