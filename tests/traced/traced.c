/* clang-format off */
/* traced: a small program to trace. It does what its arguments say, in order:
 *
 *   cuda                         starts "CUDA": loads $CUDA_INJECTION64_PATH as the driver does
 *   push NAME, pushw NAME        opens a range, with a char or a wchar_t name
 *   work NAME BYTES              opens a range with a payload
 *   u32 NAME N, i32 NAME N       the same, with payloads of 32 bits
 *   workw NAME                   opens a range with a wchar_t name in its attributes
 *   real NAME                    opens a range with a float payload
 *   dpush D NAME, dwide D NAME   opens a range of domain D, with a registered string
 *   pop, dpop D                  closes a range
 *   start NAME, startw NAME, stop   a range of the process
 *   dstart D NAME, dstop D       the same, of domain D
 *   kernel NS, kernel:STREAM NS, set NS, copy NS, h2d BYTES NS, d2h BYTES NS   launches work
 *   node N, clone N OLD          creates a node of a CUDA graph
 *   launch N:NS,N:NS...          launches a CUDA graph
 *   over KIND NS                 tracing itself takes time
 *   alloc AT BYTES, free AT      allocates and releases memory of the device
 *   pin AT BYTES, unpin AT       the same for pinned memory of the host
 *   sync                         waits for the device
 *   repeat N { ... }             does it N times
 *   thread N { ... }             does it in N threads at once
 *   fork { ... }, exec { ... }   does it in a child process
 *   atexit { ... }, leave { ... }   does it when the process exits, when the thread ends
 *   errno                        prints what errno was after the command before
 *   files N                      lets it open no files with numbers from N on
 *   open FILE                    opens a file for writing, and prints its number
 *   levels                       prints what each push and pop returns from now on
 *   print TEXT                   prints TEXT
 *   exit N                       ends the process at once, by _exit
 */
/* clang-format on */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wchar.h>

#include "fake_cupti.h"
#ifdef REAL_NVTX
#include <nvtx3/nvToolsExt.h>
#else
#include "nvtx_small.h"
#endif

static struct {
    fake_launch_fn *launch;
    fake_sync_fn *sync;
    fake_overhead_fn *overhead;
    fake_node_fn *node;
    fake_memory_fn *memory;
} device;
static const char *self;
static bool levels;
static int last_errno;
static nvtxRangeId_t started;

static _Noreturn void bad(const char *what) {
    fprintf(stderr, "traced: %s\n", what);
    exit(99);
}

/* Like libcuda in cuInit. */
static void start_cuda(void) {
    const char *path = getenv("CUDA_INJECTION64_PATH");
    void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    int (*init)(void) = NULL;
    if (library != NULL)
        *(void **)&init = dlsym(library, "InitializeInjection");
    if (init == NULL || init() != 1)
        return;
    const char *fake = getenv(getenv("REMAT_CUPTI") ? "REMAT_CUPTI" : "FAKE_LIBRARY");
    void *cupti = fake ? dlopen(fake, RTLD_NOW | RTLD_NOLOAD) : NULL;
    if (cupti == NULL)
        return;
    *(void **)&device.launch = dlsym(cupti, "fake_launch");
    *(void **)&device.sync = dlsym(cupti, "fake_sync");
    *(void **)&device.overhead = dlsym(cupti, "fake_overhead");
    *(void **)&device.memory = dlsym(cupti, "fake_memory");
    *(void **)&device.node = dlsym(cupti, "fake_node");
}

enum { WIDE = 4096 };

static wchar_t *wide(const char *text, wchar_t buffer[WIDE]) {
    size_t i = 0;
    for (const unsigned char *p = (const unsigned char *)text; *p && i + 1 < WIDE; i++) {
        int more = *p >= 0xf0 ? 3 : *p >= 0xe0 ? 2 : *p >= 0xc0 ? 1 : 0;
        wchar_t c = more == 3 ? *p & 7 : more == 2 ? *p & 15 : more == 1 ? *p & 31 : *p;
        for (p++; more > 0 && *p; more--, p++)
            c = (c << 6) | (*p & 63);
        buffer[i] = c;
    }
    buffer[i] = 0;
    return buffer;
}

