/* names: finding a graph's ops by name, and lists of names as people read them. */
#ifndef RP_PROFILE_NAMES_H
#define RP_PROFILE_NAMES_H

#include "model/graph.h"

struct rp_names {
    const struct rp_graph *g;
    uint32_t *order; /* ops by name */
};

/* RP_INPUT if two ops have one name. */
rp_rc rp_names_of_ops(const struct rp_graph *g, const char *file, struct rp_names *names,
                      struct rp_err *err);
uint32_t rp_names_find(const struct rp_names *names, const char *name); /* or RP_NONE */
void rp_names_fini(struct rp_names *names);

struct rp_name_list {
    const char **at; /* names belong to others */
    size_t n, cap;
};

/* "a, b and 3 more" of at most `most` distinct names, in the order of strcmp; *n_distinct
 * counts them if not NULL. The caller frees the text. Sorts the list. */
char *rp_names_join(struct rp_name_list *list, size_t most, uint32_t *n_distinct);

#endif
