/* memory_split: bytes by what they hold: the kind of tensor in the graph, or the workspace
 * of a running op. For reports and charts.
 *
 * Thread-safe: nothing is kept between calls.
 */
#ifndef RP_EMIT_MEMORY_MEMORY_SPLIT_H
#define RP_EMIT_MEMORY_MEMORY_SPLIT_H

#include <stdint.h>
#include <stdio.h>

#include "base/json_writer.h"
#include "model/graph.h"
#include "model/plan.h"

/* The kinds of tensors, then workspace. */
enum { RP_WORKSPACE = RP_GRADIENT + 1, RP_N_MEMORY_KINDS };

struct rp_memory_split {
    uint64_t of[RP_N_MEMORY_KINDS]; /* [enum rp_tensor_kind] or [RP_WORKSPACE] */
    uint64_t bytes;                 /* their sum */
};

/* The order in which reports and pictures name the kinds, and their words: "activations".
 */
extern const int rp_memory_kinds[RP_N_MEMORY_KINDS];
extern const char *const rp_memory_kind_word[RP_N_MEMORY_KINDS];

void rp_memory_split_add(struct rp_memory_split *s, int kind, uint64_t bytes);
void rp_memory_split_take(struct rp_memory_split *s, int kind, uint64_t bytes);

/* The sources that stay on the device under the plan. Their bytes are never rounded up. */
struct rp_memory_split rp_memory_split_fixed(const struct rp_graph *g,
                                             const struct rp_plan *p);

/* What has a range on the host: sources in `homes`, and what is swapped out. Rounded up to
 * the alignment if the plan has addresses. */
struct rp_memory_split rp_memory_split_host(const struct rp_graph *g,
                                            const struct rp_plan *p);

/* "activations 1.20 GiB, state 640 MiB": the kinds with bytes; "nothing" if there are none.
 */
void rp_memory_split_print(const struct rp_memory_split *s, FILE *f);
/* An object with a member for every kind. `key` is NULL in an array. */
void rp_memory_split_json(const struct rp_memory_split *s, const char *key,
                          struct rp_json_writer *w);

#endif