static void told(int level) {
    if (levels)
        printf("%d\n", level);
}

static nvtxEventAttributes_t attributes(void) {
    nvtxEventAttributes_t a;
    memset(&a, 0, sizeof a);
    a.version = NVTX_VERSION;
    a.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    a.messageType = NVTX_MESSAGE_TYPE_ASCII;
    return a;
}

/* Opens a range with a payload. Returns how many words it had; 0 if it is no such command.
 */
static int push_payload(char **word) {
    nvtxEventAttributes_t a = attributes();
    const char *w = word[0];
    a.message.ascii = word[1];
    if (strcmp(w, "real") == 0) {
        a.payloadType = NVTX_PAYLOAD_TYPE_DOUBLE;
        a.payload.dValue = 1.5;
        return told(nvtxRangePushEx(&a)), 2;
    }
    if (strcmp(w, "work") == 0) {
        a.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
        a.payload.ullValue = strtoull(word[2], NULL, 10);
    } else if (strcmp(w, "u32") == 0) {
        a.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT32;
        a.payload.uiValue = (uint32_t)strtoul(word[2], NULL, 10);
    } else if (strcmp(w, "i32") == 0) {
        a.payloadType = NVTX_PAYLOAD_TYPE_INT32;
        a.payload.iValue = atoi(word[2]);
    } else
        return 0;
    return told(nvtxRangePushEx(&a)), 3;
}

static void push_wide(const char *name) {
    wchar_t buffer[WIDE];
    nvtxEventAttributes_t a = attributes();
    a.messageType = NVTX_MESSAGE_TYPE_UNICODE;
    a.message.unicode = wide(name, buffer);
    told(nvtxRangePushEx(&a));
}

static nvtxRangeId_t domain_start(const char *domain, const char *name) {
    nvtxEventAttributes_t a = attributes();
    a.message.ascii = name;
    return nvtxDomainRangeStartEx(nvtxDomainCreateA(domain), &a);
}

static void domain_push(const char *domain, const char *name, bool in_wide) {
    wchar_t buffer[WIDE];
    nvtxEventAttributes_t a = attributes();
    nvtxDomainHandle_t d = nvtxDomainCreateA(domain);
    a.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    a.message.registered = in_wide ? nvtxDomainRegisterStringW(d, wide(name, buffer))
                                   : nvtxDomainRegisterStringA(d, name);
    told(nvtxDomainRangePushEx(d, &a));
}

static void launch_one(enum fake_kind kind, const char *stream, const char *bytes,
                       const char *ns) {
    struct fake_work w = {.kind = kind, .stream = 7, .ns = strtoull(ns, NULL, 10)};
    if (stream != NULL)
        w.stream = (uint32_t)atoi(stream);
    if (bytes != NULL)
        w.bytes = strtoull(bytes, NULL, 10);
    if (device.launch != NULL)
        device.launch(&w, 1);
}

static void launch_graph(const char *text) {
    struct fake_work w[16] = {{0}};
    int n = 0;
    for (char *end; *text != '\0' && n < 16; n++) {
        w[n].stream = 7;
        w[n].node = strtoull(text, &end, 10);
        w[n].ns = strtoull(end + 1, &end, 10);
        text = end + (*end == ',');
    }
    if (device.launch != NULL)
        device.launch(w, n);
}

static void run(char **word, int n);

struct block {
    char **word;
    int n;
};

static void *run_block(void *p) {
    run(((struct block *)p)->word, ((struct block *)p)->n);
    return NULL;
}

static void run_threads(int times, struct block b) {
    pthread_t thread[16];
    for (int i = 0; i < times && i < 16; i++)
        if (pthread_create(&thread[i], NULL, run_block, &b) != 0)
            bad("no thread");
    for (int i = 0; i < times && i < 16; i++)
        pthread_join(thread[i], NULL);
}

