/* names: an index of a graph's ops by name, and lists of names for messages.
 *
 * Thread-safe for different objects.
 */
#ifndef RP_PROFILE_JOIN_NAMES_H
#define RP_PROFILE_JOIN_NAMES_H

#include "model/graph.h"

struct rp_op_index {
    const struct rp_graph *g; /* borrowed */
    uint32_t *order;          /* all ops, sorted by name */
};

/* RP_INPUT if two ops have the same name. The caller empties the index in any case. */
rp_rc rp_op_index_build(const struct rp_graph *g, const char *file,
                        struct rp_op_index *index, struct rp_err *err);
uint32_t rp_op_index_find(const struct rp_op_index *index,
                          const char *name);      /* or RP_NONE */
void rp_op_index_fini(struct rp_op_index *index); /* safe on a zeroed one */

struct rp_name_list {
    const char **at; /* the caller frees the array; the names are borrowed */
    size_t n, cap;
};

/* "a, b and 3 more": at most max_names distinct names, in the order of strcmp. *n_distinct
 * counts all of them, if it is not NULL. The caller frees the text. Sorts the list. */
char *rp_name_list_text(struct rp_name_list *list, size_t max_names, uint32_t *n_distinct);

#endif
