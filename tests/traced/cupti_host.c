/* cupti_host REAL FAKE: whether the real CUPTI walks the buffers that its stand-in makes
 * (fake_cupti.h), and our reader reads from them what the stand-in wrote. Needs neither a
 * GPU nor a driver: cuptiActivityGetNextRecord only looks at the buffer. Prints the line of
 * counts that tools/check.sh expects.
 *
 * cupti_host REAL: exit code 0 if this library works without a driver. */
#include <dlfcn.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake_cupti.h"
#include "profile/inject/cupti.h"

static rp_next_record *real_next, *fake_next;
static uint32_t real_version, fake_version;
static int n_passed, n_failed;

static void *symbol(void *library, const char *name) {
    void *found = dlsym(library, name);
    if (found == NULL) {
        printf("FAILED cupti-host: no %s\n", name);
        exit(1);
    }
    return found;
}

static void verdict(bool good, const char *what, uint32_t number) {
    *(good ? &n_passed : &n_failed) += 1;
    if (!good)
        printf("FAILED cupti-host: %s (%" PRIu32 ")\n", what, number);
}

/* ---- the sizes of records ---- */

enum { MAX_KIND = 64, ROOM = 4096 };

/* The size of a record of this kind; 0 if it is not one. */
static size_t size_of(rp_next_record *next, uint32_t kind) {
    static _Alignas(8) uint8_t buffer[ROOM];
    uint8_t *record = NULL;
    for (size_t at = 0; at < ROOM; at += 8)
        memcpy(buffer + at, &kind, sizeof kind);
    if (next(buffer, ROOM, &record) != RP_CUPTI_SUCCESS)
        return 0;
    next(buffer, ROOM, &record);
    return (size_t)(record - buffer);
}

/* Records grow with CUPTI's version, at their ends. */
static void compare_sizes(void) {
    for (uint32_t kind = 0; kind < MAX_KIND; kind++) {
        const size_t real = size_of(real_next, kind), fake = size_of(fake_next, kind);
        struct rp_record r;
        uint8_t record[ROOM] = {0};
        if (fake == 0)
            continue;
        verdict(real_version >= fake_version ? real >= fake : real != 0,
                "the real records of this kind are smaller than the stand-in's", kind);
        if (real_version == fake_version)
            verdict(real == fake, "the stand-in's records have another size", kind);
        memcpy(record, &kind, sizeof kind);
        verdict(rp_record_read(record, real, real_version, &r),
                "our reader reads beyond the real records of this kind", kind);
    }
}

/* ---- the stand-in's buffers ---- */

enum { MAX_BUFFERS = 64 };
static struct buffer {
    uint8_t *at;
    size_t valid;
} buffers[MAX_BUFFERS];
static int n_buffers;

static void request(uint8_t **buffer, size_t *size, size_t *max_records) {
    *size = ROOM;
    *max_records = 0;
    *buffer = aligned_alloc(8, ROOM);
}

static void done(void *context, uint32_t stream, uint8_t *buffer, size_t size,
                 size_t valid) {
    (void)context, (void)stream, (void)size;
    if (n_buffers < MAX_BUFFERS)
        buffers[n_buffers++] = (struct buffer){buffer, valid};
}

/* Lets the stand-in's device do something of everything. */
static void work(void *fake) {
    int (*callbacks)(rp_request_buffer *, rp_buffer_done *);
    int (*enable)(int), (*push)(int, uint64_t), (*flush)(uint32_t);
    fake_launch_fn *launch;
    fake_overhead_fn *overhead;
    fake_memory_fn *memory;
    *(void **)&callbacks = symbol(fake, "cuptiActivityRegisterCallbacks");
    *(void **)&enable = symbol(fake, "cuptiActivityEnable");
    *(void **)&push = symbol(fake, "cuptiActivityPushExternalCorrelationId");
    *(void **)&flush = symbol(fake, "cuptiActivityFlushAll");
    *(void **)&launch = symbol(fake, "fake_launch");
    *(void **)&overhead = symbol(fake, "fake_overhead");
    *(void **)&memory = symbol(fake, "fake_memory");
    callbacks(request, done);
    for (uint32_t kind = 0; kind < MAX_KIND; kind++)
        if (size_of(fake_next, kind) != 0)
            enable((int)kind);
    push(RP_CUPTI_CUSTOM2, 7);
    for (uint64_t i = 1; i <= 20; i++) {
        for (enum fake_kind kind = FAKE_KERNEL; kind <= FAKE_D2H; kind++) {
            const struct fake_work w = {kind, kind, 100 * i, kind == FAKE_KERNEL ? 0 : i,
                                        i};
            launch(&w, 1);
        }
        overhead(1 << 16, i);
        memory(i % 2 == 0 ? FAKE_FREE : FAKE_ALLOC, i << 20, i);
    }
    flush(1);
}

