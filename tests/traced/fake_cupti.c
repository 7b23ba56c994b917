/* FAKE_CUPTI contains words, separated by commas:
 *   version=N   what cuptiGetVersion returns (130001); below 13 records have no graph node
 *   ask=N, subscribe=N, register=N, enable=N   these calls fail with that code; the first
 * is cuptiGetVersion holder=TEXT who holds the subscription, as cuptiSubscribe_v2 reports
 * it drop=N      reports N dropped records zero=N      the Nth piece of work has no time
 * stamps tear        the last record of the last buffer is none small       buffers hold
 * one record nodevice    there is no record of the device exit=N      after its exit
 * handlers there are no more records, and a flush returns N. They are registered when it is
 * opened, as with the real library, and again when it is first flushed flush=N     every
 * flush returns N, but does its work request     the first call after a flush takes longer,
 * since a buffer is requested old=N       a copy that is named libcupti.so.13 cannot be
 * started, as if the driver were too old for it: subscribing fails with that code late=N
 * the same, but only enabling fails It complains on standard error about calls that CUPTI
 * does not allow: in a child after fork, after its exit handlers, and without a
 * subscription. All copies in a process have one subscription together.
 */
#include "fake_cupti.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profile/inject/cupti.h"

#define EXPORT __attribute__((visibility("default")))

enum { MEMSET_BYTES = 88, MEMCPY_BYTES = 96, KERNEL_BYTES = 216, API_BYTES = 40 };
enum { EXTERNAL_BYTES = 24, OVERHEAD_BYTES = 56, DEVICE_BYTES = 184, N_STREAMS = 8 };
enum { MEMORY_BYTES = 128 };
enum { LARGEST = KERNEL_BYTES };
enum { BUFFER_REQUEST = 7 << 16 }; /* CUPTI_ACTIVITY_OVERHEAD_ACTIVITY_BUFFER_REQUEST */

static struct {
    pthread_mutex_t lock;
    uint64_t clock, free_at[N_STREAMS];
    uint32_t correlation, works;
    rp_request_buffer *request;
    rp_buffer_done *done;
    uint8_t *buffer, *last; /* of its records */
    size_t size, used;
    rp_cupti_callback *callback;
    bool enabled[64];
    bool callbacks[64]; /* by id: enabled */
    pid_t process;      /* that subscribed, or 0 */
    bool ended, flushed;
} fake = {.lock = PTHREAD_MUTEX_INITIALIZER, .clock = 1000000};

static __thread struct {
    uint64_t at[64];
    int n;
} ids;

static const char *option(const char *name) {
    static __thread char value[128];
    const char *p = getenv("FAKE_CUPTI");
    size_t len = strlen(name);
    while (p != NULL && *p != '\0') {
        size_t n = strcspn(p, ",");
        if (n >= len && strncmp(p, name, len) == 0 && (n == len || p[len] == '=')) {
            snprintf(value, sizeof value, "%.*s", n == len ? 0 : (int)(n - len - 1),
                     p + len + 1);
            return value;
        }
        p += n + (p[n] == ',');
    }
    return NULL;
}

static int number(const char *name, int otherwise) {
    const char *v = option(name);
    return v ? atoi(v) : otherwise;
}

/* ---- records and buffers; all under the lock ---- */

static void put32(uint8_t *r, size_t at, uint32_t v) {
    memcpy(r + at, &v, sizeof v);
}

static void put64(uint8_t *r, size_t at, uint64_t v) {
    memcpy(r + at, &v, sizeof v);
}

static size_t size_of(const uint8_t *r) {
    uint32_t kind;
    memcpy(&kind, r, sizeof kind);
    switch (kind) {
    case RP_CUPTI_MEMCPY:
        return MEMCPY_BYTES;
    case RP_CUPTI_MEMSET:
        return MEMSET_BYTES;
    case RP_CUPTI_DRIVER:
    case RP_CUPTI_RUNTIME:
        return API_BYTES;
    case RP_CUPTI_DEVICE:
        return DEVICE_BYTES;
    case RP_CUPTI_CONCURRENT_KERNEL:
        return KERNEL_BYTES;
    case RP_CUPTI_OVERHEAD:
        return OVERHEAD_BYTES;
    case RP_CUPTI_EXTERNAL_CORRELATION:
        return EXTERNAL_BYTES;
    case RP_CUPTI_MEMORY2:
        return MEMORY_BYTES;
    default:
        return 0;
    }
}

static void hand_over(bool last) {
    size_t valid = fake.used;
    uint8_t *buffer = fake.buffer;
    if (buffer == NULL)
        return;
    if (last && option("tear") != NULL)
        put32(fake.last, 0, 0); /* CUPTI_ACTIVITY_KIND_INVALID */
    fake.buffer = NULL;
    fake.done(NULL, 0, buffer, fake.size, valid);
}

