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

static const char *const folders[] = {
    "/usr/local/cuda/lib64",
    "/usr/local/cuda/extras/CUPTI/lib64",
};

/* Where pip installs it, relative to a folder of packages. */
static const char *const packages[] = {
    "nvidia/cu13/lib",
    "nvidia/cuda_cupti/lib",
};

/* Folders of packages: the active environment's, the user's, the system's. */
static const struct {
    const char *variable, *pattern;
} roots[] = {
    {"VIRTUAL_ENV", "/lib/python3*/site-packages"},
    {"CONDA_PREFIX", "/lib/python3*/site-packages"},
    {"HOME", "/.local/lib/python3*/site-packages"},
    {NULL, "/usr/local/lib/python3*/site-packages"},
    {NULL, "/usr/local/lib/python3*/dist-packages"},
    {NULL, "/usr/lib/python3*/site-packages"},
    {NULL, "/usr/lib/python3/dist-packages"},
};

static void *open_in(const char *folder) {
    char path[4096];
    for (int i = 0; i < N_NAMES; i++) {
        int n = snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        void *library = n < (int)sizeof path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
        if (library != NULL)
            return library;
    }
    return NULL;
}

static void *open_matching(const char *base, const char *pattern, const char *package) {
    char path[4096];
    glob_t found;
    void *library = NULL;
    int n = snprintf(path, sizeof path, "%s%s/%s", base, pattern, package);
    if (n >= (int)sizeof path || glob(path, 0, NULL, &found) != 0)
        return NULL;
    for (size_t i = 0; i < found.gl_pathc && library == NULL; i++)
        library = open_in(found.gl_pathv[i]);
    globfree(&found);
    return library;
}

static void *open_packages(void) {
    void *library = NULL;
    for (size_t i = 0; i < sizeof roots / sizeof roots[0]; i++) {
        const char *base = roots[i].variable ? getenv(roots[i].variable) : "";
        for (size_t k = 0; k < sizeof packages / sizeof packages[0]; k++)
            if (library == NULL && base != NULL)
                library = open_matching(base, roots[i].pattern, packages[k]);
    }
    return library;
}

static void *search(char *why, size_t why_size) {
    void *library = NULL;
    for (int i = 0; i < N_NAMES && library == NULL; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_NOLOAD);
    if (library != NULL)
        return library;
    const char *configured = getenv("REMAT_CUPTI");
    if (configured != NULL && configured[0] != '\0') {
        library = dlopen(configured, RTLD_NOW | RTLD_LOCAL);
        if (library == NULL)
            snprintf(why, why_size, "REMAT_CUPTI: %s", dlerror());
        return library;
    }
    for (int i = 0; i < N_NAMES && library == NULL; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; i < sizeof folders / sizeof folders[0] && library == NULL; i++)
        library = open_in(folders[i]);
    if (library == NULL)
        library = open_packages();
    if (library == NULL)
        snprintf(why, why_size,
                 "libcupti was not found; it is part of the CUDA toolkit and of the Python "
                 "package nvidia-cuda-cupti; set REMAT_CUPTI to its path");
    return library;
}

bool rp_cupti_open(struct rp_cupti *c, char *why, size_t why_size) {
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
    *c = (struct rp_cupti){.library = search(why, why_size)};
    if (c->library == NULL)
        return false;
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        void *symbol = dlsym(c->library, symbols[i].name);
        memcpy(symbols[i].to, &symbol, sizeof symbol); /* ISO C does not cast these */
        if (symbol == NULL && !symbols[i].optional) {
            snprintf(why, why_size, "libcupti has no %s", symbols[i].name);
            return false;
        }
    }
    int result = c->get_version(&c->version);
    if (result != RP_CUPTI_SUCCESS) {
        rp_cupti_describe(c, "cuptiGetVersion", result, why, why_size);
        return false;
    }
    return true;
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
    if (result == RP_CUPTI_MULTIPLE_SUBSCRIBERS || other[0] != '\0')
        snprintf(why, why_size,
                 "another profiler is active in this process%s%s%s; CUPTI allows only one, "
                 "so leave out torch.profiler, nsys, ncu and cuda-gdb",
                 other[0] ? " (" : "", other, other[0] ? ")" : "");
    else
        rp_cupti_describe(c, c->subscribe_v2 ? "cuptiSubscribe_v2" : "cuptiSubscribe",
                          result, why, why_size);
    return false;
}
