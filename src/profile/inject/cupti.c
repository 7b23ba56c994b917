#include "profile/inject/cupti.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Since CUDA 12 the name has the major version only. Before, it had the minor too. */
static const char *const names[] = {"libcupti.so.13",   "libcupti.so.12",
                                    "libcupti.so.11.8", "libcupti.so.11.7",
                                    "libcupti.so.11.6", "libcupti.so"};
enum { N_NAMES = sizeof names / sizeof names[0] };

/* Where it is in a toolkit, and in a folder of Python packages. */
#define IN_TOOLKIT "/{lib64,lib,extras/CUPTI/lib64}"
#define IN_PACKAGES "/nvidia/{cu1[3-9],cuda_cupti}/lib"

/* The toolkits, and the packages of the active environment, the user and the system.
 * Without a variable a pattern begins at the root. */
static const struct place {
    const char *variable, *pattern;
} places[] = {
    {"CUDA_HOME", IN_TOOLKIT},
    {NULL, "/usr/local/cuda" IN_TOOLKIT},
    {"CONDA_PREFIX", IN_TOOLKIT},
    {"VIRTUAL_ENV", "/lib/python3*/site-packages" IN_PACKAGES},
    {"CONDA_PREFIX", "/lib/python3*/site-packages" IN_PACKAGES},
    {"HOME", "/.local/lib/python3*/site-packages" IN_PACKAGES},
    {NULL, "/usr/local/lib/python3*/site-packages" IN_PACKAGES},
    {NULL, "/usr/local/lib/python3*/dist-packages" IN_PACKAGES},
    {NULL, "/usr/lib/python3*/site-packages" IN_PACKAGES},
    {NULL, "/usr/lib/python3/dist-packages" IN_PACKAGES},
};

/* A search for a copy of CUPTI that starts. */
struct search {
    struct rp_cupti *c;
    rp_cupti_start *start;
    bool over;   /* one has started, or no other may be tried */
    char *why;   /* why the first did not start, or "" */
    size_t size; /* of why */
};

/* Fills c with the library's functions. */
static bool load(struct rp_cupti *c, char *why, size_t why_size) {
    const struct {
        const char *name;
        void *to;
        bool optional;
    } symbols[] = {
        {"cuptiGetVersion", &c->get_version, false},
        {"cuptiGetTimestamp", &c->get_timestamp, false},
        {"cuptiActivityRegisterCallbacks", &c->register_callbacks, false},
        {"cuptiActivityEnable", &c->enable, false},
        {"cuptiActivityFlushAll", &c->flush_all, false},
        {"cuptiActivityGetNextRecord", &c->next_record, false},
        {"cuptiActivityGetNumDroppedRecords", &c->dropped, false},
        {"cuptiActivityPushExternalCorrelationId", &c->push_external, false},
        {"cuptiActivityPopExternalCorrelationId", &c->pop_external, false},
        {"cuptiSubscribe", &c->subscribe, false},
        {"cuptiSubscribe_v2", &c->subscribe_v2, true},
        {"cuptiUnsubscribe", &c->unsubscribe, false},
        {"cuptiEnableCallback", &c->enable_callback, false},
        {"cuptiGetResultString", &c->result_string, false},
        {"cuptiGetGraphNodeId", &c->graph_node_id, true},
    };
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        void *symbol = dlsym(c->library, symbols[i].name);
        memcpy(symbols[i].to, &symbol, sizeof symbol); /* ISO C does not cast these */
        if (symbol == NULL && !symbols[i].optional) {
            snprintf(why, why_size, "libcupti has no %s", symbols[i].name);
            return false;
        }
    }
    int result = c->get_version(&c->version);
    if (result != RP_CUPTI_SUCCESS)
        rp_cupti_describe(c, "cuptiGetVersion", result, why, why_size);
    return result == RP_CUPTI_SUCCESS;
}

/* A copy that does not start stays loaded, but has no subscriber. */
static void try_copy(struct search *s, const char *path, int flags) {
    char why[512];
    void *library = s->over ? NULL : dlopen(path, RTLD_NOW | RTLD_LOCAL | flags);
    if (library == NULL)
        return;
    *s->c = (struct rp_cupti){.library = library};
    if (load(s->c, why, sizeof why) && s->start(s->c, why, sizeof why)) {
        s->over = true;
        return;
    }
    if (s->c->subscriber != NULL)
        s->c->unsubscribe(s->c->subscriber);
    s->over = s->c->taken;
    if (s->why[0] == '\0' || s->c->taken)
        snprintf(s->why, s->size, "%s", why);
    s->c->library = NULL;
}

