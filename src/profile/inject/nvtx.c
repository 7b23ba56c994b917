#include "profile/inject/nvtx.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "profile/inject/ranges.h"

/* The name of a domain or a registered string. Handles are pointers to these. Each name has
 * one handle, which lives as long as the process. */
struct name {
    struct name *next;
    const void *domain; /* that a string belongs to; NULL for a domain */
    bool is_domain;
    char text[];
};

static struct name *names;
static pthread_mutex_t names_lock = PTHREAD_MUTEX_INITIALIZER;

static void *intern(bool is_domain, const void *domain, const char *text) {
    if (text == NULL)
        return NULL;
    pthread_mutex_lock(&names_lock);
    struct name *n = names;
    while (n != NULL &&
           (n->is_domain != is_domain || n->domain != domain || strcmp(n->text, text) != 0))
        n = n->next;
    size_t len = strlen(text);
    if (n == NULL && (n = malloc(sizeof *n + len + 1)) != NULL) {
        *n = (struct name){names, domain, is_domain};
        memcpy(n->text, text, len + 1);
        names = n;
    }
    pthread_mutex_unlock(&names_lock);
    return n;
}

void rp_nvtx_before_fork(void) {
    pthread_mutex_lock(&names_lock);
}

void rp_nvtx_after_fork(void) {
    pthread_mutex_unlock(&names_lock);
}

/* wchar_t is UTF-32 on Linux. Text that does not fit into `size` bytes is cut off. */
static const char *to_utf8(const wchar_t *w, char *text, size_t size) {
    size_t n = 0;
    if (w == NULL)
        return NULL;
    for (; *w != 0 && n + 5 < size; w++) {
        uint32_t c = (uint32_t)*w;
        if (c < 0x80) {
            text[n++] = (char)c;
            continue;
        }
        if (c >= 0x10000)
            text[n++] = (char)(0xf0 | (c >> 18 & 7));
        if (c >= 0x800)
            text[n++] =
                (char)((c >= 0x10000 ? 0x80 : 0xe0) | (c >> 12 & (c >= 0x10000 ? 63 : 15)));
        text[n++] = (char)((c >= 0x800 ? 0x80 : 0xc0) | (c >> 6 & (c >= 0x800 ? 63 : 31)));
        text[n++] = (char)(0x80 | (c & 63));
    }
    text[n] = '\0';
    return text;
}

enum { MAX_NAME = 2048 };

static struct rp_mark mark_of(const struct nvtx_attributes *a, char *buffer) {
    struct rp_mark m = {0};
    if (a == NULL || a->size < sizeof *a)
        return m;
    if (a->message_type == NVTX_MESSAGE_ASCII)
        m.text = a->message.ascii;
    else if (a->message_type == NVTX_MESSAGE_UNICODE)
        m.text = to_utf8(a->message.unicode, buffer, MAX_NAME);
    else if (a->message_type == NVTX_MESSAGE_REGISTERED && a->message.registered != NULL)
        m.text = ((const struct name *)a->message.registered)->text;
    int64_t payload = -1;
    if (a->payload_type == NVTX_PAYLOAD_U64 || a->payload_type == NVTX_PAYLOAD_I64)
        payload = a->payload.i64;
    else if (a->payload_type == NVTX_PAYLOAD_U32)
        payload = a->payload.u32;
    else if (a->payload_type == NVTX_PAYLOAD_I32)
        payload = a->payload.i32;
    m.has_workspace = payload >= 0;
    m.workspace_bytes = payload >= 0 ? (uint64_t)payload : 0;
    return m;
}

/* ---- replacements of NVTX's functions ---- */

static int push_ex(const struct nvtx_attributes *a) {
    char buffer[MAX_NAME];
    struct rp_mark m = mark_of(a, buffer);
    return rp_ranges_push(NULL, &m);
}

static int push_a(const char *text) {
    return rp_ranges_push(NULL, &(struct rp_mark){.text = text});
}

static int push_w(const wchar_t *text) {
    char buffer[MAX_NAME];
    return rp_ranges_push(NULL,
                          &(struct rp_mark){.text = to_utf8(text, buffer, sizeof buffer)});
}