/* Adds a record of this kind, filled with bytes that no reader may take for values. */
static uint8_t *record(uint32_t kind, size_t bytes) {
    if (!fake.enabled[kind])
        return NULL;
    if (fake.buffer != NULL && (fake.used + bytes > fake.size || option("small") != NULL))
        hand_over(false);
    if (fake.buffer == NULL) {
        size_t max_records = 1;
        fake.used = 0;
        fake.request(&fake.buffer, &fake.size, &max_records);
        if (max_records != 0)
            fprintf(stderr, "fake_cupti: a buffer for %zu records only\n", max_records);
        if (fake.buffer == NULL || fake.size < LARGEST)
            return NULL;
    }
    uint8_t *r = fake.last = fake.buffer + fake.used;
    memset(r, 0xee, bytes);
    put32(r, 0, kind);
    fake.used += bytes;
    return r;
}

static void record_device(void) {
    uint8_t *r = option("nodevice") ? NULL : record(RP_CUPTI_DEVICE, DEVICE_BYTES);
    static const char *const name = "Paper GPU";
    if (r == NULL)
        return;
    put64(r, 16, (uint64_t)16 << 30);
    put32(r, 112, 0);
    memcpy(r + 136, &name, sizeof name);
}

/* `ns` from now on, on this thread. */
static void record_overhead(uint32_t kind, uint64_t ns) {
    uint8_t *r = record(RP_CUPTI_OVERHEAD, OVERHEAD_BYTES);
    if (r == NULL)
        return;
    put32(r, 4, kind);
    put32(r, 8, 2);
    put32(r, 12, (uint32_t)getpid());
    put32(r, 16, (uint32_t)gettid());
    put64(r, 24, fake.clock);
    put64(r, 32, fake.clock + ns);
}

static void record_call(uint32_t kind, uint32_t correlation) {
    uint8_t *r;
    if (ids.n > 0 && (r = record(RP_CUPTI_EXTERNAL_CORRELATION, EXTERNAL_BYTES)) != NULL) {
        put32(r, 4, RP_CUPTI_CUSTOM2);
        put64(r, 8, ids.at[ids.n - 1]);
        put32(r, 16, correlation);
    }
    if ((r = record(kind, API_BYTES)) == NULL)
        return;
    put64(r, 8, fake.clock);
    put64(r, 16, fake.clock + 10);
    put32(r, 28, (uint32_t)gettid());
    put32(r, 32, correlation);
}

static void record_work(const struct fake_work *w, uint32_t correlation, uint64_t start) {
    static const uint8_t copies[] = {[FAKE_COPY] = 8, [FAKE_H2D] = 1, [FAKE_D2H] = 2};
    bool kernel = w->kind == FAKE_KERNEL;
    uint8_t *r = kernel                ? record(RP_CUPTI_CONCURRENT_KERNEL, KERNEL_BYTES)
                 : w->kind == FAKE_SET ? record(RP_CUPTI_MEMSET, MEMSET_BYTES)
                                       : record(RP_CUPTI_MEMCPY, MEMCPY_BYTES);
    bool zero = ++fake.works == (uint32_t)number("zero", 0);
    if (r == NULL)
        return;
    put64(r, 16, zero ? 0 : start);
    put64(r, 24, zero ? 0 : start + w->ns);
    put32(r, kernel ? 40 : 32, 0);
    put32(r, kernel ? 48 : 40, w->stream);
    put32(r, kernel ? 92 : 44, correlation);
    put64(r, kernel ? 144 : 64, w->node);
    if (!kernel)
        put64(r, 8, w->bytes);
    if (w->kind >= FAKE_COPY)
        r[4] = copies[w->kind];
}

/* ---- the device ---- */

EXPORT fake_launch_fn fake_launch;
EXPORT fake_sync_fn fake_sync;
EXPORT fake_overhead_fn fake_overhead;
EXPORT fake_node_fn fake_node;
EXPORT fake_memory_fn fake_memory;

void fake_launch(const struct fake_work *work, int n) {
    pthread_mutex_lock(&fake.lock);
    /* A call of the runtime makes a call of the driver. The work has the runtime's id. */
    uint32_t correlation = ++fake.correlation;
    if (fake.buffer == NULL && option("request") != NULL)
        record_overhead(BUFFER_REQUEST, 5);
    record_call(RP_CUPTI_RUNTIME, correlation);
    record_call(RP_CUPTI_DRIVER, ++fake.correlation);
    for (int i = 0; i < n; i++) {
        uint64_t *free_at = &fake.free_at[work[i].stream % N_STREAMS];
        uint64_t start = *free_at > fake.clock + 15 ? *free_at : fake.clock + 15;
        record_work(&work[i], correlation, start);
        *free_at = start + work[i].ns;
    }
    fake.clock += 20;
    pthread_mutex_unlock(&fake.lock);
}

