#include "profile/inject/inject.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profile/inject/cupti.h"
#include "profile/inject/out.h"
#include "profile/inject/ranges.h"

static struct rp_cupti cupti; /* written once, by start(), before `active` is set */
static atomic_bool active;
static atomic_long owner_pid; /* the process that started CUPTI */
static pthread_once_t hooked = PTHREAD_ONCE_INIT;
static pthread_once_t started = PTHREAD_ONCE_INIT;
static pthread_once_t used = PTHREAD_ONCE_INIT;

/* ---- records from CUPTI ---- */

enum { BUFFER_BYTES = 4 << 20 };

static void request_buffer(uint8_t **buffer, size_t *size, size_t *max_records) {
    *buffer = aligned_alloc(8, BUFFER_BYTES);
    *size = *buffer ? BUFFER_BYTES : 0;
    *max_records = 0;
}

static void write_record(void *to, const struct rp_record *r) {
    (void)to;
    switch (r->type) {
    case RP_RECORD_WORK:
        rp_out_line("work %s %" PRIu32 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu32
                    " %" PRIu32 " %" PRIu64,
                    rp_work_word[r->work], r->correlation, r->node, r->start_ns, r->end_ns,
                    r->device, r->stream, r->bytes);
        break;
    case RP_RECORD_CALL:
        rp_out_line("call %" PRIu32 " %" PRIu32 " %" PRIu64 " %" PRIu64, r->correlation,
                    r->thread, r->start_ns, r->end_ns);
        break;
    case RP_RECORD_EXTERNAL:
        rp_out_line("ext %" PRIu32 " %" PRIu64, r->correlation, r->external);
        break;
    case RP_RECORD_OVERHEAD:
        rp_out_line("over %" PRIu32 " %" PRIu32 " %" PRIu64 " %" PRIu64, r->overhead_kind,
                    r->thread, r->start_ns, r->end_ns);
        break;
    case RP_RECORD_DEVICE:
        rp_out_line("device %" PRIu32 " %" PRIu64 " %s", r->device, r->bytes,
                    r->name ? r->name : "unknown device");
        break;
    case RP_RECORD_MEMORY:
        rp_out_line("memory %s %s %" PRIu32 " %" PRIu64 " %" PRIu64 " %" PRIu64,
                    r->release ? "free" : "alloc", rp_memory_word[r->place], r->correlation,
                    r->address, r->release ? 0 : r->bytes, r->start_ns);
        break;
    case RP_RECORD_OTHER:
        break;
    }
}

static void buffer_done(void *context, uint32_t stream, uint8_t *buffer, size_t size,
                        size_t valid) {
    size_t n = 0;
    (void)size;
    if (valid > 0 && !rp_records_walk(buffer, valid, cupti.version, cupti.next_record,
                                      write_record, NULL))
        rp_out_line("torn 1");
    if (cupti.dropped(context, stream, &n) == RP_CUPTI_SUCCESS && n > 0)
        rp_out_line("dropped %zu", n);
    free(buffer);
}

/* ---- CUDA graphs: the range that a node was created in ---- */

enum { RESOURCES = 3, NODE_CREATED = 13, NODE_CLONED = 20 }; /* cupti_callbacks.h */

struct graph_data {
    void *graph, *original_graph, *node, *original_node;
};
struct resource_data {
    void *context, *stream;
    const struct graph_data *descriptor;
};

static void on_graph_node(void *user, uint32_t domain, uint32_t id, const void *data) {
    const struct resource_data *r = data;
    uint64_t node, original;
    (void)user;
    if (domain != RESOURCES || !atomic_load(&active) || r == NULL ||
        r->descriptor == NULL || cupti.graph_node_id == NULL)
        return;
    const struct graph_data *g = r->descriptor;
    if (cupti.graph_node_id(g->node, &node) != RP_CUPTI_SUCCESS)
        return;
    if (id == NODE_CREATED && rp_ranges_innermost() != 0)
        rp_out_line("node %" PRIu64 " %" PRIu64, node, rp_ranges_innermost());
    else if (id == NODE_CLONED &&
             cupti.graph_node_id(g->original_node, &original) == RP_CUPTI_SUCCESS)
        rp_out_line("clone %" PRIu64 " %" PRIu64, node, original);
}

/* ---- ranges to CUPTI ---- */

static bool push(uint64_t id) {
    return cupti.push_external(RP_CUPTI_CUSTOM2, id) == RP_CUPTI_SUCCESS;
}

static void pop(void) {
    uint64_t id;
    cupti.pop_external(RP_CUPTI_CUSTOM2, &id);
}

