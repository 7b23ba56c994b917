/* files: graph and plan as the second checker reads them. Part of checker.h. */
#ifndef RP_CAMPAIGN_FILES_H
#define RP_CAMPAIGN_FILES_H

#include <jansson.h>

#include "checker.h"

enum { CK_NONE = -1 };
#define CK_MAX INT64_MAX            /* the largest quantity: 63 bits */
#define CK_NO_ADDRESS ((int64_t)-1) /* null */
#define CK_ABSENT ((int64_t)-2)     /* the key is not there */

enum ck_home { CK_DEVICE, CK_HOST, CK_ANY };
enum ck_kind { CK_RUN, CK_FREE, CK_SWAP_OUT, CK_SWAP_IN };

struct ck_list { /* of tensors, or addresses */
    int64_t *at;
    int n;
};

struct ck_tensor {
    int64_t bytes;
    int producer; /* CK_NONE: a source */
    bool held, kept;
    enum ck_home home;
};

struct ck_op {
    struct ck_list inputs, outputs, updates;
    int64_t time_ns, workspace_bytes;
    bool once, ordered, rewrites;
};

struct ck_graph {
    char *name, sha256[65];
    int n_tensors, n_ops;
    struct ck_tensor *tensors;
    struct ck_op *ops;
    int64_t h2d, d2h, latency_ns, alignment; /* rates: 0 if there are none */
};

struct ck_step {
    enum ck_kind kind;
    int id;
    bool has_at;
    struct ck_list at; /* of a run */
    int64_t address;   /* workspace_at, host_at, or the at of a swap-in; CK_ABSENT */
};

struct ck_plan {
    int version;
    char *graph_name, *sha256;
    int64_t budget, arena, host;
    bool addressed;
    int64_t time_ns, baseline_ns, recompute_ns, stall_ns, peak, bound_ns;
    char *proof;
    int n_steps, n_homes;
    struct ck_step *steps;
    struct {
        int tensor;
        int64_t host_at; /* or CK_ABSENT */
    } * homes;
    struct ck_bound_for bound_for;
};

/* Both print to `why` and return false if a file breaks a rule of its own. What was read
 * until then must be freed in any case. */
bool ck_read_graph(const char *path, struct ck_graph *g, char why[256]);
bool ck_read_plan(const char *path, struct ck_plan *p, char why[256]);
void ck_free_graph(struct ck_graph *g);
void ck_free_plan(struct ck_plan *p);

#endif