void fake_sync(void) {
    pthread_mutex_lock(&fake.lock);
    for (int i = 0; i < N_STREAMS; i++)
        if (fake.free_at[i] > fake.clock)
            fake.clock = fake.free_at[i];
    fake.clock += 10;
    pthread_mutex_unlock(&fake.lock);
}

void fake_overhead(uint32_t kind, uint64_t ns) {
    pthread_mutex_lock(&fake.lock);
    record_overhead(kind, ns);
    pthread_mutex_unlock(&fake.lock);
}

/* A release does not have the size. */
void fake_memory(enum fake_memory what, uint64_t address, uint64_t bytes) {
    const bool pinned = what == FAKE_PIN || what == FAKE_UNPIN;
    const bool release = what == FAKE_FREE || what == FAKE_UNPIN;
    pthread_mutex_lock(&fake.lock);
    record_call(RP_CUPTI_RUNTIME, ++fake.correlation);
    uint8_t *r = record(RP_CUPTI_MEMORY2, MEMORY_BYTES);
    if (r != NULL) {
        put32(r, 4, release ? 2 : 1);
        put32(r, 8, pinned ? 2 : 3);
        put32(r, 12, fake.correlation);
        put64(r, 16, address);
        if (!release)
            put64(r, 24, bytes);
        put64(r, 32, fake.clock + 5);
    }
    fake.clock += 20;
    pthread_mutex_unlock(&fake.lock);
}

/* The members of CUpti_ResourceData and CUpti_GraphData that are used. A node is its
 * number. */
void fake_node(uint64_t node, uint64_t original) {
    struct {
        void *graph, *original_graph;
        uintptr_t node, original_node;
    } graph = {NULL, NULL, (uintptr_t)node, (uintptr_t)original};
    struct {
        void *context, *stream, *descriptor;
    } resource = {NULL, NULL, &graph};
    const uint32_t id = original ? 20 : 13;
    if (fake.callback != NULL && fake.callbacks[id])
        fake.callback(NULL, 3, id, &resource);
}

/* ---- CUPTI ---- */

EXPORT int cuptiGetVersion(uint32_t *version);
EXPORT int cuptiGetTimestamp(uint64_t *ns);
EXPORT int cuptiActivityRegisterCallbacks(rp_request_buffer *request, rp_buffer_done *done);
EXPORT int cuptiActivityEnable(int kind);
EXPORT int cuptiActivityFlushAll(uint32_t flag);
EXPORT int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, uint8_t **record);
EXPORT int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *n);
EXPORT int cuptiActivityPushExternalCorrelationId(int kind, uint64_t id);
EXPORT int cuptiActivityPopExternalCorrelationId(int kind, uint64_t *id);
EXPORT int cuptiSubscribe(void **subscriber, rp_cupti_callback *callback, void *user);
EXPORT int cuptiSubscribe_v2(void **subscriber, rp_cupti_callback *callback, void *user,
                             struct rp_subscriber_params *params);
EXPORT int cuptiUnsubscribe(void *subscriber);
EXPORT int cuptiEnableCallback(uint32_t enable, void *subscriber, uint32_t domain,
                               uint32_t id);
EXPORT int cuptiGetResultString(int result, const char **text);
EXPORT int cuptiGetGraphNodeId(void *node, uint64_t *id);

int cuptiGetVersion(uint32_t *version) {
    *version = (uint32_t)number("version", 130001);
    return number("ask", RP_CUPTI_SUCCESS);
}

int cuptiGetTimestamp(uint64_t *ns) {
    pthread_mutex_lock(&fake.lock);
    *ns = fake.clock;
    pthread_mutex_unlock(&fake.lock);
    return RP_CUPTI_SUCCESS;
}

int cuptiActivityRegisterCallbacks(rp_request_buffer *request, rp_buffer_done *done) {
    fake.request = request;
    fake.done = done;
    return number("register", RP_CUPTI_SUCCESS);
}

/* Whether this copy is libcupti.so.13. */
static bool is_newest(void) {
    Dl_info self;
    return dladdr(&fake, &self) != 0 && strstr(self.dli_fname, "libcupti.so.13") != NULL;
}

int cuptiActivityEnable(int kind) {
    int result =
        number(is_newest() && option("late") ? "late" : "enable", RP_CUPTI_SUCCESS);
    if (result == RP_CUPTI_SUCCESS) {
        pthread_mutex_lock(&fake.lock);
        fake.enabled[kind] = true;
        if (kind == RP_CUPTI_DEVICE)
            record_device();
        pthread_mutex_unlock(&fake.lock);
    }
    return result;
}

