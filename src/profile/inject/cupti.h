/* cupti: CUPTI, opened at run time. This library is not linked with it, so it loads on
 * every machine and works with CUDA 11 to 13.
 *
 * Two copies of CUPTI in one process would break each other. So a copy that the process has
 * already loaded is used first. Otherwise, $REMAT_CUPTI is the library and $CUPTI_HOME the
 * only place. Without them these are tried in order: the loader's search path, the folders
 * of CUDA ($CUDA_HOME first) and of conda, and those of Python packages
 * (nvidia-cuda-cupti). In each of them a newer version is tried before an older one. A copy
 * that cannot be started, since the driver is too old for it, gives way to the next.
 *
 * Open and subscribe once, from one thread. CUPTI's own functions are thread-safe.
 */
#ifndef RP_PROFILE_INJECT_CUPTI_H
#define RP_PROFILE_INJECT_CUPTI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/record.h"

typedef void rp_request_buffer(uint8_t **buffer, size_t *size, size_t *max_records);
typedef void rp_buffer_done(void *context, uint32_t stream, uint8_t *buffer, size_t size,
                            size_t valid);
typedef void rp_cupti_callback(void *user, uint32_t domain, uint32_t id, const void *data);

/* CUpti_SubscriberParams of CUDA 13. */
struct rp_subscriber_params {
    size_t size;
    const char *name;
    char *other;
    size_t other_size;
};

struct rp_cupti {
    void *library;
    uint32_t version;
    void *subscriber;
    bool taken; /* another profiler has the subscription */
    /* None is NULL after rp_cupti_open, except where marked. */
    int (*get_version)(uint32_t *version);
    int (*get_timestamp)(uint64_t *ns);
    int (*register_callbacks)(rp_request_buffer *request, rp_buffer_done *done);
    int (*enable)(int kind);
    int (*flush_all)(uint32_t flag);
    rp_next_record *next_record;
    int (*dropped)(void *context, uint32_t stream, size_t *n);
    int (*push_external)(int kind, uint64_t id);
    int (*pop_external)(int kind, uint64_t *id);
    int (*subscribe)(void **subscriber, rp_cupti_callback *callback, void *user);
    int (*subscribe_v2)(void **subscriber, rp_cupti_callback *callback, void *user,
                        struct rp_subscriber_params *params); /* NULL before CUDA 13.0 */
    int (*unsubscribe)(void *subscriber);
    int (*enable_callback)(uint32_t enable, void *subscriber, uint32_t domain, uint32_t id);
    int (*result_string)(int result, const char **text);
    int (*graph_node_id)(void *node, uint64_t *id); /* NULL before CUDA 11.1 */
};

/* Subscribes and enables what is to be traced. If it returns false, why[] holds one line.
 */
typedef bool rp_cupti_start(struct rp_cupti *c, char *why, size_t why_size);

/* Opens CUPTI into c, which is all zero: the first copy that `start` succeeds with. If
 * there is none, or if another profiler is active, it returns false, and why[0 ..
 * why_size-1], "" before, holds one line: why the first copy did not start. */
bool rp_cupti_open(struct rp_cupti *c, rp_cupti_start *start, char *why, size_t why_size);

/* Takes CUPTI's only subscription, so that no other profiler can take our buffers. If it
 * returns false, why[] holds one line, which names the other subscriber if it is known. */
bool rp_cupti_subscribe(struct rp_cupti *c, rp_cupti_callback *callback, char *why,
                        size_t why_size);

/* Writes "CALL: text (code)" to why[], with advice for some codes. */
void rp_cupti_describe(const struct rp_cupti *c, const char *call, int result, char *why,
                       size_t why_size);

#endif