/* ---- walking ---- */

struct text {
    char at[1 << 16];
    size_t n;
};

static void write_record(void *to, const struct rp_record *r) {
    struct text *t = to;
    t->n += (size_t)snprintf(t->at + t->n, sizeof t->at - t->n,
                             "%d %d %" PRIu32 " %" PRIu32 " %" PRIu32 " %" PRIu32
                             " %" PRIu32 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
                             " %" PRIu64 " %" PRIu64 "\n",
                             r->type, (int)r->work, r->correlation, r->device, r->stream,
                             r->thread, r->overhead_kind, r->start_ns, r->end_ns, r->bytes,
                             r->node, r->external, r->address);
}

/* Both libraries give the same records of these bytes, and agree on whether they are whole.
 * Returns how many lines there were. */
static int walk_both(uint8_t *at, size_t valid, const char *what, uint32_t number) {
    static struct text real, fake;
    real.n = fake.n = 0;
    real.at[0] = fake.at[0] = '\0';
    const bool a = rp_records_walk(at, valid, fake_version, real_next, write_record, &real);
    const bool b = rp_records_walk(at, valid, fake_version, fake_next, write_record, &fake);
    verdict(a == b && strcmp(real.at, fake.at) == 0, what, number);
    int n = 0;
    for (const char *p = real.at; *p != '\0'; p++)
        n += *p == '\n';
    return n;
}

/* Where the last record of the buffer begins. */
static uint8_t *last_of(const struct buffer *b) {
    uint8_t *record = NULL, *last = NULL;
    while (fake_next(b->at, b->valid, &record) == RP_CUPTI_SUCCESS)
        last = record;
    return last;
}

static void walk_all(void) {
    int n = 0;
    for (int i = 0; i < n_buffers; i++)
        n += walk_both(buffers[i].at, buffers[i].valid, "a whole buffer", (uint32_t)i);
    verdict(n == 20 * (5 * 5 + 1 + 3) + 1, "all records are there", (uint32_t)n);
    for (int i = 0; i < n_buffers; i++)
        for (size_t cut = 4; cut <= 24; cut += 4)
            walk_both(buffers[i].at, buffers[i].valid - cut, "a record that is cut off",
                      (uint32_t)cut);
    for (int i = 0; i < n_buffers; i++) {
        memset(last_of(&buffers[i]), 0, sizeof(uint32_t));
        walk_both(buffers[i].at, buffers[i].valid, "bytes that are no record", (uint32_t)i);
    }
}

/* Without a driver, every function of CUPTI 13.2 crashes. */
static bool works(int (*version)(uint32_t *)) {
    uint32_t v;
    int status = 0;
    const pid_t child = fork();
    if (child == 0)
        _exit(version(&v) == RP_CUPTI_SUCCESS ? 0 : 1);
    return waitpid(child, &status, 0) == child && status == 0;
}

static void *open_library(const char *path) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        fprintf(stderr, "cupti_host: %s\n", dlerror());
        exit(1);
    }
    return library;
}

int main(int argc, char **argv) {
    int (*version[2])(uint32_t *);
    if (argc < 2)
        return 2;
    void *real = open_library(argv[1]);
    *(void **)&version[0] = symbol(real, "cuptiGetVersion");
    if (argc == 2 || !works(version[0]))
        return works(version[0]) ? 0 : 1;
    void *fake = open_library(argv[2]);
    *(void **)&version[1] = symbol(fake, "cuptiGetVersion");
    *(void **)&real_next = symbol(real, "cuptiActivityGetNextRecord");
    *(void **)&fake_next = symbol(fake, "cuptiActivityGetNextRecord");
    version[0](&real_version);
    version[1](&fake_version);
    compare_sizes();
    work(fake);
    if (real_version == fake_version)
        walk_all();
    printf("CUPTI %" PRIu32 ", the stand-in is of %" PRIu32 "\n", real_version,
           fake_version);
    printf("cupti-host: %d passed, %d failed\n", n_passed, n_failed);
    return n_failed != 0;
}