static void end(void) {
    fake.ended = true;
}

__attribute__((constructor)) static void opened(void) {
    if (option("exit") != NULL)
        atexit(end);
}

int cuptiActivityFlushAll(uint32_t flag) {
    if (fake.ended)
        return number("exit", RP_CUPTI_SUCCESS);
    if (!fake.flushed && option("exit") != NULL)
        atexit(end);
    fake.flushed = true;
    pthread_mutex_lock(&fake.lock);
    hand_over(flag == 1);
    pthread_mutex_unlock(&fake.lock);
    return number("flush", RP_CUPTI_SUCCESS);
}

/* Like CUPTI, it says nothing of a record that is cut off. */
int cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, uint8_t **record) {
    uint8_t *at = *record ? *record + size_of(*record) : buffer;
    if (at >= buffer + valid)
        return RP_CUPTI_MAX_LIMIT_REACHED;
    if (size_of(at) == 0)
        return RP_CUPTI_INVALID_KIND;
    if (at + size_of(at) > buffer + valid)
        return RP_CUPTI_MAX_LIMIT_REACHED;
    *record = at;
    return RP_CUPTI_SUCCESS;
}

int cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *n) {
    (void)context;
    (void)stream;
    *n = (size_t)number("drop", 0);
    return RP_CUPTI_SUCCESS;
}

static void complain_unless_usable(const char *call) {
    if (fake.process != 0 && fake.process != getpid())
        fprintf(stderr, "fake_cupti: %s in a child after fork\n", call);
    if (fake.ended)
        fprintf(stderr, "fake_cupti: %s after its exit handlers\n", call);
}

int cuptiActivityPushExternalCorrelationId(int kind, uint64_t id) {
    complain_unless_usable("a push");
    if (kind != RP_CUPTI_CUSTOM2 || ids.n == 64)
        return 1;
    ids.at[ids.n++] = id;
    return RP_CUPTI_SUCCESS;
}

int cuptiActivityPopExternalCorrelationId(int kind, uint64_t *id) {
    complain_unless_usable("a pop");
    if (kind != RP_CUPTI_CUSTOM2 || ids.n == 0)
        return 18; /* CUPTI_ERROR_QUEUE_EMPTY */
    *id = ids.at[--ids.n];
    return RP_CUPTI_SUCCESS;
}

int cuptiSubscribe(void **subscriber, rp_cupti_callback *callback, void *user) {
    const char *holder = getenv("FAKE_SUBSCRIBED"); /* the process that has subscribed */
    char self[32];
    (void)user;
    *subscriber = &fake;
    fake.callback = callback;
    int result =
        number(is_newest() && option("old") ? "old" : "subscribe", RP_CUPTI_SUCCESS);
    snprintf(self, sizeof self, "%ld", (long)getpid());
    if (result == RP_CUPTI_SUCCESS && holder != NULL && strcmp(holder, self) == 0)
        result = RP_CUPTI_MULTIPLE_SUBSCRIBERS;
    if (result == RP_CUPTI_SUCCESS) {
        fake.process = getpid();
        setenv("FAKE_SUBSCRIBED", self, 1);
    }
    return result;
}

int cuptiSubscribe_v2(void **subscriber, rp_cupti_callback *callback, void *user,
                      struct rp_subscriber_params *params) {
    const char *holder = option("holder");
    if (holder != NULL)
        snprintf(params->other, params->other_size, "%s", holder);
    return cuptiSubscribe(subscriber, callback, user);
}

int cuptiUnsubscribe(void *subscriber) {
    if (subscriber != &fake || fake.process == 0)
        fprintf(stderr, "fake_cupti: it ends a subscription that it does not have\n");
    fake.process = 0;
    unsetenv("FAKE_SUBSCRIBED");
    return RP_CUPTI_SUCCESS;
}

int cuptiEnableCallback(uint32_t enable, void *subscriber, uint32_t domain, uint32_t id) {
    if (subscriber != &fake || domain != 3 || id >= 64)
        return 1;
    fake.callbacks[id] = enable != 0;
    return RP_CUPTI_SUCCESS;
}

int cuptiGetResultString(int result, const char **text) {
    *text = result == RP_CUPTI_INSUFFICIENT_PRIVILEGES
                ? "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"
            : result == RP_CUPTI_MULTIPLE_SUBSCRIBERS
                ? "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED"
            : result == RP_CUPTI_UNKNOWN ? "CUPTI_ERROR_UNKNOWN"
                                         : NULL;
    return *text ? RP_CUPTI_SUCCESS : 1;
}

int cuptiGetGraphNodeId(void *node, uint64_t *id) {
    *id = (uint64_t)(uintptr_t)node;
    return RP_CUPTI_SUCCESS;
}