static void run_child(struct block b, bool anew) {
    int status;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0 && anew) {
        char **argv = calloc((size_t)b.n + 2, sizeof *argv);
        argv[0] = (char *)self;
        memcpy(argv + 1, b.word, (size_t)b.n * sizeof *argv);
        execv("/proc/self/exe", argv);
        _exit(98);
    }
    if (child == 0) {
        run(b.word, b.n);
        exit(0);
    }
    waitpid(child, &status, 0);
}

static struct block at_exit;

static void run_at_exit(void) {
    run_block(&at_exit);
}

static void leave(void *p) {
    run_block(p);
    free(p);
}

static void run_when_left(struct block b) {
    pthread_key_t key;
    struct block *copy = malloc(sizeof *copy);
    if (copy == NULL || pthread_key_create(&key, leave) != 0)
        bad("no key");
    *copy = b;
    pthread_setspecific(key, copy);
}

/* The words between the braces; the first one is at word[0]. */
static struct block block_at(char **word, int n) {
    int depth = 0;
    for (int i = 0; i < n; i++) {
        depth += strcmp(word[i], "{") == 0;
        depth -= strcmp(word[i], "}") == 0;
        if (depth == 0)
            return (struct block){word + 1, i - 1};
    }
    bad("no block");
    return (struct block){0};
}

/* Executes one command and returns how many words it had; 0 if it is not about ranges. */
static int ranges(char **word) {
    wchar_t buffer[WIDE];
    const char *w = word[0];
    if (strcmp(w, "push") == 0)
        return told(nvtxRangePushA(word[1])), 2;
    if (strcmp(w, "pushw") == 0)
        return told(nvtxRangePushW(wide(word[1], buffer))), 2;
    if (strcmp(w, "workw") == 0)
        return push_wide(word[1]), 2;
    if (strcmp(w, "dpush") == 0 || strcmp(w, "dwide") == 0)
        return domain_push(word[1], word[2], w[1] == 'w'), 3;
    if (strcmp(w, "pop") == 0)
        return told(nvtxRangePop()), 1;
    if (strcmp(w, "dpop") == 0)
        return told(nvtxDomainRangePop(nvtxDomainCreateW(wide(word[1], buffer)))), 2;
    if (strcmp(w, "start") == 0)
        return started = nvtxRangeStartA(word[1]), 2;
    if (strcmp(w, "startw") == 0)
        return started = nvtxRangeStartW(wide(word[1], buffer)), 2;
    if (strcmp(w, "dstart") == 0)
        return started = domain_start(word[1], word[2]), 3;
    if (strcmp(w, "stop") == 0)
        return nvtxRangeEnd(started), 1;
    if (strcmp(w, "dstop") == 0)
        return nvtxDomainRangeEnd(nvtxDomainCreateA(word[1]), started), 2;
    return push_payload(word);
}

static void limit_files(const char *n) {
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = strtoul(n, NULL, 10);
    setrlimit(RLIMIT_NOFILE, &limit);
}