/* All versions in the folder, the newest first; without a folder, where the loader looks.
 */
static void try_folder(struct search *s, const char *folder, int flags) {
    char path[4096];
    for (int i = 0; i < N_NAMES; i++) {
        const char *slash = folder[0] != '\0' ? "/" : "";
        int n = snprintf(path, sizeof path, "%s%s%s", folder, slash, names[i]);
        if (n < (int)sizeof path)
            try_copy(s, path, flags);
    }
}

static const char *given(const char *variable) {
    const char *value = getenv(variable);
    return value != NULL && value[0] != '\0' ? value : NULL;
}

static void try_place(struct search *s, const struct place *p) {
    char path[4096];
    glob_t found;
    const char *base = p->variable != NULL ? given(p->variable) : "";
    if (base == NULL)
        return;
    int n = snprintf(path, sizeof path, "%s%s", base, p->pattern);
    if (n >= (int)sizeof path || glob(path, GLOB_BRACE, NULL, &found) != 0)
        return;
    for (size_t i = 0; i < found.gl_pathc; i++)
        try_folder(s, found.gl_pathv[i], 0);
    globfree(&found);
}

static void try_everywhere(struct search *s) {
    try_folder(s, "", RTLD_NOLOAD);
    if (given("REMAT_CUPTI") != NULL) {
        try_copy(s, given("REMAT_CUPTI"), 0);
        const char *error = s->c->library == NULL ? dlerror() : NULL;
        if (s->why[0] == '\0' && error != NULL)
            snprintf(s->why, s->size, "REMAT_CUPTI: %s", error);
        return;
    }
    if (given("CUPTI_HOME") != NULL) {
        try_place(s, &(struct place){"CUPTI_HOME", IN_TOOLKIT});
        return;
    }
    try_folder(s, "", 0);
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        try_place(s, &places[i]);
}

bool rp_cupti_open(struct rp_cupti *c, rp_cupti_start *start, char *why, size_t why_size) {
    struct search s = {.c = c, .start = start, .why = why, .size = why_size};
    try_everywhere(&s);
    if (c->library == NULL && why[0] == '\0')
        snprintf(why, why_size,
                 "libcupti was not found; it is part of the CUDA toolkit and of the Python "
                 "package nvidia-cuda-cupti; set CUPTI_HOME or REMAT_CUPTI");
    return c->library != NULL;
}

void rp_cupti_describe(const struct rp_cupti *c, const char *call, int result, char *why,
                       size_t why_size) {
    const char *text = NULL;
    if (c->result_string(result, &text) != RP_CUPTI_SUCCESS || text == NULL)
        text = "unknown";
    const char *advice = "";
    if (result == RP_CUPTI_INSUFFICIENT_PRIVILEGES)
        advice = "; see https://developer.nvidia.com/CUPTI_ERROR_INSUFFICIENT_PRIVILEGES";
    else if (result == RP_CUPTI_UNKNOWN)
        advice = "; is there a CUDA driver, no older than this CUPTI?";
    snprintf(why, why_size, "%s: %s (%d)%s", call, text, result, advice);
}

bool rp_cupti_subscribe(struct rp_cupti *c, rp_cupti_callback *callback, char *why,
                        size_t why_size) {
    char other[64] = ""; /* CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN */
    struct rp_subscriber_params params = {sizeof params, "remat-plan", other, sizeof other};
    int result = c->subscribe_v2 ? c->subscribe_v2(&c->subscriber, callback, NULL, &params)
                                 : c->subscribe(&c->subscriber, callback, NULL);
    if (result == RP_CUPTI_SUCCESS)
        return true;
    other[sizeof other - 1] = '\0';
    c->subscriber = NULL;
    c->taken = result == RP_CUPTI_MULTIPLE_SUBSCRIBERS || other[0] != '\0';
    if (c->taken)
        snprintf(why, why_size,
                 "another profiler is active in this process%s%s%s; CUPTI allows only one, "
                 "so leave out torch.profiler, nsys, ncu and cuda-gdb",
                 other[0] ? " (" : "", other, other[0] ? ")" : "");
    else
        rp_cupti_describe(c, c->subscribe_v2 ? "cuptiSubscribe_v2" : "cuptiSubscribe",
                          result, why, why_size);
    return false;
}