static uint64_t now(void) {
    uint64_t ns = 0;
    cupti.get_timestamp(&ns);
    return ns;
}

/* ---- flushing, and the end ---- */

enum { COMPLETE_BUFFERS = 0, ALL_BUFFERS = 1 }; /* CUPTI_ACTIVITY_FLAG_FLUSH_FORCED */

/* Records that a failed flush kept back are lost. */
static void flush_buffers(uint32_t which) {
    char why[256];
    int result = cupti.flush_all(which);
    if (result == RP_CUPTI_SUCCESS)
        return;
    rp_cupti_describe(&cupti, "cuptiActivityFlushAll", result, why, sizeof why);
    rp_out_line("error %s", why);
}

/* Runs once, however often it is registered. */
static void finish(void) {
    rp_ranges_finish();
    if (atomic_exchange(&active, false) && atomic_load(&owner_pid) == getpid())
        flush_buffers(ALL_BUFFERS);
    rp_out_close();
}

/* Exit handlers run in the reverse order of their registration. CUPTI registers its own
 * when it is opened, and may do so again when it is used. After they have run it gives no
 * more records, so `finish` is registered after each of these. */
static void finish_at_exit(void) {
    atexit(finish);
}

/* Saves what is complete, in case that the program is killed. */
static void flush(void) {
    flush_buffers(COMPLETE_BUFFERS);
    pthread_once(&used, finish_at_exit);
}

static const struct rp_ranges_sink sink = {push, pop, flush, now};

/* ---- beginning ---- */

static void before_fork(void) {
    rp_nvtx_before_fork();
    rp_out_before_fork();
}

static void in_parent(void) {
    rp_out_in_parent();
    rp_nvtx_after_fork();
}

static void in_child(void) {
    bool had_cupti = atomic_exchange(&active, false);
    rp_out_in_child();
    rp_nvtx_after_fork();
    rp_ranges_in_child(had_cupti ? atomic_load(&owner_pid) : 0);
}

static void install_hooks(void) {
    finish_at_exit();
    pthread_atfork(before_fork, in_parent, in_child);
}

static bool start_tracing(struct rp_cupti *c, char *why, size_t why_size) {
    static const struct {
        int kind;
        bool optional;
    } kinds[] = {
        {RP_CUPTI_DEVICE, false},
        {RP_CUPTI_RUNTIME, false},
        {RP_CUPTI_DRIVER, false},
        {RP_CUPTI_EXTERNAL_CORRELATION, false},
        {RP_CUPTI_CONCURRENT_KERNEL, false}, /* RP_CUPTI_KERNEL would serialize kernels */
        {RP_CUPTI_MEMCPY, false},
        {RP_CUPTI_MEMCPY2, true}, /* copies between devices belong to no op */
        {RP_CUPTI_MEMSET, false},
        {RP_CUPTI_OVERHEAD, false},
        {RP_CUPTI_MEMORY2, true}, /* not before CUDA 11.1 */
    };
    if (!rp_cupti_subscribe(c, on_graph_node, why, why_size))
        return false;
    int result = c->register_callbacks(request_buffer, buffer_done);
    if (result != RP_CUPTI_SUCCESS) {
        rp_cupti_describe(c, "cuptiActivityRegisterCallbacks", result, why, why_size);
        return false;
    }
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        result = c->enable(kinds[i].kind);
        if (result != RP_CUPTI_SUCCESS && !kinds[i].optional) {
            rp_cupti_describe(c, "cuptiActivityEnable", result, why, why_size);
            return false;
        }
    }
    c->enable_callback(1, c->subscriber, RESOURCES, NODE_CREATED);
    c->enable_callback(1, c->subscriber, RESOURCES, NODE_CLONED);
    return true;
}

static bool start_cupti(char *why, size_t why_size) {
    return rp_cupti_open(&cupti, start_tracing, why, why_size);
}

static void start(void) {
    char why[512] = "";
    bool ok = start_cupti(why, sizeof why);
    finish_at_exit();
    if (!ok) {
        rp_out_line("error %s", why);
        return;
    }
    rp_out_line("cupti %" PRIu32, cupti.version);
    atomic_store(&owner_pid, getpid());
    atomic_store(&active, true);
    rp_ranges_connect(&sink);
}

int InitializeInjection(void) {
    if (rp_out_folder() == NULL)
        return 1;
    pthread_once(&hooked, install_hooks);
    pthread_once(&started, start);
    return 1;
}

int InitializeInjectionNvtx2(nvtx_get_table *get_table) {
    if (rp_out_folder() == NULL)
        return 0;
    pthread_once(&hooked, install_hooks);
    rp_nvtx_attach(get_table);
    return 1;
}