/* The same for one that is about something else, but not the device or its memory. */
static int simple(char **word) {
    const char *w = word[0];
    if (strcmp(w, "cuda") == 0)
        return start_cuda(), 1;
    if (strncmp(w, "kernel", 6) == 0)
        return launch_one(FAKE_KERNEL, w[6] ? w + 7 : NULL, NULL, word[1]), 2;
    if (strcmp(w, "set") == 0)
        return launch_one(FAKE_SET, NULL, "64", word[1]), 2;
    if (strcmp(w, "copy") == 0)
        return launch_one(FAKE_COPY, NULL, "64", word[1]), 2;
    if (strncmp(w, "h2d", 3) == 0 || strncmp(w, "d2h", 3) == 0)
        return launch_one(w[0] == 'h' ? FAKE_H2D : FAKE_D2H, w[3] ? w + 4 : NULL, word[1],
                          word[2]),
               3;
    if (strcmp(w, "launch") == 0)
        return launch_graph(word[1]), 2;
    if (strcmp(w, "levels") == 0)
        return levels = true, 1;
    if (strcmp(w, "print") == 0)
        return puts(word[1]), 2;
    if (strcmp(w, "errno") == 0)
        return printf("errno %d\n", last_errno), 1;
    if (strcmp(w, "files") == 0)
        return limit_files(word[1]), 2;
    if (strcmp(w, "open") == 0)
        return printf("file %d\n", open(word[1], O_WRONLY | O_CREAT, 0600)), 2;
    if (strcmp(w, "exit") == 0) {
        fflush(stdout);
        _exit(atoi(word[1]));
    }
    return 0;
}

/* Returns how many words it had; 0 if it is not about memory. */
static int memory(char **word) {
    static const char *const words[] = {[FAKE_ALLOC] = "alloc",
                                        [FAKE_FREE] = "free",
                                        [FAKE_PIN] = "pin",
                                        [FAKE_UNPIN] = "unpin"};
    for (int what = FAKE_ALLOC; what <= FAKE_UNPIN; what++) {
        const bool release = what == FAKE_FREE || what == FAKE_UNPIN;
        if (strcmp(word[0], words[what]) != 0)
            continue;
        if (device.memory != NULL)
            device.memory((enum fake_memory)what, strtoull(word[1], NULL, 10),
                          release ? 0 : strtoull(word[2], NULL, 10));
        return release ? 2 : 3;
    }
    return 0;
}

static int on_device(char **word) {
    const char *w = word[0];
    if (strcmp(w, "node") == 0) {
        if (device.node != NULL)
            device.node(strtoull(word[1], NULL, 10), 0);
        return 2;
    }
    if (strcmp(w, "clone") == 0) {
        if (device.node != NULL)
            device.node(strtoull(word[1], NULL, 10), strtoull(word[2], NULL, 10));
        return 3;
    }
    if (strcmp(w, "over") == 0) {
        if (device.overhead != NULL)
            device.overhead((uint32_t)atoi(word[1]), strtoull(word[2], NULL, 10));
        return 3;
    }
    if (strcmp(w, "sync") == 0) {
        if (device.sync != NULL)
            device.sync();
        return 1;
    }
    return 0;
}

static void run(char **word, int n) {
    for (int i = 0, took; i < n; i += took) {
        const char *w = word[i];
        bool counted = strcmp(w, "repeat") == 0 || strcmp(w, "thread") == 0;
        if (strcmp(w, "atexit") == 0 || strcmp(w, "leave") == 0) {
            struct block b = block_at(word + i + 1, n - i - 1);
            if (w[0] == 'l')
                run_when_left(b);
            else if (at_exit = b, atexit(run_at_exit) != 0)
                bad("no exit handler");
            took = b.n + 3;
            continue;
        }
        if (counted || strcmp(w, "fork") == 0 || strcmp(w, "exec") == 0) {
            struct block b = block_at(word + i + 1 + counted, n - i - 1 - counted);
            if (w[0] == 'r')
                for (int k = atoi(word[i + 1]); k > 0; k--)
                    run(b.word, b.n);
            else if (counted)
                run_threads(atoi(word[i + 1]), b);
            else
                run_child(b, w[0] == 'e');
            took = b.n + 3 + counted;
            continue;
        }
        errno = 0;
        took = ranges(word + i);
        last_errno = took != 0 ? errno : last_errno;
        if (took == 0)
            took = simple(word + i);
        if (took == 0)
            took = on_device(word + i);
        if (took == 0)
            took = memory(word + i);
        if (took == 0 || i + took > n)
            bad(w);
    }
}

int main(int argc, char **argv) {
    self = argv[0];
    run(argv + 1, argc - 1);
    return 0;
}
