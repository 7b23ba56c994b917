#include "profile/join/names.h"

#include <stdlib.h>
#include <string.h>

#include "base/io.h"
#include "base/mem.h"

struct entry {
    const char *name;
    uint32_t op;
};

static int by_name(const void *a, const void *b) {
    const struct entry *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order != 0 ? order : (x->op > y->op) - (x->op < y->op);
}

rp_rc rp_op_index_build(const struct rp_graph *g, const char *file,
                        struct rp_op_index *index, struct rp_err *err) {
    rp_rc rc = RP_OK;
    struct entry *e = rp_calloc((size_t)g->n_ops + 1, sizeof *e);
    for (uint32_t i = 0; i < g->n_ops; i++)
        e[i] = (struct entry){g->ops[i].name, i};
    qsort(e, g->n_ops, sizeof *e, by_name);
    *index = (struct rp_op_index){g, rp_calloc((size_t)g->n_ops + 1, sizeof(uint32_t))};
    for (uint32_t i = 0; i < g->n_ops; i++) {
        index->order[i] = e[i].op;
        if (i > 0 && rc == RP_OK && strcmp(e[i - 1].name, e[i].name) == 0)
            rc = rp_fail(err, RP_INPUT,
                         "%s: ops[%u] and ops[%u] are both named '%.80s', but measurements "
                         "are joined by name",
                         file, (unsigned)e[i - 1].op, (unsigned)e[i].op, e[i].name);
    }
    free(e);
    return rc;
}

uint32_t rp_op_index_find(const struct rp_op_index *index, const char *name) {
    uint32_t low = 0, high = index->g->n_ops;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = strcmp(index->g->ops[index->order[middle]].name, name);
        if (order == 0)
            return index->order[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return RP_NONE;
}

void rp_op_index_fini(struct rp_op_index *index) {
    free(index->order);
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

char *rp_name_list_text(struct rp_name_list *list, size_t max_names, uint32_t *n_distinct) {
    char *text;
    size_t len, n = 0;
    FILE *f = rp_text_open(&text, &len);
    if (list->n > 1)
        qsort(list->at, list->n, sizeof *list->at, by_text);
    for (size_t i = 0; i < list->n; i++) {
        if (i > 0 && strcmp(list->at[i - 1], list->at[i]) == 0)
            continue;
        if (n++ < max_names)
            fprintf(f, "%s%.60s", n > 1 ? ", " : "", list->at[i]);
    }
    if (n > max_names)
        fprintf(f, " and %zu more", n - max_names);
    if (n_distinct != NULL)
        *n_distinct = (uint32_t)n;
    rp_text_close(f);
    return text;
}
