/* fake_cupti: a library with CUPTI's functions and a simulated device. The traced program
 * launches work on it through these functions, and the reported times are exact.
 *
 * The clock advances only in calls: a launch takes 20 ns of the program's time, of which
 * the call is the first 10, and its work begins when its stream is free. FAKE_CUPTI in the
 * environment makes it misbehave (fake_cupti.c).
 */
#ifndef RP_TESTS_FAKE_CUPTI_H
#define RP_TESTS_FAKE_CUPTI_H

#include <stdint.h>

enum fake_kind { FAKE_KERNEL, FAKE_SET, FAKE_COPY, FAKE_H2D, FAKE_D2H };

struct fake_work {
    enum fake_kind kind;
    uint32_t stream;
    uint64_t ns, bytes, node;
};

/* Launches n pieces of work with one call. */
typedef void fake_launch_fn(const struct fake_work *work, int n);
typedef void fake_sync_fn(void);                           /* waits for all streams */
typedef void fake_overhead_fn(uint32_t kind, uint64_t ns); /* of this thread, from now on */
enum fake_memory { FAKE_ALLOC, FAKE_FREE, FAKE_PIN, FAKE_UNPIN };
typedef void fake_memory_fn(enum fake_memory what, uint64_t address, uint64_t bytes);
typedef void fake_node_fn(uint64_t node, uint64_t original); /* original 0: a new node */

#endif