static int pop(void) {
    return rp_ranges_pop(NULL);
}

static uint64_t start_ex(const struct nvtx_attributes *a) {
    char buffer[MAX_NAME];
    struct rp_mark m = mark_of(a, buffer);
    return rp_ranges_start(&m);
}

static uint64_t start_a(const char *text) {
    return rp_ranges_start(&(struct rp_mark){.text = text});
}

static uint64_t start_w(const wchar_t *text) {
    char buffer[MAX_NAME];
    return rp_ranges_start(&(struct rp_mark){.text = to_utf8(text, buffer, sizeof buffer)});
}

static void end(uint64_t id) {
    rp_ranges_end(id);
}

static int domain_push_ex(const void *domain, const struct nvtx_attributes *a) {
    char buffer[MAX_NAME];
    struct rp_mark m = mark_of(a, buffer);
    return rp_ranges_push(domain, &m);
}

static int domain_pop(const void *domain) {
    return rp_ranges_pop(domain);
}

static uint64_t domain_start_ex(const void *domain, const struct nvtx_attributes *a) {
    (void)domain;
    return start_ex(a);
}

static void domain_end(const void *domain, uint64_t id) {
    (void)domain;
    rp_ranges_end(id);
}

static void *register_a(const void *domain, const char *text) {
    return intern(false, domain, text);
}

static void *register_w(const void *domain, const wchar_t *text) {
    char buffer[MAX_NAME];
    return intern(false, domain, to_utf8(text, buffer, sizeof buffer));
}

static void *create_a(const char *name) {
    return intern(true, NULL, name);
}

static void *create_w(const wchar_t *name) {
    char buffer[MAX_NAME];
    return intern(true, NULL, to_utf8(name, buffer, sizeof buffer));
}

struct hook {
    unsigned id;
    nvtx_function *function;
};

#define HOOK(id, function)                                                                 \
    { id, (nvtx_function *)(function) }

static void install(const struct nvtx_callbacks *c, int module, const struct hook *hooks,
                    size_t n_hooks) {
    nvtx_function ***table = NULL;
    unsigned n = 0;
    if (!c->module(module, &table, &n) || table == NULL)
        return;
    for (size_t i = 0; i < n_hooks; i++)
        if (hooks[i].id < n && table[hooks[i].id] != NULL)
            *table[hooks[i].id] = hooks[i].function;
}

void rp_nvtx_attach(nvtx_get_table *get_table) {
    static const struct hook core[] = {
        HOOK(NVTX_RANGE_START_EX, start_ex), HOOK(NVTX_RANGE_START_A, start_a),
        HOOK(NVTX_RANGE_START_W, start_w),   HOOK(NVTX_RANGE_END, end),
        HOOK(NVTX_RANGE_PUSH_EX, push_ex),   HOOK(NVTX_RANGE_PUSH_A, push_a),
        HOOK(NVTX_RANGE_PUSH_W, push_w),     HOOK(NVTX_RANGE_POP, pop),
    };
    static const struct hook core2[] = {
        HOOK(NVTX_DOMAIN_RANGE_START_EX, domain_start_ex),
        HOOK(NVTX_DOMAIN_RANGE_END, domain_end),
        HOOK(NVTX_DOMAIN_RANGE_PUSH_EX, domain_push_ex),
        HOOK(NVTX_DOMAIN_RANGE_POP, domain_pop),
        HOOK(NVTX_DOMAIN_REGISTER_STRING_A, register_a),
        HOOK(NVTX_DOMAIN_REGISTER_STRING_W, register_w),
        HOOK(NVTX_DOMAIN_CREATE_A, create_a),
        HOOK(NVTX_DOMAIN_CREATE_W, create_w),
    };
    const struct nvtx_callbacks *c = get_table(NVTX_TABLE_CALLBACKS);
    if (c == NULL || c->size < sizeof *c)
        return;
    install(c, NVTX_MODULE_CORE, core, sizeof core / sizeof core[0]);
    install(c, NVTX_MODULE_CORE2, core2, sizeof core2 / sizeof core2[0]);
}
