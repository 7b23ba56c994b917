#include "pack/component/interference.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Items are sorted by lo. So those that begin during the life of i, or with it, follow it.
 */
static bool begins_during(const struct rp_pack_component *p, uint32_t i, uint32_t j) {
    return j < p->n && p->items[j].lo < p->items[i].hi;
}

/* Counts the edges of item i at begin[i + 1]. False if there are more than `max`. */
static bool count_edges(struct rp_interference *g, const struct rp_pack_component *p,
                        size_t max, struct rp_pack_work *work) {
    size_t n = 0;
    for (uint32_t i = 0; i < p->n && n <= max; i++)
        for (uint32_t j = i + 1; begins_during(p, i, j); j++, n += 2) {
            g->begin[i + 1]++;
            g->begin[j + 1]++;
        }
    work->done += n;
    return n <= max;
}

static void list_edges(struct rp_interference *g, const struct rp_pack_component *p) {
    size_t *end = rp_calloc(p->n, sizeof *end);
    for (uint32_t i = 0; i < p->n; i++) {
        end[i] = g->begin[i];
        g->begin[i + 1] += g->begin[i];
    }
    g->edges = rp_calloc(g->begin[p->n], sizeof *g->edges);
    for (uint32_t i = 0; i < p->n; i++)
        for (uint32_t j = i + 1; begins_during(p, i, j); j++) {
            g->edges[end[i]++] = j;
            g->edges[end[j]++] = i;
        }
    free(end);
}

void rp_interference_init(struct rp_interference *g, const struct rp_pack_component *p,
                          size_t max, struct rp_pack_work *work) {
    *g = (struct rp_interference){.begin = rp_calloc((size_t)p->n + 1, sizeof *g->begin)};
    if (count_edges(g, p, max, work))
        list_edges(g, p);
}

void rp_interference_sort(const struct rp_interference *g, const uint32_t *order,
                          uint32_t n, uint32_t *into) {
    size_t *end = rp_calloc(n, sizeof *end);
    memcpy(end, g->begin, n * sizeof *end);
    for (uint32_t k = 0; k < n; k++)
        for (size_t q = g->begin[order[k]]; q < g->begin[order[k] + 1]; q++)
            into[end[g->edges[q]]++] = order[k];
    free(end);
}

void rp_interference_fini(struct rp_interference *g) {
    free(g->edges);
    free(g->begin);
}
